//! One question or record for people: whole, wrapped, and with every untrusted text under a gutter or
//! on a line of its own that it cannot leave.

use super::span;
use super::style::Style;
use crate::fsio::Held;
pub use crate::model::brief::summary;
use crate::model::form::FormAnswer;
use crate::model::interaction::{
    Choice, Effect, FormQuestion, Interaction, Outcome, Question, State, Status, Tool,
};
use crate::model::json::Json;
use crate::model::response::{Body, Response};
use crate::policy::{COMMAND_MEMBERS, Call, SHELL_TOOLS, irreversible};
use crate::text::{block, cut, line, width};
use crate::time::Time;

/// How it is drawn.
#[derive(Clone, Copy)]
pub struct Look {
    /// Its colours.
    pub style: Style,
    /// Its width.
    pub columns: usize,
    /// What `now` is for ages.
    pub now: Time,
}

/// Everything that was asked, and the answer where there is one.
pub fn record(record: &Interaction, waiting: Option<Held>, look: Look) -> Vec<String> {
    let mut lines = vec![head(record, waiting, look)];
    let q = &record.question;
    let pairs = [
        ("agent", Some(&q.agent)),
        ("instance", q.agent_instance.as_ref()),
        ("project", q.project.as_ref()),
        ("directory", q.cwd.as_ref()),
        ("session", q.session_id.as_ref()),
        ("workflow", q.workflow_id.as_ref()),
        ("task", q.task_id.as_ref()),
        ("key", q.key.as_ref()),
        ("host", q.host.as_ref()),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            field(&mut lines, name, value, look);
        }
    }
    put_block(&mut lines, "", &q.prompt, look);
    if let Some(action) = q.action() {
        lines.push(look.style.dim("action"));
        put_block(&mut lines, "", action, look);
    }
    if let Some(tool) = q.tool()
        && q.questions().is_empty()
    {
        put_tool(&mut lines, tool, look);
    }
    if q.questions().is_empty() {
        let tool = q
            .tool()
            .map(|tool| (tool.name.as_str(), tool.input.as_ref()));
        lines.extend(no_way_back(tool, q.action(), look));
    }
    for (index, choice) in q.choices().iter().enumerate() {
        let number = numbered(index + 1, q.choices().len());
        put_choice(&mut lines, &number, choice, look);
    }
    for (index, question) in q.questions().iter().enumerate() {
        put_form_question(&mut lines, index + 1, question, look);
    }
    if let Some(response) = record.response() {
        put_response(&mut lines, q, response, look);
    }
    lines
}

fn head(record: &Interaction, waiting: Option<Held>, look: Look) -> String {
    let status = record.status_at(look.now);
    let mut parts = vec![record.question.kind().name().replace('_', " ")];
    parts.push(record.id.to_string());
    parts.push(format!(
        "asked {} ago",
        span::age(look.now, record.created_at)
    ));
    match (status, record.expires_at) {
        (Status::Pending, Some(deadline)) => {
            parts.push(format!("{} left", span::left(look.now, deadline)));
        }
        (Status::Pending, None) => parts.push("suspended".into()),
        _ => parts.push(ending(record, status)),
    }
    if status == Status::Pending {
        match waiting {
            Some(Held::No) if !record.question.suspended => parts.push("nobody is waiting".into()),
            Some(Held::Yes) => parts.push("waiting".into()),
            _ => {}
        }
    }
    look.style.bold(&parts.join(" · "))
}

fn ending(record: &Interaction, status: Status) -> String {
    match &record.state {
        State::Settled {
            outcome: Outcome::Superseded(by),
            ..
        } => format!("superseded by {by}"),
        _ => status.name().into(),
    }
}

fn field(lines: &mut Vec<String>, name: &str, value: &str, look: Look) {
    let value_line = line(value);
    if name.len() + 1 + width(&value_line) <= look.columns {
        lines.push(format!("{} {value_line}", look.style.dim(name)));
    } else {
        lines.push(look.style.dim(name));
        put_block(lines, "", value, look);
    }
}

