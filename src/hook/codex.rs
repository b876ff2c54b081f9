//! Codex's own words (measured on 0.171.0). It parses strictly: any member beyond these makes the hook
//! count as failed.

use crate::error::{Code, Error, Result};
use crate::model::interaction::{Effect, Interaction};
use crate::model::json::quoted;
use crate::model::response::{Body, Response};

/// The output of a PermissionRequest hook.
///
/// # Errors
/// Where the answer means neither allow nor deny, or carries what Codex cannot take.
pub fn permission(opened: &Interaction, response: &Response) -> Result<String> {
    if response.updated_input.is_some() || response.updated_permissions.is_some() {
        return Err(Error::new(
            Code::Internal,
            "Codex cannot take an edited input or permissions",
        ));
    }
    let effect = match &response.body {
        Body::Choice(id) => opened.question.effect(id),
        _ => None,
    };
    match effect {
        Some(Effect::Allow) => Ok(permission_allows()),
        Some(Effect::Deny) => Ok(permission_denies(&response.denial())),
        None => Err(Error::new(
            Code::Internal,
            "the answer neither allows nor denies",
        )),
    }
}

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
