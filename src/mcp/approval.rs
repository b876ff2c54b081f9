//! The tool `request_approval`: from arguments to a permission, and from the settled permission to the
//! one JSON object that goes back (hosts.md: Claude Code's `--permission-prompt-tool`). Optional members
//! are left out: a `null` makes the host reject the whole result.

use super::Settings;
use super::arguments::Arguments;
use super::call::{Plan, Shape, Waiting, draft};
use crate::error::{Error, Result};
use crate::model::interaction::{Effect, Interaction, Kind, Status, Tool};
use crate::model::json::{INPUT_MAX, Json, SUGGESTIONS_MAX, object, quoted};
use crate::model::question_tool;
use crate::model::response::{Body, Response};

const NOT_IN_TIME: &str = "nobody answered in time; do not do it";
const WITHDRAWN: &str = "the question was withdrawn without an answer; do not do it";
const QUESTIONS_WITHDRAWN: &str = "the questions were withdrawn without an answer: proceed on your best judgment and state the assumption that you made";
const BEST_JUDGMENT: &str = "nobody answered the questions: proceed on your best judgment and state the assumption that you made";

/// Which words a call understands: a host's prompt is one that brings the tool's input.
pub(super) fn shape(arguments: &Arguments) -> Shape {
    match arguments.get("input") {
        Some(_) => Shape::Native,
        None => Shape::Voluntary,
    }
}

/// The permission that a call asks for.
///
/// # Errors
/// `invalid_input`: what is needed instead.
pub(super) fn plan(arguments: &Arguments, settings: &Settings) -> Result<Plan> {
    let waiting = Waiting::of(arguments, settings)?;
    let (mut draft, renamed) = draft(arguments, settings, &waiting)?;
    let action = arguments.text("action")?;
    let tool = tool(arguments)?;
    draft.prompt = match (&action, &tool) {
        (Some(action), _) => action.clone(),
        (None, Some(tool)) => format!("use tool {}", tool.name),
        (None, None) => {
            return Err(Error::input("nothing is asked for")
                .hint("give 'action' (what you want to do), or 'tool_name' with 'arguments'"));
        }
    };
    if let Some(tool) = &tool
        && tool.name == question_tool::NAME
    {
        draft.kind = Some(Kind::Form);
        draft.questions = question_tool::questions(tool.input.as_ref())?;
        draft.prompt = format!("{} asks", draft.agent.as_deref().unwrap_or_default());
    } else if tool.is_none() {
        draft.action = action;
    }
    draft.tool = tool;
    Ok(Plan {
        draft,
        shape: shape(arguments),
        waiting,
        renamed,
    })
}

/// The tool call, whole.
fn tool(arguments: &Arguments) -> Result<Option<Tool>> {
    let input = arguments.object("input", INPUT_MAX)?;
    let input = match (input, arguments.object("arguments", INPUT_MAX)?) {
        // Whoever sees one of them would decide about the other as well.
        (Some(_), Some(_)) => return Err(Error::input("give 'input' or 'arguments', not both")),
        (input, arguments) => input.or(arguments),
    };
    let suggestions = arguments.array("suggestions", SUGGESTIONS_MAX)?;
    let Some(name) = arguments.text("tool_name")? else {
        if input.is_some() {
            return Err(Error::input("an input needs its tool_name"));
        }
        return Ok(None);
    };
    Ok(Some(Tool {
        name,
        input,
        use_id: arguments.text("tool_use_id")?,
        suggestions,
    }))
}

