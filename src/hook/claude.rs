//! Claude Code's own words (measured on 2.1.332; code.claude.com/docs/en/hooks). Optional members are
//! left out: a `null` or an unknown shape makes the host reject the whole output.

use super::undecided;
use crate::error::Result;
use crate::model::elicitation;
use crate::model::interaction::{Effect, FormQuestion, Interaction, Tool};
use crate::model::json::quoted;
use crate::model::question_tool;
use crate::model::response::{Body, Response};

/// What an answer comes to for a tool call.
enum Verdict {
    Allow {
        input: Option<String>,
        permissions: Option<String>,
    },
    Deny {
        message: String,
    },
}

/// The output of a PermissionRequest hook.
///
/// # Errors
/// Where the answer means neither allow nor deny.
pub fn permission(opened: &Interaction, tool: &Tool, response: &Response) -> Result<String> {
    let decision = match verdict(opened, tool, response)? {
        Verdict::Deny { message } => deny(&message),
        Verdict::Allow { input, permissions } => {
            let input = input.map_or(String::new(), |i| format!(r#","updatedInput":{i}"#));
            let rules =
                permissions.map_or(String::new(), |p| format!(r#","updatedPermissions":{p}"#));
            format!(r#"{{"behavior":"allow"{input}{rules}}}"#)
        }
    };
    Ok(permission_output(&decision))
}

/// A PermissionRequest hook's allow, without a human.
pub fn permission_allows() -> String {
    permission_output(r#"{"behavior":"allow"}"#)
}

/// A PermissionRequest hook's deny, without a human.
pub fn permission_denies(message: &str) -> String {
    permission_output(&deny(message))
}

fn permission_output(decision: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    )
}

fn deny(message: &str) -> String {
    format!(r#"{{"behavior":"deny","message":{}}}"#, quoted(message))
}

/// The output of a PreToolUse hook.
///
/// # Errors
/// Where the answer means neither allow nor deny.
pub fn gate(opened: &Interaction, tool: &Tool, response: &Response) -> Result<String> {
    Ok(match verdict(opened, tool, response)? {
        Verdict::Deny { message } => gate_output("deny", &message, None),
        Verdict::Allow { input, .. } => {
            let by = format!("Allowed by {}", response.answered_by);
            gate_output("allow", &by, input.as_deref())
        }
    })
}

/// A PreToolUse hook's decision without a human: `allow`, `deny`.
pub fn gate_decides(decision: &str, reason: &str) -> String {
    gate_output(decision, reason, None)
}

/// What a PreToolUse hook prints where nothing was decided: silence would let the tool run.
pub fn gate_asks() -> String {
    gate_output("ask", "sayso has no answer", None)
}

/// What a PreToolUse hook prints to suspend the session until it is resumed.
pub fn gate_defers() -> String {
    gate_output("defer", "waiting for an answer", None)
}

fn gate_output(decision: &str, reason: &str, input: Option<&str>) -> String {
    let input = input.map_or(String::new(), |i| format!(r#","updatedInput":{i}"#));
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":{}{input}}}}}"#,
        quoted(reason)
    )
}

fn verdict(opened: &Interaction, tool: &Tool, response: &Response) -> Result<Verdict> {
    let denied = || Verdict::Deny {
        message: response.denial(),
    };
    match &response.body {
        Body::Form(reply) => {
            let input = question_tool::answered(tool, reply, response.message.as_deref())?;
            Ok(Verdict::Allow {
                input: Some(input),
                permissions: None,
            })
        }
        Body::Declined => Ok(denied()),
        Body::Choice(id) => match opened.question.effect(id) {
            Some(Effect::Allow) => Ok(Verdict::Allow {
                input: input_for(tool, response),
                permissions: response
                    .updated_permissions
                    .as_ref()
                    .map(|p| p.as_str().to_owned()),
            }),
            Some(Effect::Deny) => Ok(denied()),
            None => Err(undecided()),
        },
        Body::Text(_) => Err(undecided()),
    }
}

/// The input that goes back: the edited one; for ExitPlanMode its own, without which the host ignores
/// the allow.
fn input_for(tool: &Tool, response: &Response) -> Option<String> {
    if let Some(edited) = &response.updated_input {
        return Some(edited.as_str().to_owned());
    }
    if tool.name != "ExitPlanMode" {
        return None;
    }
    let own = tool.input.as_ref().filter(|input| input.is_object());
    Some(own.map_or("{}", |input| input.as_str()).to_owned())
}

/// The output of an Elicitation hook. The host does not check the content, so it was checked when the
/// answer was given, and is once more here.
///
/// # Errors
/// Where the content does not fit the requested schema.
pub fn elicitation(tool: &Tool, response: &Response) -> Result<String> {
    let action = match &response.body {
        Body::Form(reply) => {
            let content = elicitation::content(tool.input.as_ref(), reply)?;
            format!(r#""action":"accept","content":{content}"#)
        }
        Body::Declined => r#""action":"decline""#.to_owned(),
        Body::Choice(_) | Body::Text(_) => return Err(undecided()),
    };
    Ok(format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"Elicitation",{action}}}}}"#
    ))
}

/// One question per property of the requested schema.
///
/// # Errors
/// Where the schema has a property that cannot be asked for.
pub fn elicitation_questions(tool: &Tool) -> Result<Vec<FormQuestion>> {
    elicitation::questions(tool.input.as_ref())
}
