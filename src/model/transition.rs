//! The rules of change: answer, expire, cancel, supersede. Terminal states never change.

use super::elicitation;
use super::form;
use super::interaction::{Body as Asked, Effect, Interaction, Outcome, Question, State, Status};
use super::json::Json;
use super::response::{Answer, AnswerBody, Body, Permissions, Responder, Response};
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::secret::same;
use crate::time::Time;

/// What an acceptable answer leads to.
#[derive(Debug)]
pub enum Decision {
    /// The very same answer was accepted before: nothing changes.
    Replay,
    /// The answer is accepted: the record in its terminal state.
    Accept(Box<Interaction>),
}

/// The answer rules, in their order; the first that applies decides. Rules 0 (malformed) and 1
/// (unknown id) were applied by whoever made the [`Answer`] and loaded the record.
pub fn answer(
    record: &Interaction,
    answer: &Answer,
    responder: &Responder,
    now: Time,
) -> Result<Decision> {
    if let Some(accepted) = record.response() {
        return replay(record, accepted, answer);
    }
    if let Some(refusal) = refusal(record, answer.digest.as_deref(), now) {
        return Err(refusal);
    }
    if !answer
        .nonce
        .as_ref()
        .is_some_and(|n| record.nonce.matches(n))
    {
        return Err(mismatch(Code::NonceMismatch, "nonce", record));
    }
    let fitted = fit(&record.question, answer)?;
    let response = Response {
        response_id: answer.response_id.clone(),
        body: fitted.body,
        message: answer.message.clone(),
        updated_input: answer.updated_input.clone(),
        updated_permissions: fitted.updated_permissions,
        source: answer.source.clone(),
        device_id: answer.device_id.clone(),
        answered_by: answer.answered_by.clone(),
        responder: responder.clone(),
        created_at: now,
    };
    Ok(Decision::Accept(Box::new(settled(
        record,
        now,
        Outcome::Answered(Box::new(response)),
    ))))
}

/// Rules 3 to 5: why no answer to the question with this digest can be accepted; none if one can.
pub fn refusal(record: &Interaction, digest: Option<&str>, now: Time) -> Option<Error> {
    if let Some(accepted) = record.response() {
        return Some(already_answered(record, accepted));
    }
    if record.status_at(now) != Status::Pending {
        return Some(not_pending(record, now));
    }
    let fits = digest.is_some_and(|given| same(given.as_bytes(), record.digest.as_bytes()));
    (!fits).then(|| mismatch(Code::DigestMismatch, "digest", record))
}

/// The record expired, if it is overdue at `now`.
pub fn expire(record: &Interaction, now: Time) -> Option<Interaction> {
    record
        .is_overdue(now)
        .then(|| settled(record, now, Outcome::Expired))
}

/// The record cancelled; none if it is not open at `now`.
pub fn cancel(record: &Interaction, now: Time) -> Option<Interaction> {
    (record.status_at(now) == Status::Pending).then(|| settled(record, now, Outcome::Cancelled))
}

/// The record superseded by another; none if it is not open at `now`.
pub fn supersede(record: &Interaction, by: &Id, now: Time) -> Option<Interaction> {
    (record.status_at(now) == Status::Pending)
        .then(|| settled(record, now, Outcome::Superseded(by.clone())))
}

fn settled(record: &Interaction, at: Time, outcome: Outcome) -> Interaction {
    Interaction {
        state: State::Settled { at, outcome },
        ..record.clone()
    }
}

fn replay(record: &Interaction, accepted: &Response, answer: &Answer) -> Result<Decision> {
    let proven = accepted.response_id == answer.response_id
        && answer.digest.as_deref() == Some(record.digest.as_str())
        && answer
            .nonce
            .as_ref()
            .is_some_and(|n| record.nonce.matches(n));
    let equal = fit(&record.question, answer).is_ok_and(|fitted| {
        fitted.body == accepted.body
            && fitted.updated_permissions == accepted.updated_permissions
            && answer.message == accepted.message
            && answer.updated_input == accepted.updated_input
    });
    if proven && equal {
        return Ok(Decision::Replay);
    }
    Err(already_answered(record, accepted))
}

fn already_answered(record: &Interaction, accepted: &Response) -> Error {
    Error::new(
        Code::AlreadyAnswered,
        format!(
            "interaction '{}' is not pending (status: answered), answered by {} at {}",
            record.id, accepted.answered_by, accepted.created_at
        ),
    )
    .hint("the first valid answer wins; 'sayso show' prints it")
    .details(serde_json::json!({
        "status": "answered",
        "answered_by": accepted.answered_by,
        "answered_at": accepted.created_at.to_string(),
    }))
}

