//! What is asked of a Relay as a paired installation, and what its replies mean.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::Device;
use super::provider::{Credentials, is_name};
use super::seal::DeviceKey;
use crate::http::{self, Destination, Reply, Request, escape};

/// The bound of a cursor, in bytes.
const CURSOR_MAX: usize = 2048;

/// A Relay and who this machine is to it.
pub(super) struct Client {
    http: http::Client,
    credentials: Credentials,
}

/// Why a question did not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unsent {
    /// A word for scripts, such as `relay_404` or `no_devices_paired`.
    pub(super) code: String,
    /// Whether trying again may help, and in how long at the earliest where the Relay said so.
    pub(super) again: Option<Option<Duration>>,
}

/// Why a page could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoPage {
    /// The token is not accepted.
    Rejected,
    /// Not before this long.
    Later(Duration),
    /// Anything else, for people.
    Failed(String),
}

/// One page of answers.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) responses: Vec<Box<RawValue>>,
    pub(super) next_cursor: String,
}

/// The devices that a Relay names.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    /// Those that can be sealed for, none twice.
    pub(super) sound: Vec<Device>,
    /// The ids of those that are revoked, with their key where it is named.
    pub(super) revoked: Vec<(String, Option<String>)>,
}

impl Listed {
    /// Whether a device with this key is revoked, and not named as a sound one as well.
    pub(super) fn revokes(&self, device_id: &str, key: &str) -> bool {
        let gone = |(id, its): &(String, Option<String>)| {
            id == device_id && its.as_deref().is_none_or(|its| its == key)
        };
        let sound = |d: &Device| d.id == device_id && d.key.text() == key;
        self.revoked.iter().any(gone) && !self.sound.iter().any(sound)
    }

    fn take(&mut self, value: &Value) {
        let Ok(wire) = serde_json::from_value::<WireDevice>(value.clone()) else {
            return;
        };
        let key = wire.public_key.as_deref().and_then(DeviceKey::parse);
        if !is_name(&wire.device_id) || !wire.key_id.as_deref().is_none_or(is_name) {
            return;
        }
        if wire.revoked_at.is_some_and(|at| !at.is_null()) {
            let key = key.map(|key| key.text());
            return self.revoked.push((wire.device_id, key));
        }
        let Some(key) = key else {
            return;
        };
        let device = Device {
            id: wire.device_id,
            key_id: wire.key_id,
            key,
        };
        let same = |d: &Device| d.id == device.id && d.key == device.key;
        if !self.sound.iter().any(same) {
            self.sound.push(device);
        }
    }
}

#[derive(Deserialize)]
struct WireDevice {
    device_id: String,
    #[serde(default)]
    key_id: Option<String>,
    #[serde(default)]
    public_key: Option<String>,
    #[serde(default)]
    revoked_at: Option<Value>,
}

impl Client {
    pub(super) fn new(destination: Destination, credentials: Credentials) -> Self {
        Self {
            http: http::Client::new(destination),
            credentials,
        }
    }

    /// This machine's public name at the Relay.
    pub(super) fn installation_id(&self) -> &str {
        &self.credentials.installation_id
    }

    fn send(
        &self,
        method: &'static str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
        until: Instant,
    ) -> Result<Reply, http::Failure> {
        let left = until.saturating_duration_since(Instant::now());
        self.http.send(&Request {
            method,
            path,
            bearer: Some(&self.credentials.token),
            headers,
            body: body.map(|body| ("application/json", body)),
            within: left.clamp(Duration::from_millis(1), http::WHOLE),
        })
    }

    /// The devices that the Relay names.
    pub(super) fn devices(&self, until: Instant) -> Result<Listed, Unsent> {
        let reply = self.send("GET", "/v1/devices", &[], None, until);
        let reply = reply.map_err(|failure| unreached(&failure))?;
        if reply.status != 200 {
            return Err(refused(&reply));
        }
        let list = serde_json::from_slice::<Value>(&reply.body).ok();
        let list = list.as_ref().and_then(|v| v.get("devices")?.as_array());
        let Some(list) = list else {
            return Err(unclear());
        };
        let mut listed = Listed::default();
        for device in list {
            listed.take(device);
        }
        Ok(listed)
    }

