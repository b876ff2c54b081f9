//! What was probably meant by a name that a file's shape does not know.

use serde::de::DeserializeOwned;

use super::shape::{Agent, ApprovalPolicy, Notify, Relay, Resume, Route};
use super::{Config, PERMISSION_MODE_HINT};

/// Names that people give to the policy or to parts of it.
const POLICY_WORDS: &[&str] = &[
    "allow",
    "allowed",
    "approval",
    "approval_policy",
    "approvals",
    "auto_allow",
    "auto_deny",
    "default",
    "denied",
    "deny",
    "permission",
    "permissions",
    "policies",
    "policy",
    "rules",
];

/// A hint for a message of the parser, where it is about an unknown name. `rule` is a line that the file's
/// policy could hold.
pub(super) fn hint(message: &str, rule: &str) -> Option<String> {
    let (name, known) = unknown(message)?;
    if name == "permission_mode" {
        return Some(PERMISSION_MODE_HINT.to_owned());
    }
    let plain = plain(name);
    if plain.len() > NAME_MAX {
        return None;
    }
    if let Some(meant) = nearest(&plain, &known) {
        return Some(format!("did you mean `{meant}`?"));
    }
    if !message.starts_with(FIELD) {
        return None;
    }
    if POLICY_WORDS.contains(&&*plain) {
        return Some(format!(
            "the policy lives in a table of its agent:\n  [agents.claude.approval_policy]\n  {rule}"
        ));
    }
    let tables = tables();
    let home = tables.iter().find(|(_, members)| members.contains(&plain));
    let like = || {
        tables.iter().find_map(|(table, members)| {
            let members: Vec<_> = members.iter().map(String::as_str).collect();
            Some((table, nearest(&plain, &members)?.to_owned()))
        })
    };
    if let Some((table, _)) = home {
        return Some(format!("`{plain}` is a member of {table}"));
    }
    like().map(|(table, meant)| format!("did you mean `{meant}`, a member of {table}?"))
}

/// Longer names are nobody's slip, and take long to compare.
const NAME_MAX: usize = 64;
const FIELD: &str = "unknown field `";

/// The unknown name, and the known ones.
fn unknown(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message
        .strip_prefix(FIELD)
        .or_else(|| message.strip_prefix("unknown variant `"))?;
    // The parser does not escape a name, and the last part of the message holds only known ones.
    let (name, expected) = rest.rsplit_once("`, expected ")?;
    Some((name, expected.split('`').skip(1).step_by(2).collect()))
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.', ' '], "_")
}

/// The known name that differs least, if it differs little: by a few letters, or one is a word of the other.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let without = |text: &str| text.replace('_', "");
    let distance = |known: &&&str| strsim::osa_distance(&without(name), &without(known));
    let close = |known: &&&str| distance(known) <= name.len().max(3) / 3;
    let near = known.iter().filter(close).min_by_key(distance);
    let words =
        |text: &str, part: &str| text.len() > part.len() && text.split('_').any(|w| w == part);
    let part = |known: &&&str| words(known, name) || words(name, known);
    near.or_else(|| known.iter().find(part)).copied()
}

/// The tables of the configuration and their members.
fn tables() -> [(&'static str, Vec<String>); 7] {
    [
        (
            "the configuration itself, above its tables",
            members::<Config>(),
        ),
        ("[agents.NAME]", members::<Agent>()),
        ("[agents.NAME.approval_policy]", members::<ApprovalPolicy>()),
        ("[resume]", members::<Resume>()),
        ("[[relay]]", members::<Relay>()),
        ("[[relay.route]]", members::<Route>()),
        ("[[notify]]", members::<Notify>()),
    ]
}

/// The members of a table, as the parser names them when it meets another.
fn members<T: DeserializeOwned>() -> Vec<String> {
    let error = toml::from_str::<T>("\"?\" = 0").err();
    let message = error.map(|error| error.message().to_owned());
    let known = message.as_deref().and_then(unknown).map(|(_, known)| known);
    known.into_iter().flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_says_what_it_holds() {
        for (table, members) in tables() {
            assert!(
                !members.is_empty() && members.iter().all(|m| m != "?"),
                "{table}"
            );
        }
        assert!(tables()[2].1.contains(&"auto_allow".to_owned()));
        assert_eq!(tables()[3].1, ["command"]);
    }
}
