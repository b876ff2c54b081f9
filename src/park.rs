//! What every asker does: wait for the answer to a question that it opened, and hand it over or give up.
//!
//! A wait ends on the answer, the deadline, its own budget, a signal, or when nobody reads the output
//! any more. An answer that was committed before the deadline always wins, and a settled record whose
//! digest is not that of the question that was opened is no answer.

mod open;

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use crate::error::{Code, Error, Result};
use crate::fsio::{self, Held};
use crate::interrupt::Interrupts;
use crate::log;
use crate::model::interaction::{Interaction, State, Status};
use crate::model::transition;
pub use crate::relay::courier::{Courier, Stay};
use crate::store::create::Lease;
use crate::store::query::not_found;
use crate::store::{Store, WITHDRAW_WAIT};
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};
pub use open::{open, open_as, replace_as};

/// Why a wait ended.
#[derive(Debug)]
pub enum Ended {
    /// The record is in a terminal state.
    Settled(Box<Interaction>),
    /// The budget is used up; the question is still open.
    TimedOut,
    /// This signal came.
    Signal(i32),
    /// Nobody reads the output any more, or the parent is gone.
    Hangup,
}

/// Whether a wait ends when nobody reads standard output any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It does.
    Watched,
    /// It does not.
    Ignored,
}

/// One wait for one question.
pub struct Wait<'a> {
    store: &'a Store,
    opened: &'a Interaction,
    watch: Watch,
    interrupts: &'a Interrupts,
    until: Option<Instant>,
    output: Output,
    hangup: bool,
}

impl<'a> Wait<'a> {
    /// Arms the watch; the first [`Wait::check`] follows it, so that no answer is missed in between.
    pub fn new(
        store: &'a Store,
        opened: &'a Interaction,
        budget: Option<Duration>,
        interrupts: &'a Interrupts,
        output: Output,
    ) -> Result<Self> {
        let until = budget.map(|b| Instant::now() + b);
        let mut watch =
            Watch::new().map_err(|e| Error::unavailable(format!("cannot wait for files: {e}")))?;
        watch.arm(&store.layout().pending_file(&opened.id));
        // The end of a terminal that was given up on purpose says nothing.
        let given_up = interrupts.is_apart() && std::io::stdout().is_terminal();
        let output = if given_up { Output::Ignored } else { output };
        Ok(Self {
            store,
            opened,
            watch,
            interrupts,
            until,
            output,
            hangup: false,
        })
    }

    /// Whether the wait is over.
    pub fn check(&mut self) -> Result<Option<Ended>> {
        if let Some(record) = self.settled()? {
            return Ok(Some(Ended::Settled(Box::new(record))));
        }
        if let Some(signal) = self.interrupts.signal() {
            return Ok(Some(Ended::Signal(signal)));
        }
        // Where the output is a file, nothing else shows that whoever started this is gone.
        let orphaned = self.output == Output::Watched && self.interrupts.is_orphaned();
        if self.hangup || orphaned {
            return Ok(Some(Ended::Hangup));
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Ok(Some(Ended::TimedOut));
        }
        Ok(None)
    }

    fn settled(&self) -> Result<Option<Interaction>> {
        match look(self.store, self.opened)? {
            None if self.opened.is_overdue(Time::now()) => self.expire().map(Some),
            other => Ok(other),
        }
    }

    /// The deadline is here: settles the record, or shows it as expired where the lock cannot be had.
    fn expire(&self) -> Result<Interaction> {
        let id = &self.opened.id;
        let now = Time::now();
        match self.store.lock(WITHDRAW_WAIT).and_then(|w| w.expire(id)) {
            Ok(record) if record.state != State::Pending => Ok(record),
            Ok(record) => Ok(transition::expire(&record, now).unwrap_or(record)),
            Err(error) => {
                log::warn(&format!(
                    "interaction '{id}' expired but could not be settled: {error}"
                ));
                transition::expire(self.opened, now).ok_or(error)
            }
        }
    }

