//! Answers: as they are submitted, and as they are accepted.

use super::form::{FormAnswer, FormReply, NOTE_MAX};
use super::json::{INPUT_MAX, Json, SUGGESTIONS_MAX};
use crate::error::{Error, Result};
use crate::time::Time;

/// The bound of a message, a text and a free response, in characters.
pub const TEXT_MAX: usize = 2000;

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// One of the offered choices, by id.
    Choice(String),
    /// A text.
    Text(String),
    /// A form's answers.
    Form(FormReply),
    /// A form was declined as a whole.
    Declined,
}

/// Who answered, as the operating system says.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Responder {
    /// The user id.
    pub uid: u32,
    /// The controlling terminal, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The process id.
    pub pid: u32,
    /// What showed that the answer came from inside an agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<String>,
}

/// An accepted answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The client's idempotency key.
    pub response_id: String,
    /// What was answered.
    pub body: Body,
    /// A note to the asker.
    pub message: Option<String>,
    /// An edited tool input: an object.
    pub updated_input: Option<Json>,
    /// Permission rules to hand back to the host: an array.
    pub updated_permissions: Option<Json>,
    /// The surface it came through.
    pub source: String,
    /// The phone it came from.
    pub device_id: Option<String>,
    /// Who claims to have answered.
    pub answered_by: String,
    /// Who answered, as the operating system says.
    pub responder: Responder,
    /// When it was accepted.
    pub created_at: Time,
}

impl Response {
    /// What the asker is told where this answer denies: never empty.
    pub fn denial(&self) -> String {
        match &self.message {
            Some(message) => message.clone(),
            None => format!("Denied by {}", self.answered_by),
        }
    }
}

/// An answer as it was submitted: nothing is checked yet. It holds secrets and so has no `Debug`.
#[derive(Clone, Default)]
pub struct Submission {
    /// The client's idempotency key.
    pub response_id: String,
    /// The digest of the question that was displayed.
    pub digest: Option<String>,
    /// The nonce of the request that was read.
    pub nonce: Option<String>,
    /// One of the offered choices.
    pub choice_id: Option<String>,
    /// A text.
    pub text: Option<String>,
    /// A form's answers, by exact question text.
    pub answers: Option<Vec<(String, FormAnswer)>>,
    /// A form's free response.
    pub response: Option<String>,
    /// Declines a form as a whole.
    pub declined: bool,
    /// A note to the asker.
    pub message: Option<String>,
    /// An edited tool input.
    pub updated_input: Option<Json>,
    /// What to hand back to the host as lasting permission.
    pub permissions: Permissions,
    /// The surface it came through.
    pub source: String,
    /// The phone it came from.
    pub device_id: Option<String>,
    /// Who claims to have answered.
    pub answered_by: String,
}

/// Which lasting permission goes with an allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// None.
    #[default]
    None,
    /// The host's own suggestions for the local settings.
    Remember,
    /// These rules, an array.
    These(Json),
}

/// A submission that passed the checks that need no question (rule 0). It holds secrets and so has no `Debug`.
#[derive(Clone)]
pub struct Answer {
    /// 1–128 characters.
    pub response_id: String,
    /// As given.
    pub digest: Option<String>,
    /// As given.
    pub nonce: Option<String>,
    /// What is answered; a form's reply is not matched with its questions yet.
    pub body: AnswerBody,
    /// Trimmed, not blank.
    pub message: Option<String>,
    /// An object of at most 1 MiB.
    pub updated_input: Option<Json>,
    /// Which lasting permission goes with it.
    pub permissions: Permissions,
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub source: String,
    /// At most 128 characters.
    pub device_id: Option<String>,
    /// 1–200 characters.
    pub answered_by: String,
}

/// What a well-formed submission answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerBody {
    /// A choice's id.
    Choice(String),
    /// A text, trimmed.
    Text(String),
    /// A form's answers and free response.
    Form {
        /// By exact question text.
        answers: Option<Vec<(String, FormAnswer)>>,
        /// Beside or in place of answers.
        response: Option<String>,
    },
    /// A form declined as a whole.
    Declined,
}

