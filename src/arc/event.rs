//! An event as it was sent: from JSON to what it means, or to the reason why it means nothing.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::members::Members;
use super::request::{self, Request, Sender};
use crate::error::{Error, Result};
use crate::id::{Id, hex, is_hex};
use crate::model::json::Json;
use crate::model::response::{Answer, Submission, is_name};

/// The bound of one event, in bytes.
pub const EVENT_MAX: usize = 1 << 20;

/// What an event does. It holds secrets and so has no `Debug`.
#[derive(Clone)]
pub enum Body {
    /// Something wants attention, or asks.
    Created(Request),
    /// It wants it otherwise now.
    Updated(Request),
    /// A human answered.
    Submitted {
        /// The logical name of the question.
        key: String,
        /// The answer, checked as far as it can be without the question.
        answer: Box<Answer>,
    },
    /// Attention is no longer wanted.
    Resolved {
        /// The logical name of the question.
        key: String,
    },
}

/// The types of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Type {
    Created,
    Updated,
    Submitted,
    Resolved,
}

impl Type {
    const ALL: [Self; 4] = [
        Self::Created,
        Self::Updated,
        Self::Submitted,
        Self::Resolved,
    ];

    /// The name in an event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created => "request.created",
            Self::Updated => "request.updated",
            Self::Submitted => "response.submitted",
            Self::Resolved => "request.resolved",
        }
    }
}

/// An event that the contract allows and that makes sense here. It holds secrets and so has no `Debug`.
#[derive(Clone)]
pub struct Event {
    /// Its sender's name for it.
    pub id: String,
    /// Who sent it.
    pub sender: Sender,
    /// Where the sender works: an absolute path.
    pub cwd: Option<String>,
    /// What it does.
    pub body: Body,
    /// The hash of what a second event under the same id must say too.
    pub(super) content: String,
}

impl Event {
    /// Its type.
    pub fn kind(&self) -> Type {
        match self.body {
            Body::Created(_) => Type::Created,
            Body::Updated(_) => Type::Updated,
            Body::Submitted { .. } => Type::Submitted,
            Body::Resolved { .. } => Type::Resolved,
        }
    }

    /// The logical name of the request that it is about.
    pub fn key(&self) -> &str {
        match &self.body {
            Body::Created(request) | Body::Updated(request) => &request.key,
            Body::Submitted { key, .. } | Body::Resolved { key } => key,
        }
    }

    /// What tells it from every other event: 64 hex characters.
    pub(super) fn identity(&self) -> String {
        sha256(&json!([self.sender.id, self.id]).to_string())
    }

    /// The id of a question that it opens: the same each time it comes.
    pub(super) fn question_id(&self) -> Id {
        let hash = Sha256::digest(format!("arc\n{}", self.identity()));
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        Id::from_bytes(&first)
    }
}

/// Reads one event.
///
/// # Errors
/// `invalid_input` for what is no ARC 0.2 event by its schema, is longer than [`EVENT_MAX`], or asks for
/// what no question here can be; the member is named.
pub fn parse(text: &str) -> Result<Event> {
    if text.trim().is_empty() {
        return Err(Error::input("the event is empty"));
    }
    let value = Json::parse("the event", text, EVENT_MAX)?.value();
    let root = Members::any("", &value)?;
    version(&root)?;
    let kind = root.one_of("event_type", &Type::ALL, Type::name)?;
    let kind = root.needed("event_type", kind)?;
    let root = Members::of("", &value, known(kind))?;
    let id = root.needed("event_id", root.text("event_id", 1, 512)?)?;
    root.needed("occurred_at", root.time("occurred_at")?)?;
    let sender = request::sender(root.needed("sender", root.get("sender"))?)?;
    let context = request::context(root.get("context"))?;
    if let Some(extensions) = root.get("extensions") {
        check_extensions(extensions)?;
    }
    let given = root.needed("request", root.get("request"))?;
    let content = sha256(&json!([kind.name(), said(kind, &value)]).to_string());
    let body = match kind {
        Type::Created | Type::Updated => {
            let members = request::members(given)?;
            let key = match kind {
                Type::Updated => needed_key(&members)?,
                _ => key(&members)?.unwrap_or_else(|| derived_key(&sender, &id)),
            };
            let request = request::read(&members, key, &sender, &context)?;
            match kind {
                Type::Updated => Body::Updated(request),
                _ => Body::Created(request),
            }
        }
        Type::Submitted => Body::Submitted {
            key: needed_key(&Members::of("request", given, &["key"])?)?,
            answer: Box::new(answer(root.get("response"), &root, &sender)?),
        },
        Type::Resolved => Body::Resolved {
            key: resolved(&Members::of("request", given, &["key", "outcome"])?)?,
        },
    };
    Ok(Event {
        id,
        sender,
        cwd: context.cwd,
        body,
        content,
    })
}

