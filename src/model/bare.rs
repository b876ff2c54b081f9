//! A record in the twenty members of the older broker, in its names and order. Absent ones are `null`.

use serde_json::{Value, json};

use super::interaction::{Body, Choice, FormQuestion, Interaction, Kind, Question};
use super::response::{Body as Answered, Response};
use super::transition;
use crate::time::Time;

/// The text length of kinds that take no text: its clients read an integer everywhere.
const TEXT_LENGTH: u32 = 500;

/// The record as anyone may see it at `now` (an overdue one is expired), nonce included. A form is shown
/// as a text with its questions in the prompt: those clients know no forms.
pub fn record(record: &Interaction, now: Time) -> Value {
    let expired = transition::expire(record, now);
    let record = expired.as_ref().unwrap_or(record);
    let q = &record.question;
    let answered_at = record.response().map(|_| record.updated_at());
    json!({
        "id": record.id.as_str(),
        "key": q.key,
        "agent": q.agent,
        "agent_instance": q.agent_instance,
        "project": q.project,
        "session_id": q.session_id,
        "turn_id": q.turn_id,
        "native_request_id": q.native_request_id,
        "kind": kind(q).name(),
        "prompt": prompt(q),
        "choices": q.choices().iter().map(choice).collect::<Vec<_>>(),
        "text_max_length": match q.body {
            Body::Text { max_length } => max_length,
            _ => TEXT_LENGTH,
        },
        "status": record.status().name(),
        "request_digest": record.digest,
        "nonce": record.nonce.expose(),
        "created_at": seconds(record.created_at),
        "updated_at": seconds(record.updated_at()),
        "expires_at": record.expires_at.map(seconds),
        "answered_at": answered_at.map(seconds),
        "response": record.response().map(answer),
    })
}

/// The kind under which those clients know it.
pub fn kind(question: &Question) -> Kind {
    match question.kind() {
        Kind::Form => Kind::Text,
        kind => kind,
    }
}

fn choice(choice: &Choice) -> Value {
    json!({ "id": choice.id, "label": choice.label, "detail": choice.detail })
}

fn answer(response: &Response) -> Value {
    let (choice, text) = match &response.body {
        Answered::Choice(id) => (Some(id), None),
        Answered::Text(text) => (None, Some(text)),
        Answered::Form(_) | Answered::Declined => (None, None),
    };
    json!({
        "response_id": response.response_id,
        "choice_id": choice,
        "text": text,
        "source": response.source,
        "device_id": response.device_id,
        "created_at": seconds(response.created_at),
    })
}

fn prompt(question: &Question) -> String {
    let asked = |(at, q): (usize, &FormQuestion)| {
        let labels: Vec<&str> = q.options.iter().map(|o| o.label.as_str()).collect();
        let offered = match labels.as_slice() {
            [] => String::new(),
            _ => format!(" ({})", labels.join(" | ")),
        };
        format!("\n{}. {}{offered}", at + 1, q.question)
    };
    let questions = question.questions().iter().enumerate().map(asked);
    question.prompt.clone() + &questions.collect::<String>()
}

/// RFC 3339 in UTC, in whole seconds.
fn seconds(time: Time) -> String {
    let whole = time.to_string();
    let end = whole.find('.').unwrap_or(whole.len().saturating_sub(1));
    format!("{}Z", &whole[..end])
}
