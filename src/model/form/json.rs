//! A form's answers as JSON: by exact question text, in order, no member twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{FormAnswer, Labels};
use crate::error::{Error, Result};

/// The shape of an answer.
const SHAPE: &str =
    r#"a label, a list of labels, or an object of "label", "labels", "other" and "note""#;

impl Serialize for FormAnswer {
    /// The shortest form: a label or a list of them by itself, else an object.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if let (Some(labels), None, None) = (&self.labels, &self.other, &self.note) {
            return match labels {
                Labels::One(label) => serializer.serialize_str(label),
                Labels::List(labels) => serializer.collect_seq(labels),
            };
        }
        let mut map = serializer.serialize_map(None)?;
        match &self.labels {
            Some(Labels::One(label)) if self.other.is_none() => {
                map.serialize_entry("label", label)?;
            }
            Some(_) => map.serialize_entry("labels", self.labels())?,
            None => {}
        }
        if let Some(text) = &self.other {
            map.serialize_entry("other", text)?;
        }
        if let Some(note) = &self.note {
            map.serialize_entry("note", note)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for FormAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerVisitor)
    }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = FormAnswer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHAPE)
    }

    fn visit_str<E>(self, label: &str) -> std::result::Result<FormAnswer, E> {
        Ok(FormAnswer::label(label))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<FormAnswer, A::Error> {
        let mut labels = Vec::new();
        while let Some(label) = seq.next_element::<String>()? {
            labels.push(label);
        }
        Ok(FormAnswer {
            labels: Some(Labels::List(labels)),
            ..FormAnswer::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<FormAnswer, A::Error> {
        let mut answer = FormAnswer::default();
        while let Some(name) = map.next_key::<String>()? {
            let free = match name.as_str() {
                "label" | "labels" => answer.labels.is_none(),
                "other" => answer.other.is_none(),
                "note" => answer.note.is_none(),
                _ => return Err(A::Error::custom(format!("an answer is {SHAPE}"))),
            };
            if !free {
                return Err(A::Error::custom("an answer names a member twice"));
            }
            match name.as_str() {
                "label" => answer.labels = Some(Labels::One(map.next_value()?)),
                "labels" => answer.labels = Some(Labels::List(map.next_value()?)),
                "other" => answer.other = Some(map.next_value()?),
                _ => answer.note = Some(map.next_value()?),
            }
        }
        Ok(answer)
    }
}

/// A form's answers as a JSON object, in order; a repeated member is refused.
#[derive(Clone, Debug)]
pub struct AnswerMap(pub Vec<(String, FormAnswer)>);

impl AnswerMap {
    /// From the JSON of `--answers`.
    ///
    /// # Errors
    /// `invalid_input` unless it is one object of question texts and answers.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| {
            Error::input(format!(
                "answers must be a JSON object of question text to answer: {}",
                crate::model::json::reason(&e)
            ))
            .hint(format!("an answer is {SHAPE}"))
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
        deserializer.deserialize_map(MapVisitor)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = AnswerMap;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<AnswerMap, A::Error> {
        let mut answers: Vec<(String, FormAnswer)> = Vec::new();
        while let Some((text, answer)) = map.next_entry::<String, FormAnswer>()? {
            if answers.iter().any(|(t, _)| *t == text) {
                return Err(A::Error::custom("a question is named twice"));
            }
            answers.push((text, answer));
        }
        Ok(AnswerMap(answers))
    }
}
