//! Which devices may have questions and answer them. A Relay names devices, the user accepts them.
//!
//! Promise: a device that a Relay names gets no card and answers nothing unless it was named when this
//! machine was paired, or the user accepted it under the very key that it has. A list that cannot be
//! read is none that everything is on.

mod kept;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::Listed;
use super::envelope::Device;
use crate::error::{Error, Result};
use crate::id::hex;
use crate::time::Time;
pub(super) use kept::{Answerers, keep_paired, recipients};
pub use kept::{NONE_ACCEPTED, accept, known, look, remove};

/// The most devices that a question goes to.
const RECIPIENTS_MAX: usize = 10;
/// The most devices that are accepted.
const ACCEPTED_MAX: usize = 50;
/// The most devices that wait to be accepted; a Relay could name thousands.
const NEW_MAX: usize = 20;
/// The version of the file's format.
const SCHEMA: u32 = 1;

/// What becomes of a device that a Relay names later than at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomers {
    /// It waits until the user accepts it.
    Wait,
    /// It is accepted (`accept_new_devices`).
    Accepted,
}

/// How a device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It gets questions and may answer them.
    Accepted,
    /// The Relay names it, and the user has not said that it is theirs.
    New,
    /// The user removed it.
    Removed,
}

/// One device with one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Known {
    /// As the Relay names it, 1–128 characters without controls.
    pub device_id: String,
    /// How it stands.
    pub state: State,
    /// Its key, base64url without padding.
    public_key: String,
    /// Since when it stands so, RFC 3339.
    pub since: String,
}

impl Known {
    fn new(device: &Device, state: State, now: Time) -> Self {
        Self {
            device_id: device.id.clone(),
            state,
            public_key: device.key.text(),
            since: now.to_string(),
        }
    }

    fn is(&self, device: &Device) -> bool {
        self.device_id == device.id && self.public_key == device.key.text()
    }

    /// What its key is compared by: 32 hex characters.
    pub fn fingerprint(&self) -> String {
        hex(&Sha256::digest(&self.public_key)[..16])
    }
}

/// What is known of a Relay's devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    schema: u32,
    /// Sorted by id.
    devices: Vec<Known>,
    /// How many more the Relay names that are not accepted.
    unlisted: usize,
}

impl Default for Devices {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            devices: Vec::new(),
            unlisted: 0,
        }
    }
}

impl Devices {
    /// What a Relay's list makes of what is known; the first list is believed.
    pub(super) fn meet(
        known: Option<&Self>,
        listed: &Listed,
        newcomers: Newcomers,
        now: Time,
    ) -> Self {
        let first = known.is_none();
        let before = known.cloned().unwrap_or_default();
        let mut met = Self::default();
        let stays = |d: &&Known| match d.state {
            State::Accepted => !listed.revokes(&d.device_id, &d.public_key),
            State::Removed => true,
            State::New => false,
        };
        met.devices = before.devices.iter().filter(stays).cloned().collect();
        for (n, device) in listed.sound.iter().enumerate() {
            let same = |d: &Known| d.device_id == device.id;
            let known = |d: &Known| d.is(device) || (same(d) && d.state == State::Removed);
            if met.devices.iter().any(known) {
                continue;
            }
            // One id has one key: the first that is named.
            let again = listed.sound[..n].iter().any(|other| other.id == device.id);
            let believed = !again && (first || newcomers == Newcomers::Accepted);
            if believed && met.count(State::Accepted) < ACCEPTED_MAX {
                met.devices.retain(|d| !same(d));
                met.devices.push(Known::new(device, State::Accepted, now));
            } else if met.count(State::New) < NEW_MAX {
                let seen = before
                    .devices
                    .iter()
                    .find(|d| d.state == State::New && d.is(device));
                let new = seen.cloned();
                met.devices
                    .push(new.unwrap_or_else(|| Known::new(device, State::New, now)));
            } else {
                met.unlisted += 1;
            }
        }
        met.devices.sort();
        met
    }

    /// Each of them.
    pub fn all(&self) -> &[Known] {
        &self.devices
    }

