//! One answer as a Relay hands it over, judged before any record is touched.

use serde_json::Value;

use super::envelope::CONTRACT_VERSION;
use super::poll::Handled;
use crate::error::Result;
use crate::id::is_hex;
use crate::model::json::Json;
use crate::model::response::{Answer, Submission, TEXT_MAX};

/// The bound of an item, in bytes.
const ITEM_MAX: usize = 64 << 10;

/// An answer that is well-formed and meant for this machine. It holds secrets and so has no `Debug`.
pub(super) struct Item {
    pub(super) response_id: String,
    pub(super) interaction_id: String,
    pub(super) device_id: Option<String>,
    request_digest: String,
    nonce: String,
    choice_id: Option<String>,
    text: Option<String>,
}

impl Item {
    /// What is told of it while it is not applied, and why.
    pub(super) fn refused(&self, note: &str) -> Handled {
        Handled {
            response_id: Some(self.response_id.clone()),
            interaction_id: Some(self.interaction_id.clone()),
            applied: false,
            note: note.to_owned(),
        }
    }

    /// As the rules take it.
    ///
    /// # Errors
    /// Those of a malformed submission.
    pub(super) fn answer(self) -> Result<Answer> {
        let answered_by = self.device_id.clone().unwrap_or_else(|| "relay".to_owned());
        Answer::try_from(Submission {
            response_id: self.response_id,
            digest: Some(self.request_digest),
            nonce: Some(self.nonce),
            choice_id: self.choice_id,
            text: self.text,
            source: "relay".to_owned(),
            device_id: self.device_id,
            answered_by,
            ..Submission::default()
        })
    }
}

/// An item's text as a value: one that names a member twice would be two answers.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(text: &str) -> std::result::Result<Value, String> {
    let parsed = Json::parse("the item", text, ITEM_MAX);
    parsed.map(|json| json.value()).map_err(|e| e.message)
}

/// Reads an item.
///
/// # Errors
/// What is wrong with it, naming the member.
pub(super) fn read(value: &Value, installation_id: &str) -> std::result::Result<Item, String> {
    if !value.is_object() {
        return Err("the item is no object".to_owned());
    }
    if value.get("contract_version").and_then(Value::as_str) != Some(CONTRACT_VERSION) {
        return Err("contract_version is not \"1\"".to_owned());
    }
    let response_id = name(value, "response_id")?;
    let interaction_id = name(value, "interaction_id")?;
    if text(value, "installation_id")?.as_deref() != Some(installation_id) {
        return Err("installation_id is not this machine's".to_owned());
    }
    let request_digest = text(value, "request_digest")?.unwrap_or_default();
    if request_digest.len() != 64 || !is_hex(&request_digest) {
        return Err("request_digest is not 64 hex characters".to_owned());
    }
    let nonce = text(value, "nonce")?.filter(|n| (1..=128).contains(&n.chars().count()));
    let nonce = nonce.ok_or("nonce is not 1 to 128 characters")?;
    let choice_id = at_most(value, "choice_id", 64)?;
    let answer_text = at_most(value, "text", TEXT_MAX)?;
    if choice_id.is_some() == answer_text.is_some() {
        return Err("exactly one of choice_id and text is needed".to_owned());
    }
    Ok(Item {
        response_id,
        interaction_id,
        device_id: at_most(value, "device_id", 128)?.filter(|d| !d.is_empty()),
        request_digest,
        nonce,
        choice_id,
        text: answer_text,
    })
}

/// What is told of an item that cannot be read: its ids only where they can be shown.
pub(super) fn dropped(value: &Value, note: String) -> Handled {
    Handled {
        response_id: name(value, "response_id").ok(),
        interaction_id: name(value, "interaction_id").ok(),
        applied: false,
        note,
    }
}

/// A member's text; absent and `null` are none.
fn text(value: &Value, member: &str) -> std::result::Result<Option<String>, String> {
    match value.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{member} is no string")),
    }
}

fn name(value: &Value, member: &str) -> std::result::Result<String, String> {
    let wrong = || format!("{member} is not 1 to 128 characters without controls");
    let text = text(value, member)?.ok_or_else(wrong)?;
    let sound = (1..=128).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if sound { Ok(text) } else { Err(wrong()) }
}

fn at_most(value: &Value, member: &str, max: usize) -> std::result::Result<Option<String>, String> {
    match text(value, member)? {
        Some(text) if text.chars().count() > max => {
            Err(format!("{member} is longer than {max} characters"))
        }
        text => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sound() -> Value {
        json!({
            "contract_version": "1", "response_id": "r1", "interaction_id": "ab",
            "request_digest": "0".repeat(64), "nonce": "n", "installation_id": "inst",
            "choice_id": "allow-once", "device_id": "phone", "received_at": "whenever",
        })
    }

    fn note_of(member: &str, value: Value) -> Option<String> {
        let mut item = sound();
        item[member] = value;
        read(&item, "inst").err()
    }

    #[test]
    fn a_sound_item_is_read_and_unknown_members_are_passed_over() {
        let item = read(&sound(), "inst")
            .map_err(|note| panic!("{note}"))
            .unwrap();
        assert_eq!(item.device_id.as_deref(), Some("phone"));
    }

    #[test]
    fn an_item_that_says_two_things_says_nothing() {
        let whole = sound().to_string();
        assert!(parse(&whole).is_ok());
        let twice = whole.replacen('{', r#"{"choice_id":"deny","#, 1);
        assert!(parse(&twice).is_err());
        let deep = "[".repeat(2000) + &"]".repeat(2000);
        assert!(parse(&deep).is_err());
    }

    #[test]
    fn each_member_is_judged_by_name() {
        let long = |n: usize| Value::from("x".repeat(n));
        let bad = [
            ("contract_version", json!("2")),
            ("contract_version", json!(1)),
            ("contract_version", Value::Null),
            ("response_id", json!("")),
            ("response_id", long(129)),
            ("response_id", json!("a\nb")),
            ("interaction_id", json!("")),
            ("interaction_id", json!(7)),
            ("request_digest", json!("d")),
            ("request_digest", long(64)),
            ("nonce", Value::Null),
            ("nonce", json!("")),
            ("nonce", long(129)),
            ("installation_id", json!("other")),
            ("installation_id", Value::Null),
            ("choice_id", long(65)),
            ("device_id", long(129)),
        ];
        for (member, value) in bad {
            let note = note_of(member, value.clone());
            assert!(note.is_some_and(|n| n.contains(member)), "{member} {value}");
        }
        assert!(note_of("text", json!("both")).is_some_and(|n| n.contains("exactly one")));
        assert!(note_of("choice_id", Value::Null).is_some_and(|n| n.contains("exactly one")));
        for item in [Value::Null, json!([]), json!("x"), json!(1)] {
            assert!(read(&item, "inst").is_err());
            assert_eq!(dropped(&item, String::new()).response_id, None);
        }
    }
}
