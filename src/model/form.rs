//! Forms: which answers fit which questions.

mod json;

pub use json::AnswerMap;

use super::interaction::FormQuestion;
use super::response::TEXT_MAX;
use crate::error::{Code, Error, Result};

/// The bound of a note to one answer, in characters.
pub const NOTE_MAX: usize = 500;

/// Labels as they were given: one by itself is not a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// One label.
    One(String),
    /// A list of labels.
    List(Vec<String>),
}

/// The answer to one question of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormAnswer {
    /// Those that were picked of the offered options.
    pub labels: Option<Labels>,
    /// Free text that the operator marked as such.
    pub other: Option<String>,
    /// A remark of the operator beside it: at most [`NOTE_MAX`] characters.
    pub note: Option<String>,
}

impl FormAnswer {
    /// One label.
    pub fn label(label: impl Into<String>) -> Self {
        Self {
            labels: Some(Labels::One(label.into())),
            ..Self::default()
        }
    }

    /// Free text.
    pub fn other(text: impl Into<String>) -> Self {
        Self {
            other: Some(text.into()),
            ..Self::default()
        }
    }

    /// The labels that were picked.
    pub fn labels(&self) -> &[String] {
        match &self.labels {
            None => &[],
            Some(Labels::One(label)) => std::slice::from_ref(label),
            Some(Labels::List(labels)) => labels,
        }
    }

    /// The labels, then the free text.
    pub fn texts(&self) -> Vec<&str> {
        let labels = self.labels().iter().map(String::as_str);
        labels.chain(self.other.as_deref()).collect()
    }

    /// For a program that knows one text or a list of them: free text stands as one more label.
    pub fn value(&self) -> serde_json::Value {
        match self.texts().as_slice() {
            [only] => (*only).into(),
            several => several.to_vec().into(),
        }
    }

    /// For people: labels and free text joined by commas, without the note.
    pub fn readable(&self) -> String {
        self.texts().join(", ")
    }

    /// As [`FormAnswer::readable`], with the note.
    pub fn with_note(&self) -> String {
        match &self.note {
            Some(note) => format!("{} (note: {note})", self.readable()),
            None => self.readable(),
        }
    }
}

/// An accepted form reply, matched with its questions and in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormReply {
    /// By exact question text; absent when there is only a free response.
    pub answers: Option<Vec<(String, FormAnswer)>>,
    /// The free response.
    pub response: Option<String>,
    /// The exact texts of the questions left open.
    pub unanswered: Vec<String>,
}

/// Matches a reply with its questions. Labels are matched exactly; every key must be a question's text.
pub fn fit(
    questions: &[FormQuestion],
    answers: Option<&[(String, FormAnswer)]>,
    response: Option<&str>,
) -> Result<FormReply> {
    let given = answers.unwrap_or_default();
    if given.is_empty() && response.is_none() {
        return Err(misfit("the form needs an answer or a response"));
    }
    if given
        .iter()
        .any(|(text, _)| !questions.iter().any(|q| q.question == *text))
    {
        return Err(misfit("a key of answers is no question of this form")
            .hint("every key is the exact text of a question; 'sayso show' prints them"));
    }
    let mut fitted = Vec::new();
    let mut unanswered = Vec::new();
    for (index, question) in questions.iter().enumerate() {
        let mut mine = given.iter().filter(|(text, _)| *text == question.question);
        match (mine.next(), mine.next()) {
            (None, _) => unanswered.push(question.question.clone()),
            (Some((text, answer)), None) => {
                fitted.push((text.clone(), fit_one(index + 1, question, answer)?));
            }
            (Some(_), Some(_)) => {
                return Err(misfit(format!("question {} is answered twice", index + 1)));
            }
        }
    }
    Ok(FormReply {
        answers: (!fitted.is_empty()).then_some(fitted),
        response: response.map(str::to_owned),
        unanswered,
    })
}