impl TryFrom<Submission> for Answer {
    type Error = Error;

    /// Rule 0: refuses what no question could take.
    fn try_from(given: Submission) -> Result<Self> {
        bounded("response_id", given.response_id.trim(), 1, 128)?;
        if given.response_id.chars().any(char::is_control) {
            return Err(Error::input("response_id must hold no control characters"));
        }
        if !is_name(&given.source) {
            return Err(Error::input(
                "source must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'",
            ));
        }
        if let Some(device) = &given.device_id {
            bounded("device_id", device, 1, 128)?;
        }
        let body = body(&given)?;
        if let Some(input) = &given.updated_input {
            if !input.is_object() {
                return Err(Error::input("updated_input must be a JSON object"));
            }
            within("updated_input", input, INPUT_MAX)?;
        }
        if let Permissions::These(rules) = &given.permissions {
            if !rules.is_array() {
                return Err(Error::input("updated_permissions must be a JSON array"));
            }
            within("updated_permissions", rules, SUGGESTIONS_MAX)?;
        }
        let answered_by = given.answered_by.trim().to_owned();
        bounded("answered_by", &answered_by, 1, 200)?;
        Ok(Self {
            response_id: given.response_id,
            digest: given.digest,
            nonce: given.nonce,
            body,
            message: optional("message", given.message, TEXT_MAX)?,
            updated_input: given.updated_input,
            permissions: given.permissions,
            source: given.source,
            device_id: given.device_id,
            answered_by,
        })
    }
}

fn body(given: &Submission) -> Result<AnswerBody> {
    let form = given.answers.is_some() || given.response.is_some();
    let ways = [
        given.choice_id.is_some(),
        given.text.is_some(),
        form,
        given.declined,
    ];
    if ways.iter().filter(|way| **way).count() != 1 {
        return Err(Error::input(
            "an answer is exactly one of choice_id, text, answers and/or response, declined",
        ));
    }
    if let Some(choice) = &given.choice_id {
        bounded("choice_id", choice, 1, 64)?;
        return Ok(AnswerBody::Choice(choice.clone()));
    }
    if let Some(text) = &given.text {
        let text = text.trim();
        if text.chars().count() > TEXT_MAX {
            return Err(too_long("text", TEXT_MAX));
        }
        return Ok(AnswerBody::Text(text.to_owned()));
    }
    if given.declined {
        return Ok(AnswerBody::Declined);
    }
    for (_, answer) in given.answers.iter().flatten() {
        if answer.texts().iter().any(|t| t.chars().count() > TEXT_MAX) {
            return Err(too_long("an answer", TEXT_MAX));
        }
        let note = answer.note.as_deref().unwrap_or_default();
        if note.trim().chars().count() > NOTE_MAX {
            return Err(too_long("a note", NOTE_MAX));
        }
    }
    Ok(AnswerBody::Form {
        answers: given.answers.clone(),
        response: optional("response", given.response.clone(), TEXT_MAX)?,
    })
}

/// Whether text is a source or a host id: `^[A-Za-z0-9_-]{1,64}$`.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn within(name: &str, json: &Json, max: usize) -> Result<()> {
    if json.as_str().len() > max {
        return Err(Error::input(format!("{name} is longer than {max} bytes")));
    }
    Ok(())
}

fn bounded(name: &str, text: &str, min: usize, max: usize) -> Result<()> {
    let length = text.chars().count();
    if length < min {
        return Err(Error::input(format!("{name} is required")));
    }
    if length > max {
        return Err(too_long(name, max));
    }
    Ok(())
}

fn optional(name: &str, text: Option<String>, max: usize) -> Result<Option<String>> {
    let Some(text) = text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()) else {
        return Ok(None);
    };
    bounded(name, &text, 1, max)?;
    Ok(Some(text))
}

fn too_long(name: &str, max: usize) -> Error {
    Error::input(format!("{name} is longer than {max} characters"))
}
