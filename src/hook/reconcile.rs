//! What the host decided by itself: a question that stands for it is withdrawn, so that nobody answers
//! a prompt that is gone. Suspended questions are never touched.

use std::time::Duration;

use super::Host;
use super::payload::Payload;
use crate::error::Result;
use crate::model::interaction::{Interaction, Status};
use crate::store::query::Entry;
use crate::store::{LOCK_WAIT, Store};
use crate::time::Time;

/// What the host tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A tool ran: whoever was asked for it before it started was passed by.
    ToolRan,
    /// A tool failed or was denied.
    ToolDecided,
    /// The session's own turn is over; its sub-agents may go on.
    TurnEnded,
    /// The session is over.
    SessionEnded,
}

/// Withdraws what was decided at the host; returns how many questions that were.
pub fn run(stores: &[Store], host: Host, told: Told, payload: &Payload) -> Result<usize> {
    let Some(session) = payload.session() else {
        return Ok(0);
    };
    let now = Time::now();
    let mut withdrawn = 0;
    for store in stores {
        for record in store.pending()?.into_iter().filter_map(Entry::current) {
            let q = &record.question;
            let ours = q.host.as_deref() == Some(host.id())
                && q.session_id.as_ref() == Some(&session)
                && !q.suspended
                && record.status_at(now) == Status::Pending;
            if ours && decided(&record, told, payload, now) {
                store
                    .lock(LOCK_WAIT)?
                    .cancel(&record.id, "answered at the host")?;
                withdrawn += 1;
            }
        }
    }
    Ok(withdrawn)
}

fn decided(record: &Interaction, told: Told, payload: &Payload, now: Time) -> bool {
    match told {
        Told::SessionEnded => true,
        Told::TurnEnded => record.question.agent_instance.is_none(),
        Told::ToolDecided => same_call(record, payload),
        Told::ToolRan => {
            let ran = payload
                .get("duration_ms")
                .and_then(|d| d.as_str().parse().ok());
            let started = now.minus(Duration::from_millis(ran.unwrap_or(0)));
            same_call(record, payload) && record.created_at < started
        }
    }
}

/// Whether a question is about this very tool call: the values count, not their spelling.
fn same_call(record: &Interaction, payload: &Payload) -> bool {
    let Some(tool) = record.question.tool() else {
        return false;
    };
    let input = tool
        .input
        .as_ref()
        .map(super::super::model::json::Json::value);
    payload.text("tool_name").as_ref() == Some(&tool.name)
        && payload
            .get("tool_input")
            .map(super::super::model::json::Json::value)
            == input
}
