//! Copilot CLI's own words for preToolUse (docs.github.com, "Hooks configuration").

use super::payload::Payload;
use crate::error::Result;
use crate::model::interaction::Tool;
use crate::model::json::quoted;

/// `allow`, `deny` or `ask`, with the reason.
pub fn decides(decision: &str, reason: &str) -> String {
    format!(
        r#"{{"permissionDecision":"{decision}","permissionDecisionReason":{}}}"#,
        quoted(reason)
    )
}

/// The tool call: its arguments come as JSON in a string.
///
/// # Errors
/// Where there is none in the payload.
pub fn tool(payload: &Payload) -> Result<Tool> {
    let name = payload.text("toolName").unwrap_or_default();
    payload.call(&name, payload.get("toolArgs"))
}
