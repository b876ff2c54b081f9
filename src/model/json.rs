//! JSON that is kept as it came: member order, `1.0`, `null` and long integers survive byte for byte.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// The bound of a tool's input and of an edited input, in bytes.
pub const INPUT_MAX: usize = 1 << 20;
/// The bound of a host's suggestions, in bytes.
pub const SUGGESTIONS_MAX: usize = 256 << 10;

/// One JSON value, verbatim but for line breaks between its tokens, so that it fits on one line.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes text that must be one JSON value of at most `max` bytes.
    ///
    /// Refused are nesting beyond serde_json's 128 levels, lone surrogates, and an object that names a
    /// member twice: readers would disagree about which of the two was shown.
    pub fn parse(name: &str, text: &str, max: usize) -> Result<Self> {
        if text.len() > max {
            return Err(Error::input(format!("{name} is longer than {max} bytes")));
        }
        // A raw line break cannot stand inside a JSON string, and never holds two tokens apart alone.
        let text = text.trim().replace(['\n', '\r'], "");
        serde_json::from_str::<Strict>(&text)
            .map_err(|e| Error::input(format!("{name} is not acceptable JSON: {}", reason(&e))))?;
        RawValue::from_string(text)
            .map(Self)
            .map_err(|e| Error::input(format!("{name} is not JSON: {}", reason(&e))))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value, for reading members; numbers keep their spelling.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Whether the value is an array.
    pub fn is_array(&self) -> bool {
        self.as_str().starts_with('[')
    }

    /// The elements of an array, verbatim; none of anything else.
    pub fn elements(&self) -> Vec<Self> {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }

    /// The members of an object in order, verbatim; none of anything else.
    pub fn members(&self) -> Vec<(String, Self)> {
        serde_json::from_str::<Members>(self.as_str())
            .map(|m| m.0)
            .unwrap_or_default()
    }

    /// The string member of an object.
    pub fn string(&self, name: &str) -> Option<String> {
        let (_, value) = self.members().into_iter().find(|(n, _)| n == name)?;
        serde_json::from_str(value.as_str()).ok()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.as_str().len())
    }
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An object of members that are JSON already.
pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter();
    let each: Vec<String> = members
        .map(|(name, value)| format!("{}:{value}", quoted(name)))
        .collect();
    format!("{{{}}}", each.join(","))
}

/// What serde_json says, without the text that it quotes.
pub fn reason(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Syntax => "syntax error",
        serde_json::error::Category::Data if error.to_string().starts_with(REPEATED) => REPEATED,
        serde_json::error::Category::Data => "a value has another type than expected",
        serde_json::error::Category::Io => "cannot be read",
    };
    format!("{what} at line {} column {}", error.line(), error.column())
}

const REPEATED: &str = "a member occurs twice";

/// Reads any value and checks it; keeps nothing.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_i64<E>(self, _: i64) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_u64<E>(self, _: u64) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_f64<E>(self, _: f64) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_str<E>(self, _: &str) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_unit<E>(self) -> std::result::Result<Strict, E> {
        Ok(Strict)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Strict, A::Error> {
        while seq.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Strict, A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name) {
                return Err(serde::de::Error::custom(REPEATED));
            }
            map.next_value::<Strict>()?;
        }
        Ok(Strict)
    }
}

/// An object's members in order, verbatim.
struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, Json>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Json> {
        Json::parse("input", text, INPUT_MAX)
    }

    #[test]
    fn text_survives_byte_for_byte() {
        let text = r#"{"b":1.0,"a":null,"n":123456789012345678901234567890,"é":[1e400, "\u00e9"]}"#;
        assert_eq!(parse(text).unwrap().as_str(), text);
        let stored = serde_json::to_string(&parse(text).unwrap()).unwrap();
        assert_eq!(stored, text);
    }

    #[test]
    fn only_line_breaks_between_tokens_go() {
        assert_eq!(
            parse("{\n  \"a\\n\": 1\r\n}\n").unwrap().as_str(),
            "{  \"a\\n\": 1}"
        );
    }

    #[test]
    fn what_readers_would_disagree_about_is_refused() {
        for text in [
            r#"{"command":"ls","command":"rm"}"#,
            r#"[{"a":{"b":1,"b":1}}]"#,
            r#"{"a":"\ud800"}"#,
            "",
            "{} {}",
            "NaN",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&format!("{}{}", "[".repeat(200), "]".repeat(200))).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(100), "]".repeat(100))).is_ok());
        assert!(Json::parse("input", "\"aaaa\"", 5).is_err());
    }
}
