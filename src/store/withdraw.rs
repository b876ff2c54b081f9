//! Cancelling many questions as one transition: their records reach the disk together, so that many
//! cost little more than one.

use std::collections::HashMap;
use std::fs::File;
use std::time::Instant;

use super::Writer;
use crate::error::Result;
use crate::events::{Event, Type};
use crate::fsio;
use crate::id::Id;
use crate::log;
use crate::model::interaction::Interaction;
use crate::model::transition;

/// How many records reach the disk together.
const PORTION: usize = 64;

impl Writer<'_> {
    /// Cancels questions; each is committed as [`Writer::cancel`] would, no later than `until`. Returns
    /// those that ended, by whatever outcome; what could not be reached in time stays open.
    pub fn cancel_all(&self, ids: &[Id], by: &str, until: Instant) -> HashMap<Id, Interaction> {
        let mut ended = HashMap::new();
        // In portions, so that what cannot be done in time does not keep the rest from being done.
        for some in ids.chunks(PORTION) {
            if Instant::now() >= until {
                break;
            }
            self.cancel_some(some, by, until, &mut ended);
        }
        ended
    }

    fn cancel_some(
        &self,
        ids: &[Id],
        by: &str,
        until: Instant,
        ended: &mut HashMap<Id, Interaction>,
    ) {
        let mut staged = Vec::new();
        for id in ids {
            match self.stage(id) {
                Ok(Staged::Ended(record)) => drop(ended.insert(id.clone(), *record)),
                Ok(Staged::Written(record, temp)) => staged.push((record, temp)),
                Err(error) => log::warn(&format!("interaction '{id}' stays open: {error}")),
            }
        }
        let layout = self.store.layout();
        let mut placed: Vec<Interaction> = Vec::new();
        let files: Vec<&File> = staged.iter().map(|(_, temp)| temp.as_file()).collect();
        let synced = fsio::sync_together(&files, until);
        for ((record, temp), synced) in staged.into_iter().zip(synced) {
            if synced && fsio::place_new(temp, &layout.settled_file(&record.id)).is_ok() {
                placed.push(*record);
            }
        }
        if placed.is_empty() {
            return;
        }
        if let Err(error) = fsio::sync_dir(&layout.settled) {
            // The questions stay, so that the next writer syncs again before anyone relies on their end.
            log::warn(&format!("withdrawn, durability unknown: {error}"));
            return;
        }
        for record in placed {
            let event = Event::of(&record, Type::InteractionCancelled, self.now).by(by);
            self.conclude(&record, event);
            ended.insert(record.id.clone(), record);
        }
    }

    fn stage(&self, id: &Id) -> Result<Staged> {
        let record = self.store.must_load(id)?;
        match transition::cancel(&record, self.now) {
            None => self.cancel(id, "").map(|(r, _)| Staged::Ended(Box::new(r))),
            Some(cancelled) => {
                let temp = self.write_temp(&cancelled)?;
                Ok(Staged::Written(Box::new(cancelled), temp))
            }
        }
    }
}

enum Staged {
    Ended(Box<Interaction>),
    Written(Box<Interaction>, tempfile::NamedTempFile),
}
