//! The parts of a request: who sends it, where, what it says, and the question that it asks.

use std::path::Path;

use serde_json::Value;

use super::headline::Kind;
use super::members::Members;
use crate::error::{Error, Result};
use crate::model::draft::{Draft, PROMPT_MAX};
use crate::model::interaction::{Choice, Kind as Wanted, Question};
use crate::model::response::is_name;
use crate::notice::{Message, Priority};
use crate::time::Time;

/// How the ids of choices and the sources of answers are spelled.
pub(super) const NAME: &str = "1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'";
/// The priorities, by rising urgency.
const PRIORITIES: [Priority; 4] = [
    Priority::Low,
    Priority::Normal,
    Priority::High,
    Priority::Critical,
];

/// Who sent an event.
#[derive(Clone, Debug)]
pub struct Sender {
    /// 1–100 characters, as they were given.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// Which of several.
    pub instance: Option<String>,
}

impl Sender {
    /// What people call it.
    fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }
}

/// Where an event comes from; what is blank is absent.
pub(super) struct Context {
    session: Option<String>,
    project: Option<String>,
    pub(super) cwd: Option<String>,
    turn: Option<String>,
    native: Option<String>,
}

/// What wants attention.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its logical name, given or derived.
    pub key: String,
    /// What is told of it.
    pub message: Message,
    /// What it asks; it only tells something where this is absent.
    pub asked: Option<Asked>,
}

/// A question that an event asks.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// When the sender stops waiting.
    pub until: Time,
}

pub(super) fn sender(value: &Value) -> Result<Sender> {
    let sender = Members::of("sender", value, &["id", "name", "version", "instance_id"])?;
    sender.text("version", 0, 100)?;
    let id = sender.needed("id", sender.text("id", 1, 100)?)?;
    sender.word("id", 100)?;
    let blank = |text: &String| text.trim().is_empty();
    Ok(Sender {
        id,
        name: sender.text("name", 1, 160)?.filter(|n| !blank(n)),
        instance: sender.text("instance_id", 0, 100)?,
    })
}

pub(super) fn context(value: Option<&Value>) -> Result<Context> {
    const KNOWN: [&str; 7] = [
        "session_id",
        "correlation_id",
        "project",
        "cwd",
        "pid",
        "turn_id",
        "native_request_id",
    ];
    let empty = Value::Object(serde_json::Map::new());
    let context = Members::of("context", value.unwrap_or(&empty), &KNOWN)?;
    context.text("correlation_id", 0, 200)?;
    context.whole("pid", 0, u64::MAX)?;
    let text = |name: &str, max: usize| -> Result<Option<String>> {
        let text = context.text(name, 0, max)?;
        Ok(text.filter(|text| !text.trim().is_empty()))
    };
    let cwd = text("cwd", 1024)?;
    if cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
        return Err(context.wrong("cwd", "an absolute path"));
    }
    Ok(Context {
        session: text("session_id", 100)?,
        project: text("project", 200)?,
        cwd,
        turn: text("turn_id", 200)?,
        native: text("native_request_id", 200)?,
    })
}

impl Context {
    /// The project's name: given, else the last part of the directory as far as it fits.
    fn project(&self) -> Option<String> {
        let last = || {
            let name = Path::new(self.cwd.as_deref()?).file_name()?.to_str()?;
            (name.chars().count() <= 200 && !name.trim().is_empty()).then(|| name.to_owned())
        };
        self.project.clone().or_else(last)
    }
}

/// The members of the `request` of a created or updated one.
pub(super) fn members(value: &Value) -> Result<Members<'_>> {
    const KNOWN: [&str; 6] = ["key", "kind", "message", "title", "priority", "response"];
    Members::of("request", value, &KNOWN)
}