    /// Posts an envelope; the same id again is the same envelope.
    pub(super) fn post(&self, id: &str, body: &[u8], until: Instant) -> Result<(), Unsent> {
        let headers = [("idempotency-key", id), ("x-correlation-id", id)];
        let reply = self.send("POST", "/v1/envelopes", &headers, Some(body), until);
        let reply = reply.map_err(|failure| unreached(&failure))?;
        if !(200..300).contains(&reply.status) {
            return Err(refused(&reply));
        }
        let told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let accepted = told.get("envelope_id").is_some_and(Value::is_string)
            || matches!(
                told.get("status").and_then(Value::as_str),
                Some("accepted" | "duplicate")
            );
        if accepted { Ok(()) } else { Err(unclear()) }
    }

    /// The page of answers after a cursor; empty the first time.
    pub(super) fn responses(&self, since: &str, until: Instant) -> Result<Page, NoPage> {
        let path = format!(
            "/v1/interaction-responses?installation_id={}&since={}",
            escape(self.installation_id()),
            escape(since)
        );
        let reply = self.send("GET", &path, &[], None, until);
        let reply = reply.map_err(|failure| NoPage::Failed(failure.why))?;
        let host = self.http.destination().host();
        match (reply.status, reply.retry_after) {
            (200, _) => page(&reply.body).ok_or_else(|| {
                NoPage::Failed(format!("{host} sent a page that cannot be understood"))
            }),
            (401 | 403, _) => Err(NoPage::Rejected),
            (429 | 503, Some(wait)) => Err(NoPage::Later(wait)),
            (status, _) => Err(NoPage::Failed(format!("{host} replied with {status}"))),
        }
    }

    /// Whether the Relay knows this installation.
    pub(super) fn check(&self, until: Instant) -> Result<(), NoPage> {
        let reply = self.send("GET", "/v1/installation", &[], None, until);
        let reply = reply.map_err(|failure| NoPage::Failed(failure.why))?;
        let host = self.http.destination().host();
        let told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let named = told.get("installation_id").and_then(Value::as_str);
        match reply.status {
            200 if named.is_some_and(|id| id != self.installation_id()) => Err(NoPage::Failed(
                format!("{host} takes this machine for another installation"),
            )),
            200 => Ok(()),
            401 | 403 => Err(NoPage::Rejected),
            status => Err(NoPage::Failed(format!("{host} replied with {status}"))),
        }
    }
}

/// The items stay as they came: what is wrong with one is no matter of the others.
fn page(body: &[u8]) -> Option<Page> {
    #[derive(Deserialize)]
    struct Wire {
        responses: Vec<Box<RawValue>>,
        next_cursor: String,
    }
    let wire: Wire = serde_json::from_slice(body).ok()?;
    (wire.next_cursor.len() <= CURSOR_MAX).then_some(Page {
        responses: wire.responses,
        next_cursor: wire.next_cursor,
    })
}

fn unreached(failure: &http::Failure) -> Unsent {
    Unsent {
        code: if failure.passing {
            "relay_unreachable"
        } else {
            "relay_address_refused"
        }
        .to_owned(),
        again: failure.passing.then_some(None),
    }
}

fn unclear() -> Unsent {
    Unsent {
        code: "relay_reply_unclear".to_owned(),
        again: Some(None),
    }
}

fn refused(reply: &Reply) -> Unsent {
    let again = matches!(reply.status, 200..=299 | 408 | 425 | 429 | 500..);
    Unsent {
        code: match reply.status {
            300..=399 => "relay_redirect".to_owned(),
            401 | 403 => "relay_token_rejected".to_owned(),
            status => format!("relay_{status}"),
        },
        again: again.then_some(reply.retry_after),
    }
}
