//! What the next writer does about what a killed one left behind.

use std::fs;
use std::time::Duration;

use super::{Store, Writer};
use crate::error::{Error, Result};
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

    /// Completes a settled record whose writer did not get past the commit: its question still stands.
    ///
    /// # Errors
    /// `unavailable` while it cannot be made durable, or the question stays: then it must not be
    /// acknowledged, and not be removed either, which would open the question again.
    pub(super) fn finish(&self, record: &Interaction) -> Result<()> {
        let layout = self.store.layout();
        let question = layout.pending_file(&record.id);
        if record.state == State::Pending || !question.try_exists().unwrap_or(true) {
            return Ok(());
        }
        self.sync_settled(&record.id)?;
        if let Some(event) = Event::of_settled(record)
            && !events::contains(&layout.dir, &event.id).unwrap_or(false)
        {
            self.append(event);
        }
        fsio::remove(&question).map_err(|e| Error::io("remove", &question, &e))
    }

    /// Makes a commit durable.
    pub(super) fn sync_settled(&self, id: &Id) -> Result<()> {
        fsio::sync_dir(&self.store.layout().settled).map_err(|e| {
            Error::unavailable(format!(
                "interaction '{id}' is recorded, durability unknown: {e}"
            ))
            .hint("repeat the same command with the same response id")
        })
    }
}

impl Store {
    /// Questions that still stand although their record is settled.
    pub(super) fn stale_ids(&self) -> Result<Vec<Id>> {
        Ok(self
            .ids_in(&self.layout().pending)?
            .into_iter()
            .filter(|id| self.layout().settled_file(id).try_exists().unwrap_or(false))
            .collect())
    }
}
