//! Opening a question and letting it be known.

use crate::broker::{self, Lifetime};
use crate::config::Config;
use crate::error::Result;
use crate::id::Id;
use crate::model::interaction::Question;
use crate::notice;
use crate::relay::courier::Courier;
use crate::store::Store;
use crate::store::create::Created;

/// Opens a question durably and lets it be known; one that was found again under its key is known already.
///
/// # Errors
/// Those of [`broker::open`]; whom it could not be told to is no error.
pub fn open(
    store: &Store,
    question: Question,
    lifetime: Lifetime,
    config: &Config,
    courier: &mut Courier,
) -> Result<Created> {
    let created = broker::open(store, question, lifetime, config.max_pending())?;
    announce(store, &created, config, courier);
    Ok(created)
}

/// As [`open`], under an id that the caller derived.
///
/// # Errors
/// As [`open`].
pub fn open_as(
    store: &Store,
    id: Id,
    question: Question,
    lifetime: Lifetime,
    config: &Config,
    courier: &mut Courier,
) -> Result<Created> {
    let created = broker::open_as(store, id, question, lifetime, config.max_pending())?;
    announce(store, &created, config, courier);
    Ok(created)
}

/// As [`open_as`], but only in the place of a question that is open under the same key of the same
/// agent; none where there is no such question.
///
/// # Errors
/// As [`open`].
pub fn replace_as(
    store: &Store,
    id: Id,
    question: Question,
    lifetime: Lifetime,
    config: &Config,
    courier: &mut Courier,
) -> Result<Option<Created>> {
    let created = broker::replace_as(store, id, question, lifetime, config.max_pending())?;
    if let Some(created) = &created {
        announce(store, created, config, courier);
    }
    Ok(created)
}

fn announce(store: &Store, created: &Created, config: &Config, courier: &mut Courier) {
    // One that was found again is out already; who waits for it polls all the same.
    if !created.reused || courier.stays() {
        courier.take(config, store, &created.record);
    }
    if !created.reused {
        notice::question(config, store, &created.record);
    }
}
