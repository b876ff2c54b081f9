//! The JSON envelope: one compact line, success to standard output, failure to standard error.

use serde_json::Map;

use crate::error::Error;
pub use crate::model::view::{record, with_members};

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

/// A list of records that are JSON already.
pub fn list(records: &[String]) -> String {
    format!(
        "{{\"count\":{},\"interactions\":[{}]}}",
        records.len(),
        records.join(",")
    )
}