/// The refusal to change a record that is not open; names the state and the successor.
pub fn not_pending(record: &Interaction, now: Time) -> Error {
    let status = record.status_at(now).name();
    let error = Error::new(
        Code::NotPending,
        format!(
            "interaction '{}' is not pending (status: {status})",
            record.id
        ),
    );
    match &record.state {
        State::Settled {
            outcome: Outcome::Superseded(by),
            ..
        } => error
            .hint(format!("it was replaced by {by}"))
            .details(serde_json::json!({ "status": status, "superseded_by": by.as_str() })),
        _ => error.details(serde_json::json!({ "status": status })),
    }
}

fn mismatch(code: Code, name: &str, record: &Interaction) -> Error {
    Error::new(
        code,
        format!(
            "the {name} is missing or not that of interaction '{}'",
            record.id
        ),
    )
    .hint("read the question again and answer what it says now")
}

/// An answer that fits its question, in the form in which it is kept.
pub struct Fitted {
    /// What is answered.
    pub body: Body,
    /// The rules that go back to the host.
    pub updated_permissions: Option<Json>,
}

/// Rule 7: whether an answer fits its question. Every member that does not fit is refused.
pub fn fit(question: &Question, answer: &Answer) -> Result<Fitted> {
    let body = fit_body(question, &answer.body)?;
    let allows = matches!(&body, Body::Choice(id) if question.effect(id) == Some(Effect::Allow));
    let edits = answer.updated_input.is_some() || answer.permissions != Permissions::None;
    let permission_with_tool =
        matches!(&question.body, Asked::Permission { tool: Some(_), .. }) && allows;
    if edits && !permission_with_tool {
        return Err(misfit(
            "an edited input and remembered permissions fit only an allowing answer to a permission with a tool",
        ));
    }
    if edits && !question.takes_edits() {
        return Err(
            misfit("this host cannot take an edited input or remembered permissions back")
                .hint("allow the call as it is, or deny it with a message"),
        );
    }
    Ok(Fitted {
        body,
        updated_permissions: permissions(question, &answer.permissions)?,
    })
}

fn fit_body(question: &Question, body: &AnswerBody) -> Result<Body> {
    match (&question.body, body) {
        (
            Asked::Permission { choices, .. } | Asked::SingleChoice { choices },
            AnswerBody::Choice(id),
        ) => {
            if choices.iter().any(|c| c.id == *id) {
                return Ok(Body::Choice(id.clone()));
            }
            let ids: Vec<&str> = choices.iter().map(|c| c.id.as_str()).collect();
            Err(misfit("that choice was not offered")
                .hint(format!("offered: {}", ids.join(", ")))
                .details(serde_json::json!({ "offered": ids })))
        }
        (Asked::Text { max_length }, AnswerBody::Text(text)) => {
            let length = text.chars().count();
            if length == 0 || length > *max_length as usize {
                return Err(misfit(format!(
                    "the text must be 1 to {max_length} characters"
                )));
            }
            Ok(Body::Text(text.clone()))
        }
        (Asked::Form { questions, tool }, AnswerBody::Form { answers, response }) => {
            let reply = form::fit(questions, answers.as_deref(), response.as_deref())?;
            if let Some(tool) = tool.as_ref().filter(|tool| tool.name == elicitation::TOOL) {
                elicitation::content(tool.input.as_ref(), &reply)?;
            }
            Ok(Body::Form(reply))
        }
        (Asked::Form { .. }, AnswerBody::Declined) => Ok(Body::Declined),
        (asked, _) => Err(misfit(match asked {
            Asked::Permission { .. } | Asked::SingleChoice { .. } => {
                "this question takes one of its choices"
            }
            Asked::Text { .. } => "this question takes a text",
            Asked::Form { .. } => "this form takes answers and/or a response, or can be declined",
        })),
    }
}

fn permissions(question: &Question, wanted: &Permissions) -> Result<Option<Json>> {
    match wanted {
        Permissions::None => Ok(None),
        Permissions::These(rules) => Ok(Some(rules.clone())),
        Permissions::Remember => rememberable(question).map(Some).ok_or_else(|| {
            misfit("there is nothing to remember: the host suggested no lasting local permission")
        }),
    }
}

/// The host's suggestions that may be remembered, verbatim: those for the local settings, except a
/// switch of the host's mode, which would allow far more than the call that was shown.
pub fn rememberable(question: &Question) -> Option<Json> {
    let suggestions = question.tool()?.suggestions.as_ref()?;
    let kept: Vec<String> = suggestions
        .elements()
        .iter()
        .filter(|s| s.string("destination").as_deref() == Some("localSettings"))
        .filter(|s| s.string("type").as_deref() != Some("setMode"))
        .map(|s| s.as_str().to_owned())
        .collect();
    if kept.is_empty() {
        return None;
    }
    let text = format!("[{}]", kept.join(","));
    Json::parse("suggestions", &text, super::json::SUGGESTIONS_MAX).ok()
}

fn misfit(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidAnswer, message)
}
