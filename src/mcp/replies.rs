//! Results as the protocol carries them.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::approval;
use super::call::{Shape, words};
use super::questions;
use crate::error::Error;
use crate::model::interaction::Interaction;
use crate::model::json::quoted;

const INSTRUCTION: &str = "This question was put to a human and the workflow is suspended until it is answered. End your turn now, without doing what you asked about: the workflow is resumed with the answer.";
const STILL_OPEN: &str = "not answered yet: do not do it";

/// Structured content, and the same JSON as the one text block.
pub(super) fn structured(value: Value, is_error: bool) -> CallToolResult {
    let mut result = one_block(value.to_string());
    result.structured_content = Some(value);
    result.is_error = is_error.then_some(true);
    result
}

/// One text block and nothing else.
pub(super) fn one_block(text: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = None;
    result
}

/// A settled question.
pub(super) fn settled(
    shape: Shape,
    opened: &Interaction,
    record: &Interaction,
    warning: Option<&str>,
) -> CallToolResult {
    if shape.is_approval() {
        return one_block(approval::settled(opened, record).text(warning));
    }
    let (value, is_error) = questions::settled(shape, record);
    structured(with_warning(value, warning), is_error)
}

/// A question that is open although the call has waited as long as it wanted to; `waits_on` is the tool
/// that waits on, where there is one.
pub(super) fn still_open(
    shape: Shape,
    opened: &Interaction,
    waits_on: Option<&str>,
    warning: Option<&str>,
) -> CallToolResult {
    let id = opened.id.as_str();
    let members = [("status", "pending"), ("interaction_id", id)];
    let waits_on = waits_on.map(|tool| format!("; '{tool}' waits on"));
    let told = format!("{STILL_OPEN}{}", waits_on.unwrap_or_default());
    pending(shape, id, &members, &told, warning)
}

/// A question for which nobody waits.
pub(super) fn suspended(
    shape: Shape,
    opened: &Interaction,
    warning: Option<&str>,
) -> CallToolResult {
    let id = opened.id.as_str();
    let workflow = opened.question.workflow_id.as_deref().unwrap_or_default();
    let members = [
        ("status", "pending"),
        ("interaction_id", id),
        ("workflow_id", workflow),
        ("instruction", INSTRUCTION),
    ];
    pending(shape, id, &members, INSTRUCTION, warning)
}

fn pending(
    shape: Shape,
    id: &str,
    members: &[(&'static str, &str)],
    told: &str,
    warning: Option<&str>,
) -> CallToolResult {
    if shape.is_approval() {
        let result = members.iter().map(|(name, text)| (*name, quoted(text)));
        let told = format!("{told} (interaction {id})");
        let block = approval::pending(shape, result.collect(), &told);
        return one_block(block.text(warning));
    }
    let text = |(name, text): &(&str, &str)| ((*name).to_owned(), Value::from(*text));
    let value = Value::Object(members.iter().map(text).collect());
    structured(with_warning(value, warning), false)
}

fn with_warning(mut value: Value, warning: Option<&str>) -> Value {
    if let (Some(members), Some(warning)) = (value.as_object_mut(), warning) {
        members.insert("warning".into(), warning.into());
    }
    value
}

/// A call that came to nothing: a host's prompt is denied, any other call is told why.
pub(super) fn failed(shape: Shape, id: Option<&str>, error: &Error) -> CallToolResult {
    let told = words(error);
    match shape {
        Shape::Native => one_block(approval::denied(id, "error", &told).text(None)),
        // Once it was asked, the answer is a deny too: an agent may not take a failure for leave to go on.
        Shape::Voluntary if id.is_some() => {
            one_block(approval::denied(id, "error", &told).text(None))
        }
        Shape::Voluntary => {
            let mut result = one_block(approval::denied(None, "error", &told).text(None));
            result.is_error = Some(true);
            result
        }
        Shape::Flat | Shape::Structured => {
            let mut value = json!({ "error": told, "code": error.code.name() });
            if let (Some(members), Some(id)) = (value.as_object_mut(), id) {
                members.insert("interaction_id".into(), id.into());
            }
            structured(value, true)
        }
    }
}
