//! Which events were applied: a file for each under `arc/` of the state root, called by the hash of its
//! sender and id. The file is the event's lock too, so that an event that comes twice at once is applied
//! once. No text of an event is in it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::event::Event;
use crate::error::{Error, Result};
use crate::fsio::{self, Lock, ReadError};
use crate::id::{Id, is_hex};
use crate::log;
use crate::repo::valid_scope_name;
use crate::store::layout::Home;
use crate::store::prune::PRUNE_FLOOR;
use crate::store::{LOCK_WAIT, Store};

/// The bound of an entry, in bytes.
const ENTRY_MAX: usize = 4096;
/// The version of the entries' format.
const SCHEMA: u64 = 1;
/// How often the entries are pruned.
const PRUNE_EVERY: Duration = Duration::from_secs(24 * 3600);

/// What is kept of an event.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    schema: u64,
    event_type: String,
    /// What a second event under the same id must say too.
    content: String,
    /// The scope that it was applied in.
    pub(super) scope: String,
    /// The question that it opened, answered or withdrew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interaction_id: Option<String>,
}

impl Entry {
    /// What is kept of an event that was applied to a question, or only told.
    pub(super) fn of(event: &Event, store: &Store, id: Option<&Id>) -> Self {
        Self {
            schema: SCHEMA,
            event_type: event.kind().name().to_owned(),
            content: event.content.clone(),
            scope: store.scope.clone(),
            interaction_id: id.map(ToString::to_string),
        }
    }

    /// The question that it was about.
    pub(super) fn question(&self) -> Option<Id> {
        self.interaction_id.as_deref().and_then(Id::parse)
    }

    /// Refuses an event that only shares its id with the one that was applied.
    pub(super) fn check_same(&self, event: &Event) -> Result<()> {
        if self.event_type == event.kind().name() && self.content == event.content {
            return Ok(());
        }
        Err(another())
    }
}

/// The refusal of an event whose id was used up.
pub(super) fn another() -> Error {
    Error::input("event_id names another event of this sender, which was applied before")
        .hint("an event needs an id of its own; only the very same event may be sent again")
}

/// Where an event's entry is.
pub(super) struct Ledger<'a> {
    home: &'a Home,
    path: PathBuf,
}

/// The right to apply an event: nobody else does meanwhile.
pub(super) struct Claim<'a> {
    ledger: &'a Ledger<'a>,
    file: File,
    _lock: Lock,
}

impl<'a> Ledger<'a> {
    /// That of an event.
    pub(super) fn of(home: &'a Home, event: &Event) -> Self {
        let path = dir(home).join(format!("{}.json", event.identity()));
        Self { home, path }
    }

