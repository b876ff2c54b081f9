//! The way back: what happened here, as events that any reader of ARC 0.2 understands.
//!
//! Promise: each is one that this program would take itself. What the contract has no place for goes out
//! as information, without it and without the offer to answer; digest and nonce never go out.

use serde_json::{Map, Value, json};

use super::event::{is_key, parse};
use super::headline::Kind;
use crate::events::{Event, Type};
use crate::model::draft::PROMPT_MAX;
use crate::model::interaction::{Body, Choice, Interaction, Kind as Asked, Question};
use crate::notice::Priority;

/// What an event of the log is in ARC 0.2: a new question, or a question's end. None for any other, nor for
/// one that was superseded: its successor, told before, took its key, which an end would withdraw.
pub fn told(event: &Event, record: &Interaction) -> Option<Value> {
    if event.interaction_id.as_deref() != Some(record.id.as_str()) {
        return None;
    }
    let outcome = match event.kind_of_event {
        Type::InteractionCreated => return created(event, record),
        Type::InteractionAnswered => "answered",
        Type::InteractionExpired => "expired",
        Type::InteractionCancelled => "cancelled",
        _ => return None,
    };
    let (key, _) = key(record);
    let request = json!({ "key": key, "outcome": outcome });
    let sender = json!({ "id": record.question.agent });
    valid(envelope(event, "request.resolved", sender, None, request))
}

/// Whether an event of this type is told at all.
pub fn is_told(kind: Type) -> bool {
    matches!(
        kind,
        Type::InteractionCreated
            | Type::InteractionAnswered
            | Type::InteractionExpired
            | Type::InteractionCancelled
    )
}

fn created(event: &Event, record: &Interaction) -> Option<Value> {
    let question = &record.question;
    let (key, key_fits) = key(record);
    let mut sender = Fitting::new([("id", Some(&question.agent), 100)]);
    sender.put("instance_id", question.agent_instance.as_ref(), 100);
    let context = Fitting::new([
        ("session_id", question.session_id.as_ref(), 100),
        ("project", question.project.as_ref(), 200),
        ("cwd", question.cwd.as_ref(), 1024),
        ("turn_id", question.turn_id.as_ref(), 200),
        (
            "native_request_id",
            question.native_request_id.as_ref(),
            200,
        ),
    ]);
    let whole = key_fits && sender.all && context.all;
    let send = |request: Value| {
        let sender = Value::Object(sender.kept.clone());
        let context = (!context.kept.is_empty()).then(|| Value::Object(context.kept.clone()));
        valid(envelope(event, "request.created", sender, context, request))
    };
    let asked = asked(record).filter(|_| whole).and_then(|(kind, message, response)| {
        send(json!({ "key": key, "kind": kind.name(), "message": message, "response": response }))
    });
    asked.or_else(|| {
        let kind = match question.kind() {
            Asked::Permission => Kind::Permission,
            _ => Kind::Question,
        };
        send(json!({
            "key": key,
            "kind": Kind::Information.name(),
            "message": question.prompt,
            "title": kind.title(&question.agent),
            "priority": Priority::High.name(),
        }))
    })
}

/// The name of a question in events: its key where that fits, else its id; and whether it fits.
fn key(record: &Interaction) -> (String, bool) {
    match &record.question.key {
        Some(key) if is_key(key) => (key.clone(), true),
        Some(_) => (record.id.to_string(), false),
        None => (record.id.to_string(), true),
    }
}

/// Members that may be too long for an event.
struct Fitting {
    kept: Map<String, Value>,
    /// Whether all were kept.
    all: bool,
}

impl Fitting {
    fn new<const N: usize>(members: [(&str, Option<&String>, usize); N]) -> Self {
        let mut fitting = Self {
            kept: Map::new(),
            all: true,
        };
        for (name, text, max) in members {
            fitting.put(name, text, max);
        }
        fitting
    }

    fn put(&mut self, name: &str, text: Option<&String>, max: usize) {
        match text {
            Some(text) if text.chars().count() <= max => {
                self.kept.insert(name.to_owned(), text.as_str().into());
            }
            Some(_) => self.all = false,
            None => {}
        }
    }
}

/// A question with everything that is shown of it, and the answer that it wants; none where an event has
/// no place for one of them.
fn asked(record: &Interaction) -> Option<(Kind, String, Value)> {
    let question = &record.question;
    let expires_at = record.expires_at?.to_string();
    let mut response = json!({ "kind": question.kind().name() });
    let kind = match &question.body {
        Body::Permission { .. } => Kind::Permission,
        Body::SingleChoice { .. } => Kind::Question,
        Body::Text { max_length } => {
            response["text_max_length"] = (*max_length).into();
            Kind::Question
        }
        Body::Form { .. } => return None,
    };
    if !question.choices().is_empty() {
        response["choices"] = question.choices().iter().map(choice).collect();
    }
    response["expires_at"] = expires_at.into();
    let message = message(question);
    (message.chars().count() <= PROMPT_MAX).then_some((kind, message, response))
}

fn choice(choice: &Choice) -> Value {
    let mut value = json!({ "id": choice.id, "label": choice.label });
    if let Some(detail) = &choice.detail {
        value["detail"] = detail.as_str().into();
    }
    value
}

/// The prompt, and what it is about: nobody may allow what they were not shown.
fn message(question: &Question) -> String {
    let mut parts = vec![question.prompt.clone()];
    parts.extend(question.action().map(str::to_owned));
    if let Some(tool) = question.tool() {
        let input = tool.input.as_ref().map_or("no input", |i| i.as_str());
        parts.push(format!("{}: {input}", tool.name));
    }
    parts.join("\n\n")
}

fn envelope(
    event: &Event,
    kind: &str,
    sender: Value,
    context: Option<Value>,
    request: Value,
) -> Value {
    let mut value = json!({
        "arc_version": "0.2",
        "event_id": event.id,
        "event_type": kind,
        "occurred_at": event.at,
        "sender": sender,
    });
    if let Some(context) = context {
        value["context"] = context;
    }
    value["request"] = request;
    value
}

fn valid(value: Value) -> Option<Value> {
    parse(&value.to_string()).is_ok().then_some(value)
}