fn version(root: &Members<'_>) -> Result<()> {
    match root.get("arc_version") {
        Some(version) if version == "0.2" => Ok(()),
        _ => Err(root.wrong("arc_version", "\"0.2\"")),
    }
}

/// The members that an event of a type may have.
fn known(kind: Type) -> &'static [&'static str] {
    const WITH_RESPONSE: [&str; 9] = [
        "arc_version",
        "event_id",
        "event_type",
        "occurred_at",
        "sender",
        "context",
        "request",
        "extensions",
        "response",
    ];
    match kind {
        Type::Submitted => &WITH_RESPONSE,
        Type::Created | Type::Updated | Type::Resolved => {
            WITH_RESPONSE.split_last().map_or(&[], |(_, rest)| rest)
        }
    }
}

/// What an event says that a repetition of it says too. A sender that sends it again may tell the time of
/// that and another deadline, and an answer is compared by the rules of answers.
fn said(kind: Type, value: &Value) -> Value {
    let request = &value["request"];
    match kind {
        Type::Submitted | Type::Resolved => json!([request["key"]]),
        Type::Created | Type::Updated => {
            let response = &request["response"];
            json!([
                request["key"],
                request["kind"],
                request["message"],
                response["kind"],
                response["choices"],
                response["text_max_length"],
                value["context"]["project"],
                value["context"]["cwd"],
            ])
        }
    }
}

/// The bound of a key, in characters.
const KEY_MAX: usize = 100;

/// Whether a text can be the key of an event. JSON Schema counts a byte order mark as blank.
pub(super) fn is_key(text: &str) -> bool {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    text.chars().count() <= KEY_MAX && !text.chars().all(blank)
}

fn key(request: &Members<'_>) -> Result<Option<String>> {
    match request.word("key", KEY_MAX)? {
        Some(key) if !is_key(&key) => Err(request.wrong("key", "more than blanks")),
        key => Ok(key),
    }
}

fn needed_key(request: &Members<'_>) -> Result<String> {
    request.needed("key", key(request)?)
}

/// The key of a request that was created without one.
fn derived_key(sender: &Sender, event_id: &str) -> String {
    format!("arc:{}", sha256(&format!("{}\n{event_id}", sender.id)))
}

/// What was asked of a request that is over is for people; that it is over is all that counts.
fn resolved(request: &Members<'_>) -> Result<String> {
    const OUTCOMES: [&str; 5] = [
        "answered",
        "expired",
        "cancelled",
        "superseded",
        "not_needed",
    ];
    request.one_of("outcome", &OUTCOMES, |name| name)?;
    needed_key(request)
}

fn answer(response: Option<&Value>, root: &Members<'_>, sender: &Sender) -> Result<Answer> {
    const KNOWN: [&str; 7] = [
        "response_id",
        "digest",
        "nonce",
        "choice_id",
        "text",
        "source",
        "device_id",
    ];
    let response = Members::of("response", root.needed("response", response)?, &KNOWN)?;
    let digest = response.needed("digest", response.string("digest")?)?;
    if digest.len() != 64 || !is_hex(digest) {
        return Err(response.wrong("digest", "64 lowercase hex characters"));
    }
    let source = response.text("source", 1, 64)?;
    if source.as_deref().is_some_and(|source| !is_name(source)) {
        return Err(response.wrong("source", request::NAME));
    }
    let choice_id = response.text("choice_id", 1, 64)?;
    if choice_id.as_deref().is_some_and(|id| !is_name(id)) {
        return Err(response.wrong("choice_id", request::NAME));
    }
    Answer::try_from(Submission {
        response_id: response.needed("response_id", response.text("response_id", 1, 128)?)?,
        digest: Some(digest.to_owned()),
        nonce: response.text("nonce", 1, 128)?,
        choice_id,
        text: response.text("text", 1, 2000)?,
        source: source.unwrap_or_else(|| "arc".into()),
        device_id: response.text("device_id", 1, 128)?,
        answered_by: sender.id.clone(),
        ..Submission::default()
    })
}

/// Vendors' extensions are not looked into, but for the one whose members are known: a misspelled one
/// would silently do nothing.
fn check_extensions(value: &Value) -> Result<()> {
    let extensions = Members::any("extensions", value)?;
    for name in extensions.names() {
        let vendor = name.strip_prefix("x-").unwrap_or_default();
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = vendor.bytes().next().is_some_and(plain)
            && vendor.bytes().all(|b| plain(b) || matches!(b, b'.' | b'-'))
            && vendor.len() <= 64;
        if !fits {
            return Err(extensions.unknown(name).hint(
                "an extension is called x-VENDOR: 1 to 64 of a-z, 0-9, '.' and '-', the first no sign",
            ));
        }
    }
    if let Some(ours) = extensions.get("x-agentnotify") {
        let ours = Members::of("extensions.x-agentnotify", ours, &["notification_type"])?;
        ours.string("notification_type")?;
    }
    Ok(())
}

/// A text's hash, 64 hex characters.
pub(super) fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}
