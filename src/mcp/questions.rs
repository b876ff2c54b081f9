//! The tool `ask`: from arguments to a question, and from the settled question to the result.

use serde_json::{Map, Value, json};

use super::Settings;
use super::arguments::Arguments;
use super::call::{Plan, Shape, Waiting, draft};
use crate::error::{Error, Result};
use crate::model::form::{FormAnswer, FormReply};
use crate::model::interaction::{FormOption, FormQuestion, Interaction, Kind, Status};
use crate::model::question_tool;
use crate::model::response::{Body, Response, TEXT_MAX};

/// The question that a call asks.
///
/// # Errors
/// `invalid_input`: what is needed instead.
pub(super) fn plan(arguments: &Arguments, settings: &Settings) -> Result<Plan> {
    let waiting = Waiting::of(arguments, settings)?;
    let (mut draft, renamed) = draft(arguments, settings, &waiting)?;
    let agent = draft.agent.clone().unwrap_or_default();
    let shape = match arguments.get("questions") {
        Some(questions) => {
            draft.kind = Some(Kind::Form);
            draft.questions = question_tool::each(questions)?;
            if draft.questions.is_empty() {
                return Err(Error::input("questions is empty").hint(needed()));
            }
            draft.prompt = format!("{agent} asks");
            Shape::Structured
        }
        None => {
            let question = arguments.text("question")?;
            let question =
                question.ok_or_else(|| Error::input("nothing is asked").hint(needed()))?;
            draft.prompt.clone_from(&question);
            let options: Vec<String> = arguments
                .read("options", "an array of strings")?
                .unwrap_or_default();
            if options.is_empty() {
                draft.kind = Some(Kind::Text);
                draft.text_max_length = Some(TEXT_MAX as u64);
            } else {
                draft.kind = Some(Kind::Form);
                draft.questions = vec![flat(question, options)];
            }
            Shape::Flat
        }
    };
    Ok(Plan {
        draft,
        shape,
        waiting,
        renamed,
    })
}

fn needed() -> String {
    let shape = question_tool::SHAPE;
    format!("give 'question' (a text), or 'questions' ({shape})")
}

fn flat(question: String, options: Vec<String>) -> FormQuestion {
    let option = |label| FormOption {
        label,
        description: None,
    };
    FormQuestion {
        header: None,
        question,
        options: options.into_iter().map(option).collect(),
        multi_select: false,
    }
}

/// The result of a settled question, and whether it is an error.
pub(super) fn settled(shape: Shape, record: &Interaction) -> (Value, bool) {
    let id = record.id.as_str();
    let Some(response) = record.response() else {
        return match record.status() {
            Status::Expired => (
                json!({
                    "error": "nobody answered in time: proceed on your best judgment and state the assumption that you made",
                    "interaction_id": id, "timed_out": true,
                }),
                true,
            ),
            _ => (
                cancelled(id, "the question was withdrawn without an answer"),
                true,
            ),
        };
    };
    if response.body == Body::Declined {
        let told = match &response.message {
            Some(message) => format!("the operator declined to answer: {message}"),
            None => "the operator declined to answer".to_owned(),
        };
        return (cancelled(id, &told), true);
    }
    let mut result = Map::new();
    result.insert("id".into(), id.into());
    if let Body::Form(reply) = &response.body {
        if shape == Shape::Structured {
            result.insert("answers".into(), answers(reply).into());
            result.insert("unanswered".into(), reply.unanswered.clone().into());
            if let Some(text) = &reply.response {
                result.insert("response".into(), text.clone().into());
            }
        }
        let notes = notes(reply);
        if !notes.is_empty() {
            result.insert("notes".into(), notes.into());
        }
    }
    result.insert("answer".into(), readable(shape, response).into());
    result.insert("answered_by".into(), response.answered_by.clone().into());
    if let Some(message) = &response.message {
        result.insert("message".into(), message.clone().into());
    }
    (result.into(), false)
}

fn cancelled(id: &str, error: &str) -> Value {
    json!({ "error": error, "interaction_id": id, "cancelled": true })
}

fn answers(reply: &FormReply) -> Map<String, Value> {
    let each = reply.answers.iter().flatten();
    each.map(|(question, answer)| (question.clone(), answer.value()))
        .collect()
}

fn notes(reply: &FormReply) -> Map<String, Value> {
    let each = reply.answers.iter().flatten();
    each.filter_map(|(question, answer)| Some((question.clone(), answer.note.clone()?.into())))
        .collect()
}

/// What was answered, in the questions' order.
fn readable(shape: Shape, response: &Response) -> String {
    match &response.body {
        Body::Text(text) => text.clone(),
        Body::Choice(id) => id.clone(),
        Body::Declined => String::new(),
        Body::Form(reply) => {
            let line = |(question, answer): &(String, FormAnswer)| match shape {
                Shape::Flat => answer.readable(),
                _ => format!("{question}: {}", answer.with_note()),
            };
            let lines = reply.answers.iter().flatten().map(line);
            let lines: Vec<String> = lines.chain(reply.response.clone()).collect();
            lines.join("\n")
        }
    }
}
