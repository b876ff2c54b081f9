//! Finding questions by the key that they were asked under. `keys/` holds the newest id of each agent and
//! key; what it says is checked against the questions themselves.

use std::fs;

use sha2::{Digest, Sha256};

use super::query::Entry;
use super::{Store, Writer};
use crate::error::{Error, Result};
use crate::fsio;
use crate::id::{Id, hex};
use crate::model::interaction::Interaction;
use crate::model::transition;
use crate::time::Time;

/// The bound of an index entry, in bytes.
const ENTRY_MAX: usize = 64;

impl Store {
    /// The newest question asked by an agent under a key, as the index says.
    pub fn newest_under(&self, agent: &str, key: &str) -> Option<Id> {
        self.entry(&key_name(agent, key))
    }

    /// The newest question that is open under a key, of each agent that has one.
    pub fn open_under(&self, key: &str, now: Time) -> Result<Vec<Interaction>> {
        let pending = self.pending()?.into_iter().filter_map(Entry::current);
        let open = pending.filter(|record| !record.is_overdue(now));
        Ok(newest_of_each(open, key))
    }

    /// The newest question that was ever asked under a key, of each agent that did. Reads the whole
    /// index: for when nothing else is found.
    pub fn asked_under(&self, key: &str) -> Result<Vec<Interaction>> {
        let dir = &self.layout.keys;
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("read", dir, &e)),
        };
        let records = entries
            .flatten()
            .filter_map(|entry| self.entry(entry.file_name().to_str()?))
            .filter_map(|id| self.must_load(&id).ok());
        Ok(newest_of_each(records, key))
    }

    fn entry(&self, name: &str) -> Option<Id> {
        let bytes = fsio::read(&self.layout.keys.join(name), ENTRY_MAX).ok()?;
        Id::parse(std::str::from_utf8(&bytes).ok()?)
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
        if self.store.entry(&name).as_ref() == Some(&record.id) {
            // One that stays leads to a record that is not there, as any stale one does.
            let _ = fsio::remove(&self.store.layout().keys.join(name));
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
            if let Ok(record) = self.store.must_load(&id)
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
        for record in self.store.pending()?.into_iter().filter_map(Entry::current) {
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
