//! Which entries of the configuration want to know of what, and what an entry is called in the store.

use sha2::{Digest, Sha256};

use super::Message;
use crate::config::{Kind as Wanted, Notify};
use crate::id::hex;
use crate::model::interaction::{Interaction, Kind};

/// What the filters look at.
pub(super) struct About<'a> {
    kind: Option<Kind>,
    agent: &'a str,
    project: Option<&'a str>,
}

impl<'a> About<'a> {
    /// Of a question.
    pub(super) fn question(record: &'a Interaction) -> Self {
        let question = &record.question;
        Self {
            kind: Some(question.kind()),
            agent: &question.agent,
            project: question.project.as_deref(),
        }
    }

    /// Of a message, which has no kind.
    pub(super) fn message(message: &'a Message) -> Self {
        Self {
            kind: None,
            agent: &message.agent,
            project: message.project.as_deref(),
        }
    }
}

/// Whether an entry's filters let it through. An entry that names kinds of question wants no message.
pub(super) fn wants(notify: &Notify, about: &About<'_>) -> bool {
    let kind = notify.kinds.is_empty()
        || about
            .kind
            .is_some_and(|kind| notify.kinds.iter().any(|wanted| same(*wanted, kind)));
    kind && named(&notify.agents, Some(about.agent)) && named(&notify.projects, about.project)
}

fn same(wanted: Wanted, kind: Kind) -> bool {
    matches!(
        (wanted, kind),
        (Wanted::Permission, Kind::Permission)
            | (Wanted::SingleChoice, Kind::SingleChoice)
            | (Wanted::Text, Kind::Text)
            | (Wanted::Form, Kind::Form)
    )
}

fn named(names: &[String], name: Option<&str>) -> bool {
    let fold = str::to_lowercase;
    names.is_empty() || name.is_some_and(|name| names.iter().any(|n| fold(n) == fold(name)))
}

/// An entry's name under `notify/`: 16 hex characters that change with anything in it. So neither the
/// entries' order matters, nor does what was queued under other filters go out under new ones.
pub(super) fn name(notify: &Notify) -> String {
    // The debug form shows every member, those of later versions included.
    hex(&Sha256::digest(format!("{notify:?}"))[..8])
}

/// Whether a text can be such a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() == 16 && crate::id::is_hex(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(
        kind: Option<Kind>,
        agent: &'static str,
        project: Option<&'static str>,
    ) -> About<'static> {
        About {
            kind,
            agent,
            project,
        }
    }

    #[test]
    fn filters_are_met_one_and_all() {
        let entry = |text: &str| toml::from_str::<Notify>(text).unwrap();
        let permission = Some(Kind::Permission);
        let rows = [
            ("", about(None, "a", None), true),
            ("kinds = ['permission']", about(permission, "a", None), true),
            (
                "kinds = ['text', 'form']",
                about(permission, "a", None),
                false,
            ),
            (
                "kinds = ['single-choice']",
                about(Some(Kind::SingleChoice), "a", None),
                true,
            ),
            ("kinds = ['permission']", about(None, "a", None), false),
            ("agents = ['Ä']", about(permission, "ä", None), true),
            ("agents = ['b', 'c']", about(permission, "a", None), false),
            (
                "projects = ['SHOP']",
                about(permission, "a", Some("shop")),
                true,
            ),
            ("projects = ['shop']", about(permission, "a", None), false),
            (
                "projects = ['shop']",
                about(permission, "a", Some("shops")),
                false,
            ),
            (
                "projects = ['shop']\nagents = ['b']",
                about(permission, "a", Some("shop")),
                false,
            ),
        ];
        for (text, about, wanted) in rows {
            assert_eq!(wants(&entry(text), &about), wanted, "{text}");
        }
    }

    #[test]
    fn a_name_follows_the_entry_and_not_its_place() {
        let entry = |text: &str| name(&toml::from_str::<Notify>(text).unwrap());
        let plain = entry("ntfy = 'https://a.example/t'");
        assert!(is_name(&plain) && !is_name("../../etc/passwd") && !is_name(""));
        assert_eq!(plain, entry("kinds = []\nntfy = 'https://a.example/t'"));
        for other in [
            "ntfy = 'https://a.example/u'",
            "webhook = 'https://a.example/t'",
            "ntfy = 'https://a.example/t'\ninclude_prompt = true",
            "ntfy = 'https://a.example/t'\nagents = ['a']",
        ] {
            assert_ne!(plain, entry(other), "{other}");
        }
    }
}
