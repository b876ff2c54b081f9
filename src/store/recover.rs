//! What the next writer does about what a killed one left behind.

use std::fs;
use std::time::Duration;

use super::{Store, Writer};
use crate::events::{self, Event, Type};
use crate::fsio;
use crate::id::Id;
use crate::log;
use crate::model::interaction::{Interaction, State};

/// How long a delivery that was not seen is looked for.
const DELIVERY_MEMORY: Duration = Duration::from_secs(600);

impl Writer<'_> {
    /// Empties `tmp/`, which is only written under the lock, and notes deliveries that happened since.
    pub(super) fn tidy(&self) {
        let layout = self.store.layout();
        for entry in fs::read_dir(&layout.tmp).into_iter().flatten().flatten() {
            log::debug(|| "removing a file that a killed process was writing".into());
            let _ = fsio::remove(&entry.path());
        }
        for entry in fs::read_dir(&layout.awaited)
            .into_iter()
            .flatten()
            .flatten()
        {
            match entry.file_name().to_str().and_then(Id::parse) {
                Some(id) => self.note_delivery(&id),
                None => drop(fsio::remove(&entry.path())),
            }
        }
    }

    /// Appends the delivery of an answered record to the events, once, if it was picked up.
    fn note_delivery(&self, id: &Id) {
        let awaited = self.store.layout().awaited.join(id.as_str());
        let Ok(record) = self.store.must_load(id) else {
            drop(fsio::remove(&awaited));
            return;
        };
        let State::Settled { at, .. } = record.state else {
            return;
        };
        if self.store.is_delivered(id) {
            self.append(Event::of(&record, Type::InteractionDelivered, self.now));
        } else if self.now.since(at) < DELIVERY_MEMORY {
            return;
        }
        let _ = fsio::remove(&awaited);
    }

    /// Completes a settled record whose writer was killed after the commit: its question still stands.
    pub(super) fn finish(&self, record: &Interaction) {
        let layout = self.store.layout();
        let question = layout.pending_file(&record.id);
        if record.state == State::Pending || !question.try_exists().unwrap_or(false) {
            return;
        }
        if let Err(e) = fsio::sync_dir(&layout.settled) {
            log::warn(&format!("cannot sync {}: {e}", layout.settled.display()));
            return;
        }
        if let Some(event) = Event::of_settled(record)
            && events::contains(&layout.dir, &event.id).is_ok_and(|there| !there)
        {
            self.append(event);
        }
        let _ = fsio::remove(&question);
    }
}

impl Store {
    /// Questions that still stand although their record is settled.
    pub(super) fn stale_ids(&self) -> crate::error::Result<Vec<Id>> {
        Ok(self
            .ids_in(&self.layout().pending)?
            .into_iter()
            .filter(|id| self.layout().settled_file(id).try_exists().unwrap_or(false))
            .collect())
    }
}
