//! The log of transitions: one line each, no texts, at least once. No state is ever read from it.

mod tail;

pub use tail::Tail;

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fsio;
use crate::model::brief;
use crate::model::interaction::{Interaction, Kind, Outcome, State, Status};
use crate::time::Time;

/// The size above which the log is rotated, in bytes.
pub const ROTATE_AT: u64 = 10 << 20;
/// The bound of one line, in bytes.
const LINE_MAX: u64 = 8 << 10;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Type {
    InteractionCreated,
    InteractionAnswered,
    InteractionExpired,
    InteractionCancelled,
    InteractionSuperseded,
    InteractionDelivered,
    InteractionResumed,
    PolicyDecided,
    IdentityPinned,
    RelayPublished,
    RelayPolled,
}

impl Type {
    /// Every type.
    pub const ALL: [Self; 11] = [
        Self::InteractionCreated,
        Self::InteractionAnswered,
        Self::InteractionExpired,
        Self::InteractionCancelled,
        Self::InteractionSuperseded,
        Self::InteractionDelivered,
        Self::InteractionResumed,
        Self::PolicyDecided,
        Self::IdentityPinned,
        Self::RelayPublished,
        Self::RelayPolled,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::InteractionCreated => "interaction_created",
            Self::InteractionAnswered => "interaction_answered",
            Self::InteractionExpired => "interaction_expired",
            Self::InteractionCancelled => "interaction_cancelled",
            Self::InteractionSuperseded => "interaction_superseded",
            Self::InteractionDelivered => "interaction_delivered",
            Self::InteractionResumed => "interaction_resumed",
            Self::PolicyDecided => "policy_decided",
            Self::IdentityPinned => "identity_pinned",
            Self::RelayPublished => "relay_published",
            Self::RelayPolled => "relay_polled",
        }
    }

    /// From its name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == text)
    }
}

/// One line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    /// `sayso.event.v1`.
    pub schema: String,
    /// `<interaction id>:<type>` for transitions; readers drop repeats.
    pub id: String,
    /// Grows by one per scope; given when the line is written.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What.
    #[serde(rename = "type")]
    pub kind_of_event: Type,
    /// Which interaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<String>,
    /// The interaction's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Who asked.
    pub agent: String,
    /// The asker's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The asker's workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    /// The status it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The surface it came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tool of a policy's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A policy's verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The position of the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Event {
    /// What happened to an interaction.
    pub fn of(record: &Interaction, what: Type, at: Time) -> Self {
        let response = record.response();
        Self {
            schema: "sayso.event.v1".into(),
            id: format!("{}:{}", record.id, what.name()),
            seq: 0,
            at: at.to_string(),
            kind_of_event: what,
            interaction_id: Some(record.id.to_string()),
            kind: Some(record.question.kind()),
            agent: record.question.agent.clone(),
            session_id: record.question.session_id.clone(),
            workflow_id: record.question.workflow_id.clone(),
            outcome: (what != Type::InteractionCreated).then(|| record.status().name().to_owned()),
            by: response.map(|r| r.answered_by.clone()),
            source: response.map(|r| r.source.clone()),
            tool: None,
            verdict: None,
            rule: None,
        }
    }

    /// Something about an agent that is no transition of an interaction.
    pub fn about_agent(what: Type, agent: &str, at: Time) -> Self {
        let id: [u8; 16] = rand::rng().random();
        Self {
            schema: "sayso.event.v1".into(),
            id: format!("{}:{}", crate::id::hex(&id), what.name()),
            seq: 0,
            at: at.to_string(),
            kind_of_event: what,
            interaction_id: None,
            kind: None,
            agent: agent.to_owned(),
            session_id: None,
            workflow_id: None,
            outcome: None,
            by: None,
            source: None,
            tool: None,
            verdict: None,
            rule: None,
        }
    }

    /// The transition that led to a settled record; none for a pending one.
    pub fn of_settled(record: &Interaction) -> Option<Self> {
        let State::Settled { at, outcome } = &record.state else {
            return None;
        };
        let what = match outcome {
            Outcome::Answered(_) => Type::InteractionAnswered,
            Outcome::Expired => Type::InteractionExpired,
            Outcome::Cancelled => Type::InteractionCancelled,
            Outcome::Superseded(_) => Type::InteractionSuperseded,
        };
        Some(Self::of(record, what, *at))
    }

    /// The same event with who did it.
    #[must_use]
    pub fn by(mut self, who: &str) -> Self {
        self.by = Some(who.to_owned());
        self
    }
}

