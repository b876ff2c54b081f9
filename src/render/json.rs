//! The JSON envelope: one compact line, success to standard output, failure to standard error.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::model::interaction::Interaction;
use crate::model::record::{Secrets, to_json};
use crate::model::transition;
use crate::time::Time;

/// A success, around data that is JSON already.
pub fn success(data: &str) -> String {
    format!("{{\"schema\":\"sayso.cli.v1\",\"ok\":true,\"data\":{data}}}")
}

/// A failure.
pub fn failure(error: &Error) -> String {
    let mut inner = Map::new();
    inner.insert("code".into(), error.code.name().into());
    let message = match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    };
    inner.insert("message".into(), message.into());
    inner.insert("exit_code".into(), error.code.exit().into());
    if let Some(status) = error.code.http() {
        inner.insert("http_status".into(), status.into());
    }
    if let Some(details) = &error.details {
        inner.insert("details".into(), (**details).clone());
    }
    let envelope = serde_json::json!({ "schema": "sayso.cli.v1", "ok": false, "error": inner });
    envelope.to_string()
}

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
        text.push_str(&format!(",{}:{value}", Value::from(*name)));
    }
    text.push('}');
    text
}

/// A list of records that are JSON already.
pub fn list(records: &[String]) -> String {
    format!(
        "{{\"count\":{},\"interactions\":[{}]}}",
        records.len(),
        records.join(",")
    )
}
