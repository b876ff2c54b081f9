//! Forms: which answers fit which questions.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::interaction::FormQuestion;
use super::response::TEXT_MAX;
use crate::error::{Code, Error, Result};

/// The answer to one question of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormAnswer {
    /// One label.
    One(String),
    /// Several labels.
    Many(Vec<String>),
    /// Free text that the operator marked as such.
    Other(String),
}

impl FormAnswer {
    /// The labels, or the free text.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::One(text) | Self::Other(text) => vec![text],
            Self::Many(labels) => labels.iter().map(String::as_str).collect(),
        }
    }

    /// For people: labels joined by commas.
    pub fn readable(&self) -> String {
        self.texts().join(", ")
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
    let offered = |label: &str| question.options.iter().any(|o| o.label == label);
    match answer {
        FormAnswer::Other(text) => free_text(number, text),
        FormAnswer::One(text) if question.options.is_empty() => free_text(number, text),
        FormAnswer::One(label) if offered(label) => Ok(answer.clone()),
        FormAnswer::One(_) => Err(not_offered(number, question)),
        FormAnswer::Many(labels) => {
            if !question.multi_select {
                return Err(misfit(format!("question {number} takes one label only")));
            }
            if labels.is_empty() {
                return Err(misfit(format!(
                    "question {number} has an empty list of labels"
                )));
            }
            if !labels.iter().all(|label| offered(label)) {
                return Err(not_offered(number, question));
            }
            if (1..labels.len()).any(|i| labels[..i].contains(&labels[i])) {
                return Err(misfit(format!("question {number} names a label twice")));
            }
            Ok(match labels.as_slice() {
                [only] => FormAnswer::One(only.clone()),
                _ => answer.clone(),
            })
        }
    }
}

fn free_text(number: usize, text: &str) -> Result<FormAnswer> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX {
        return Err(misfit(format!(
            "the text for question {number} must be 1 to {TEXT_MAX} characters"
        )));
    }
    Ok(FormAnswer::Other(text.to_owned()))
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

impl Serialize for FormAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::One(label) => serializer.serialize_str(label),
            Self::Many(labels) => serializer.collect_seq(labels),
            Self::Other(text) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("other", text)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for FormAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct AnswerVisitor;
        impl<'de> Visitor<'de> for AnswerVisitor {
            type Value = FormAnswer;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a label, a list of labels, or {\"other\": text}")
            }
            fn visit_str<E>(self, label: &str) -> std::result::Result<FormAnswer, E> {
                Ok(FormAnswer::One(label.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> std::result::Result<FormAnswer, A::Error> {
                let mut labels = Vec::new();
                while let Some(label) = seq.next_element::<String>()? {
                    labels.push(label);
                }
                Ok(FormAnswer::Many(labels))
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<FormAnswer, A::Error> {
                let only = map.next_entry::<String, String>()?;
                let more = map.next_key::<String>()?.is_some();
                match only {
                    Some((name, text)) if name == "other" && !more => Ok(FormAnswer::Other(text)),
                    _ => Err(serde::de::Error::custom("expected the one member 'other'")),
                }
            }
        }
        deserializer.deserialize_any(AnswerVisitor)
    }
}

/// A form's answers as a JSON object, in order; a repeated member is refused.
#[derive(Clone, Debug)]
pub struct AnswerMap(pub Vec<(String, FormAnswer)>);

impl AnswerMap {
    /// From the JSON of `--answers`.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| {
            Error::input(format!(
                "answers must be a JSON object of question text to label, list of labels or {{\"other\": text}}: {}",
                super::json::reason(&e)
            ))
        })
    }
}

impl Serialize for AnswerMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

impl<'de> Deserialize<'de> for AnswerMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MapVisitor;
        impl<'de> Visitor<'de> for MapVisitor {
            type Value = AnswerMap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<AnswerMap, A::Error> {
                let mut answers: Vec<(String, FormAnswer)> = Vec::new();
                while let Some((text, answer)) = map.next_entry::<String, FormAnswer>()? {
                    if answers.iter().any(|(t, _)| *t == text) {
                        return Err(serde::de::Error::custom("a question is named twice"));
                    }
                    answers.push((text, answer));
                }
                Ok(AnswerMap(answers))
            }
        }
        deserializer.deserialize_map(MapVisitor)
    }
}