fn put_block(lines: &mut Vec<String>, indent: &str, text: &str, look: Look) {
    let block = block(text, look.columns.saturating_sub(indent.len()));
    lines.extend(block.lines.iter().map(|l| format!("{indent}{l}")));
    lines.extend(
        block
            .notes
            .iter()
            .map(|n| format!("{indent}{}", look.style.yellow(&format!("! {n}")))),
    );
}

fn put_tool(lines: &mut Vec<String>, tool: &Tool, look: Look) {
    field(lines, "tool", &tool.name, look);
    let members = tool.input.as_ref().map(Json::members).unwrap_or_default();
    let commands = COMMAND_MEMBERS;
    let shell = members
        .iter()
        .any(|(name, _)| commands.contains(&name.as_str()))
        || SHELL_TOOLS.contains(&tool.name.as_str());
    let blank = |value: &Json| text_of(value).is_some_and(|t| t.trim().is_empty());
    let given = |(name, value): &(String, Json)| commands.contains(&name.as_str()) && !blank(value);
    if shell && !members.iter().any(given) {
        lines.push(look.style.red("  no command supplied"));
    }
    match &tool.input {
        Some(input) if !input.is_object() => put_block(lines, "  ", input.as_str(), look),
        _ => {
            for (name, value) in &members {
                put_member(lines, name, value, look);
            }
        }
    }
}

/// The mark of a call that holds commands which cannot be undone; none of any other.
pub fn no_way_back(
    tool: Option<(&str, Option<&Json>)>,
    action: Option<&str>,
    look: Look,
) -> Option<String> {
    let input = tool.and_then(|(_, input)| input).map(Json::value);
    let call = Call {
        tool_name: tool.map(|(name, _)| name),
        input: input.as_ref(),
        action,
        ..Call::default()
    };
    let names = irreversible(&call).join(", ");
    let mark = format!("! cannot be undone: {names}");
    (!names.is_empty()).then(|| look.style.red(&mark))
}

/// A member's name on a line of its own, then its value under the gutter; both whole.
fn put_member(lines: &mut Vec<String>, name: &str, value: &Json, look: Look) {
    let label = line(name);
    if width(&label) + 2 <= look.columns {
        lines.push(look.style.dim(&format!("  {label}")));
    } else {
        put_block(lines, "  ", name, look);
    }
    let signed = |sign: char, text: &str| {
        let signed: Vec<String> = text.split('\n').map(|l| format!("{sign} {l}")).collect();
        signed.join("\n")
    };
    let text = match (name, text_of(value)) {
        ("old_string", Some(text)) => signed('-', &text),
        ("new_string" | "content", Some(text)) => signed('+', &text),
        (_, Some(text)) => text,
        (_, None) => serde_json::to_string_pretty(&value.value())
            .unwrap_or_else(|_| value.as_str().to_owned()),
    };
    put_block(lines, "  ", &text, look);
}

fn text_of(value: &Json) -> Option<String> {
    serde_json::from_str(value.as_str()).ok()
}

/// How many digits the numbers of so many options have, all of them alike; 0 where there are none.
pub fn digits(count: usize) -> usize {
    match count {
        0 => 0,
        1..=9 => 1,
        _ => 2,
    }
}

/// The number of one of so many options, as it is shown and typed.
fn numbered(number: usize, count: usize) -> String {
    format!("{number:0width$}", width = digits(count))
}

/// The first and the last number of so many options.
pub fn numbers(count: usize) -> String {
    format!("{}-{}", numbered(1, count), numbered(count, count))
}

