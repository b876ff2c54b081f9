//! One-way conditions: what a sender told without asking, under a key by which it tells it again or ends
//! it. A file for each under `arc/conditions/` of the state root, called by the hash of its scope, sender
//! and key. No text of an event is in it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::event::{Event, sha256};
use crate::error::{Error, Result};
use crate::fsio::{self, ReadError};
use crate::log;
use crate::store::Store;
use crate::store::layout::Home;

/// The bound of such a file, in bytes.
const FILE_MAX: usize = 256;
/// The version of the files' format.
const SCHEMA: u64 = 1;

/// Whether a condition still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It was told, and has not ended.
    Open,
    /// Its sender ended it, or asks under its key by now.
    Resolved,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    schema: u64,
    state: State,
}

/// The condition that an event's sender may have under the event's key.
pub(super) struct Condition {
    dir: PathBuf,
    path: PathBuf,
}

impl Condition {
    /// That of an event in a scope.
    pub(super) fn of(store: &Store, event: &Event) -> Self {
        let dir = dir(&store.home);
        let named = json!([store.scope, event.sender.id.trim(), event.key()]);
        let path = dir.join(format!("{}.json", sha256(&named.to_string())));
        Self { dir, path }
    }

    /// How it stands; none where its sender told nothing under this key.
    ///
    /// # Errors
    /// `unavailable` where that cannot be told.
    pub(super) fn state(&self) -> Result<Option<State>> {
        let bytes = match fsio::read(&self.path, FILE_MAX) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(self.unreadable(&error)),
        };
        match serde_json::from_slice::<Saved>(&bytes) {
            Ok(saved) if saved.schema > SCHEMA => Err(Error::unavailable(
                "a newer sayso knows what was told under this key",
            )
            .hint("update this sayso")),
            Ok(saved) => Ok(Some(saved.state)),
            Err(_) => Err(self.unreadable(&"it is damaged")),
        }
    }

    fn unreadable(&self, why: &dyn std::fmt::Display) -> Error {
        Error::unavailable(format!("cannot read {}: {why}", self.path.display()))
            .hint("a request.created under the same key writes it anew")
    }

    /// Keeps how it stands, durably. The directory `arc/` is there already.
    ///
    /// # Errors
    /// `unavailable`: sending the same event again is safe.
    pub(super) fn keep(&self, state: State) -> Result<()> {
        let saved = Saved {
            schema: SCHEMA,
            state,
        };
        let text = serde_json::to_string(&saved).unwrap_or_default() + "\n";
        self.make_dir()
            .and_then(|()| fsio::write_temp(&self.dir, text.as_bytes()))
            .and_then(|temp| fsio::replace_durably(temp, &self.path))
            .map(drop)
            .map_err(|e| Error::io("write", &self.path, &e).hint("send the very same event again"))
    }

    fn make_dir(&self) -> std::io::Result<()> {
        if self.dir.is_dir() {
            return Ok(());
        }
        fsio::make_dir(&self.dir)?;
        fsio::sync_dir(self.dir.parent().unwrap_or(&self.dir))
    }

    /// Ends it, if there is one: where its sender asks a question under the key, that is what goes on. What
    /// cannot be understood ends, too.
    ///
    /// # Errors
    /// As [`Condition::keep`].
    pub(super) fn end(&self) -> Result<()> {
        match self.state() {
            Ok(Some(State::Resolved) | None) => Ok(()),
            Ok(Some(State::Open)) | Err(_) => self.keep(State::Resolved),
        }
    }
}

fn dir(home: &Home) -> PathBuf {
    home.path().join("arc").join("conditions")
}

/// Forgets what was told, or ended, longer than `retention` ago, and what killed writers left.
pub(super) fn prune(home: &Home, retention: Duration) {
    let Ok(entries) = std::fs::read_dir(dir(home)) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if super::applied::is_older(&path, retention)
            && let Err(error) = fsio::remove(&path)
        {
            log::warn(&format!("cannot remove {}: {error}", path.display()));
        }
    }
}
