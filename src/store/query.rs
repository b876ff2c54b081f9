//! Reading: one record, the pending ones, all of them. Nothing here needs the lock.

use std::fs;
use std::path::Path;

use super::Store;
use crate::error::{Code, Error, Result};
use crate::fsio::{self, Held, ReadError};
use crate::id::{Id, is_hex};
use crate::log;
use crate::model::interaction::{Interaction, State};
use crate::model::record::{self, Loaded, Newer, RECORD_MAX};

/// A record as it was found in a listing.
#[derive(Debug)]
pub enum Entry {
    /// One that this program understands.
    Current(Box<Interaction>),
    /// One of a newer format.
    Newer(Newer),
    /// One that cannot be trusted.
    Corrupt {
        /// The name that it stands under.
        id: Id,
        /// One clause.
        why: String,
    },
}

impl Entry {
    /// The record, if this program understands it.
    pub fn current(self) -> Option<Interaction> {
        match self {
            Self::Current(record) => Some(*record),
            Self::Newer(_) | Self::Corrupt { .. } => None,
        }
    }
}

impl Store {
    /// Loads a record: settled wins over a question that still stands beside it.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `unavailable`.
    pub fn load(&self, id: &Id) -> Result<Loaded> {
        let settled = self.layout().settled_file(id);
        let pending = self.layout().pending_file(id);
        for path in [&settled, &pending, &settled] {
            match fsio::read(path, RECORD_MAX) {
                Ok(bytes) => {
                    let loaded = record::parse(id, &bytes).map_err(|why| corrupt(id, &why))?;
                    if let Loaded::Current(record) = &loaded
                        && (record.state == State::Pending) != (path == &pending)
                    {
                        return Err(corrupt(id, "it stands in the wrong directory"));
                    }
                    return Ok(loaded);
                }
                Err(ReadError::Missing) => {}
                Err(ReadError::Io(e)) => return Err(Error::io("read", path, &e)),
                Err(e) => return Err(corrupt(id, &e.to_string())),
            }
        }
        Err(not_found(id.as_str()))
    }

    /// Loads a record that this program understands.
    pub fn must_load(&self, id: &Id) -> Result<Interaction> {
        match self.load(id)? {
            Loaded::Current(record) => Ok(*record),
            Loaded::Newer(newer) => Err(Error::unavailable(format!(
                "interaction '{id}' was written by a newer sayso (schema {})",
                newer.schema
            ))
            .hint("update this sayso to change it")),
        }
    }

    /// Loads a record for a search among others: none where it is not there or of a newer format. One
    /// that is corrupt is warned of and passed over, so that it harms nothing but itself.
    ///
    /// # Errors
    /// `unavailable` where it cannot be read.
    pub(super) fn load_known(&self, id: &Id) -> Result<Option<Interaction>> {
        match self.load(id) {
            Ok(Loaded::Current(record)) => Ok(Some(*record)),
            Ok(Loaded::Newer(_)) => Ok(None),
            Err(e) if e.code == Code::NotFound => Ok(None),
            Err(e) if e.code == Code::Corrupt => {
                log::warn(&e.message);
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Whether a record of this id is here, whatever its state. One that cannot be looked at counts as
    /// here: loading it says why.
    pub fn has(&self, id: &Id) -> bool {
        [
            self.layout().pending_file(id),
            self.layout().settled_file(id),
        ]
        .iter()
        .any(|path| {
            !path
                .symlink_metadata()
                .is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
        })
    }

    /// The questions that stand in `pending/` and are not settled, in no order. Overdue ones are among
    /// them: who shows them asks [`Interaction::status_at`].
    pub fn pending(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for id in self.ids_in(&self.layout().pending)? {
            match self.load(&id) {
                Ok(Loaded::Current(record)) if record.state != State::Pending => {}
                Ok(Loaded::Current(record)) => entries.push(Entry::Current(record)),
                Ok(Loaded::Newer(newer)) => entries.push(Entry::Newer(newer)),
                Err(e) if e.code == Code::NotFound => {}
                Err(e) if e.code == Code::Corrupt => {
                    entries.push(Entry::Corrupt { id, why: e.message });
                }
                Err(e) => return Err(e),
            }
        }
        Ok(entries)
    }

    /// Every record, in no order.
    pub fn all(&self) -> Result<Vec<Entry>> {
        let mut entries = self.pending()?;
        for id in self.ids_in(&self.layout().settled)? {
            match self.load(&id) {
                Ok(Loaded::Current(record)) => entries.push(Entry::Current(record)),
                Ok(Loaded::Newer(newer)) => entries.push(Entry::Newer(newer)),
                Err(e) if e.code == Code::NotFound => {}
                Err(e) if e.code == Code::Corrupt => {
                    entries.push(Entry::Corrupt { id, why: e.message });
                }
                Err(e) => return Err(e),
            }
        }
        Ok(entries)
    }

    /// Whether anyone waits for a question.
    pub fn waiting(&self, id: &Id) -> Held {
        match fsio::open(&self.layout().pending_file(id)) {
            Ok(file) => fsio::lease_held(&file),
            Err(_) => Held::No,
        }
    }

    /// The ids that begin with `prefix`, pending ones first.
    pub fn ids_with_prefix(&self, prefix: &str) -> Result<Vec<Id>> {
        let mut ids = self.ids_in(&self.layout().pending)?;
        ids.extend(self.ids_in(&self.layout().settled)?);
        ids.retain(|id| id.as_str().starts_with(prefix));
        let mut unique: Vec<Id> = Vec::new();
        for id in ids {
            if !unique.contains(&id) {
                unique.push(id);
            }
        }
        Ok(unique)
    }

    /// About how many settled records there are, from the size of their directory alone.
    pub fn settled_estimate(&self) -> u64 {
        fs::metadata(&self.layout().settled).map_or(0, |m| m.len().saturating_sub(4096) / 40)
    }

    /// How many files stand in `pending/`.
    pub(super) fn count_files(&self) -> Result<usize> {
        self.ids_in(&self.layout().pending).map(|ids| ids.len())
    }

    /// The ids that a directory of records holds; other names are ignored.
    pub(super) fn ids_in(&self, dir: &Path) -> Result<Vec<Id>> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("read", dir, &e)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| Error::io("read", dir, &e))?;
            if let Some(id) = entry.file_name().to_str().and_then(record_name) {
                ids.push(id);
            }
        }
        Ok(ids)
    }
}

fn record_name(name: &str) -> Option<Id> {
    Id::parse(name.strip_suffix(".json")?)
}

/// Says once per listing what was passed over.
pub fn warn_corrupt(entries: &[Entry]) {
    for entry in entries {
        if let Entry::Corrupt { why, .. } = entry {
            log::warn(why);
        }
    }
}

/// The refusal of an id or prefix that names nothing here.
pub fn not_found(text: &str) -> Error {
    let shown = if is_hex(text) { text } else { "?" };
    Error::new(
        Code::NotFound,
        format!("there is no interaction '{shown}' in this scope"),
    )
}

fn corrupt(id: &Id, why: &str) -> Error {
    Error::new(
        Code::Corrupt,
        format!("the record of interaction '{id}' is corrupt: {why}"),
    )
    .hint("it is never treated as an answer; 'sayso doctor' lists such records")
}
