//! Claude Code's AskUserQuestion: a form that is answered, never allowed or denied as such.

use serde::Deserialize;

use super::form::{FormAnswer, FormReply};
use super::interaction::{FormOption, FormQuestion, Tool};
use super::json::{Json, quoted};
use crate::error::{Error, Result};

/// What the questions look like, for who gives others.
pub const SHAPE: &str =
    "an array of {question, header?, options?: [{label, description?}], multi_select?}";

/// The tool's exact name.
pub const NAME: &str = "AskUserQuestion";

#[derive(Deserialize)]
struct Input {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Option<Vec<Choice>>,
    #[serde(default, rename = "multiSelect", alias = "multi_select")]
    multi_select: Option<bool>,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// The form's questions, their texts as they came.
///
/// # Errors
/// `invalid_input` where the tool's input is no such form.
pub fn questions(input: Option<&Json>) -> Result<Vec<FormQuestion>> {
    let text = input.map_or("{}", Json::as_str);
    let input: Input = serde_json::from_str(text).map_err(|_| unreadable())?;
    Ok(form(input.questions))
}

/// The form's questions from the array alone.
///
/// # Errors
/// As [`questions`].
pub fn each(questions: &Json) -> Result<Vec<FormQuestion>> {
    let given: Vec<Question> =
        serde_json::from_str(questions.as_str()).map_err(|_| unreadable())?;
    Ok(form(given))
}

fn unreadable() -> Error {
    Error::input(format!("questions is {SHAPE}"))
}

fn form(given: Vec<Question>) -> Vec<FormQuestion> {
    let option = |o: Choice| FormOption {
        label: o.label,
        description: o.description,
    };
    let question = |q: Question| FormQuestion {
        header: q.header,
        question: q.question,
        options: q.options.into_iter().flatten().map(option).collect(),
        multi_select: q.multi_select.unwrap_or(false),
    };
    given.into_iter().map(question).collect()
}

/// The tool's input with the answers added and its questions untouched.
///
/// A top-level `response` hides all answers from the model, so it is sent only where nothing was
/// selected; beside answers, it goes to the notes of the first answered question, and the questions left
/// open are named in those of the last answered one.
///
/// # Errors
/// `invalid_input` where the input is not an object.
pub fn answered(tool: &Tool, reply: &FormReply, message: Option<&str>) -> Result<String> {
    let input = tool.input.as_ref().filter(|input| input.is_object());
    let members = input
        .ok_or_else(|| Error::input("the tool's input is not an object"))?
        .members();
    let replaced = ["answers", "annotations", "response"];
    let mut parts: Vec<String> = members
        .iter()
        .filter(|(name, _)| !replaced.contains(&name.as_str()))
        .map(|(name, value)| format!("{}:{}", quoted(name), value.as_str()))
        .collect();
    match reply.answers.as_deref() {
        None | Some([]) => {
            let note = joined(reply.response.as_deref(), message);
            parts.push(format!(
                "\"response\":{}",
                quoted(&note.unwrap_or_default())
            ));
        }
        Some(answers) => {
            let each: Vec<String> = answers
                .iter()
                .map(|(question, answer)| format!("{}:{}", quoted(question), answer.value()))
                .collect();
            parts.push(format!("\"answers\":{{{}}}", each.join(",")));
            if let Some(annotations) = annotations(answers, reply, message) {
                parts.push(format!("\"annotations\":{annotations}"));
            }
        }
    }
    Ok(format!("{{{}}}", parts.join(",")))
}

/// The note to each question; what was said to the whole form stands with the first, what is open with
/// the last.
fn annotations(
    answers: &[(String, FormAnswer)],
    reply: &FormReply,
    message: Option<&str>,
) -> Option<String> {
    let open = (!reply.unanswered.is_empty())
        .then(|| format!("Left unanswered: {}", reply.unanswered.join(" | ")));
    let last = answers.len().saturating_sub(1);
    let each: Vec<String> = answers
        .iter()
        .enumerate()
        .filter_map(|(index, (question, answer))| {
            let mut notes = vec![answer.note.as_deref()];
            if index == 0 {
                notes.extend([reply.response.as_deref(), message]);
            }
            if index == last {
                notes.push(open.as_deref());
            }
            let notes: Vec<&str> = notes.into_iter().flatten().collect();
            let member = || {
                let notes = quoted(&notes.join("\n"));
                format!("{}:{{\"notes\":{notes}}}", quoted(question))
            };
            (!notes.is_empty()).then(member)
        })
        .collect();
    (!each.is_empty()).then(|| format!("{{{}}}", each.join(",")))
}

fn joined(one: Option<&str>, other: Option<&str>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}
