//! A record's JSON for others: deadlines applied, members of the moment added.

use serde_json::Value;

use super::interaction::Interaction;
use super::json::quoted;
use super::record::{Secrets, to_json};
use super::transition;
use crate::time::Time;

/// A record as anyone may see it at `now` (an overdue one is expired), with members of the moment.
pub fn record(
    record: &Interaction,
    now: Time,
    secrets: Secrets,
    extra: &[(&str, Value)],
) -> String {
    let seen = transition::expire(record, now);
    let text = to_json(seen.as_ref().unwrap_or(record), secrets);
    with_members(&text, extra)
}

/// A JSON object's text with members added at its end.
pub fn with_members(object: &str, extra: &[(&str, Value)]) -> String {
    let object = object.trim_end();
    let mut text = object.strip_suffix('}').unwrap_or(object).to_owned();
    for (name, value) in extra {
        text.push_str(&format!(",{}:{value}", quoted(name)));
    }
    text.push('}');
    text
}
