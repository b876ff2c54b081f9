//! Finding questions by the key that they were asked under. `keys/` holds the newest id of each agent and
//! key; what it says is checked against the questions themselves.

use std::fs;

use sha2::{Digest, Sha256};

use super::query::{Entry, warn_corrupt};
use super::{Store, Writer};
use crate::error::{Error, Result};
use crate::fsio::{self, ReadError};
use crate::id::{Id, hex};
use crate::log;
use crate::model::interaction::Interaction;
use crate::model::transition;
use crate::time::Time;

/// The bound of an index entry, in bytes.
const ENTRY_MAX: usize = 64;

impl Store {
    /// The newest question asked by an agent under a key, as the index says.
    ///
    /// # Errors
    /// `unavailable` where the index cannot be read.
    pub fn newest_under(&self, agent: &str, key: &str) -> Result<Option<Id>> {
        self.entry(&key_name(agent, key))
    }

    /// The newest question that is open under a key, of each agent that has one.
    pub fn open_under(&self, key: &str, now: Time) -> Result<Vec<Interaction>> {
        let open = self.known_pending()?;
        let open = open.into_iter().filter(|record| !record.is_overdue(now));
        Ok(newest_of_each(open, key))
    }

    /// The newest question that was ever asked under a key, of each agent that did. Reads the whole
    /// index: for when nothing else is found.
    ///
    /// # Errors
    /// `unavailable` where an entry or its record cannot be read: it may be the one that is looked for.
    pub fn asked_under(&self, key: &str) -> Result<Vec<Interaction>> {
        let dir = &self.layout.keys;
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("read", dir, &e)),
        };
        let mut records = Vec::new();
        for entry in entries {
            let name = entry.map_err(|e| Error::io("read", dir, &e))?.file_name();
            if let Some(name) = name.to_str()
                && let Some(id) = self.entry(name)?
                && let Some(record) = self.load_known(&id)?
            {
                records.push(record);
            }
        }
        Ok(newest_of_each(records.into_iter(), key))
    }

    /// What an entry says; one that a power cut left without an id is passed over with a warning.
    fn entry(&self, name: &str) -> Result<Option<Id>> {
        let path = self.layout.keys.join(name);
        let shown = path.display();
        let bytes = match fsio::read(&path, ENTRY_MAX) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(e) => {
                return Err(Error::unavailable(format!("cannot read {shown}: {e}"))
                    .hint("it is part of the index of keys; removing it loses no question"));
            }
        };
        let id = std::str::from_utf8(&bytes).ok().and_then(Id::parse);
        if id.is_none() {
            log::warn(&format!("{shown} names no question"));
        }
        Ok(id)
    }

    /// The pending questions that this program understands; those that are corrupt are warned of.
    fn known_pending(&self) -> Result<Vec<Interaction>> {
        let entries = self.pending()?;
        warn_corrupt(&entries);
        Ok(entries.into_iter().filter_map(Entry::current).collect())
    }
}

fn newest_of_each(records: impl Iterator<Item = Interaction>, key: &str) -> Vec<Interaction> {
    let mut newest: Vec<Interaction> = Vec::new();
    for record in records.filter(|r| r.question.key.as_deref() == Some(key)) {
        let same = |r: &&mut Interaction| r.question.agent == record.question.agent;
        match newest.iter_mut().find(same) {
            Some(other) if other.created_at >= record.created_at => {}
            Some(other) => *other = record,
            None => newest.push(record),
        }
    }
    newest
}

impl Writer<'_> {
    pub(super) fn write_key(&self, agent: &str, key: &str, id: &Id) -> std::io::Result<()> {
        let layout = self.store.layout();
        let temp = fsio::write_temp(&layout.tmp, id.as_str().as_bytes())?;
        fsio::replace(temp, &layout.keys.join(key_name(agent, key)))
    }

    /// Removes a question from the index, where it is the newest of its key.
    pub(super) fn forget_key(&self, record: &Interaction) {
        let Some(key) = &record.question.key else {
            return;
        };
        let name = key_name(&record.question.agent, key);
        let removed = match self.store.entry(&name) {
            Ok(newest) if newest.as_ref() == Some(&record.id) => {
                let path = self.store.layout().keys.join(name);
                fsio::remove(&path).map_err(|e| Error::io("remove", &path, &e))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        // One that stays leads to a record that is not there, as any stale one does.
        if let Err(error) = removed {
            log::warn(&error.message);
        }
    }

    /// Whether an agent has a question open under a key.
    pub fn is_open_under(&self, agent: &str, key: &str) -> Result<bool> {
        Ok(!self.pending_under(agent, key)?.is_empty())
    }

    /// Completes what was settled under a key by someone who was killed before that was on disk: whoever
    /// asks again is told of one question, and must not find two after a power cut.
    pub(super) fn finish_under(&self, agent: &str, key: &str) -> Result<()> {
        for id in self.store.stale_ids()? {
            if let Some(record) = self.store.load_known(&id)?
                && record.question.agent == agent
                && record.question.key.as_deref() == Some(key)
            {
                self.finish(&record)?;
            }
        }
        Ok(())
    }

    /// The pending questions of an agent under a key; overdue ones are settled on the way.
    pub(super) fn pending_under(&self, agent: &str, key: &str) -> Result<Vec<Interaction>> {
        let mut found = Vec::new();
        for record in self.store.known_pending()? {
            if record.question.agent != agent || record.question.key.as_deref() != Some(key) {
                continue;
            }
            match transition::expire(&record, self.now) {
                Some(expired) => self.settle_quietly(&expired),
                None => found.push(record),
            }
        }
        Ok(found)
    }
}

fn key_name(agent: &str, key: &str) -> String {
    hex(&Sha256::digest(format!("{agent}\n{key}")))
}
