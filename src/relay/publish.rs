//! Sending questions out: what is due, and one on purpose.

use std::time::{Duration, Instant};

use super::devices;
use super::outbox::{self, Entry, Stage};
use super::provider::{self, Provider};
use super::state::Dir;
use super::{client::Unsent, envelope};
use crate::config::Config;
use crate::error::{Code, Error, Result};
use crate::events::{Event, Type};
use crate::id::Id;
use crate::log;
use crate::model::interaction::{Interaction, Status};
use crate::model::transition;
use crate::store::layout::Home;
use crate::store::query::Entry as Found;
use crate::store::{Store, WITHDRAW_WAIT};
use crate::time::Time;

/// How long sending on purpose waits for whoever sends the same entry.
const TAKE_WAIT: Duration = Duration::from_secs(3);

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The Relay has it.
    Sent,
    /// It has not, and why.
    Failed(String),
    /// There was nothing to do: settled, sent before, or being sent by someone else.
    Nothing,
}

/// Why an entry is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Its time has come.
    Due,
    /// The operator said so.
    OnPurpose,
}

/// Writes one outbox entry per provider that a route leads to, and returns those providers.
///
/// # Errors
/// `unavailable` where the providers cannot be read; what one of them refuses is said under `-v`.
pub(super) fn enqueue(
    config: &Config,
    store: &Store,
    record: &Interaction,
) -> Result<Vec<Provider>> {
    let mut providers = provider::enabled(&store.home, config)?;
    providers.retain(|p| p.carries(&record.question) && p.is_paired());
    providers.retain(
        |p| match outbox::add(p.dir(), &record.id, &store.scope, &p.id) {
            Ok(_) => true,
            Err(error) => {
                log::info(|| format!("the outbox of '{}' cannot be written: {error}", p.id));
                false
            }
        },
    );
    Ok(providers)
}

/// Whether anything could go out at all: cheap, and touches nothing but the configuration and the
/// directory of the paired ones.
pub(super) fn carries(config: &Config, store: &Store, record: &Interaction) -> bool {
    provider::enabled(&store.home, config).is_ok_and(|all| {
        all.iter()
            .any(|p| p.carries(&record.question) && p.is_paired())
    })
}

/// Sends one entry, if it is still open, nobody else is sending it, and its time has come.
pub(super) fn attempt(
    home: &Home,
    provider: &Provider,
    outbox_id: &str,
    occasion: Occasion,
    until: Instant,
) -> Attempt {
    let dir = provider.dir();
    let wait = match occasion {
        Occasion::Due => Duration::ZERO,
        Occasion::OnPurpose => TAKE_WAIT,
    };
    let Some(taken) = outbox::take(dir, outbox_id, wait) else {
        return Attempt::Nothing;
    };
    let entry = taken.entry.clone();
    let Some((store, id)) = entry.open_question(home) else {
        outbox::drop_entry(dir, &entry);
        return Attempt::Nothing;
    };
    let now = Time::now();
    let record = match store.must_load(&id) {
        Ok(record) if record.status_at(now) == Status::Pending => record,
        Err(error) if error.code == Code::Unavailable => return Attempt::Nothing,
        _ => {
            outbox::drop_entry(dir, &entry);
            return Attempt::Nothing;
        }
    };
    // Where the time is up already, nothing was tried that could have failed.
    let late = Instant::now() >= until;
    if occasion == Occasion::Due && (late || !entry.is_due(now)) {
        return Attempt::Nothing;
    }
    let outcome = post(provider, &entry, &record, until);
    note(dir, &store, provider, &record, entry, &outcome)
}

fn post(
    provider: &Provider,
    entry: &Entry,
    record: &Interaction,
    until: Instant,
) -> std::result::Result<(), Unsent> {
    let unusable = |error: Error| Unsent {
        code: error.code.name().to_owned(),
        again: Some(None),
    };
    let client = provider.client().map_err(unusable)?;
    let devices = devices::recipients(provider, &client, until)?;
    let body = envelope::body(record, client.installation_id(), &devices, Time::now());
    let body = body.ok_or_else(|| Unsent {
        code: "no_devices_paired".to_owned(),
        again: Some(None),
    })?;
    client.post(&entry.id, &body, until)
}

