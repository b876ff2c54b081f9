//! What a phone is shown of a question, and the envelope that carries it.

use std::time::Duration;

use serde_json::{Value, json};

use super::seal::{DeviceKey, Fresh, seal};
use crate::http::SENT_MAX;
use crate::model::draft::{TEXT_DEFAULT, effect_of};
use crate::model::interaction::{Body, Choice, Effect, Interaction, Kind};
use crate::text;
use crate::time::Time;

/// The version of the payload's and the answers' form.
pub(super) const CONTRACT_VERSION: &str = "1";
const ENVELOPE_VERSION: &str = "1";
/// How far ahead an envelope's deadline may be.
const AHEAD_MAX: Duration = Duration::from_secs(24 * 3600);
/// The bound of a prompt as it is published, in characters.
const PROMPT_MAX: usize = 2000;
/// The bound of a label, in characters.
const LABEL_MAX: usize = 200;
/// The bound of a choice's detail, in characters.
const DETAIL_MAX: usize = 500;

/// A paired phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// 1–128 characters.
    pub(super) id: String,
    /// Which of its keys.
    pub(super) key_id: Option<String>,
    /// The key.
    pub(super) key: DeviceKey,
}

/// Whether choices go out with their details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Details {
    Kept,
    Left,
}

/// The body of `POST /v1/envelopes` for a question; none where no device could be sealed for.
///
/// A question that does not fit whole goes out as a notice: never as a card that can be allowed unseen.
pub(super) fn body(
    record: &Interaction,
    sender_id: &str,
    devices: &[Device],
    now: Time,
) -> Option<Vec<u8>> {
    let deadline = deadline(record, now);
    let whole = |details| payload(record, deadline, details);
    let kept = whole(Details::Kept)
        .into_iter()
        .chain(whole(Details::Left))
        .chain([notice(record)]);
    let mut bodies = kept.map(|payload| around(&payload, record, sender_id, devices, deadline));
    bodies.find(|body| body.as_ref().is_none_or(|body| body.len() <= SENT_MAX))?
}

fn deadline(record: &Interaction, now: Time) -> Time {
    let latest = now.plus(AHEAD_MAX);
    record.expires_at.map_or(latest, |at| at.min(latest))
}

fn around(
    payload: &Value,
    record: &Interaction,
    sender_id: &str,
    devices: &[Device],
    deadline: Time,
) -> Option<Vec<u8>> {
    let text = payload.to_string();
    let expires_at = deadline.to_string();
    let event = record.id.as_str();
    let recipient = |device: &Device| {
        let key_id = device.key_id.as_deref();
        let aad = [
            ENVELOPE_VERSION,
            sender_id,
            &device.id,
            key_id.unwrap_or_default(),
            event,
            &expires_at,
        ]
        .join("|");
        let ciphertext = seal(text.as_bytes(), &aad, &device.key, &Fresh::random())?;
        let mut recipient = json!({ "device_id": device.id, "ciphertext": ciphertext });
        if let Some(key_id) = key_id {
            recipient["key_id"] = key_id.into();
        }
        Some(recipient)
    };
    let recipients: Vec<Value> = devices.iter().filter_map(recipient).collect();
    if recipients.is_empty() {
        return None;
    }
    let envelope = json!({
        "envelope_version": ENVELOPE_VERSION,
        "client_event_id": event,
        "expires_at": expires_at,
        "recipients": recipients,
        "sender_id": sender_id,
    });
    Some(envelope.to_string().into_bytes())
}

/// The whole question; none where a phone could not show all of it.
fn payload(record: &Interaction, deadline: Time, details: Details) -> Option<Value> {
    let q = &record.question;
    if q.kind() == Kind::Form {
        return None;
    }
    // Who allows must have seen everything; one of several may be picked without the details.
    if details == Details::Left && q.kind() == Kind::Permission {
        return None;
    }
    let prompt = prompt(record);
    if prompt.chars().count() > PROMPT_MAX {
        return None;
    }
    let choices: Option<Vec<Value>> = q.choices().iter().map(|c| choice(c, details)).collect();
    let choices = choices?;
    // The contract has both members for every kind: a phone refuses a card without them.
    let text_max_length = match q.body {
        Body::Text { max_length } => u64::from(max_length),
        _ => TEXT_DEFAULT,
    };
    Some(json!({
        "payload_kind": "interaction-request",
        "contract_version": CONTRACT_VERSION,
        "interaction": {
            "id": record.id.as_str(),
            "key": q.key,
            "agent": q.agent,
            "agent_instance": q.agent_instance,
            "project": q.project,
            "session_id": q.session_id,
            "kind": q.kind().name(),
            "prompt": prompt,
            "choices": choices,
            "text_max_length": text_max_length,
            "status": "pending",
            "request_digest": record.digest,
            "nonce": record.nonce.expose(),
            "created_at": record.created_at.to_string(),
            "expires_at": deadline.to_string(),
        },
    }))
}

/// A choice in safe text; none where it would be too long for a phone. What choosing it means is said
/// where its label does not begin with it: a phone shows nothing else.
fn choice(choice: &Choice, details: Details) -> Option<Value> {
    let mut label = text::line(&choice.label);
    if let Some(effect) = choice.effect.filter(|e| Some(*e) != implied(&label)) {
        label.push_str(match effect {
            Effect::Allow => " (allows)",
            Effect::Deny => " (denies)",
        });
    }
    let detail = choice.detail.as_ref().filter(|_| details == Details::Kept);
    let detail = detail.map(|detail| text::line(detail));
    let longest = detail.as_ref().map_or(0, |d| d.chars().count());
    let fits = label.chars().count() <= LABEL_MAX && longest <= DETAIL_MAX;
    fits.then(|| json!({ "id": choice.id, "label": label, "detail": detail }))
}

/// What a reader takes a label for, by its first word.
fn implied(label: &str) -> Option<Effect> {
    let first = label.split(|c: char| !c.is_alphanumeric()).next();
    effect_of(&first.unwrap_or_default().to_lowercase())
}

/// The prompt and, for a tool call or an action, what it is about: who allows it must have seen it. All
/// of it is safe text; the prompt of a call stands on one line, so that it cannot imitate what follows.
fn prompt(record: &Interaction) -> String {
    let q = &record.question;
    let action = q.action().filter(|action| *action != q.prompt);
    if q.tool().is_none() && action.is_none() {
        return text::pipe(&q.prompt);
    }
    let mut shown = text::line(&q.prompt);
    if let Some(tool) = q.tool() {
        shown.push_str("\n\n");
        // Only a hook's own prompt is known to name the tool; any other may merely contain the word.
        let named = q.host.is_some() && q.prompt.ends_with(&format!(" wants to run {}", tool.name));
        if !named {
            shown.push_str(&format!("{}: ", text::line(&tool.name)));
        }
        match &tool.input {
            Some(input) => shown.push_str(&text::line(input.as_str())),
            None => shown.push_str("no command supplied"),
        }
    }
    if let Some(action) = action {
        shown.push_str(&format!("\n\n{}", text::line(action)));
    }
    shown
}

/// What tells of a question that must be answered at the terminal.
fn notice(record: &Interaction) -> Value {
    let wanted = match record.question.kind() {
        Kind::Permission => "permission",
        _ => "input",
    };
    let agent = text::line(&record.question.agent);
    json!({
        "title": format!("{agent} needs {wanted}"),
        "body": "answer at the terminal",
        "level": "info",
    })
}
