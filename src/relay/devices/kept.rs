//! `devices.json` of a provider: read whole, changed under a lock of its own.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Devices, Known, Newcomers, SCHEMA, State};
use crate::error::{Error, Result};
use crate::fsio::{self, ReadError};
use crate::relay::client::{Client, Listed, Unsent};
use crate::relay::envelope::Device;
use crate::relay::outbox;
use crate::relay::provider::Provider;
use crate::relay::state::Dir;
use crate::time::Time;

/// The bound of the file, in bytes.
const FILE_MAX: usize = 256 << 10;
/// How long another process's change of the list is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// What is known of a provider's devices; none where nothing was kept yet.
///
/// # Errors
/// `unavailable` where that cannot be told.
pub fn known(provider: &Provider) -> Result<Option<Devices>> {
    read(provider.dir())
}

/// Asks a Relay for its devices and keeps what is new of them.
///
/// # Errors
/// `unavailable` where it cannot be asked; those of [`known`]; `invalid_input` where it is not paired.
pub fn look(provider: &Provider, within: Duration) -> Result<Devices> {
    let client = provider.client()?;
    provider.dir().make()?;
    let listed = client.devices(Instant::now() + within).map_err(unlisted)?;
    keep(provider, &listed)
}

/// Accepts the known device that a name, its id or its fingerprint, means.
///
/// # Errors
/// `invalid_input` where several are meant; those of [`known`].
pub fn accept(provider: &Provider, name: &str) -> Result<Option<Known>> {
    let accepted = change(provider.dir(), |devices| devices.accept(name, Time::now()))?;
    if accepted.is_some() {
        outbox::revive(provider.dir(), outbox::Revived::Unsent);
    }
    Ok(accepted)
}

/// Removes a known device: it gets no more questions, and its answers are dropped.
///
/// # Errors
/// As [`accept`].
pub fn remove(provider: &Provider, name: &str) -> Result<Option<Known>> {
    change(provider.dir(), |devices| devices.remove(name, Time::now()))
}

/// The devices that a question is sealed for.
pub(in crate::relay) fn recipients(
    provider: &Provider,
    client: &Client,
    until: Instant,
) -> std::result::Result<Vec<Device>, Unsent> {
    let none = |code: &str| Unsent {
        code: code.to_owned(),
        // A phone may be paired or accepted within the tries that are left.
        again: Some(None),
    };
    let listed = client.devices(until)?;
    let devices = keep(provider, &listed).map_err(|error| none(error.code.name()))?;
    let found = devices.recipients(&listed);
    match (found.is_empty(), listed.sound.is_empty()) {
        (true, true) => Err(none("no_devices_paired")),
        (true, false) => Err(none(NONE_ACCEPTED)),
        _ => Ok(found),
    }
}

/// Why nothing goes out where a Relay names only devices that are not accepted.
pub const NONE_ACCEPTED: &str = "no_devices_accepted";

/// Whose answers count.
pub(in crate::relay) struct Answerers {
    devices: Devices,
    newcomers: Newcomers,
}

impl Answerers {
    /// As it stands now; asks the Relay only where nothing was kept yet.
    ///
    /// # Errors
    /// `unavailable`.
    pub(in crate::relay) fn of(
        provider: &Provider,
        client: &Client,
        until: Instant,
    ) -> Result<Self> {
        let devices = match known(provider)? {
            Some(devices) => devices,
            None => keep(provider, &client.devices(until).map_err(unlisted)?)?,
        };
        Ok(Self {
            devices,
            newcomers: provider.newcomers,
        })
    }

    /// Whether an answer counts by the device that it names. One that names none does: that it has the
    /// question's nonce shows that it comes from somebody for whom the question was sealed.
    pub(in crate::relay) fn include(&self, device_id: Option<&str>) -> bool {
        let Some(id) = device_id else {
            return true;
        };
        let is = |state| {
            let mut all = self.devices.all().iter();
            all.any(|d| d.device_id == id && d.state == state)
        };
        is(State::Accepted) || (self.newcomers == Newcomers::Accepted && !is(State::Removed))
    }
}

fn unlisted(unsent: Unsent) -> Error {
    Error::unavailable(format!(
        "the Relay does not list its devices: {}",
        unsent.code
    ))
}

/// Puts a Relay's list beside what is known.
fn keep(provider: &Provider, listed: &Listed) -> Result<Devices> {
    let now = Time::now();
    let meet = |known: Option<&Devices>| Devices::meet(known, listed, provider.newcomers, now);
    let known = read(provider.dir())?;
    let met = meet(known.as_ref());
    if known.as_ref() == Some(&met) {
        return Ok(met);
    }
    let _lock = lock(provider.dir())?;
    let met = meet(read(provider.dir())?.as_ref());
    write(provider.dir(), &met)?;
    Ok(met)
}

/// What pairing makes of the list: with the same Relay again, only what was accepted stays so, and where
/// that cannot be told, nothing.
pub(in crate::relay) fn keep_paired(
    dir: &Dir,
    listed: Option<&Listed>,
    newcomers: Newcomers,
    again: bool,
) -> Result<Devices> {
    let _lock = lock(dir)?;
    let known = match again {
        true => read(dir).unwrap_or_else(|_| Some(Devices::default())),
        false => None,
    };
    let met = match listed {
        Some(listed) => Devices::meet(known.as_ref(), listed, newcomers, Time::now()),
        None => known.unwrap_or_default(),
    };
    write(dir, &met)?;
    Ok(met)
}

fn change(
    dir: &Dir,
    with: impl FnOnce(&mut Devices) -> Result<Option<Known>>,
) -> Result<Option<Known>> {
    let Some(before) = read(dir)? else {
        return Ok(None);
    };
    drop(before);
    let _lock = lock(dir)?;
    let mut devices = read(dir)?.unwrap_or_default();
    let before = devices.clone();
    let changed = with(&mut devices)?;
    if devices != before {
        write(dir, &devices)?;
    }
    Ok(changed)
}

fn lock(dir: &Dir) -> Result<fsio::Lock> {
    dir.lock_devices(LOCK_WAIT)?
        .ok_or_else(|| Error::unavailable("another process changes the list of devices"))
}

fn path(dir: &Dir) -> PathBuf {
    dir.path().join("devices.json")
}

fn write(dir: &Dir, devices: &Devices) -> Result<()> {
    dir.write(&path(dir), devices)
}

fn read(dir: &Dir) -> Result<Option<Devices>> {
    let path = path(dir);
    let unreadable = |why: &dyn std::fmt::Display| {
        Error::unavailable(format!("cannot read {}: {why}", path.display()))
    };
    let bytes = match fsio::read(&path, FILE_MAX) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let schema = serde_json::from_slice::<Value>(&bytes).ok();
    let schema = schema.and_then(|value| value["schema"].as_u64());
    if schema.is_some_and(|schema| schema > u64::from(SCHEMA)) {
        return Err(unreadable(&"a newer sayso wrote it").hint("update this sayso"));
    }
    match serde_json::from_slice(&bytes) {
        Ok(devices) => Ok(Some(devices)),
        Err(_) => Err(unreadable(&"it is damaged")
            .hint("pair again, then accept your devices: sayso relay devices")),
    }
}
