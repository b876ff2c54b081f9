//! How each provider stands, without asking it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::NoPage;
use super::cursor::Cursor;
use super::devices::{self, Devices};
use super::outbox::{self, Entry, Stage};
use super::provider::Provider;
use crate::error::{Error, Result};

/// How one provider stands.
#[derive(Debug)]
pub struct Status {
    /// Its name here.
    pub provider_id: String,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether this machine is paired with it; otherwise why not.
    pub paired: std::result::Result<(), String>,
    /// What is wrong with its address, if anything.
    pub address_fault: Option<String>,
    /// What is known of its answers.
    pub cursor: Option<Cursor>,
    /// The outbox.
    pub outbox: Vec<Entry>,
    /// Its devices as it named them last, none where it was never asked; otherwise why they are not known.
    pub devices: std::result::Result<Option<Devices>, String>,
}

impl Status {
    /// Of a provider.
    pub fn of(provider: &Provider) -> Self {
        Self {
            provider_id: provider.id.clone(),
            enabled: provider.enabled,
            paired: provider.credentials().map(drop).map_err(|e| e.message),
            address_fault: provider.check_address().err().map(|e| e.message),
            cursor: Cursor::peek(provider.dir()),
            outbox: outbox::entries(provider.dir()),
            devices: devices::known(provider).map_err(|e| e.message),
        }
    }

    /// How many entries are at a stage.
    pub fn count(&self, stage: Stage) -> usize {
        self.outbox.iter().filter(|e| e.stage == stage).count()
    }

    /// The entries that are not tried any more.
    pub fn dead(&self) -> impl Iterator<Item = &Entry> {
        self.outbox.iter().filter(|e| e.stage == Stage::Dead)
    }

    /// As `relay status --json` prints it.
    pub fn json(&self) -> Value {
        let cursor = self.cursor.as_ref();
        let devices = self.devices.as_ref().ok().and_then(Option::as_ref);
        let dead = |e: &Entry| json!({ "interaction_id": e.interaction_id, "error": e.error });
        json!({
            "provider_id": self.provider_id,
            "enabled": self.enabled,
            "paired": self.paired.is_ok(),
            "not_paired": self.paired.as_ref().err(),
            "address_fault": self.address_fault,
            "polled_at": cursor.and_then(|c| c.polled_at.as_ref()),
            "cursor_moved_at": cursor.and_then(|c| c.moved_at.as_ref()),
            "not_before": cursor.and_then(|c| c.not_before.as_ref()),
            "failures": cursor.map_or(0, |c| c.failures),
            "outbox": {
                "due": self.count(Stage::Due),
                "sent": self.count(Stage::Sent),
                "dead": self.dead().map(dead).collect::<Vec<_>>(),
            },
            "devices": devices.map(Devices::json),
            "devices_not_accepted": devices.map(Devices::waiting),
            "devices_fault": self.devices.as_ref().err(),
        })
    }
}

/// Asks a provider whether it knows this machine.
///
/// # Errors
/// What keeps it from being used.
pub fn check_online(provider: &Provider, within: Duration) -> Result<()> {
    let client = provider.client()?;
    client
        .check(Instant::now() + within)
        .map_err(|why| match why {
            NoPage::Rejected => Error::unavailable("relay rejected the installation token")
                .hint("pair again: sayso relay pair --url URL --provider ID"),
            NoPage::Later(wait) => Error::unavailable(format!(
                "the Relay asked not to be asked for {} s",
                wait.as_secs()
            )),
            NoPage::Failed(why) => Error::unavailable(why),
        })
}