fn put_choice(lines: &mut Vec<String>, number: &str, choice: &Choice, look: Look) {
    let (id, label) = (look.style.bold(&choice.id), line(&choice.label));
    let effect = match choice.effect {
        Some(Effect::Allow) => look.style.green(" (allows)"),
        Some(Effect::Deny) => look.style.red(" (denies)"),
        None => String::new(),
    };
    let used = format!("  {number} {}  {label} (denies)", choice.id);
    if width(&used) <= look.columns {
        lines.push(format!("  {number} {id}  {label}{effect}"));
    } else {
        lines.push(format!("  {number} {id}{effect}"));
        put_block(lines, "    ", &choice.label, look);
    }
    if let Some(detail) = &choice.detail {
        put_block(lines, "    ", detail, look);
    }
}

fn put_form_question(lines: &mut Vec<String>, number: usize, question: &FormQuestion, look: Look) {
    let takes = match (question.options.is_empty(), question.multi_select) {
        (true, _) => "takes text",
        (false, true) => "pick one or more, or other",
        (false, false) => "pick one, or other",
    };
    lines.push(look.style.bold(&format!("#{number} ({takes})")));
    if let Some(header) = &question.header {
        put_block(lines, "  ", header, look);
    }
    put_block(lines, "  ", &question.question, look);
    for (index, option) in question.options.iter().enumerate() {
        let label = line(&option.label);
        let number = numbered(index + 1, question.options.len());
        if width(&label) + 9 <= look.columns {
            lines.push(format!("    {number} {label}"));
        } else {
            lines.push(format!("    {number}"));
            put_block(lines, "      ", &option.label, look);
        }
        if let Some(description) = &option.description {
            put_block(lines, "      ", description, look);
        }
    }
}

fn put_response(lines: &mut Vec<String>, question: &Question, response: &Response, look: Look) {
    let own = match &response.responder.agent_session {
        Some(_) => " (self-answered, from inside an agent's session)",
        None => "",
    };
    let by = format!(
        "{} through {} at {}{own}",
        response.answered_by, response.source, response.created_at
    );
    field(lines, "answered by", &by, look);
    match &response.body {
        Body::Choice(id) => {
            let label = question
                .choices()
                .iter()
                .find(|c| c.id == *id)
                .map_or("", |c| &c.label);
            field(lines, "choice", &format!("{id} {label}"), look);
        }
        Body::Text(text) => put_block(lines, "", text, look),
        Body::Declined => lines.push("declined".into()),
        Body::Form(reply) => {
            for (text, answer) in reply.answers.iter().flatten() {
                let number = question
                    .questions()
                    .iter()
                    .position(|q| q.question == *text);
                lines.push(look.style.bold(&format!("#{}", number.unwrap_or(0) + 1)));
                put_answer(lines, answer, look);
            }
            if !reply.unanswered.is_empty() {
                lines.push(format!("{} left unanswered", reply.unanswered.len()));
            }
            if let Some(text) = &reply.response {
                lines.push(look.style.dim("response"));
                put_block(lines, "", text, look);
            }
        }
    }
    if let Some(message) = &response.message {
        lines.push(look.style.dim("message"));
        put_block(lines, "", message, look);
    }
    if let Some(input) = &response.updated_input {
        lines.push(look.style.dim("edited input"));
        put_block(lines, "", input.as_str(), look);
    }
    if let Some(rules) = &response.updated_permissions {
        lines.push(look.style.dim("remembered"));
        put_block(lines, "", rules.as_str(), look);
    }
}

/// The labels, the free text and the note, each under a name of its own where it is no label.
fn put_answer(lines: &mut Vec<String>, answer: &FormAnswer, look: Look) {
    for label in answer.labels() {
        put_block(lines, "  ", label, look);
    }
    for (name, text) in [("other", &answer.other), ("note", &answer.note)] {
        if let Some(text) = text {
            lines.push(look.style.dim(&format!("  ({name})")));
            put_block(lines, "  ", text, look);
        }
    }
}

/// The head of a prompt, for lists of candidates.
pub fn prompt_head(prompt: &str) -> String {
    cut(prompt, 40)
}
