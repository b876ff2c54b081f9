//! What a notice says. Pure: the record, the counts and the time are given.
//!
//! Its title is ours but for the names of agent and project, which are cut and on one line, so that
//! nothing in a question can pass for what is said about it; its text is what was asked, in safe text,
//! or says how to look.

use serde_json::{Value, json};

use super::{Message, Priority};
use crate::events::{self, Event};
use crate::model::brief;
use crate::model::interaction::{Effect, Interaction, Kind};
use crate::text;
use crate::time::Time;

/// The bound of a name in a title, in columns.
const NAME_MAX: usize = 60;
/// The bound of a message's title, in columns.
const TITLE_MAX: usize = 120;
/// The bound of a question's text, in characters.
const TEXT_MAX: usize = brief::WHOLE_MAX;

/// One notice, ready for every way of sending it.
#[derive(Debug)]
pub(super) struct Notice {
    /// One line of safe text.
    pub(super) title: String,
    /// Lines of safe text, never empty.
    pub(super) text: String,
    /// The object for programs.
    pub(super) event: Value,
    /// The ids and kinds for a program's environment.
    pub(super) variables: Vec<(&'static str, String)>,
    /// Whether somebody is held up.
    pub(super) urgent: bool,
    /// One word for what it is about.
    pub(super) tag: &'static str,
}

/// Whether what was asked is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// It is.
    Told,
    /// It is not.
    Kept,
}

/// The notice of a question; `waiting` questions wait in all, this one among them.
pub(super) fn question(
    event: &Event,
    record: &Interaction,
    scope: &str,
    texts: Texts,
    waiting: usize,
    now: Time,
) -> Notice {
    let q = &record.question;
    let told = fit(&text::pipe(&brief::whole(q)), TEXT_MAX, |_| 1);
    let mut object = events::with_texts(event, Some(record), now);
    if let Some(members) = object.as_object_mut() {
        if texts == Texts::Told {
            members.insert("summary".into(), told.clone().into());
        } else {
            members.remove("summary");
            if names_choices(record) {
                // The ready command would name a choice. This one shows them, on a terminal.
                let command = format!("sayso answer {}", record.id);
                members.insert("answer_command".into(), command.into());
            }
        }
        if waiting > 1 {
            members.insert("waiting".into(), waiting.into());
        }
    }
    let (needs, tag) = match q.kind() {
        Kind::Permission => ("needs permission", "permission"),
        Kind::SingleChoice => ("needs a choice", "single_choice"),
        Kind::Text => ("needs a text", "text"),
        Kind::Form => ("needs answers", "form"),
    };
    let mut title = format!("{} {needs}{}", short(&q.agent), place(q.project.as_ref()));
    if waiting > 1 {
        title.push_str(&format!(", {waiting} questions wait"));
    }
    let text = match texts {
        Texts::Told => told,
        Texts::Kept => format!("sayso show {}", record.id),
    };
    Notice {
        title,
        text,
        event: object,
        variables: vec![
            ("SAYSO_SCOPE", scope.to_owned()),
            ("SAYSO_EVENT", event.kind_of_event.name().to_owned()),
            ("SAYSO_EVENT_ID", event.id.clone()),
            ("SAYSO_INTERACTION_ID", record.id.to_string()),
            ("SAYSO_KIND", q.kind().name().to_owned()),
            ("SAYSO_WAITING", waiting.to_string()),
        ],
        urgent: matches!(q.kind(), Kind::Permission | Kind::SingleChoice),
        tag,
    }
}

/// Whether the command that answers names a choice or a label, which the asker wrote.
fn names_choices(record: &Interaction) -> bool {
    let q = &record.question;
    match q.kind() {
        Kind::Text => false,
        Kind::Permission => {
            let allows = |c: &&crate::model::interaction::Choice| c.effect == Some(Effect::Allow);
            q.choices().iter().filter(allows).count() != 1
        }
        Kind::SingleChoice | Kind::Form => true,
    }
}

/// The notice of a message; `more` came since that are not told.
pub(super) fn message(message: &Message, texts: Texts, more: usize, now: Time) -> Notice {
    let told =
        |text: &str| (texts == Texts::Told && !text.trim().is_empty()).then(|| text.to_owned());
    let (title, body) = (told(&message.title), told(&message.body));
    let mut object = json!({
        "schema": "sayso.notice.v1",
        "type": "message",
        "at": now.to_string(),
        "agent": message.agent,
        "project": message.project,
        "title": title,
        "body": body,
        "priority": message.priority.name(),
        "more": (more > 0).then_some(more),
    });
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    let agent = short(&message.agent);
    let says = match &title {
        Some(title) => format!("{agent}: {}", text::cut(title.trim(), TITLE_MAX)),
        None => format!("{agent} has a message"),
    };
    let mut title = format!("{says}{}", place(message.project.as_ref()));
    if more > 0 {
        title.push_str(&format!(", {more} more"));
    }
    let text = match (body, texts) {
        (Some(body), _) => fit(&text::pipe(&body), TEXT_MAX, |_| 1),
        (None, Texts::Told) => "(no text)".to_owned(),
        (None, Texts::Kept) => "(its text is told with include_prompt only)".to_owned(),
    };
    Notice {
        title,
        text,
        event: object,
        variables: vec![("SAYSO_EVENT", "message".to_owned())],
        urgent: message.priority >= Priority::High,
        tag: "message",
    }
}

fn short(name: &str) -> String {
    text::cut(name, NAME_MAX)
}

fn place(project: Option<&String>) -> String {
    project.map_or(String::new(), |name| format!(" ({})", short(name)))
}

/// A text whose characters' sizes add up to at most `max`; what is cut is counted at its end: `…+N`.
pub(super) fn fit(text: &str, max: usize, size: impl Fn(char) -> usize) -> String {
    // The longest mark has this size in every measure.
    const MARK: usize = 24;
    let total: usize = text.chars().map(&size).sum();
    if total <= max {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += size(*c);
        used + MARK <= max
    };
    let kept: String = text.chars().take_while(fits).collect();
    let cut = text.chars().count() - kept.chars().count();
    format!("{kept}…+{cut}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_keeps_its_bound_in_every_measure() {
        let text = "𝄞é".repeat(500);
        for size in [char::len_utf8, char::len_utf16, |_| 1] {
            let cut = fit(&text, 300, size);
            assert!(cut.chars().map(size).sum::<usize>() <= 300);
            let (kept, rest) = cut.split_once("…+").unwrap();
            assert_eq!(kept.chars().count() + rest.parse::<usize>().unwrap(), 1000);
        }
        assert_eq!(fit("short", 300, char::len_utf8), "short");
    }

    #[test]
    fn a_message_without_its_texts_says_who_and_nothing_else() {
        let given = Message {
            agent: "-x\u{1b}[2J".into(),
            project: Some("shop".into()),
            title: "canary".into(),
            body: "canary\ntoo".into(),
            priority: Priority::High,
        };
        let now = Time::from_micros(0);
        let kept = message(&given, Texts::Kept, 2, now);
        assert!(!format!("{kept:?}").contains("canary"));
        assert_eq!(kept.title, "-x\\u{1b}[2J has a message (shop), 2 more");
        assert_eq!(kept.event["more"], 2);
        assert_eq!(
            (kept.urgent, &kept.event["priority"]),
            (true, &json!("high"))
        );
        let told = message(&given, Texts::Told, 0, now);
        assert_eq!(told.title, "-x\\u{1b}[2J: canary (shop)");
        assert_eq!(
            (told.text.as_str(), told.event.get("more")),
            ("canary\ntoo", None)
        );
    }
}
