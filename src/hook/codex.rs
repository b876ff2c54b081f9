//! Codex's own words (measured on 0.171.0). It parses strictly: any member beyond these makes the hook
//! count as failed.

use super::permission::deny_message;
use crate::error::{Code, Error, Result};
use crate::model::interaction::{Effect, Interaction};
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
    let decision = match effect {
        Some(Effect::Allow) => r#"{"behavior":"allow"}"#.to_owned(),
        Some(Effect::Deny) => format!(
            r#"{{"behavior":"deny","message":{}}}"#,
            serde_json::Value::from(deny_message(response))
        ),
        None => {
            return Err(Error::new(
                Code::Internal,
                "the answer neither allows nor denies",
            ));
        }
    };
    Ok(format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    ))
}
