//! Property: how a question ended cannot be edited unnoticed.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use super::interaction::State;
use super::properties::{any_question, ended};
use super::record::{Loaded, Secrets, parse, to_json};
use crate::id::Id;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_edited_ending_never_loads(
        question in any_question(),
        way in any::<u8>(),
        ending in 0..6u8,
        place in any::<Index>(),
        byte in any::<u8>(),
        member in any::<Index>(),
    ) {
        let record = ended(question, way, ending);
        prop_assume!(record.state != State::Pending);
        let text = to_json(&record, Secrets::Shown);
        // The members of the ending stand last.
        let names = ["\"answered_at\":", "\"superseded_by\":", "\"response\":", "\"settled_digest\":"];
        let start = names.iter().filter_map(|name| text.find(name)).min().unwrap();
        let mut edited = text.clone().into_bytes();
        edited[start + place.index(text.len() - start)] = byte;
        if let Ok(Loaded::Current(read)) = parse(&record.id, &edited) {
            prop_assert_eq!(*read, record.clone());
        }
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        leaves(&value, String::new(), &mut places);
        let bound = ["status", "answered_at", "superseded_by", "response", "settled_digest"];
        places.retain(|place| bound.contains(&place.split('/').nth(1).unwrap()));
        let place = member.get(&places);
        for edited in edits(&value, place) {
            let loaded = parse(&record.id, edited.to_string().as_bytes());
            prop_assert!(loaded.is_err(), "{} may change unnoticed", place);
        }
        // Another question's ending is none of this one.
        let mut other = value.clone();
        other["id"] = "9".repeat(32).into();
        prop_assert!(parse(&Id::from_bytes(&[0x99; 16]), other.to_string().as_bytes()).is_err());
    }
}

/// A record with one member changed, and with it left out.
fn edits(value: &Value, place: &str) -> [Value; 2] {
    let (mut changed, mut removed) = (value.clone(), value.clone());
    let leaf = changed.pointer_mut(place).unwrap();
    *leaf = match &*leaf {
        Value::String(text) => format!("{text}a").into(),
        Value::Number(_) => 77.into(),
        Value::Bool(flag) => (!flag).into(),
        _ => "x".into(),
    };
    let (parent, name) = place.rsplit_once('/').unwrap();
    match removed.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!("a leaf stands in an object or an array"),
    }
    [changed, removed]
}

/// The JSON pointers of everything that is neither an object nor an array.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, format!("{at}/{index}"), found);
            }
        }
        Value::Object(items) => {
            for (name, item) in items {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves(item, format!("{at}/{name}"), found);
            }
        }
        _ => found.push(at),
    }
}