    /// Whether a name, an id or a fingerprint, means one of them that is `wanted`.
    pub fn has(&self, name: &str, wanted: impl Fn(&Known) -> bool) -> bool {
        let means = |d: &Known| d.device_id == name || d.fingerprint() == name;
        self.devices.iter().any(|d| means(d) && wanted(d))
    }

    /// How many stand so.
    pub fn count(&self, state: State) -> usize {
        self.devices.iter().filter(|d| d.state == state).count()
    }

    /// How many the Relay names that the user has neither accepted nor removed.
    pub fn waiting(&self) -> usize {
        self.count(State::New) + self.unlisted
    }

    /// How many of them are not in [`Devices::all`].
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// A device's state in a word: one that is accepted under another key is `changed`.
    pub fn word(&self, device: &Known) -> &'static str {
        let accepted = |d: &Known| d.device_id == device.device_id && d.state == State::Accepted;
        match device.state {
            State::Accepted => "accepted",
            State::Removed => "removed",
            State::New if self.devices.iter().any(accepted) => "changed",
            State::New => "new",
        }
    }

    /// As `--json` prints them.
    pub fn json(&self) -> Value {
        let one = |d: &Known| {
            json!({
                "device_id": d.device_id, "state": self.word(d),
                "fingerprint": d.fingerprint(), "since": d.since,
            })
        };
        self.devices.iter().map(one).collect()
    }

    /// The devices of a list that a question is sealed for, in its order.
    fn recipients(&self, listed: &Listed) -> Vec<Device> {
        let accepted = |device: &&Device| {
            let same = |d: &Known| d.state == State::Accepted && d.is(device);
            self.devices.iter().any(same)
        };
        let found = listed.sound.iter().filter(accepted).cloned();
        found.take(RECIPIENTS_MAX).collect()
    }

    /// Those that a name means: an id, or a fingerprint.
    fn named(&self, name: &str) -> Result<Vec<&Known>> {
        let means = |d: &&Known| d.device_id == name || d.fingerprint() == name;
        let found: Vec<&Known> = self.devices.iter().filter(means).collect();
        if found
            .windows(2)
            .any(|two| two[0].device_id != two[1].device_id)
        {
            return Err(Error::input(
                "several devices have this name as id or fingerprint",
            ));
        }
        Ok(found)
    }

    /// Accepts the device that a name means; none where it is not known.
    fn accept(&mut self, name: &str, now: Time) -> Result<Option<Known>> {
        let found = self.named(name)?;
        let open: Vec<&&Known> = found
            .iter()
            .filter(|d| d.state != State::Accepted)
            .collect();
        if open.len() > 1 {
            return Err(Error::input("the Relay names several keys for this device")
                .hint("name the fingerprint of the right one: 'sayso relay devices' has them"));
        }
        let Some(wanted) = open
            .first()
            .map_or_else(|| found.first().copied(), |d| Some(**d))
        else {
            return Ok(None);
        };
        let mut accepted = wanted.clone();
        if accepted.state != State::Accepted {
            if self.count(State::Accepted) >= ACCEPTED_MAX {
                let told = format!("{ACCEPTED_MAX} devices are accepted already");
                return Err(Error::input(told).hint("remove one: sayso relay devices --remove ID"));
            }
            accepted.state = State::Accepted;
            accepted.since = now.to_string();
            // One id has one key.
            let other = |d: &Known| d.device_id == accepted.device_id;
            self.devices.retain(|d| !other(d));
            self.devices.push(accepted.clone());
            self.devices.sort();
        }
        Ok(Some(accepted))
    }

    /// Removes the device that a name means, whatever its key; none where it is not known.
    fn remove(&mut self, name: &str, now: Time) -> Result<Option<Known>> {
        let Some(mut removed) = self.named(name)?.first().copied().cloned() else {
            return Ok(None);
        };
        if removed.state != State::Removed {
            removed.state = State::Removed;
            removed.since = now.to_string();
        }
        self.devices.retain(|d| d.device_id != removed.device_id);
        self.devices.push(removed.clone());
        self.devices.sort();
        Ok(Some(removed))
    }
}

#[cfg(test)]
mod tests;
