//! What stands beside a record: that its answer was picked up, and how far the resume of its workflow is.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::create::Lease;
use super::{Store, Writer};
use crate::error::{Code, Error, Result};
use crate::fsio::{self, Held, ReadError};
use crate::id::Id;
use crate::log;
use crate::model::interaction::{Interaction, Status};
use crate::time::Time;

/// The bound of a mark's file, in bytes.
const MARK_MAX: usize = 64 << 10;

/// How far the resume of a suspended question's workflow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing was started yet.
    Paused,
    /// A resumer claimed it and starts the command, or tries again.
    Starting,
    /// The command runs, or ended well.
    Resumed,
    /// The command could not be started, or ended badly.
    Failed,
}

/// The resume of a suspended question's workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// How far it is.
    pub state: Stage,
    /// Since when.
    pub at: String,
    /// How often the command was started.
    #[serde(default)]
    pub attempts: u32,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Resume {
    /// A stage that was reached at `at`.
    pub fn new(state: Stage, at: Time, attempts: u32) -> Self {
        Self {
            state,
            at: at.to_string(),
            attempts,
            error: None,
        }
    }
}

impl Store {
    /// Marks an answer as picked up by this process; the first to do so wins. Not synced: the mark
    /// says something about the past, and the answer does not depend on it.
    pub fn mark_delivered(&self, record: &Interaction) {
        if record.status() == Status::Answered {
            let path = self.layout().delivered_mark(&record.id);
            match fsio::create_mark(&path) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                    log::warn(&format!("{} could not be made: {e}", path.display()));
                }
                _ => {}
            }
        }
    }

    /// Whether an answer was picked up, where something depends on it.
    ///
    /// # Errors
    /// `unavailable` where its mark cannot be looked at.
    pub fn delivered(&self, id: &Id) -> Result<bool> {
        let path = self.layout().delivered_mark(id);
        path.try_exists().map_err(|e| Error::io("read", &path, &e))
    }

    /// Whether an answer is known to have been picked up.
    pub fn is_delivered(&self, id: &Id) -> bool {
        self.delivered(id).unwrap_or(false)
    }

    /// When an answer was picked up, if it was.
    pub fn delivered_at(&self, id: &Id) -> Option<Time> {
        let path = self.layout().delivered_mark(id);
        let modified = match path.metadata().and_then(|m| m.modified()) {
            Ok(modified) => modified,
            Err(e) if e.kind() == ErrorKind::NotFound => return None,
            Err(e) => {
                log::warn(&Error::io("read", &path, &e).message);
                return None;
            }
        };
        let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Time::from_micros(i64::try_from(since.as_micros()).ok()?))
    }

    /// Waits until an answer is picked up, at most `wait`; whether it was.
    pub fn await_delivery(&self, id: &Id, wait: Duration) -> bool {
        let start = std::time::Instant::now();
        let mut pause = Duration::from_micros(200);
        while !self.is_delivered(id) {
            if start.elapsed() >= wait {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        true
    }

    /// What stands beside a record, as members of its JSON: `delivery`, `resume`.
    pub fn beside(&self, record: &Interaction) -> Vec<(&'static str, Value)> {
        let mut members = Vec::new();
        if record.response().is_some()
            && let Some(at) = self.delivered_at(&record.id)
        {
            let delivery = serde_json::json!({ "delivered_at": at.to_string() });
            members.push(("delivery", delivery));
        }
        if record.question.suspended {
            match self.resume_mark(&record.id) {
                Ok(Some(resume)) => {
                    let resume = serde_json::to_value(resume).unwrap_or_default();
                    members.push(("resume", resume));
                }
                Ok(None) => {}
                Err(error) => log::warn(&error.message),
            }
        }
        members
    }

    /// How far the resume of a suspended question's workflow is; none where nothing is to be resumed.
    ///
    /// # Errors
    /// `unavailable` where its mark cannot be read, `corrupt` where it cannot be understood.
    pub fn resume_mark(&self, id: &Id) -> Result<Option<Resume>> {
        let path = self.layout().resume_mark(id);
        let bytes = match fsio::read(&path, MARK_MAX) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(e) => return Err(unreadable(&path, &e)),
        };
        let mark = serde_json::from_slice(&bytes).map_err(|_| {
            let told = format!("{} does not say how far the resume is", path.display());
            Error::new(Code::Corrupt, told)
        })?;
        Ok(Some(mark))
    }

    /// Whether a living resumer holds the resume.
    ///
    /// # Errors
    /// `unavailable` where its mark cannot be opened.
    pub fn is_resuming(&self, id: &Id) -> Result<bool> {
        let path = self.layout().resume_mark(id);
        match fsio::open(&path) {
            Ok(mark) => Ok(fsio::lease_held(&mark) == Held::Yes),
            Err(ReadError::Missing) => Ok(false),
            Err(e) => Err(unreadable(&path, &e)),
        }
    }

    /// The suspended questions that have such a mark, in no order.
    pub fn resume_ids(&self) -> Result<Vec<Id>> {
        let dir = &self.layout().marks;
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("read", dir, &e)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(|e| Error::io("read", dir, &e))?.file_name();
            let name = name.to_str().and_then(|n| n.strip_suffix(".resume.json"));
            ids.extend(name.and_then(Id::parse));
        }
        Ok(ids)
    }
}

fn unreadable(path: &Path, error: &ReadError) -> Error {
    Error::unavailable(format!("cannot read {}: {error}", path.display()))
}

impl Writer<'_> {
    /// Writes how far a resume is, durably, and takes a lease on it: while it is held, everyone sees
    /// that the resumer lives.
    pub fn write_resume(&self, id: &Id, resume: &Resume) -> Result<Lease> {
        let path = self.store.layout().resume_mark(id);
        let text = serde_json::to_string(resume).unwrap_or_default();
        let write = || {
            let temp = fsio::write_temp(&self.store.layout().tmp, text.as_bytes())?;
            let held = fsio::take_lease(temp.as_file());
            let file = fsio::replace_durably(temp, &path)?;
            held.map(|()| Lease::of(file))
        };
        write().map_err(|e| Error::io("write", &path, &e))
    }

    /// Writes what a resumed workflow is told, for its command to read.
    pub fn write_feedback(&self, id: &Id, text: &str) -> Result<std::path::PathBuf> {
        let layout = self.store.layout();
        let path = layout.feedback(id);
        fsio::write_temp(&layout.tmp, text.as_bytes())
            .and_then(|temp| fsio::replace(temp, &path))
            .map_err(|e| Error::io("write", &path, &e))?;
        Ok(path)
    }
}
