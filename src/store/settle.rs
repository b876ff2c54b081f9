//! Ending a question: the one commit, and what follows it.

use std::io::ErrorKind;
use std::time::Duration;

use super::query::Entry;
use super::{Store, Writer};
use crate::error::{Code, Error, Result};
use crate::events::{Event, Type};
use crate::fsio::{self, Held};
use crate::id::Id;
use crate::log;
use crate::model::interaction::Interaction;
use crate::model::response::{Answer, Responder};
use crate::model::transition::{self, Decision};

/// What became of an answer.
#[derive(Debug)]
pub struct Answered {
    /// The record with the accepted answer.
    pub record: Interaction,
    /// Whether the very same answer had been accepted before.
    pub replayed: bool,
    /// Whether anyone waited for it when it was accepted.
    pub waiting: Held,
    question: Option<std::fs::File>,
}

impl Answered {
    /// Whether anyone still waits for it: a lease on the question outlives the question's name.
    pub fn still_waiting(&self) -> Held {
        self.question
            .as_ref()
            .map_or(Held::Unknown, fsio::lease_held)
    }
}

impl Writer<'_> {
    /// Applies the answer rules to the stored record and, if they accept, commits the answer.
    ///
    /// # Errors
    /// As [`transition::answer`] says; `not_found`; `unavailable` when the disk says no.
    pub fn answer(&self, id: &Id, answer: &Answer, who: &Responder) -> Result<Answered> {
        let record = self.store.must_load(id)?;
        if let Some(expired) = transition::expire(&record, self.now) {
            let settled = self.settle(&expired)?;
            return Err(transition::answer(&settled, answer, who, self.now)
                .err()
                .unwrap_or_else(|| transition::not_pending(&settled, self.now)));
        }
        let question = fsio::open(&self.store.layout().pending_file(id)).ok();
        match transition::answer(&record, answer, who, self.now) {
            Ok(Decision::Replay) => {
                self.finish(&record)?;
                Ok(Answered {
                    record,
                    replayed: true,
                    waiting: Held::Unknown,
                    question,
                })
            }
            Ok(Decision::Accept(accepted)) => {
                let waiting = question.as_ref().map_or(Held::Unknown, fsio::lease_held);
                let record = self.settle_watched(&accepted, waiting)?;
                Ok(Answered {
                    record,
                    replayed: false,
                    waiting,
                    question,
                })
            }
            Err(error) => {
                let _ = self.finish(&record);
                Err(error)
            }
        }
    }

    /// Cancels a question, and says whether that changed anything. A terminal record is returned as it is.
    pub fn cancel(&self, id: &Id, by: &str) -> Result<(Interaction, bool)> {
        let record = self.store.must_load(id)?;
        if let Some(expired) = transition::expire(&record, self.now) {
            return Ok((self.settle(&expired)?, false));
        }
        let Some(cancelled) = transition::cancel(&record, self.now) else {
            self.finish(&record)?;
            return Ok((record, false));
        };
        let event = Event::of(&cancelled, Type::InteractionCancelled, self.now).by(by);
        self.commit(&cancelled, event).map(|record| (record, true))
    }

    /// Expires a question if it is overdue; returns the record as it then is.
    pub fn expire(&self, id: &Id) -> Result<Interaction> {
        let record = self.store.must_load(id)?;
        match transition::expire(&record, self.now) {
            Some(expired) => self.settle(&expired),
            None => Ok(record),
        }
    }

    /// Settles every overdue question and clears away what is already settled.
    pub fn sweep(&self) -> Result<()> {
        for id in self.store.stale_ids()? {
            let finished = self.store.must_load(&id).and_then(|r| self.finish(&r));
            if let Err(error) = finished {
                log::warn(&format!("the question of '{id}' stays: {}", error.message));
            }
        }
        for record in self.store.pending()?.into_iter().filter_map(Entry::current) {
            if let Some(expired) = transition::expire(&record, self.now) {
                self.settle_quietly(&expired);
            }
        }
        Ok(())
    }

    /// Settles a record whose failure to settle harms nobody: the next writer tries again.
    pub(super) fn settle_quietly(&self, record: &Interaction) {
        if let Err(error) = self.settle(record) {
            log::warn(&format!(
                "interaction '{}' could not be settled: {error}",
                record.id
            ));
        }
    }

    /// Commits a terminal record. If another one was committed first, that one is returned.
    pub(super) fn settle(&self, record: &Interaction) -> Result<Interaction> {
        let event = Event::of_settled(record)
            .ok_or_else(|| Error::new(Code::Internal, "a pending record cannot be settled"))?;
        self.commit(record, event)
    }

    fn settle_watched(&self, record: &Interaction, waiting: Held) -> Result<Interaction> {
        // Before the commit, so that a crash between the two cannot hide a delivery from the events.
        if waiting != Held::No {
            let mark = self.store.layout().awaited.join(record.id.as_str());
            let _ = fsio::open_or_create(&mark);
        }
        let settled = self.settle(record)?;
        if settled != *record {
            return Err(transition::not_pending(&settled, self.now));
        }
        Ok(settled)
    }

    fn commit(&self, record: &Interaction, event: Event) -> Result<Interaction> {
        let layout = self.store.layout();
        let path = layout.settled_file(&record.id);
        let temp = self.write_temp(record)?;
        match fsio::commit_new(temp, &path) {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                let other = self.store.must_load(&record.id)?;
                self.finish(&other)?;
                return Ok(other);
            }
            Err(e) => return Err(Error::io("write", &path, &e)),
        }
        log::debug(|| format!("settled {} ({})", record.id, record.status().name()));
        // Where this fails the question stays, so that the next writer syncs again before it acknowledges.
        self.sync_settled(&record.id)?;
        self.conclude(record, event);
        Ok(record.clone())
    }

    /// What follows a commit that is on disk: the event, then the question's end, which wakes who waits.
    pub(super) fn conclude(&self, record: &Interaction, event: Event) {
        self.append(event);
        if let Err(e) = fsio::remove(&self.store.layout().pending_file(&record.id)) {
            log::warn(&format!(
                "the question of '{}' could not be removed: {e}",
                record.id
            ));
        }
    }
}

impl Store {
    /// Settles what is overdue, if the lock is free at once; who only reads does no more than that.
    pub fn sweep_if_free(&self) {
        if let Ok(writer) = self.lock(Duration::ZERO) {
            let _ = writer.sweep();
        }
    }
}
