//! `--select 'Q=LABEL[,LABEL]'`, `--other 'Q=TEXT'` and `--note 'Q=TEXT'`: which question, which labels.
//! `--allow` and `--deny`: which choice.

use super::form::{FormAnswer, Labels};
use super::interaction::{Body, Effect, FormQuestion, Question};
use super::response::{Answer, AnswerBody, Submission};
use crate::error::{Code, Error, Result};

/// One such option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// `--select`.
    Label(String),
    /// `--other`.
    Other(String),
    /// `--note`.
    Note(String),
}

/// The answer that the options and a text give. A text that stands alone answers a form of one question,
/// and is a free response otherwise.
///
/// # Errors
/// `invalid_answer`: an option names no question, or more than its question takes.
pub fn reply(
    questions: &[FormQuestion],
    picks: &[Pick],
    text: Option<String>,
    base: Submission,
) -> Result<Submission> {
    let mut answers = answers(questions, picks)?;
    let mut response = text;
    let picked = picks.iter().any(|pick| !matches!(pick, Pick::Note(_)));
    if let ([only], false) = (questions, picked)
        && let Some(text) = response.take()
    {
        let note = answers.pop().and_then(|(_, answer)| answer.note);
        let (question, answer) = plain(only, &text);
        answers.push((question, FormAnswer { note, ..answer }));
    }
    Ok(Submission {
        answers: (!answers.is_empty()).then_some(answers),
        response,
        ..base
    })
}

/// The answer as the question takes it: a text answers a form of one question.
pub fn read(question: &Question, answer: Answer) -> Answer {
    let ([only], AnswerBody::Text(text)) = (question.questions(), &answer.body) else {
        return answer;
    };
    let body = AnswerBody::Form {
        answers: Some(vec![plain(only, text)]),
        response: None,
    };
    Answer { body, ..answer }
}

/// A text as the answer to a question: the label that it spells exactly, else free text.
fn plain(question: &FormQuestion, text: &str) -> (String, FormAnswer) {
    let text = text.trim();
    let answer = match question.options.iter().any(|o| o.label == text) {
        true => FormAnswer::label(text),
        false => FormAnswer::other(text),
    };
    (question.question.clone(), answer)
}

/// The answers that the options give, by exact question text.
fn answers(questions: &[FormQuestion], picks: &[Pick]) -> Result<Vec<(String, FormAnswer)>> {
    let mut answers: Vec<(usize, FormAnswer)> = Vec::new();
    for pick in picks {
        let (Pick::Label(text) | Pick::Other(text) | Pick::Note(text)) = pick;
        let (index, right) = question(questions, text)?;
        let at = answers.iter().position(|(i, _)| *i == index);
        let at = at.unwrap_or_else(|| {
            answers.push((index, FormAnswer::default()));
            answers.len() - 1
        });
        add(
            &mut answers[at].1,
            pick,
            &questions[index],
            index + 1,
            right,
        )?;
    }
    Ok(answers
        .into_iter()
        .map(|(index, answer)| (questions[index].question.clone(), answer))
        .collect())
}

/// Adds what one option says to the answer so far; no option takes the place of an earlier one.
fn add(
    answer: &mut FormAnswer,
    pick: &Pick,
    asked: &FormQuestion,
    number: usize,
    right: &str,
) -> Result<()> {
    let room = asked.multi_select || answer.texts().is_empty();
    let full = match pick {
        Pick::Label(_) => !room,
        Pick::Other(_) => !room || answer.other.is_some(),
        Pick::Note(_) if answer.note.is_some() => {
            return Err(misfit(format!("question {number} takes one note only")));
        }
        Pick::Note(_) => false,
    };
    if full {
        return Err(misfit(format!("question {number} takes one answer only")));
    }
    match pick {
        Pick::Label(_) => {
            let mut all = answer.labels().to_vec();
            all.extend(labels(asked, number, right)?);
            answer.labels = Some(match all.as_slice() {
                [only] => Labels::One(only.clone()),
                _ => Labels::List(all),
            });
        }
        Pick::Other(_) => answer.other = Some(right.to_owned()),
        Pick::Note(_) => answer.note = Some(right.to_owned()),
    }
    Ok(())
}

/// The question that the left side names, and the right side. Questions are matched as wholes before
/// anything is split: texts and headers hold `=` themselves.
fn question<'a>(questions: &[FormQuestion], text: &'a str) -> Result<(usize, &'a str)> {
    let by_text = |fold: Fold| longest(questions, text, fold, |q| Some(q.question.as_str()));
    let by_header = |fold: Fold| longest(questions, text, fold, |q| q.header.as_deref());
    for found in [
        by_text(Fold::Exact),
        by_header(Fold::Exact),
        by_text(Fold::AnyCase),
        by_header(Fold::AnyCase),
    ] {
        match found.as_slice() {
            [] => {}
            [(index, right)] => return Ok((*index, right)),
            several => {
                let numbers: Vec<String> =
                    several.iter().map(|(i, _)| format!("#{}", i + 1)).collect();
                return Err(misfit("several questions have that header")
                    .hint(format!("name one of them: {}", numbers.join(", "))));
            }
        }
    }
    by_number(questions, text)
}

