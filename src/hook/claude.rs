//! Claude Code's own words (measured on 2.1.332; code.claude.com/docs/en/hooks). Optional members are
//! left out: a `null` or an unknown shape makes the host reject the whole output.

use super::permission::deny_message;
use super::question_tool;
use crate::error::{Code, Error, Result};
use crate::model::interaction::{Effect, Interaction, Tool};
use crate::model::response::{Body, Response};

/// The output of a PermissionRequest hook.
///
/// # Errors
/// Where the answer means neither allow nor deny.
pub fn permission(opened: &Interaction, tool: &Tool, response: &Response) -> Result<String> {
    let decision = match &response.body {
        Body::Form(reply) => {
            let input = question_tool::answered(tool, reply, response.message.as_deref())?;
            allow(Some(&input), None)
        }
        Body::Declined => deny(&deny_message(response)),
        Body::Choice(id) => match opened.question.effect(id) {
            Some(Effect::Allow) => allow(
                input_for(tool, response).as_deref(),
                response.updated_permissions.as_ref().map(|p| p.as_str()),
            ),
            Some(Effect::Deny) => deny(&deny_message(response)),
            None => return Err(undecided()),
        },
        Body::Text(_) => return Err(undecided()),
    };
    Ok(format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    ))
}

/// The input that goes back: the edited one; for ExitPlanMode its own, without which the host ignores
/// the allow.
fn input_for(tool: &Tool, response: &Response) -> Option<String> {
    if let Some(edited) = &response.updated_input {
        return Some(edited.as_str().to_owned());
    }
    let own = tool.input.as_ref().filter(|input| input.is_object());
    match (tool.name.as_str(), own) {
        ("ExitPlanMode", Some(input)) => Some(input.as_str().to_owned()),
        ("ExitPlanMode", None) => Some("{}".to_owned()),
        _ => None,
    }
}

fn allow(input: Option<&str>, permissions: Option<&str>) -> String {
    let mut decision = String::from(r#"{"behavior":"allow""#);
    if let Some(input) = input {
        decision.push_str(r#","updatedInput":"#);
        decision.push_str(input);
    }
    if let Some(permissions) = permissions {
        decision.push_str(r#","updatedPermissions":"#);
        decision.push_str(permissions);
    }
    decision.push('}');
    decision
}

fn deny(message: &str) -> String {
    format!(
        r#"{{"behavior":"deny","message":{}}}"#,
        serde_json::Value::from(message)
    )
}

fn undecided() -> Error {
    Error::new(Code::Internal, "the answer neither allows nor denies")
}
