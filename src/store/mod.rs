//! The store: plain files, one short-lived process at a time changing a scope, correctness from the
//! file system alone. This is the only room that touches record files.
//!
//! A transition commits when a whole terminal record is renamed into `settled/` without replacing
//! anything: that can succeed once per id, with or without a working lock.

pub mod create;
pub mod keys;
pub mod layout;
pub mod marks;
pub mod prune;
pub mod query;
pub mod recover;
pub mod settle;
pub mod withdraw;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::events::{self, Event};
use crate::fsio::{self, Lock, ReadError};
use crate::log;
use crate::model::interaction::Interaction;
use crate::repo;
use crate::time::Time;
use layout::{Home, Layout};

/// How long a verb waits for a scope's lock.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How long a withdrawal on the way out waits for it.
pub const WITHDRAW_WAIT: Duration = Duration::from_millis(300);

/// One scope of the store.
#[derive(Clone, Debug)]
pub struct Store {
    /// The state root.
    pub home: Home,
    /// The scope's name.
    pub scope: String,
    /// The repository or directory that the scope stands for, where it is known.
    pub root: Option<PathBuf>,
    layout: Layout,
}

/// The right to change a scope: its lock is held, and `now` was read after it was taken.
#[derive(Debug)]
pub struct Writer<'a> {
    store: &'a Store,
    /// The time of everything that is done under this lock.
    pub now: Time,
    _lock: Lock,
}

impl Store {
    /// A scope; nothing is touched yet.
    pub fn new(home: &Home, scope: &str, root: Option<PathBuf>) -> Self {
        Self {
            home: home.clone(),
            scope: scope.to_owned(),
            root,
            layout: Layout::new(home, scope),
        }
    }

    /// The scope of a repository or directory, by its canonical path.
    pub fn of(home: &Home, root: PathBuf) -> Self {
        Self::new(home, &repo::scope_name(&root), Some(root))
    }

    /// The scope of the repository around a directory; outside a repository, the directory's own.
    ///
    /// # Errors
    /// As [`repo::discover`] says; `invalid_input` where the directory cannot be used.
    pub fn around(home: &Home, start: &Path) -> Result<Self> {
        let git_dir = std::env::var_os("GIT_DIR");
        let root = match repo::discover(start, git_dir.as_deref())? {
            Some(found) => found.root,
            None => directory(start)?,
        };
        Ok(Self::of(home, root))
    }

    /// Where the scope's things are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Takes the scope's lock, and tidies up what a killed process left behind. A scope that is gone
    /// is not made again: what was in it would seem to be lost.
    ///
    /// # Errors
    /// `unavailable` when the lock cannot be had within `wait`, or the store is gone or cannot be written.
    pub fn lock(&self, wait: Duration) -> Result<Writer<'_>> {
        if !self.layout.pending.try_exists().unwrap_or(true) {
            return Err(Error::unavailable(format!(
                "the scope '{}' is not in the store {}, or vanished from it",
                self.scope,
                self.home.path().display()
            )));
        }
        self.lock_or_make(wait)
    }

    /// As [`Store::lock`], making the scope where it is not there yet.
    ///
    /// # Errors
    /// As [`Store::lock`].
    pub fn lock_or_make(&self, wait: Duration) -> Result<Writer<'_>> {
        self.home.check_writable()?;
        let path = self.layout.lock();
        let complete = self.layout.scope_file().try_exists().unwrap_or(true);
        if !complete {
            self.layout.make(&self.home)?;
        }
        let file = fsio::open_or_create(&path).map_err(|e| match e {
            ReadError::Missing => {
                Error::unavailable(format!("the store {} vanished", self.home.path().display()))
            }
            e => Error::unavailable(format!("cannot open {}: {e}", path.display()))
                .hint("the store must be writable for this; reading works without"),
        })?;
        let holder = |file: &std::fs::File| {
            fsio::lock_holder(file).unwrap_or_else(|| "another process".into())
        };
        let probe = file.try_clone().ok();
        let lock = fsio::lock(file, wait, |file| {
            log::warn(&format!(
                "waiting for the lock of scope '{}', held by {}",
                self.scope,
                holder(file)
            ));
        })
        .map_err(|e| Error::io("lock", &path, &e))?;
        let Some(lock) = lock else {
            let who = probe
                .as_ref()
                .map_or_else(|| "another process".into(), holder);
            return Err(Error::unavailable(format!(
                "the lock of scope '{}' is still held by {who} after {} ms",
                self.scope,
                wait.as_millis()
            ))
            .hint("try again; if that process is stopped, let it go on or end it"));
        };
        let writer = Writer {
            store: self,
            now: Time::now(),
            _lock: lock,
        };
        writer.tidy();
        if !complete {
            self.layout.complete(&self.home, &self.scope_json())?;
        }
        Ok(writer)
    }

    fn scope_json(&self) -> String {
        serde_json::json!({
            "schema": 1,
            "root": self.root.as_ref().map(|r| r.display().to_string()),
            "created_at": Time::now().to_string(),
        })
        .to_string()
    }

    /// The directory that the scope was made for, as `scope.json` says.
    pub fn recorded_root(&self) -> Option<String> {
        let bytes = fsio::read(&self.layout.scope_file(), 64 << 10).ok()?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        Some(value.get("root")?.as_str()?.to_owned())
    }
}

fn directory(start: &Path) -> Result<PathBuf> {
    let unusable = |why: String| {
        let message = format!("cannot use the directory {}: {why}", start.display());
        Error::input(message)
    };
    let path = start.canonicalize().map_err(|e| unusable(e.to_string()))?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err(unusable("it is none".to_owned()))
    }
}

impl Writer<'_> {
    /// The scope that is being changed.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// Appends an event; the transition stands even if that fails.
    pub fn append(&self, event: Event) {
        if let Err(error) = self.try_append(event) {
            log::warn(&format!("an event could not be written: {error}"));
        }
    }

    /// Appends an event.
    pub fn try_append(&self, event: Event) -> std::io::Result<()> {
        log::debug(|| format!("event {}", event.id));
        events::append(&self.store.layout.dir, event)
    }

    fn write_temp(&self, record: &Interaction) -> Result<tempfile::NamedTempFile> {
        use crate::model::record::{RECORD_MAX, Secrets, to_json};
        let mut text = to_json(record, Secrets::Shown);
        text.push('\n');
        if text.len() > RECORD_MAX {
            return Err(Error::input(format!(
                "the record would be larger than {RECORD_MAX} bytes"
            )));
        }
        let tmp = &self.store.layout.tmp;
        fsio::write_temp(tmp, text.as_bytes()).map_err(|e| Error::io("write in", tmp, &e))
    }
}
