//! What an event does, once.
//!
//! An event is applied while its entry is held, so that it is applied once however often it comes. After a
//! crash in between it is applied again to the same question: the id of one that it opens is derived from
//! the event's, and which one it answers or withdraws is kept before that is done.

use std::time::Duration;

use super::applied::{Claim, Entry, Ledger, another};
use super::condition::{Condition, State};
use super::event::{Body, Event};
use super::request::{Asked, Request};
use super::target;
use crate::broker::{self, Accepted, Lifetime};
use crate::config::Config;
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::model::digest::same_question;
use crate::model::draft::TTL_BOUNDS;
use crate::model::interaction::{Interaction, Status};
use crate::model::response::{Answer, Responder};
use crate::notice;
use crate::park;
use crate::relay::courier::Courier;
use crate::store::Store;
use crate::time::Time;

/// Where an event is applied, and by whom.
pub struct Place<'a> {
    /// The scope.
    pub store: &'a Store,
    /// The user's configuration.
    pub config: &'a Config,
    /// Who gives an answer, or why it may not be given here.
    pub responder: &'a Result<Responder>,
}

/// The longest that a question stays open, as on the command line.
const OPEN_MAX: Duration = Duration::from_secs(TTL_BOUNDS.1);

/// What an event came to.
pub struct Applied {
    /// The scope that it was applied in.
    pub scope: String,
    /// Whether it had been applied before.
    pub replayed: bool,
    /// The question that it was about, as it stands; none where it only told something.
    pub interaction: Option<Interaction>,
    /// Whether the question was open before, under the same key.
    pub reused: bool,
    /// What became of an answer.
    pub accepted: Option<Accepted>,
}

/// Applies an event, or looks up what came of it before.
///
/// # Errors
/// `not_found` where nothing is under its key; `invalid_input` for a deadline that is past, a key that
/// several agents have, or an id that another event had; for an answer those of the answer rules;
/// `unavailable`. Nothing was changed, but for `unavailable`: then sending it again is safe.
pub fn apply(place: &Place<'_>, event: &Event, courier: &mut Courier) -> Result<Applied> {
    if matches!(event.body, Body::Submitted { .. }) {
        place.responder.as_ref().map_err(Clone::clone)?;
    }
    let ledger = Ledger::of(&place.store.home, event);
    if let Some(entry) = ledger.entry()? {
        return again(place, event, &entry);
    }
    // What is refused leaves nothing behind, not even a store.
    let plan = plan(place, event)?;
    let mut claim = ledger.claim()?;
    if let Some(entry) = claim.entry()? {
        return again(place, event, &entry);
    }
    let done = carry_out(place, event, plan, &claim, courier);
    if done
        .as_ref()
        .is_err_and(|error| error.code != Code::Unavailable)
    {
        claim.forget();
    }
    done
}