/// The event with `summary` and `answer_command`, read from the record as it is at `now`.
pub fn with_texts(event: &Event, record: Option<&Interaction>, now: Time) -> Value {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    let (Some(object), Some(record)) = (value.as_object_mut(), record) else {
        return value;
    };
    object.insert("summary".into(), brief::whole(&record.question).into());
    if record.status_at(now) == Status::Pending
        && let Some(command) = brief::how_to_answer(record).into_iter().next()
    {
        object.insert("answer_command".into(), command.into());
    }
    value
}

/// The log's file.
pub fn file(dir: &Path) -> PathBuf {
    dir.join("events.jsonl")
}

/// The rotated log's file.
pub fn rotated_file(dir: &Path) -> PathBuf {
    dir.join("events.jsonl.1")
}

/// Appends one event with one `write`; the caller holds the scope's lock. A torn last line is closed
/// with a newline first, and a log that has grown too large is rotated.
pub fn append(dir: &Path, mut event: Event) -> io::Result<()> {
    let path = file(dir);
    let mut log = open(&path)?;
    let mut size = log.metadata()?.len();
    let mut tail = ending(&log, size)?;
    if size > ROTATE_AT {
        fs::rename(&path, rotated_file(dir))?;
        log = open(&path)?;
        size = 0;
        tail.torn = false;
    } else if tail.seq.is_none()
        && let Ok(old) = fsio::open(&rotated_file(dir))
    {
        tail.seq = ending(&old, old.metadata()?.len())?.seq;
    }
    event.seq = tail.seq.unwrap_or(0) + 1;
    let mut line = String::new();
    if tail.torn && size > 0 {
        line.push('\n');
    }
    line.push_str(&serde_json::to_string(&event)?);
    line.push('\n');
    log.write_all(line.as_bytes())
}

fn open(path: &Path) -> io::Result<File> {
    fsio::open_or_create(path).map_err(|e| io::Error::other(format!("{}: {e}", path.display())))
}

struct Ending {
    seq: Option<u64>,
    torn: bool,
}

fn ending(log: &File, size: u64) -> io::Result<Ending> {
    let mut window = 2 * LINE_MAX;
    loop {
        let start = size.saturating_sub(window);
        let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(0)];
        log.read_exact_at(&mut bytes, start)?;
        let torn = bytes.last().is_some_and(|b| *b != b'\n');
        let seq = bytes.rsplit(|b| *b == b'\n').find_map(|line| {
            let event: Event = serde_json::from_slice(line).ok()?;
            Some(event.seq)
        });
        if seq.is_some() || start == 0 {
            return Ok(Ending { seq, torn });
        }
        window *= 8;
    }
}

/// Every valid line of the log, oldest first, the rotated file included.
pub fn read(dir: &Path) -> io::Result<Vec<Event>> {
    let mut events = Vec::new();
    for path in [rotated_file(dir), file(dir)] {
        let bytes = match fsio::read(&path, usize::MAX - 1) {
            Ok(bytes) => bytes,
            Err(fsio::ReadError::Missing) => continue,
            Err(e) => return Err(io::Error::other(format!("{}: {e}", path.display()))),
        };
        events.extend(parse(&bytes));
    }
    Ok(events)
}

/// The valid lines of a piece of the log.
pub fn parse(bytes: &[u8]) -> impl Iterator<Item = Event> {
    bytes
        .split(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
}

/// The event of this id, looked for in the newest part of the log.
pub fn find_recent(dir: &Path, event_id: &str) -> Option<Event> {
    const WINDOW: u64 = 1 << 20;
    [file(dir), rotated_file(dir)].iter().find_map(|path| {
        let log = fsio::open(path).ok()?;
        let size = log.metadata().ok()?.len();
        let start = size.saturating_sub(WINDOW);
        let mut bytes = vec![0; usize::try_from(size - start).ok()?];
        log.read_exact_at(&mut bytes, start).ok()?;
        parse(&bytes).find(|event| event.id == event_id)
    })
}

/// Whether the log holds an event of this id.
pub fn contains(dir: &Path, event_id: &str) -> io::Result<bool> {
    Ok(read(dir)?.iter().any(|e| e.id == event_id))
}
