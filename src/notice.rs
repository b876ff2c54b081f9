//! Telling those who want it that something waits for a human (`[[notify]]`).
//!
//! Promise: a notice never delays or fails what it tells of. Who asks only queues ids and, where none
//! runs, starts a detached process that sends ([`sender`]); whatever becomes of that is noted beside the
//! queue, for `doctor`.
//!
//! Without `include_prompt` nothing that an asker wrote leaves the store but the names of agent and
//! project: neither prompt, choice, tool and input, nor a message's title and text.

mod desktop;
mod process;
mod queue;
mod route;
pub mod sender;
mod token;
mod web;
mod wording;

use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{Config, Notify};
use crate::log;
use crate::model::brief::bounded;
use crate::model::interaction::Interaction;
use crate::store::Store;
use crate::store::layout::Home;
use crate::time::Time;
pub use queue::Last;
use queue::Queue;
use route::About;

/// The hidden verb that runs [`sender::run`].
const VERB: &str = "__notify";
/// The bound of a message's title, in characters.
const TITLE_MAX: usize = 200;
/// The bound of a message's text, in characters.
const BODY_MAX: usize = 4000;

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
    Critical,
}

impl Priority {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// From its name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High, Self::Critical]
            .into_iter()
            .find(|p| p.name() == text)
    }
}

/// A notice that is about no question: ARC's information, a host's own notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub agent: String,
    /// The project's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// One line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// How urgent it is.
    #[serde(default)]
    pub priority: Priority,
}

/// Tells of a question that was just opened.
pub fn question(config: &Config, store: &Store, record: &Interaction) {
    let about = About::question(record);
    tell(config, &store.home, &about, |queue, _| {
        queue.push_question(&store.scope, record)
    });
}

/// Passes a message on; title and text are cut to 200 and 4000 characters.
pub fn message(config: &Config, home: &Home, message: &Message) {
    if config.notify.is_empty() || home.fault().is_some() {
        return;
    }
    let about = About::message(message);
    tell(config, home, &about, |queue, notify| {
        let mut kept = message.clone();
        kept.title = bounded(&kept.title, TITLE_MAX);
        kept.body = bounded(&kept.body, BODY_MAX);
        if !notify.include_prompt {
            kept.title.clear();
            kept.body.clear();
        }
        queue.push_message(Time::now(), &kept)
    });
}

/// Queues for every entry that wants it; two entries that are the same to the letter are one.
fn tell(
    config: &Config,
    home: &Home,
    about: &About<'_>,
    push: impl Fn(&Queue, &Notify) -> std::io::Result<()>,
) {
    let mut told: Vec<String> = Vec::new();
    for notify in config.notify.iter().map(toml::Spanned::get_ref) {
        if !route::wants(notify, about) {
            continue;
        }
        let name = route::name(notify);
        if told.contains(&name) {
            continue;
        }
        let queue = Queue::of(home, &name);
        let outcome = push(&queue, notify).and_then(|()| {
            // Whoever holds the lock looks into the queue once more after letting go of it.
            match queue.lock(Duration::ZERO)? {
                Some(_) => start(config, home, &name),
                None => Ok(()),
            }
        });
        if let Err(error) = outcome {
            log::info(|| format!("a notice could not be queued or sent: {error}"));
        }
        told.push(name);
    }
}

/// Starts the sender: this program again, which outlives the one that asked.
fn start(config: &Config, home: &Home, name: &str) -> std::io::Result<()> {
    let mut sender = Command::new(std::env::current_exe()?)
        .args([VERB, "--entry", name])
        .env("SAYSO_HOME", home.path())
        .env("SAYSO_CONFIG", &config.source.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // A server that asks lives longer than the sender: its end must be taken note of.
    std::thread::Builder::new()
        .spawn(move || sender.wait())
        .map(drop)
}

/// What became of an entry's last notice; none before the first.
pub fn last(home: &Home, notify: &Notify) -> Option<Last> {
    Queue::of(home, &route::name(notify)).last()
}

/// What is wrong with an entry that sending would show; `runs` says whether a program can be run.
/// Names hosts and files, never a whole address or a secret.
pub fn fault(notify: &Notify, runs: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(argv) = &notify.command {
        let program = argv.first().map_or("", String::as_str);
        if program.contains('/') && !program.starts_with('/') {
            return Some("the command's program must be on PATH or absolute: it runs in /".into());
        }
        return (!runs(program)).then(|| format!("there is no program {program} to run"));
    }
    if notify.desktop {
        let found = desktop::PROGRAMS.iter().any(|program| runs(program));
        return (!found).then(|| desktop::MISSING.to_owned());
    }
    web::ready(notify).err()
}

/// What an entry is called where it is told of.
pub fn title(notify: &Notify) -> String {
    if let Some(argv) = &notify.command {
        let program = argv.first().map_or("", String::as_str);
        return format!("command {program}");
    }
    if notify.desktop {
        return "desktop".to_owned();
    }
    let kind = if notify.ntfy.is_some() {
        "ntfy"
    } else {
        "webhook"
    };
    match web::destination(notify) {
        Ok(destination) => format!("{kind} at {}", destination.host()),
        Err(_) => kind.to_owned(),
    }
}