/// The answer that takes a question's only choice with an effect; a form can only be declined.
///
/// # Errors
/// `invalid_answer` where none or several of the choices have it.
pub fn with_effect(question: &Question, effect: Effect, base: Submission) -> Result<Submission> {
    if matches!(question.body, Body::Form { .. }) && effect == Effect::Deny {
        return Ok(Submission {
            declined: true,
            ..base
        });
    }
    let permission = matches!(question.body, Body::Permission { .. });
    let with: Vec<&str> = question
        .choices()
        .iter()
        .filter(|c| permission && c.effect == Some(effect))
        .map(|c| c.id.as_str())
        .collect();
    if let [only] = with.as_slice() {
        return Ok(Submission {
            choice_id: Some((*only).to_owned()),
            ..base
        });
    }
    let word = match effect {
        Effect::Allow => "allows",
        Effect::Deny => "denies",
    };
    let ids: Vec<&str> = question.choices().iter().map(|c| c.id.as_str()).collect();
    let error = misfit(match (permission, with.len()) {
        (false, _) => "allow and deny fit a permission only".to_owned(),
        (true, 0) => format!("none of the choices {word}"),
        (true, _) => format!("more than one choice {word}: {}", with.join(", ")),
    });
    Err(if ids.is_empty() {
        error.hint("'sayso show' says how to answer it")
    } else {
        error
            .hint(format!("name one by id (--choice): {}", ids.join(", ")))
            .details(serde_json::json!({ "choices": ids }))
    })
}

#[derive(Clone, Copy)]
enum Fold {
    Exact,
    AnyCase,
}

/// The questions whose name, followed by `=`, begins the text; only those with the longest name.
fn longest<'a, 'q>(
    questions: &'q [FormQuestion],
    text: &'a str,
    fold: Fold,
    name: impl Fn(&'q FormQuestion) -> Option<&'q str>,
) -> Vec<(usize, &'a str)> {
    let mut best = Vec::new();
    let mut length = 0;
    for (index, question) in questions.iter().enumerate() {
        let Some(right) = name(question).and_then(|name| after(text, name, fold)) else {
            continue;
        };
        let used = text.len() - right.len();
        if used > length {
            best.clear();
            length = used;
        }
        if used == length {
            best.push((index, right));
        }
    }
    best
}

fn after<'a>(text: &'a str, name: &str, fold: Fold) -> Option<&'a str> {
    match fold {
        Fold::Exact => text.strip_prefix(name)?.strip_prefix('='),
        Fold::AnyCase => text
            .match_indices('=')
            .find(|(at, _)| text[..*at].to_lowercase() == name.to_lowercase())
            .map(|(at, _)| &text[at + 1..]),
    }
}

fn by_number<'a>(questions: &[FormQuestion], text: &'a str) -> Result<(usize, &'a str)> {
    let unknown = || {
        let names: Vec<String> = questions
            .iter()
            .enumerate()
            .map(|(i, q)| format!("#{} {}", i + 1, q.header.as_deref().unwrap_or(&q.question)))
            .collect();
        misfit("no question of this form is named so").hint(format!(
            "write 'NAME=ANSWER'; questions: {}",
            names.join(" | ")
        ))
    };
    let (left, right) = text.split_once('=').ok_or_else(unknown)?;
    let digits = left.trim().trim_start_matches('#');
    let number: usize = digits.parse().map_err(|_| unknown())?;
    if number == 0 || number > questions.len() {
        return Err(unknown());
    }
    Ok((number - 1, right))
}

/// The whole right side as one label first, then split on commas.
fn labels(asked: &FormQuestion, number: usize, right: &str) -> Result<Vec<String>> {
    if asked.options.is_empty() {
        return Err(
            misfit(format!("question {number} has no options")).hint("give its text with --other")
        );
    }
    if let Some(label) = offered(asked, right) {
        return Ok(vec![label]);
    }
    let parts: Option<Vec<String>> = right.split(',').map(|part| offered(asked, part)).collect();
    match parts {
        Some(labels) if labels.len() > 1 && asked.multi_select => Ok(labels),
        Some(labels) if labels.len() > 1 => {
            Err(misfit(format!("question {number} takes one label only")))
        }
        _ => {
            let labels: Vec<&str> = asked.options.iter().map(|o| o.label.as_str()).collect();
            Err(
                misfit(format!("question {number} does not offer that label")).hint(format!(
                    "offered: {}; free text: --other",
                    labels.join(" | ")
                )),
            )
        }
    }
}

/// The label as it is offered: exactly, else the only one that differs in case or outer blanks.
fn offered(asked: &FormQuestion, text: &str) -> Option<String> {
    let labels = || asked.options.iter().map(|o| &o.label);
    if let Some(exact) = labels().find(|label| *label == text) {
        return Some(exact.clone());
    }
    let wanted = text.trim().to_lowercase();
    let mut close = labels().filter(|label| label.trim().to_lowercase() == wanted);
    match (close.next(), close.next()) {
        (Some(label), None) => Some(label.clone()),
        _ => None,
    }
}

fn misfit(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidAnswer, message)
}
