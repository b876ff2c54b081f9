//! Small JSON files of one provider: read whole, written whole.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::fsio::{self, Lock, ReadError};
use crate::log;

/// The bound of such a file, in bytes.
const FILE_MAX: usize = 64 << 10;
/// How old a file that was being written must be to count as left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// One provider's directory.
#[derive(Clone, Debug)]
pub struct Dir(PathBuf);

impl Dir {
    /// Below the state root's `relay` directory; nothing is made yet.
    pub fn new(relay: &Path, provider_id: &str) -> Self {
        Self(relay.join(provider_id))
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where outbox entries are.
    pub fn outbox(&self) -> PathBuf {
        self.0.join("outbox")
    }

    fn tmp(&self) -> PathBuf {
        self.0.join("tmp")
    }

    /// Makes the directories that are not there.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn make(&self) -> Result<()> {
        let relay = self.0.parent().unwrap_or(&self.0);
        let home = relay.parent().unwrap_or(relay);
        std::fs::create_dir_all(home.parent().unwrap_or(home))
            .map_err(|e| Error::io("create", home, &e))?;
        for dir in [home, relay, &self.0, &self.outbox(), &self.tmp()] {
            fsio::make_dir(dir).map_err(|e| Error::io("create", dir, &e))?;
        }
        Ok(())
    }

    /// What a file holds; none where it is missing or cannot be understood, which is said under `-v`.
    pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
        let parsed = match fsio::read(path, FILE_MAX) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| e.classify()),
            Err(ReadError::Missing) => return None,
            Err(error) => {
                log::info(|| format!("{} is passed over: {error}", path.display()));
                return None;
            }
        };
        if parsed.is_err() {
            log::info(|| format!("{} is passed over: it is damaged", path.display()));
        }
        parsed.ok()
    }

    /// Writes a file whole, in place of what was there.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn write<T: Serialize>(&self, path: &Path, value: &T) -> Result<()> {
        let text = serde_json::to_string(value).unwrap_or_default() + "\n";
        let wrote = fsio::write_temp(&self.tmp(), text.as_bytes())
            .and_then(|temp| fsio::replace_durably(temp, path));
        wrote.map(drop).map_err(|e| Error::io("write", path, &e))
    }

    /// Writes a file that must not be there yet, without syncing; whether it was not.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn write_new<T: Serialize>(&self, path: &Path, value: &T) -> Result<bool> {
        let text = serde_json::to_string(value).unwrap_or_default() + "\n";
        let placed = fsio::write_temp(&self.tmp(), text.as_bytes())
            .and_then(|temp| fsio::place_new(temp, path));
        match placed {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(Error::io("write", path, &e)),
        }
    }

    /// Takes the provider's lock; none if someone else keeps it longer than `wait`.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn lock(&self, wait: Duration) -> Result<Option<Lock>> {
        self.lock_named("lock", wait)
    }

    /// Takes the lock of the list of devices; held for a moment only, never over a request.
    ///
    /// # Errors
    /// `unavailable`.
    pub(super) fn lock_devices(&self, wait: Duration) -> Result<Option<Lock>> {
        self.lock_named("devices.lock", wait)
    }

    fn lock_named(&self, name: &str, wait: Duration) -> Result<Option<Lock>> {
        let path = self.0.join(name);
        let failed = |e: &dyn std::fmt::Display| {
            Error::unavailable(format!("cannot lock {}: {e}", path.display()))
        };
        let file = fsio::open_or_create(&path).map_err(|e| failed(&e))?;
        fsio::lock(file, wait, |_| {}).map_err(|e| failed(&e))
    }

    /// Removes what killed writers left behind. The caller holds the lock.
    pub fn tidy(&self) {
        let Ok(entries) = std::fs::read_dir(self.tmp()) else {
            return;
        };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|m| m.modified());
            let age = age.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
            if age.is_ok_and(|age| age > LEFT_BEHIND) {
                let _ = fsio::remove(&entry.path());
            }
        }
    }
}
