//! The verbs of the domain that every surface calls: open, answer, cancel, resume.

pub mod decide;
pub mod resolve;
pub mod resume;
pub mod resumer;

use std::time::Duration;

use rand::RngExt;

use self::resume::{Resumed, WorkflowResume};
use crate::error::{Error, Result};
use crate::fsio::Held;
use crate::id::Id;
use crate::model::digest::digest;
use crate::model::interaction::{Interaction, Question, State};
use crate::model::response::{Answer, Responder};
use crate::secret::Nonce;
use crate::store::create::{Created, readable};
use crate::store::settle::Answered;
use crate::store::{LOCK_WAIT, Store};
use crate::time::Time;

/// How long an answerer waits to see its answer picked up.
const DELIVERY_WAIT: Duration = Duration::from_millis(300);

/// When a question ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// So long after it was opened.
    For(Duration),
    /// At this time.
    Until(Time),
    /// Never: it is suspended.
    Unbounded,
}

/// What became of an answer's delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The waiting process took it.
    Delivered,
    /// Someone is parked and will take it.
    Waiting,
    /// Nobody was waiting.
    Unattended,
    /// It cannot be told on this file system.
    Unknown,
    /// A suspended workflow goes on with it.
    Resumed,
    /// A suspended workflow could not be resumed.
    ResumeFailed,
}

impl Delivery {
    /// The name in JSON (`delivery_state`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Waiting => "waiting",
            Self::Unattended => "unattended",
            Self::Unknown => "unknown",
            Self::Resumed => "resumed",
            Self::ResumeFailed => "resume_failed",
        }
    }
}

/// An accepted answer and what became of it.
#[derive(Debug)]
pub struct Accepted {
    /// The record as it now stands.
    pub record: Interaction,
    /// Whether it reached anyone.
    pub delivery: Delivery,
    /// What became of the workflow, where the question was suspended.
    pub resume: Option<WorkflowResume>,
}

/// Opens a question durably, or finds the same one again under its key.
///
/// # Errors
/// `unavailable` when the store cannot be locked or written, or too many questions are pending.
pub fn open(
    store: &Store,
    question: Question,
    lifetime: Lifetime,
    max_pending: usize,
) -> Result<Created> {
    let id = Id::from_bytes(&rand::rng().random());
    open_as(store, id, question, lifetime, max_pending)
}

/// As [`open`], under an id that the caller derived.
pub fn open_as(
    store: &Store,
    id: Id,
    question: Question,
    lifetime: Lifetime,
    max_pending: usize,
) -> Result<Created> {
    let mut record = draft(id, question, lifetime)?;
    let writer = store.lock_or_make(LOCK_WAIT)?;
    set_times(&mut record, lifetime, writer.now);
    writer.create(record, max_pending)
}

/// As [`open_as`], but only in the place of a question that is open under the same key of the same
/// agent; none where there is no such question.
pub fn replace_as(
    store: &Store,
    id: Id,
    question: Question,
    lifetime: Lifetime,
    max_pending: usize,
) -> Result<Option<Created>> {
    let mut record = draft(id, question, lifetime)?;
    let writer = store.lock(LOCK_WAIT)?;
    set_times(&mut record, lifetime, writer.now);
    let key = record.question.key.as_deref().unwrap_or_default();
    if !writer.is_open_under(&record.question.agent, key)? {
        return Ok(None);
    }
    writer.create(record, max_pending).map(Some)
}

fn draft(id: Id, question: Question, lifetime: Lifetime) -> Result<Interaction> {
    if Time::now() >= Time::LATEST {
        return Err(Error::unavailable(
            "the clock is set beyond the year 9999: no deadline can be written",
        )
        .hint("set the clock and ask again"));
    }
    let mut record = Interaction {
        digest: digest(&id, &question),
        id,
        nonce: Nonce::from_bytes(&rand::rng().random()),
        question,
        created_at: Time::now(),
        expires_at: None,
        state: State::Pending,
    };
    set_times(&mut record, lifetime, Time::now());
    readable(&record)?;
    Ok(record)
}

fn set_times(record: &mut Interaction, lifetime: Lifetime, now: Time) {
    record.created_at = now;
    record.expires_at = match lifetime {
        Lifetime::For(span) => Some(now.plus(span)),
        Lifetime::Until(deadline) => Some(deadline),
        Lifetime::Unbounded => None,
    };
}

/// Answers a question by the rules, and tells whether the answer reached anyone.
///
/// # Errors
/// Those of the answer rules; `unavailable`.
pub fn answer(store: &Store, id: &Id, answer: &Answer, who: &Responder) -> Result<Accepted> {
    if !store.has(id) {
        return Err(crate::store::query::not_found(id.as_str()));
    }
    let answered = store.lock(LOCK_WAIT)?.answer(id, answer, who)?;
    let delivery = if answered.replayed {
        replayed_delivery(store, id)
    } else {
        delivery(store, id, &answered)
    };
    let resume = resume::after_answer(store, &answered.record);
    let delivery = match resume.as_ref().map(|r| &r.outcome) {
        Some(Resumed::Yes) => Delivery::Resumed,
        Some(Resumed::No(_)) => Delivery::ResumeFailed,
        Some(Resumed::Skipped(_)) | None => delivery,
    };
    Ok(Accepted {
        record: answered.record,
        delivery,
        resume,
    })
}

/// As [`answer`], by the process that waits for the answer itself: nobody else needs to take it.
pub fn answer_own(store: &Store, id: &Id, answer: &Answer, who: &Responder) -> Result<Interaction> {
    Ok(store.lock(LOCK_WAIT)?.answer(id, answer, who)?.record)
}

fn delivery(store: &Store, id: &Id, answered: &Answered) -> Delivery {
    if answered.waiting == Held::No {
        return Delivery::Unattended;
    }
    if store.await_delivery(id, DELIVERY_WAIT) {
        // Taking the lock notes it in the events; should it not be free now, the next writer does.
        drop(store.lock(Duration::from_millis(20)));
        return Delivery::Delivered;
    }
    // Who was parked may have been interrupted just then: it took nothing, and is gone.
    match answered.still_waiting() {
        Held::Yes => Delivery::Waiting,
        Held::No if store.is_delivered(id) => Delivery::Delivered,
        Held::No => Delivery::Unattended,
        Held::Unknown => Delivery::Unknown,
    }
}

fn replayed_delivery(store: &Store, id: &Id) -> Delivery {
    if store.is_delivered(id) {
        Delivery::Delivered
    } else if store.layout().awaited.join(id.as_str()).exists() {
        Delivery::Waiting
    } else {
        Delivery::Unattended
    }
}

/// Withdraws a question; a terminal record is returned as it is.
pub fn cancel(store: &Store, id: &Id, by: &str) -> Result<Interaction> {
    if !store.has(id) {
        return Err(crate::store::query::not_found(id.as_str()));
    }
    Ok(store.lock(LOCK_WAIT)?.cancel(id, by)?.0)
}