fn note(
    dir: &Dir,
    store: &Store,
    provider: &Provider,
    record: &Interaction,
    entry: Entry,
    outcome: &std::result::Result<(), Unsent>,
) -> Attempt {
    let known = entry.stage;
    let mut entry = entry.after(outcome, Time::now());
    // A question that is out stays out, whatever becomes of sending it again.
    if known == Stage::Sent {
        entry.stage = Stage::Sent;
    }
    if let Err(error) = outbox::put(dir, &entry) {
        log::info(|| format!("the outbox of '{}' cannot be written: {error}", provider.id));
    }
    match outcome {
        Ok(()) => {
            log::info(|| format!("interaction '{}' went out to '{}'", record.id, provider.id));
            if known != Stage::Sent {
                append(store, record, provider, &entry.id);
            }
            Attempt::Sent
        }
        Err(unsent) => {
            log::info(|| {
                format!(
                    "interaction '{}' did not go out to '{}': {}",
                    record.id, provider.id, unsent.code
                )
            });
            Attempt::Failed(unsent.code.clone())
        }
    }
}

fn append(store: &Store, record: &Interaction, provider: &Provider, outbox_id: &str) {
    if let Ok(writer) = store.lock(WITHDRAW_WAIT) {
        let mut event = Event::of(record, Type::RelayPublished, writer.now);
        event.id = format!("{outbox_id}:{}", Type::RelayPublished.name());
        event.outcome = None;
        event.by = Some(provider.id.clone());
        event.source = Some("relay".to_owned());
        writer.append(event);
    }
}

/// Sends everything that is due to a provider, and drops what is settled. Returns why what was tried did
/// not go out.
pub(super) fn flush(home: &Home, provider: &Provider, until: Instant) -> Vec<String> {
    let mut failed = Vec::new();
    for entry in outbox::entries(provider.dir()) {
        if entry.open_question(home).is_none() {
            outbox::drop_entry(provider.dir(), &entry);
            continue;
        }
        if !entry.is_due(Time::now()) || Instant::now() >= until {
            continue;
        }
        let attempt = attempt(home, provider, &entry.id, Occasion::Due, until);
        if let Attempt::Failed(code) = attempt {
            // The others would fail alike; their time comes again.
            let alike = code == "relay_unreachable";
            failed.push(code);
            if alike {
                break;
            }
        }
    }
    failed
}

/// Makes entries for pending questions that have none: a crash, or pairing that came later.
///
/// # Errors
/// `unavailable` where the store cannot be read.
pub(super) fn catch_up(home: &Home, provider: &Provider) -> Result<()> {
    if !provider.is_paired() {
        return Ok(());
    }
    let now = Time::now();
    for name in home.scope_names()? {
        let store = Store::new(home, &name, None);
        for found in store.pending()? {
            let Some(record) = Found::current(found) else {
                continue;
            };
            let wanted = record.status_at(now) == Status::Pending
                && provider.carries(&record.question)
                && !outbox::has(provider.dir(), &record.id, &provider.id);
            if wanted {
                outbox::add(provider.dir(), &record.id, &name, &provider.id)?;
            }
        }
    }
    Ok(())
}

/// What became of publishing on purpose.
#[derive(Debug)]
pub struct Published {
    /// How many Relays have it now.
    pub published: usize,
    /// Why others have not: provider and condition.
    pub conditions: Vec<(String, String)>,
}

/// Sends a question again, also one that went out before.
///
/// # Errors
/// `invalid_input` where no Relay is enabled; `not_found`; `not_pending` for a settled question.
pub fn again(config: &Config, store: &Store, id: &Id, until: Instant) -> Result<Published> {
    let providers = provider::enabled(&store.home, config)?;
    let record = store.must_load(id)?;
    let now = Time::now();
    if record.status_at(now) != Status::Pending {
        return Err(transition::not_pending(&record, now));
    }
    if providers.is_empty() {
        return Err(Error::input("no Relay is enabled")
            .hint("pair one: sayso relay pair --url URL --enable; or enable it in config.toml"));
    }
    let mut published = 0;
    let mut conditions = Vec::new();
    for provider in providers {
        match one_again(store, &record, &provider, until) {
            Ok(()) => published += 1,
            Err(condition) => conditions.push((provider.id, condition)),
        }
    }
    Ok(Published {
        published,
        conditions,
    })
}

fn one_again(
    store: &Store,
    record: &Interaction,
    provider: &Provider,
    until: Instant,
) -> std::result::Result<(), String> {
    if !provider.carries(&record.question) {
        return Err("no route lets this question out".to_owned());
    }
    provider.credentials().map_err(|e| e.message)?;
    provider.check_address().map_err(|e| e.message)?;
    let added = outbox::add(provider.dir(), &record.id, &store.scope, &provider.id);
    added.map_err(|e| e.message)?;
    let id = outbox::outbox_id(&record.id, &provider.id);
    match attempt(&store.home, provider, &id, Occasion::OnPurpose, until) {
        Attempt::Sent => Ok(()),
        Attempt::Failed(code) => Err(code),
        Attempt::Nothing => Err("it is being sent, or was settled just now".to_owned()),
    }
}
