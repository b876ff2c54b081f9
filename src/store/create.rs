//! Opening a question, and finding it again under its key.

use std::fs::File;
use std::io::ErrorKind;

use super::marks::{Resume, Stage};
use super::{Store, Writer};
use crate::error::{Error, Result};
use crate::events::{Event, Type};
use crate::fsio;
use crate::id::Id;
use crate::log;
use crate::model::digest::same_question;
use crate::model::interaction::{Interaction, State};
use crate::model::record::{Loaded, parse};
use crate::model::transition;

/// Shows everyone that this process waits for the question; dropped with the process.
#[derive(Debug)]
pub struct Lease(File);

impl Lease {
    /// From a file on which the lock was taken.
    pub(super) fn of(file: File) -> Self {
        Self(file)
    }

    /// Whether someone else waits for the same question.
    pub fn others(&self) -> fsio::Held {
        fsio::lease_held(&self.0)
    }
}

/// A question that stands in the store.
#[derive(Debug)]
pub struct Created {
    /// The record.
    pub record: Interaction,
    /// Whether it was there before, under the same key.
    pub reused: bool,
    /// This process's lease on it; none where the file system has no such locks.
    pub lease: Option<Lease>,
}

impl Writer<'_> {
    /// Opens a question, durably: when this returns, it is on disk.
    ///
    /// Where it has a key, the same question that is pending under it is returned instead, and a
    /// different one is superseded.
    ///
    /// # Errors
    /// `unavailable` when `max_pending` questions are pending already, or the disk says no.
    pub fn create(&self, record: Interaction, max_pending: usize) -> Result<Created> {
        let mut replaced = Vec::new();
        if let Some(key) = &record.question.key {
            self.finish_under(&record.question.agent, key)?;
            let mut same = self.pending_under(&record.question.agent, key)?;
            same.sort_by_key(|r| (r.created_at, r.id.clone()));
            if let Some(newest) = same.pop() {
                if same_question(&newest.question, &record.question) {
                    for older in &same {
                        self.supersede(older, &newest.id)?;
                    }
                    // Who wrote it may have been killed before its name was on disk.
                    let pending = &self.store.layout().pending;
                    fsio::sync_dir(pending).map_err(|e| Error::io("sync", pending, &e))?;
                    let lease = self.store.lease(&newest.id);
                    return Ok(Created {
                        record: newest,
                        reused: true,
                        lease,
                    });
                }
                same.push(newest);
            }
            replaced = same;
        }
        self.check_room(max_pending, replaced.len())?;
        let lease = self.write_question(&record)?;
        self.append(Event::of(
            &record,
            Type::InteractionCreated,
            record.created_at,
        ));
        for older in &replaced {
            self.supersede(older, &record.id)?;
        }
        Ok(Created {
            record,
            reused: false,
            lease,
        })
    }

    fn write_question(&self, record: &Interaction) -> Result<Option<Lease>> {
        let layout = self.store.layout();
        let path = layout.pending_file(&record.id);
        if layout.settled_file(&record.id).try_exists().unwrap_or(true) {
            return Err(taken(&record.id));
        }
        if record.question.suspended {
            // Before the question can be seen: an answer finds what it has to resume.
            let paused = Resume::new(Stage::Paused, record.created_at, 0);
            drop(self.write_resume(&record.id, &paused)?);
        }
        let temp = self.write_temp(record)?;
        // Taken before the question can be seen: whoever sees it sees that someone waits.
        let held = fsio::take_lease(temp.as_file()).is_ok();
        let file = fsio::commit_new(temp, &path).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => taken(&record.id),
            _ => Error::io("write", &path, &e),
        })?;
        fsio::sync_dir(&layout.pending).map_err(|e| {
            let _ = fsio::remove(&path);
            Error::io("sync", &layout.pending, &e)
        })?;
        log::debug(|| format!("created {} ({})", record.id, record.question.kind().name()));
        if let Some(key) = &record.question.key
            && let Err(e) = self.write_key(&record.question.agent, key, &record.id)
        {
            log::warn(&format!("the key's index could not be written: {e}"));
        }
        Ok(held.then_some(Lease(file)))
    }

    fn supersede(&self, older: &Interaction, by: &Id) -> Result<()> {
        match transition::supersede(older, by, self.now) {
            Some(superseded) => self.settle(&superseded).map(drop),
            None => Ok(()),
        }
    }

    /// Refuses one question too many; those that are overdue or already settled do not count.
    fn check_room(&self, max_pending: usize, leaving: usize) -> Result<()> {
        if self.store.count_files()? < max_pending + leaving {
            return Ok(());
        }
        self.sweep()?;
        let open = self.store.count_files()?;
        if open < max_pending + leaving {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "{open} questions are pending in scope '{}', the most there may be (max_pending)",
            self.store.scope
        ))
        .hint("answer or cancel some; 'sayso list' shows them"))
    }
}

impl Store {
    /// Takes a lease on a pending question; none if it is settled or locks do not work here.
    pub fn lease(&self, id: &Id) -> Option<Lease> {
        let file = fsio::open(&self.layout.pending_file(id)).ok()?;
        fsio::take_lease(&file).ok()?;
        Some(Lease(file))
    }
}

/// Checks that a record may be written as a new question: it must read back as what it is.
pub fn readable(record: &Interaction) -> Result<()> {
    use crate::model::record::{Secrets, to_json};
    let text = to_json(record, Secrets::Shown);
    match parse(&record.id, text.as_bytes()) {
        Ok(Loaded::Current(read)) if *read == *record && record.state == State::Pending => Ok(()),
        Ok(_) => Err(Error::input(
            "the question does not read back as it was asked",
        )),
        Err(why) => Err(Error::input(format!(
            "the question cannot be stored: {why}"
        ))),
    }
}

fn taken(id: &Id) -> Error {
    Error::unavailable(format!("interaction '{id}' exists already"))
}