    /// What is kept of the event; none where it was not applied.
    pub(super) fn entry(&self) -> Result<Option<Entry>> {
        match fsio::open(&self.path) {
            Ok(mut file) => self.read(&mut file),
            Err(ReadError::Missing) => Ok(None),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// An empty one is being applied or was left by a crash, as one that is cut short was.
    fn read(&self, file: &mut File) -> Result<Option<Entry>> {
        let bytes = fsio::read_from(file, ENTRY_MAX).map_err(|e| self.unreadable(&e))?;
        let Ok(entry) = serde_json::from_slice::<Entry>(&bytes) else {
            return Ok(None);
        };
        if entry.schema > SCHEMA {
            return Err(
                Error::unavailable("a newer sayso applied this event").hint("update this sayso")
            );
        }
        Ok(valid_scope_name(&entry.scope).then_some(entry))
    }

    fn unreadable(&self, error: &ReadError) -> Error {
        Error::unavailable(format!("cannot read {}: {error}", self.path.display()))
    }

    /// Waits until nobody else applies the event.
    ///
    /// # Errors
    /// `unavailable` where the state root cannot be written, or somebody else takes longer than 10 s.
    pub(super) fn claim(&'a self) -> Result<Claim<'a>> {
        make_dir(self.home)?;
        loop {
            let file = fsio::open_or_create(&self.path).map_err(|e| self.unreadable(&e))?;
            let lock = file
                .try_clone()
                .and_then(|file| fsio::lock(file, LOCK_WAIT, |_| {}))
                .map_err(|e| Error::io("lock", &self.path, &e))?
                .ok_or_else(|| Error::unavailable("another process still applies this event"))?;
            // Whoever held it before may have removed the file: then this is the lock of nothing.
            if file.metadata().is_ok_and(|m| m.nlink() > 0) {
                return Ok(Claim {
                    ledger: self,
                    file,
                    _lock: lock,
                });
            }
        }
    }
}

impl Claim<'_> {
    /// What was kept before the claim was got.
    pub(super) fn entry(&mut self) -> Result<Option<Entry>> {
        self.ledger.read(&mut self.file)
    }

    /// Keeps an entry, durably.
    ///
    /// # Errors
    /// `unavailable`: what the event does may be done, and sending it again finds that out.
    pub(super) fn keep(&self, entry: &Entry) -> Result<()> {
        let path = &self.ledger.path;
        let mut text = serde_json::to_string(entry).unwrap_or_default();
        text.push('\n');
        fsio::refill(&self.file, text.as_bytes())
            .and_then(|()| fsio::sync_dir(&dir(self.ledger.home)))
            .map_err(|e| Error::io("write", path, &e).hint("send the very same event again"))
    }

    /// Forgets an event that was refused: one that is right may come under the same id.
    pub(super) fn forget(self) {
        if let Err(error) = fsio::remove(&self.ledger.path) {
            log::warn(&format!(
                "cannot remove {}: {error}",
                self.ledger.path.display()
            ));
        }
    }
}

fn dir(home: &Home) -> PathBuf {
    home.path().join("arc")
}

fn make_dir(home: &Home) -> Result<()> {
    let root = home.path();
    let dir = dir(home);
    if dir.is_dir() {
        return home.check_writable();
    }
    fs::create_dir_all(root.parent().unwrap_or(root))
        .and_then(|()| fsio::make_dir(root))
        .map_err(|e| Error::io("create", root, &e))?;
    home.check_writable()?;
    fsio::make_dir(&dir)
        .and_then(|()| fsio::sync_dir(root))
        .map_err(|e| Error::io("create", &dir, &e))
}

/// Forgets the events that were applied longer than `retention` ago. Looks at most once a day unless it is
/// `wanted`.
///
/// # Errors
/// `unavailable` when the directory cannot be read.
pub fn prune(home: &Home, retention: Duration, wanted: Wanted) -> Result<usize> {
    let dir = dir(home);
    if !dir.is_dir() || (wanted == Wanted::WhenDue && !is_due(&dir)) {
        return Ok(0);
    }
    home.check_writable()?;
    let retention = retention.max(PRUNE_FLOOR);
    let entries = fs::read_dir(&dir).map_err(|e| Error::io("read", &dir, &e))?;
    let mut forgotten = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_entry) && is_older(&entry.path(), retention) {
            forgotten += usize::from(remove_idle(&entry.path()));
        }
    }
    super::condition::prune(home, retention);
    stamp(&dir);
    Ok(forgotten)
}

/// Whether pruning is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// By a verb.
    Now,
    /// By nobody.
    WhenDue,
}

fn is_entry(name: &str) -> bool {
    name.strip_suffix(".json")
        .is_some_and(|hash| hash.len() == 64 && is_hex(hash))
}

pub(super) fn is_older(path: &Path, age: Duration) -> bool {
    let changed = path.symlink_metadata().and_then(|m| m.modified());
    changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|a| a >= age))
}

/// Removes an entry that nobody applies just now.
fn remove_idle(path: &Path) -> bool {
    let Ok(file) = fsio::open(path) else {
        return false;
    };
    let idle = fsio::lock(file, Duration::ZERO, |_| {});
    matches!(idle, Ok(Some(_))) && fsio::remove(path).is_ok()
}

fn stamp_file(dir: &Path) -> PathBuf {
    dir.join("pruned")
}

fn is_due(dir: &Path) -> bool {
    let stamp = stamp_file(dir);
    !stamp.exists() || is_older(&stamp, PRUNE_EVERY)
}

fn stamp(dir: &Path) {
    let stamp = fsio::open_or_create(&stamp_file(dir)).map(|f| f.set_modified(SystemTime::now()));
    if !matches!(stamp, Ok(Ok(()))) {
        log::warn("the time of the last prune could not be kept");
    }
}
