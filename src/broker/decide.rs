//! The order of policy and human, for every surface through which an approval comes.

use crate::config::Config;
use crate::error::{Code, Error, Result};
use crate::events::{Event, Type};
use crate::log;
use crate::model::interaction::Question;
use crate::store::Store;
use crate::time::Time;
use std::time::Duration;

/// How long an event that has to be written may wait for the lock.
const EVENT_WAIT: Duration = Duration::from_secs(1);

/// What stands before a human is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruled {
    /// The policy allows it.
    Allow {
        /// The rule that decided, with its place.
        rule: String,
    },
    /// The policy denies it.
    Deny {
        /// The rule that decided, with its place.
        rule: String,
        /// For the asker.
        message: String,
    },
    /// A human decides.
    Ask,
}

/// What the policy of the asking agent says about a permission.
///
/// # Errors
/// `config_error` where the policy cannot be read: never a leave to go on.
pub fn decide(_store: &Store, config: &Config, _question: &Question) -> Result<Ruled> {
    if config
        .agents
        .values()
        .any(|agent| agent.approval_policy.is_some())
    {
        return Err(Error::new(
            Code::ConfigError,
            "an approval policy is configured, and this build cannot apply it",
        ));
    }
    Ok(Ruled::Ask)
}

/// Notes that a call to a pinned server gave another agent's name. The name itself is not kept.
pub fn note_pin(store: &Store, agent: &str) {
    let noted = store.lock(EVENT_WAIT).and_then(|writer| {
        let event = Event::about_agent(Type::IdentityPinned, agent, Time::now());
        writer
            .try_append(event)
            .map_err(|e| Error::unavailable(e.to_string()))
    });
    if let Err(error) = noted {
        log::warn(&format!(
            "an attempt to take another agent's name could not be noted: {error}"
        ));
    }
}
