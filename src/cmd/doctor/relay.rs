//! The doctor's look at Relay: what is enabled must be paired, usable, and get its questions out.

use std::time::Duration;

use super::{Finding, push};
use crate::cmd::context::Context;
use crate::relay::outbox::Stage;
use crate::relay::provider::{self, Provider};
use crate::relay::status::{Status, check_online};

/// How long a Relay may take to say whether it knows this machine.
const WITHIN: Duration = Duration::from_secs(10);

/// Checks every provider that is enabled; asks it only if `online` says so.
pub(super) fn check(context: &Context, online: bool, findings: &mut Vec<Finding>) {
    let Ok(config) = context.config() else {
        return;
    };
    let providers = match provider::enabled(&context.home, &config) {
        Ok(providers) => providers,
        Err(error) => return push(findings, "relay", Some(error.to_string()), String::new()),
    };
    for provider in &providers {
        let fault = fault(provider, online);
        let id = &provider.id;
        let detail = fault.map(|fault| format!("{id}: {fault}"));
        let fine = if online {
            format!("{id}: reached, and it knows this machine")
        } else {
            format!("{id}: paired; --online asks it")
        };
        push(findings, "relay", detail, fine);
    }
}

fn fault(provider: &Provider, online: bool) -> Option<String> {
    let status = Status::of(provider);
    if let Some(fault) = status.address_fault {
        return Some(fault);
    }
    if let Err(why) = &status.paired {
        return Some(why.clone());
    }
    if online && let Err(error) = check_online(provider, WITHIN) {
        return Some(error.message);
    }
    let dead = status
        .outbox
        .iter()
        .filter(|e| e.stage == Stage::Dead)
        .count();
    (dead > 0).then(|| format!("{dead} questions could not be sent; 'sayso relay status' says why"))
}