/// What is to be done.
enum Plan<'a> {
    /// Open a question.
    Open(&'a Asked),
    /// Open a question in the place of this one.
    Replace(&'a Asked, Box<Interaction>),
    /// The question was opened before, and then something broke.
    Opened(Box<Interaction>),
    /// Only tell: a condition under the key, or a question that stands there and is left as it is.
    Tell(&'a Request, Option<Box<Interaction>>),
    /// Answer a question.
    Answer(Box<Interaction>, &'a Answer),
    /// Withdraw a question, and end a condition under the same key.
    Withdraw(Box<Interaction>),
    /// End a condition.
    End,
}

fn plan<'a>(place: &Place<'_>, event: &'a Event) -> Result<Plan<'a>> {
    let store = place.store;
    let now = Time::now();
    match &event.body {
        Body::Created(request) => match &request.asked {
            None => Ok(Plan::Tell(request, None)),
            Some(asked) => match opened(store, event, asked)? {
                Some(record) => Ok(Plan::Opened(record)),
                None => in_time(asked, now).map(Plan::Open),
            },
        },
        Body::Updated(request) => {
            if let Some(asked) = &request.asked
                && let Some(record) = opened(store, event, asked)?
            {
                return Ok(Plan::Opened(record));
            }
            let told = Condition::of(store, event).state()? == Some(State::Open);
            let standing = match told {
                true => target::own(store, event, now)?.filter(|r| is_open(r, now)),
                false => Some(target::open(store, event, now)?),
            };
            Ok(match (&request.asked, standing.map(Box::new)) {
                (None, standing) => Plan::Tell(request, standing),
                (Some(asked), None) => Plan::Open(in_time(asked, now)?),
                (Some(asked), Some(standing)) => Plan::Replace(in_time(asked, now)?, standing),
            })
        }
        Body::Submitted { answer, .. } => {
            let record = target::answered(store, event, answer.digest.as_deref(), now)?;
            Ok(Plan::Answer(Box::new(record), answer))
        }
        Body::Resolved { .. } => {
            let record = match Condition::of(store, event).state()? {
                None => Some(target::any(store, event, now)?),
                Some(State::Resolved) => target::own(store, event, now)?,
                Some(State::Open) => {
                    target::own(store, event, now)?.filter(|record| is_open(record, now))
                }
            };
            Ok(record.map_or(Plan::End, |record| Plan::Withdraw(Box::new(record))))
        }
    }
}

fn is_open(record: &Interaction, now: Time) -> bool {
    record.status_at(now) == Status::Pending
}

/// The question that an event opened before it could be noted that it did.
fn opened(store: &Store, event: &Event, asked: &Asked) -> Result<Option<Box<Interaction>>> {
    let record = match store.must_load(&event.question_id()) {
        Ok(record) => record,
        Err(error) if error.code == Code::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut question = asked.question.clone();
    // An update asks in the name of whoever asked before.
    question.agent.clone_from(&record.question.agent);
    if !same_question(&record.question, &question) {
        return Err(another());
    }
    Ok(Some(Box::new(record)))
}

fn in_time(asked: &Asked, now: Time) -> Result<&Asked> {
    if asked.until > now {
        return Ok(asked);
    }
    Err(Error::input(
        "request.response.expires_at must be a time to come",
    ))
}

fn carry_out(
    place: &Place<'_>,
    event: &Event,
    plan: Plan<'_>,
    claim: &Claim<'_>,
    courier: &mut Courier,
) -> Result<Applied> {
    let keep = |record: Option<&Interaction>| {
        claim.keep(&Entry::of(event, place.store, record.map(|r| &r.id)))
    };
    let condition = Condition::of(place.store, event);
    match plan {
        Plan::Open(asked) => {
            let question = asked.question.clone();
            let created = park::open_as(
                place.store,
                event.question_id(),
                question,
                lifetime(asked),
                place.config,
                courier,
            )?;
            condition.end()?;
            keep(Some(&created.record))?;
            Ok(place.came(Some(created.record), created.reused))
        }
        Plan::Replace(asked, standing) => {
            let mut question = asked.question.clone();
            question.key.clone_from(&standing.question.key);
            question.agent.clone_from(&standing.question.agent);
            let created = park::replace_as(
                place.store,
                event.question_id(),
                question,
                lifetime(asked),
                place.config,
                courier,
            )?
            .ok_or_else(target::not_found)?;
            condition.end()?;
            keep(Some(&created.record))?;
            Ok(place.came(Some(created.record), created.reused))
        }
        Plan::Opened(record) => {
            condition.end()?;
            keep(Some(&record))?;
            Ok(Applied {
                replayed: true,
                ..place.came(Some(*record), false)
            })
        }
        Plan::Tell(request, standing) => {
            if standing.is_none() {
                condition.keep(State::Open)?;
            }
            notice::message(place.config, &place.store.home, &request.message);
            keep(standing.as_deref())?;
            Ok(place.came(standing.map(|record| *record), false))
        }
        Plan::Answer(record, answer) => {
            keep(Some(&record))?;
            give(place, place.store, &record.id, answer)
        }
        Plan::Withdraw(record) => {
            condition.end()?;
            keep(Some(&record))?;
            let record = broker::cancel(place.store, &record.id, event.sender.id.trim())?;
            Ok(place.came(Some(record), false))
        }
        Plan::End => {
            condition.end()?;
            keep(None)?;
            Ok(place.came(None, false))
        }
    }
}

impl Place<'_> {
    fn came(&self, interaction: Option<Interaction>, reused: bool) -> Applied {
        Applied {
            scope: self.store.scope.clone(),
            replayed: false,
            interaction,
            reused,
            accepted: None,
        }
    }
}

/// No longer than any question that is asked through the command line, and no longer than its sender waits.
fn lifetime(asked: &Asked) -> Lifetime {
    Lifetime::Until(asked.until.min(Time::now().plus(OPEN_MAX)))
}

fn give(place: &Place<'_>, store: &Store, id: &Id, answer: &Answer) -> Result<Applied> {
    let who = place.responder.as_ref().map_err(Clone::clone)?;
    let accepted = broker::answer(store, id, answer, who)?;
    Ok(Applied {
        scope: store.scope.clone(),
        replayed: false,
        interaction: Some(accepted.record.clone()),
        reused: false,
        accepted: Some(accepted),
    })
}

/// What came of an event that was applied before: its question as it stands. Answering and withdrawing are
/// done again, which changes nothing where they were done.
fn again(place: &Place<'_>, event: &Event, entry: &Entry) -> Result<Applied> {
    entry.check_same(event)?;
    let elsewhere;
    let store = if entry.scope == place.store.scope {
        place.store
    } else {
        elsewhere = Store::new(&place.store.home, &entry.scope, None);
        &elsewhere
    };
    let there = Place { store, ..*place };
    let Some(id) = entry.question() else {
        return Ok(Applied {
            replayed: true,
            ..there.came(None, false)
        });
    };
    let applied = match &event.body {
        Body::Created(_) | Body::Updated(_) => there.came(Some(store.must_load(&id)?), false),
        Body::Submitted { answer, .. } => give(&there, store, &id, answer)?,
        Body::Resolved { .. } => there.came(
            Some(broker::cancel(store, &id, event.sender.id.trim())?),
            false,
        ),
    };
    Ok(Applied {
        replayed: true,
        ..applied
    })
}
