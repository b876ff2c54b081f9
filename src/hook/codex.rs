//! Codex's own words (measured on 0.171.0). It parses strictly: any member beyond these makes the hook
//! count as failed.

use crate::model::json::quoted;

/// A PermissionRequest hook's allow.
pub fn permission_allows() -> String {
    output(r#"{"behavior":"allow"}"#)
}

/// A PermissionRequest hook's deny.
pub fn permission_denies(message: &str) -> String {
    output(&format!(
        r#"{{"behavior":"deny","message":{}}}"#,
        quoted(message)
    ))
}

fn output(decision: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    )
}
