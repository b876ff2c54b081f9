//! Writing what a pairing came to.
//!
//! Promise: wherever it is cut off, a token is never beside the address of another Relay.

use std::time::Duration;

use super::{Paired, Wish};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::fsio;
use crate::http::{Destination, Private};
use crate::relay::client::Listed;
use crate::relay::cursor::Cursor;
use crate::relay::devices::{self, Newcomers};
use crate::relay::outbox::{self, Revived};
use crate::relay::provider::{self, Credentials, Saved, SavedCredentials};
use crate::relay::state::Dir;
use crate::store::layout::Home;

/// How long a poll of another process is waited for before anything is written.
const LOCK_WAIT: Duration = Duration::from_secs(20);

/// What a pairing found out.
pub(super) struct Found {
    pub(super) destination: Destination,
    pub(super) provider_id: String,
    pub(super) credentials: Credentials,
    /// None where the Relay did not list its devices.
    pub(super) listed: Option<Listed>,
}

/// Writes it: the token last, and where the address changes, the old token goes first.
pub(super) fn save(home: &Home, config: &Config, wish: &Wish, found: &Found) -> Result<Paired> {
    let id = &found.provider_id;
    let known = provider::all(home, config)?;
    let known = known.iter().find(|p| p.id == *id);
    let address = found.destination.as_str();
    let same = known.is_some_and(|p| p.base_url.trim_end_matches('/') == address);
    let mut configured = config.relay.iter().map(|r| r.provider_id.get_ref());
    let enabled = if configured.any(|other| other == id) {
        known.is_some_and(|p| p.enabled)
    } else {
        wish.enable || (same && known.is_some_and(|p| p.enabled))
    };
    let newcomers = known.map_or(Newcomers::Wait, |p| p.newcomers);
    let dir = provider::dir(home, id);
    dir.make()?;
    let _lock = dir.lock(LOCK_WAIT)?.ok_or_else(|| {
        Error::unavailable("another process polls this Relay all the time; pair again later")
    })?;
    let file = |name: &str| dir.path().join(name);
    if !same {
        forget(&dir, "credentials.json")?;
    }
    let saved = Saved {
        provider_id: id.clone(),
        enabled,
        base_url: address.to_owned(),
        allow_private: wish.private == Private::Allowed,
    };
    dir.write(&file("provider.json"), &saved)?;
    let devices = devices::keep_paired(&dir, found.listed.as_ref(), newcomers, same)?;
    Cursor::reset(&dir).map_err(|e| Error::io("reset", &file("cursor.json"), &e))?;
    let secret = SavedCredentials {
        installation_id: found.credentials.installation_id.clone(),
        token: found.credentials.token.expose().to_owned(),
    };
    dir.write(&file("credentials.json"), &secret)?;
    outbox::revive(&dir, Revived::All);
    Ok(Paired {
        block: saved.block(),
        provider_id: id.clone(),
        installation_id: secret.installation_id,
        enabled,
        devices,
    })
}

/// Removes a file, durably.
fn forget(dir: &Dir, name: &str) -> Result<()> {
    let path = dir.path().join(name);
    fsio::remove(&path)
        .and_then(|()| fsio::sync_dir(dir.path()))
        .map_err(|e| Error::io("remove", &path, &e))
}