/// One JSON object: the host's own members, and beside them what this program knows.
pub(super) struct Block {
    top: Vec<(&'static str, String)>,
    result: Vec<(&'static str, String)>,
}

impl Block {
    fn new(top: Vec<(&'static str, String)>, result: Vec<(&'static str, String)>) -> Self {
        Self { top, result }
    }

    /// Its text, with what of the call was ignored.
    pub(super) fn text(mut self, warning: Option<&str>) -> String {
        let warning = warning.map(|text| ("warning", quoted(text)));
        self.result.extend(warning);
        let own = [
            ("tool", quoted("request_approval")),
            ("result", object(self.result)),
        ];
        object(self.top.into_iter().chain(own))
    }
}

/// The result of a settled permission; it is built from the question that was opened.
pub(super) fn settled(opened: &Interaction, record: &Interaction) -> Block {
    let id = opened.id.as_str();
    let asks = !opened.question.questions().is_empty();
    let (source, told) = match (record.response(), record.status()) {
        (Some(response), _) => return answered(opened, response),
        (None, Status::Expired) if asks => ("timeout", BEST_JUDGMENT),
        (None, Status::Expired) => ("timeout", NOT_IN_TIME),
        (None, _) if asks => ("cancelled", QUESTIONS_WITHDRAWN),
        (None, _) => ("cancelled", WITHDRAWN),
    };
    denied(Some(id), source, told)
}

fn answered(opened: &Interaction, response: &Response) -> Block {
    let q = &opened.question;
    let allowed = match (&response.body, q.tool()) {
        (Body::Form(reply), Some(tool)) => {
            match question_tool::answered(tool, reply, response.message.as_deref()) {
                Ok(input) => Some(input),
                Err(error) => return denied(Some(opened.id.as_str()), "error", &error.message),
            }
        }
        (Body::Choice(choice), tool) if q.effect(choice) == Some(Effect::Allow) => {
            let edited = response.updated_input.as_ref();
            let own = tool.and_then(|tool| tool.input.as_ref());
            Some(edited.or(own).map_or("{}", Json::as_str).to_owned())
        }
        _ => None,
    };
    let result = by_human(opened, response, allowed.is_some());
    let Some(input) = allowed else {
        return Block::new(deny(&response.denial()), result);
    };
    let mut top = vec![("behavior", quoted("allow")), ("updatedInput", input)];
    let rules = response.updated_permissions.as_ref();
    top.extend(rules.map(|rules| ("updatedPermissions", rules.as_str().to_owned())));
    Block::new(top, result)
}

fn by_human(
    opened: &Interaction,
    response: &Response,
    allowed: bool,
) -> Vec<(&'static str, String)> {
    let decision = if allowed { "allow" } else { "deny" };
    let mut members = vec![
        ("id", quoted(opened.id.as_str())),
        ("decision", quoted(decision)),
        ("answered_by", quoted(&response.answered_by)),
    ];
    members.extend(response.message.as_ref().map(|m| ("message", quoted(m))));
    if let Body::Form(reply) = &response.body
        && !reply.unanswered.is_empty()
    {
        let open: Vec<String> = reply.unanswered.iter().map(|q| quoted(q)).collect();
        members.push(("unanswered", format!("[{}]", open.join(","))));
    }
    members.push(("source", quoted("human")));
    members
}

/// A policy's allow.
pub(super) fn policy_allows(input: Option<&Json>, rule: &str) -> Block {
    let input = input.map_or("{}", Json::as_str).to_owned();
    let result = vec![
        ("decision", quoted("allow")),
        ("source", quoted("policy")),
        ("rule", quoted(rule)),
    ];
    Block::new(
        vec![("behavior", quoted("allow")), ("updatedInput", input)],
        result,
    )
}

/// A policy's deny.
pub(super) fn policy_denies(rule: &str, message: &str) -> Block {
    let result = vec![
        ("decision", quoted("deny")),
        ("source", quoted("policy")),
        ("rule", quoted(rule)),
        ("message", quoted(message)),
    ];
    Block::new(deny(message), result)
}

/// A deny without an answer; `source` is `timeout`, `cancelled` or `error`.
pub(super) fn denied(id: Option<&str>, source: &str, message: &str) -> Block {
    let id = id.map(|id| ("id", quoted(id)));
    let rest = [("decision", quoted("deny")), ("source", quoted(source))];
    Block::new(deny(message), id.into_iter().chain(rest).collect())
}

/// A permission that is not decided yet: a host's prompt is denied, so that it does not go on.
pub(super) fn pending(shape: Shape, pending: Vec<(&'static str, String)>, told: &str) -> Block {
    match shape {
        Shape::Native => Block::new(deny(told), pending),
        _ => Block::new(Vec::new(), pending),
    }
}

fn deny(message: &str) -> Vec<(&'static str, String)> {
    vec![("behavior", quoted("deny")), ("message", quoted(message))]
}