/// What a created or updated request says and asks.
pub(super) fn read(
    members: &Members<'_>,
    key: String,
    sender: &Sender,
    context: &Context,
) -> Result<Request> {
    let kind = members.one_of("kind", &Kind::ALL, Kind::name)?;
    let kind = members.needed("kind", kind)?;
    let text = members.needed("message", members.word("message", 4000)?)?;
    let title = members.text("title", 1, 200)?;
    let priority = members.one_of("priority", &PRIORITIES, |p| p.name())?;
    let title = title.filter(|title| !title.trim().is_empty());
    let title = title.unwrap_or_else(|| kind.title(sender.called()));
    let asked = match members.get("response") {
        None => None,
        Some(response) => {
            check_prompt(members, &text)?;
            let draft = Draft {
                key: Some(key.clone()),
                agent: Some(sender.id.clone()),
                agent_instance: sender.instance.clone(),
                project: context.project(),
                session_id: context.session.clone(),
                turn_id: context.turn.clone(),
                native_request_id: context.native.clone(),
                cwd: context.cwd.clone(),
                prompt: text.clone(),
                ..Draft::default()
            };
            Some(asked(response, draft)?)
        }
    };
    let message = Message {
        agent: sender.id.trim().to_owned(),
        project: context.project(),
        title: title.split_whitespace().collect::<Vec<_>>().join(" "),
        body: text,
        priority: priority.unwrap_or(kind.priority()),
    };
    Ok(Request {
        key,
        message,
        asked,
    })
}

fn check_prompt(members: &Members<'_>, text: &str) -> Result<()> {
    let length = text.chars().count();
    if length <= PROMPT_MAX {
        return Ok(());
    }
    Err(Error::input(format!(
        "{} must be at most {PROMPT_MAX} characters where an answer is wanted, not {length}",
        members.path("message")
    )))
}

/// What is asked for, in a question that lacks only that.
fn asked(value: &Value, draft: Draft) -> Result<Asked> {
    const KINDS: [Wanted; 3] = [Wanted::Permission, Wanted::SingleChoice, Wanted::Text];
    let place = "request.response";
    let known = ["kind", "choices", "text_max_length", "expires_at"];
    let response = Members::of(place, value, &known)?;
    let kind = response.one_of("kind", &KINDS, |kind| kind.name())?;
    let kind = response.needed("kind", kind)?;
    let until = response.needed("expires_at", response.time("expires_at")?)?;
    let text_max_length = response.whole("text_max_length", 1, 2000)?;
    let choices = match response.get("choices") {
        None => Vec::new(),
        Some(_) if kind == Wanted::Text => {
            return Err(response.wrong("choices", "absent for a text"));
        }
        Some(given) => choices(&response, given)?,
    };
    if kind != Wanted::Text {
        response.needed("choices", response.get("choices"))?;
        if text_max_length.is_some() {
            return Err(response.wrong("text_max_length", "absent where there are choices"));
        }
    }
    let draft = Draft {
        kind: Some(kind),
        choices,
        text_max_length,
        ..draft
    };
    let question = draft.check()?;
    Ok(Asked { question, until })
}

fn choices(response: &Members<'_>, given: &Value) -> Result<Vec<Choice>> {
    let bounds = "an array of 2 to 12 choices";
    let Value::Array(given) = given else {
        return Err(response.wrong("choices", bounds));
    };
    if !(2..=12).contains(&given.len()) {
        return Err(response.wrong("choices", &format!("{bounds}, not {}", given.len())));
    }
    given.iter().map(choice).collect()
}

fn choice(value: &Value) -> Result<Choice> {
    let place = "request.response.choices[]";
    let choice = Members::of(place, value, &["id", "label", "detail"])?;
    let id = choice.needed("id", choice.text("id", 1, 64)?)?;
    if !is_name(&id) {
        return Err(choice.wrong("id", NAME));
    }
    Ok(Choice {
        id,
        label: choice.needed("label", choice.text("label", 1, 200)?)?,
        detail: choice.text("detail", 1, 500)?,
        effect: None,
    })
}