fn fit_one(number: usize, question: &FormQuestion, answer: &FormAnswer) -> Result<FormAnswer> {
    let note = answer.note.as_deref().map(str::trim);
    let note = note.filter(|n| !n.is_empty()).map(str::to_owned);
    let (labels, other) = match (&answer.labels, &answer.other) {
        // Where nothing is offered, a plain text can be nothing else.
        (Some(Labels::One(text)), None) if question.options.is_empty() => (None, Some(text)),
        (labels, other) => (labels.as_ref(), other.as_ref()),
    };
    match (labels, other) {
        (None, None) => {
            return Err(misfit(format!("question {number} is not answered"))
                .hint("a note stands beside a label or a text"));
        }
        (Some(_), Some(_)) if !question.multi_select => {
            return Err(misfit(format!("question {number} takes one answer only")));
        }
        _ => {}
    }
    let labels = match labels {
        Some(labels) => fit_labels(number, question, labels)?,
        None => Vec::new(),
    };
    let other = other.map(|text| free_text(number, text)).transpose()?;
    let fitted = FormAnswer {
        // As it reads back from its JSON.
        labels: match (labels.as_slice(), &other) {
            ([], _) => None,
            ([only], None) => Some(Labels::One(only.clone())),
            _ => Some(Labels::List(labels)),
        },
        other,
        note,
    };
    let texts = fitted.texts();
    if (1..texts.len()).any(|i| texts[..i].contains(&texts[i])) {
        return Err(misfit(format!("question {number} names a label twice")));
    }
    Ok(fitted)
}

fn fit_labels(number: usize, question: &FormQuestion, labels: &Labels) -> Result<Vec<String>> {
    let list = match labels {
        Labels::One(label) => std::slice::from_ref(label),
        Labels::List(_) if !question.multi_select => {
            return Err(misfit(format!("question {number} takes one label only")));
        }
        Labels::List(list) => list,
    };
    if list.is_empty() {
        return Err(misfit(format!(
            "question {number} has an empty list of labels"
        )));
    }
    let offered = |label: &String| question.options.iter().any(|o| o.label == *label);
    if !list.iter().all(offered) {
        return Err(not_offered(number, question));
    }
    Ok(list.to_vec())
}

fn free_text(number: usize, text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX {
        return Err(misfit(format!(
            "the text for question {number} must be 1 to {TEXT_MAX} characters"
        )));
    }
    Ok(text.to_owned())
}

fn not_offered(number: usize, question: &FormQuestion) -> Error {
    let labels: Vec<&str> = question.options.iter().map(|o| o.label.as_str()).collect();
    misfit(format!("question {number} does not offer that label"))
        .hint(format!(
            "offered: {}; free text goes as other",
            labels.join(" | ")
        ))
        .details(serde_json::json!({ "question": number, "offered": labels }))
}

fn misfit(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidAnswer, message)
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::model::interaction::FormOption;

    fn asked(options: usize, multi_select: bool) -> FormQuestion {
        let option = |n| FormOption {
            label: format!("l{n}"),
            description: None,
        };
        FormQuestion {
            header: None,
            question: "Which?".into(),
            options: (0..options).map(option).collect(),
            multi_select,
        }
    }

    fn answer() -> impl Strategy<Value = FormAnswer> {
        let label = || "l[0-4]";
        let labels = prop_oneof![
            label().prop_map(Labels::One),
            proptest::collection::vec(label(), 0..4).prop_map(Labels::List),
        ];
        let parts = (
            option::of(labels),
            option::of("[ l0-2]{0,3}"),
            option::of("[ n]{0,3}"),
        );
        parts.prop_map(|(labels, other, note)| FormAnswer {
            labels,
            other,
            note,
        })
    }

    proptest! {
        #[test]
        fn what_fits_is_kept_whole_and_reads_back_the_same(
            answer in answer(), options in 0..5_usize, multi_select: bool,
        ) {
            let asked = asked(options, multi_select);
            let Ok(kept) = fit_one(1, &asked, &answer) else {
                return Ok(());
            };
            let json = serde_json::to_string(&kept).unwrap();
            let read: FormAnswer = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read, &kept);
            prop_assert_eq!(fit_one(1, &asked, &read).unwrap(), kept.clone());
            // Nothing is dropped but outer blanks.
            let given: Vec<&str> = answer.texts().iter().map(|t| t.trim()).collect();
            prop_assert_eq!(kept.texts(), given);
            let note = answer.note.as_deref().map(str::trim).filter(|n| !n.is_empty());
            prop_assert_eq!(kept.note.as_deref(), note);
            // Nothing goes beyond what the question takes.
            let offered = |label: &String| asked.options.iter().any(|o| o.label == *label);
            prop_assert!(kept.labels().iter().all(offered));
            prop_assert!(multi_select || kept.texts().len() == 1);
        }
    }
}
