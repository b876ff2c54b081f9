//! Which question an event is about: the newest under its key. Keys are each sender's own, but whoever
//! answers is somebody else, so that the key alone may name the questions of several.

use super::event::Event;
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::model::interaction::Interaction;
use crate::secret::same;
use crate::store::Store;
use crate::time::Time;

/// The question that is open under an event's key: its sender's own, else the only one.
///
/// # Errors
/// `not_found`; `invalid_input` where several others have one.
pub(super) fn open(store: &Store, event: &Event, now: Time) -> Result<Interaction> {
    let open = store.open_under(event.key(), now)?;
    only(mine_first(open, event))?.ok_or_else(not_found)
}

/// The question that an event's key names, open or not: its sender's own, else the only open one, else
/// the only one.
///
/// # Errors
/// As [`open`].
pub(super) fn any(store: &Store, event: &Event, now: Time) -> Result<Interaction> {
    let candidates = candidates(store, event, now)?;
    let found = match candidates.is_empty() {
        true => store.asked_under(event.key())?,
        false => candidates,
    };
    match only(mine_first(found, event))? {
        Some(record) => Ok(record),
        None => by_id(store, event.key()),
    }
}

/// The question that an event's own sender has under its key: an open one, else its newest.
///
/// # Errors
/// `unavailable`.
pub(super) fn own(store: &Store, event: &Event, now: Time) -> Result<Option<Interaction>> {
    let agent = event.sender.id.trim();
    let mut found = candidates(store, event, now)?;
    found.retain(|record| record.question.agent == agent);
    Ok(found.pop())
}

/// The question that an answer is for: the one whose digest it has, else the only one.
///
/// # Errors
/// As [`open`].
pub(super) fn answered(
    store: &Store,
    event: &Event,
    digest: Option<&str>,
    now: Time,
) -> Result<Interaction> {
    let fits = |record: &Interaction| {
        digest.is_some_and(|given| same(given.as_bytes(), record.digest.as_bytes()))
    };
    let mut near = candidates(store, event, now)?;
    if let Some(at) = near.iter().position(fits) {
        return Ok(near.swap_remove(at));
    }
    // An answer that comes late, or to another question than it was meant for.
    let mut all = store.asked_under(event.key())?;
    all.retain(|record| {
        !near
            .iter()
            .any(|r| r.question.agent == record.question.agent)
    });
    all.append(&mut near);
    if let Some(at) = all.iter().position(fits) {
        return Ok(all.swap_remove(at));
    }
    match only(all)? {
        Some(record) => Ok(record),
        None => by_id(store, event.key()),
    }
}

/// What can be found at little cost: the sender's own newest, and what is open.
fn candidates(store: &Store, event: &Event, now: Time) -> Result<Vec<Interaction>> {
    let mut found = store.open_under(event.key(), now)?;
    let agent = event.sender.id.trim();
    let mine = found.iter().any(|record| record.question.agent == agent);
    if !mine && let Some(id) = store.newest_under(agent, event.key())? {
        match store.must_load(&id) {
            Ok(record) => found.push(record),
            // Pruned since.
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn mine_first(mut found: Vec<Interaction>, event: &Event) -> Vec<Interaction> {
    let agent = event.sender.id.trim();
    match found.iter().position(|r| r.question.agent == agent) {
        Some(at) => vec![found.swap_remove(at)],
        None => found,
    }
}

fn only(mut found: Vec<Interaction>) -> Result<Option<Interaction>> {
    if found.len() > 1 {
        return Err(Error::input(
            "questions of several agents have this key, and nothing says which is meant",
        )
        .hint("answer with the digest of the one that is meant, or withdraw it as its sender"));
    }
    Ok(found.pop())
}

/// A question that has no key goes by its id, as the events that tell of it have it.
fn by_id(store: &Store, key: &str) -> Result<Interaction> {
    let id = Id::parse(key).ok_or_else(not_found)?;
    store.must_load(&id).map_err(|error| match error.code {
        Code::NotFound => not_found(),
        // That it cannot be read does not mean that it is not there.
        _ => error,
    })
}

/// The refusal of a key that nothing is under.
pub(super) fn not_found() -> Error {
    Error::new(
        Code::NotFound,
        "there is no question under this key in this scope",
    )
    .hint("a key is looked for in the scope of context.cwd, else of the current directory")
}