    /// Sleeps until there may be something to check. Returns which of `also` are ready.
    pub fn sleep(&mut self, also: &[Also<'_>]) -> Result<Vec<bool>> {
        self.sleep_at_most(TICK, also)
    }

    /// As [`Wait::sleep`], for no longer than `limit`.
    pub fn sleep_at_most(&mut self, limit: Duration, also: &[Also<'_>]) -> Result<Vec<bool>> {
        let mut limit = limit.min(TICK);
        if let Some(until) = self.until {
            limit = limit.min(until.saturating_duration_since(Instant::now()));
        }
        if let Some(deadline) = self.opened.expires_at {
            limit = limit.min(deadline.since(Time::now()));
        }
        let stdout = std::io::stdout();
        let mut fds = also.to_vec();
        if self.output == Output::Watched {
            fds.push(Also {
                fd: stdout.as_fd(),
                events: PollFlags::empty(),
            });
        }
        let mut ready = self
            .watch
            .sleep(limit, Some(self.interrupts), &fds)
            .map_err(|e| Error::unavailable(format!("cannot wait: {e}")))?;
        if self.output == Output::Watched {
            self.hangup |= ready.pop().unwrap_or(false);
        }
        Ok(ready)
    }

    /// Whether the terminal's stop key was pressed since this was last asked.
    pub fn take_stop(&self) -> bool {
        self.interrupts.take_stop()
    }

    /// Checks and sleeps until the wait is over.
    pub fn run(&mut self) -> Result<Ended> {
        loop {
            if let Some(ended) = self.check()? {
                return Ok(ended);
            }
            self.sleep(&[])?;
        }
    }
}

/// The question's settled record; none while it stands open, its deadline aside.
///
/// # Errors
/// `unavailable` when it vanished from the store; `corrupt` when the record is not that of the question
/// that was opened.
pub fn look(store: &Store, opened: &Interaction) -> Result<Option<Interaction>> {
    let layout = store.layout();
    let id = &opened.id;
    let there = |path: &std::path::Path| path.symlink_metadata().is_ok();
    if there(&layout.pending_file(id)) && !there(&layout.settled_file(id)) {
        return Ok(None);
    }
    let record = store.must_load(id).map_err(|e| match e.code {
        Code::NotFound => Error::unavailable(format!("interaction '{id}' vanished from the store"))
            .hint("its store was removed or cleaned while this process waited"),
        _ => e,
    })?;
    check_same(&record, opened)?;
    // Between an answerer's commit and its sync, a power cut would take back what was handed over.
    if record.state != State::Pending && there(&layout.pending_file(id)) {
        fsio::sync_dir(&layout.settled).map_err(|e| Error::io("sync", &layout.settled, &e))?;
    }
    Ok((record.state != State::Pending).then_some(record))
}

fn check_same(record: &Interaction, opened: &Interaction) -> Result<()> {
    if record.digest == opened.digest {
        return Ok(());
    }
    Err(Error::new(
        Code::Corrupt,
        format!(
            "interaction '{}' is not the question that was asked",
            opened.id
        ),
    ))
}

/// Withdraws a question on the way out, unless someone else waits for it too. Returns the record as it
/// then stands: it may turn out to have been answered meanwhile.
///
/// # Errors
/// `unavailable` when the lock cannot be had within 300 ms; the released lease then shows that nobody waits.
pub fn withdraw(store: &Store, opened: &Interaction, lease: Option<Lease>) -> Result<Interaction> {
    // Taking the lock would make a store that vanished anew.
    if !store.has(&opened.id) {
        return Err(not_found(opened.id.as_str()));
    }
    let writer = store.lock(WITHDRAW_WAIT)?;
    let others = lease.as_ref().map_or(Held::No, Lease::others);
    if others == Held::Yes {
        return store.must_load(&opened.id);
    }
    let (record, _) = writer.cancel(&opened.id, "asker")?;
    check_same(&record, opened)?;
    Ok(record)
}

/// Whether a record still is open, deadlines included.
pub fn is_open(record: &Interaction) -> bool {
    record.status_at(Time::now()) == Status::Pending
}
