//! What the tools are and take, for the client's model.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Value, json};

const ASK: &str = "Ask the human operator a question and wait for the answer. Use it when you cannot go on without a decision, a preference or a fact that only a person has. Give 'question' (with 'options' to pick from, if any), or several 'questions' at once. If nobody answers in time, proceed on your best judgment and state the assumption.";
const REQUEST_APPROVAL: &str = "Ask the human operator for permission before you do something destructive, irreversible or outside what you were told to do, and wait for the decision. Do it only if the result says behavior \"allow\"; use the updatedInput that it gives.";
const WAIT_FOR_ANSWER: &str = "Go on waiting for a question of yours that came back as pending. Returns what the call that asked would have returned, or pending again.";
const LIST: &str =
    "List the questions that wait for a human, oldest first; with 'all' also those that ended.";
const ANSWER: &str = "Answer a question on behalf of the operator, only as the operator told you to. Exactly one of decision, choice_id, text, answers or response.";

/// The tools for an agent.
pub(super) fn for_agents() -> Vec<Tool> {
    let options = json!({ "type": "array", "items": { "type": "object", "properties": {
        "label": text("What is picked"),
        "description": text("What it means"),
    }, "required": ["label"] } });
    let questions = json!({
        "type": "array",
        "description": "Several questions at once; wins over 'question'",
        "items": { "type": "object", "properties": {
            "question": text("The question, different from all others"),
            "header": text("A very short title"),
            "options": options,
            "multi_select": flag("Whether several options may be picked"),
        }, "required": ["question"] },
    });
    let ask = [
        ("question", text("The question")),
        (
            "options",
            json!({
                "type": "array", "items": { "type": "string" },
                "description": "Answers to pick from; free text is always possible",
            }),
        ),
        ("questions", questions),
    ];
    let approval = [
        (
            "action",
            text("What you want to do, in words or as a command"),
        ),
        ("tool_name", text("The tool that you want to use")),
        (
            "arguments",
            json!({ "type": "object", "description": "The tool's arguments, whole" }),
        ),
        (
            "input",
            json!({ "type": "object", "description": "The tool's input, as a host's permission prompt gives it" }),
        ),
        ("tool_use_id", text("The host's id of the tool call")),
        (
            "suggestions",
            json!({ "type": "array", "description": "The host's permission suggestions" }),
        ),
    ];
    let wait = [
        (
            "interaction_id",
            text("The id that came with the pending result"),
        ),
        (
            "wait_secs",
            seconds("Return as pending after so many seconds"),
        ),
    ];
    vec![
        tool("ask", ASK, ask.into_iter().chain(common()), &[]),
        tool(
            "request_approval",
            REQUEST_APPROVAL,
            approval.into_iter().chain(common()),
            &[],
        ),
        tool(
            "wait_for_answer",
            WAIT_FOR_ANSWER,
            wait,
            &["interaction_id"],
        ),
    ]
}

/// The tools for the operator's own assistant.
pub(super) fn for_management() -> Vec<Tool> {
    let place = (
        "project_root",
        text("Act for the repository around this directory"),
    );
    let list = [
        ("all", flag("Questions of every status")),
        ("agent_id", text("Only this agent's")),
        (
            "limit",
            json!({ "type": "integer", "minimum": 0, "description": "Only the newest so many" }),
        ),
        place.clone(),
    ];
    let answer = [
        (
            "id",
            text("The question's id, or a prefix of at least 4 characters"),
        ),
        (
            "decision",
            json!({ "type": "string", "enum": ["allow", "deny"] }),
        ),
        ("choice_id", text("One of the offered choices")),
        (
            "text",
            text("The answer to a question that takes a text, or to a form of one question"),
        ),
        (
            "answers",
            json!({ "type": "object", "description": "By exact question text: a label, an array of labels, {\"other\": text}, or {\"labels\": […], \"other\": text}; an object may hold a \"note\" too, and one label as \"label\"" }),
        ),
        ("response", text("A free response to a form")),
        ("message", text("A note to the asker")),
        (
            "updated_input",
            json!({ "type": "object", "description": "Allow with this tool input instead" }),
        ),
        (
            "updated_permissions",
            json!({ "type": "array", "description": "Permission rules to hand back to the host" }),
        ),
        (
            "remember",
            flag("Hand back the host's own suggestions for its local settings"),
        ),
        ("answered_by", text("Who answers")),
        (
            "digest",
            text("Refuse if the question is not the one with this digest"),
        ),
        ("response_id", text("The idempotency key")),
        place,
    ];
    vec![
        tool("interactions_list", LIST, list, &[]),
        tool("interactions_answer", ANSWER, answer, &["id"]),
    ]
}

/// The names of what a management tool takes.
pub(super) fn parameters(tool: &str) -> Vec<String> {
    let tools = for_management();
    let found = tools.iter().find(|t| t.name == tool);
    let properties = found.and_then(|tool| tool.input_schema.get("properties")?.as_object());
    properties.map_or_else(Vec::new, |members| members.keys().cloned().collect())
}

/// What both asking tools take.
fn common() -> [(&'static str, Value); 6] {
    [
        (
            "timeout_secs",
            seconds("How long the question stays open (1 to 3600)"),
        ),
        (
            "wait_secs",
            seconds("Return as pending after so many seconds; the question stays open"),
        ),
        (
            "wait",
            json!({
                "type": "string", "enum": ["block", "suspend"],
                "description": "Whether the call waits, or the workflow is suspended where the server has one",
            }),
        ),
        ("agent_id", text("Who you are")),
        ("workflow_id", text("The workflow that this belongs to")),
        ("task_id", text("The task that this belongs to")),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: impl IntoIterator<Item = (&'static str, Value)>,
    required: &[&str],
) -> Tool {
    let properties = properties
        .into_iter()
        .map(|(n, schema)| (n.to_owned(), schema));
    let schema = json!({
        "type": "object",
        "properties": Value::Object(properties.collect()),
        "required": required,
    });
    let schema = match schema {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    };
    Tool::new(name, description, Arc::new(schema))
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn seconds(description: &str) -> Value {
    json!({ "type": "number", "description": description })
}
