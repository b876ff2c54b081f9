//! Pairing this machine with a Relay: the person approves it in a browser, the Relay hands a token over.
//!
//! Promise: no token is ever printed, and nothing is written before the Relay has accepted the token.

mod keep;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, NoPage};
use super::devices::Devices;
use super::provider::{self, Credentials, Provider, installation_token};
use crate::config::{Config, valid_provider_id};
use crate::error::{Error, Result};
use crate::http::{self, Destination, Failure, Private, Reply, Request};
use crate::secret::Token;
use crate::store::layout::Home;

/// The failures in a row that are borne while the person approves.
const FAILURES_MAX: u32 = 4;
/// The bounds of the pause between two looks, in seconds.
const INTERVAL: (u64, u64) = (1, 60);
/// What `slow_down` adds to it, in seconds.
const SLOWER: u64 = 5;
/// The bounds of the time to approve, in seconds.
const EXPIRES: (u64, u64) = (30, 1800);

/// What is to be paired.
pub struct Wish {
    /// The Relay's base URL.
    pub url: String,
    /// How phones name this machine, 1–100 characters.
    pub name: String,
    /// The name here; none: that of the known provider with this URL, else the URL's host.
    pub provider: Option<String>,
    /// Whether the Relay may be at a private or loopback address.
    pub private: Private,
    /// Whether it is to be used at once.
    pub enable: bool,
}

/// What the person has to do.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The code to compare.
    pub user_code: String,
    /// Where to approve.
    pub verification_uri: String,
    /// The same with the code in it, if the Relay gave one.
    pub complete: Option<String>,
}

/// A finished pairing.
#[derive(Debug)]
pub struct Paired {
    /// The name here.
    pub provider_id: String,
    /// This machine's public name at the Relay.
    pub installation_id: String,
    /// Whether it is used from now on.
    pub enabled: bool,
    /// The block for the configuration file.
    pub block: String,
    /// The devices that the Relay names.
    pub devices: Devices,
}

/// Where a pairing stands.
struct Started {
    path: String,
    token: Token,
    interval: Duration,
    until: Instant,
}

/// Pairs: `invite` is called once, when there is something to approve.
///
/// # Errors
/// `invalid_input` for an address or name that cannot be used; `unavailable` for everything that the
/// Relay or the person says no to.
pub fn pair(
    home: &Home,
    config: &Config,
    wish: &Wish,
    invite: impl FnOnce(&Invitation),
) -> Result<Paired> {
    let destination = provider::base(&wish.url, wish.private)?;
    let provider_id = provider_id(home, config, wish, &destination)?;
    home.check_writable()?;
    // Nothing is approved that could not be kept.
    let dir = provider::dir(home, &provider_id);
    dir.make()?;
    drop(dir.lock(Duration::ZERO)?);
    let client = http::Client::new(destination.clone());
    check_service(&client)?;
    let (invitation, started) = start(&client, wish)?;
    invite(&invitation);
    let credentials = wait(&client, started)?;
    let proof = Client::new(destination.clone(), credentials.clone());
    proof
        .check(Instant::now() + http::WHOLE)
        .map_err(|why| match why {
            NoPage::Rejected => Error::unavailable("the Relay does not accept the token it gave"),
            NoPage::Later(_) => Error::unavailable("the Relay asked not to be asked now"),
            NoPage::Failed(why) => Error::unavailable(why),
        })?;
    let listed = proof.devices(Instant::now() + http::WHOLE).ok();
    keep::save(
        home,
        config,
        wish,
        &keep::Found {
            destination,
            provider_id,
            credentials,
            listed,
        },
    )
}

fn provider_id(
    home: &Home,
    config: &Config,
    wish: &Wish,
    destination: &Destination,
) -> Result<String> {
    let known = provider::all(home, config)?;
    let same = |p: &&Provider| {
        provider::base(&p.base_url, Private::Allowed)
            .is_ok_and(|d| d.as_str() == destination.as_str())
    };
    let id = match &wish.provider {
        Some(id) if !valid_provider_id(id) => {
            return Err(Error::input(
                "--provider must be 1 to 64 of A-Z a-z 0-9 _ . -, the first no sign",
            ));
        }
        Some(id) => id.clone(),
        None => match known.iter().find(same) {
            Some(known) => known.id.clone(),
            None => id_of_host(destination.host()),
        },
    };
    // The configuration's address is the one that is used: another Relay's token must not go there.
    let configured = config.relay.iter().any(|r| *r.provider_id.get_ref() == id);
    match known.iter().find(|p| p.id == id) {
        Some(other) if configured && !same(&other) => Err(Error::input(format!(
            "the configuration has another address for '{id}'"
        ))
        .hint("change base_url there, or choose another --provider")),
        _ => Ok(id),
    }
}

fn id_of_host(host: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let id: String = host.chars().map(plain).take(64).collect();
    let id = id.trim_matches('-').to_owned();
    if valid_provider_id(&id) {
        id
    } else {
        "relay".to_owned()
    }
}

fn get(
    client: &http::Client,
    path: &str,
    bearer: Option<&Token>,
) -> std::result::Result<Reply, Failure> {
    client.send(&Request {
        method: "GET",
        path,
        bearer,
        headers: &[],
        body: None,
        within: http::WHOLE,
    })
}

fn failed(failure: &Failure) -> Error {
    Error::unavailable(format!("pairing failed: {failure}"))
}

fn unclear() -> Error {
    Error::unavailable("pairing failed: the Relay's reply cannot be understood")
}

fn object(reply: &Reply) -> Result<Value> {
    let value: Value = serde_json::from_slice(&reply.body).map_err(|_| unclear())?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(unclear())
    }
}

fn check_service(client: &http::Client) -> Result<()> {
    let reply = get(client, "/.well-known/agentnotify-relay", None).map_err(|f| failed(&f))?;
    let told = object(&reply).unwrap_or_default();
    // The services there are list their versions; one that names a single one is understood, too.
    let speaks = ["api_versions", "api"].into_iter().any(|name| {
        let api = &told[name];
        api == "v1" || api.as_array().is_some_and(|all| all.contains(&json!("v1")))
    });
    if reply.status == 200 && told["service"] == "agentnotify-relay" && speaks {
        return Ok(());
    }
    Err(Error::unavailable("there is no Relay at this address")
        .hint("the URL must be the Relay's base, and its api must be v1"))
}

fn start(client: &http::Client, wish: &Wish) -> Result<(Invitation, Started)> {
    let body = json!({
        "sender_name": wish.name,
        "platform": std::env::consts::OS,
        "client_version": env!("CARGO_PKG_VERSION"),
    });
    let reply = client.send(&Request {
        method: "POST",
        path: "/v1/pairing/sender",
        bearer: None,
        headers: &[],
        body: Some(("application/json", body.to_string().as_bytes())),
        within: http::WHOLE,
    });
    let reply = reply.map_err(|f| failed(&f))?;
    if reply.status != 201 {
        let status = reply.status;
        return Err(Error::unavailable(format!(
            "pairing failed: the Relay replied with {status}"
        )));
    }
    let told = object(&reply)?;
    let text = |name: &str| told[name].as_str().map(str::to_owned);
    let id = text("pairing_id")
        .filter(|id| is_segment(id))
        .ok_or_else(unclear)?;
    let token = text("poll_token")
        .and_then(|t| Token::parse(&t))
        .ok_or_else(unclear)?;
    let invitation = Invitation {
        user_code: text("user_code").ok_or_else(unclear)?,
        verification_uri: text("verification_uri").ok_or_else(unclear)?,
        complete: text("verification_uri_complete"),
    };
    let uris = [
        Some(&invitation.verification_uri),
        invitation.complete.as_ref(),
    ];
    if uris
        .into_iter()
        .flatten()
        .any(|uri| !client.destination().is_origin_of(uri))
    {
        return Err(Error::unavailable(
            "pairing failed: the Relay sent an address of another origin to approve at",
        ));
    }
    let seconds = |name: &str, default: u64, (min, max): (u64, u64)| {
        Duration::from_secs(told[name].as_u64().unwrap_or(default).clamp(min, max))
    };
    let started = Started {
        path: format!("/v1/pairing/{id}"),
        token,
        interval: seconds("interval", 5, INTERVAL),
        until: Instant::now() + seconds("expires_in", 600, EXPIRES),
    };
    Ok((invitation, started))
}

fn is_segment(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=128).contains(&text.len()) && text.bytes().all(fine)
}

/// Asks until the person has approved or declined, or the time is up.
fn wait(client: &http::Client, mut started: Started) -> Result<Credentials> {
    let mut failures = 0;
    loop {
        let left = started.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::unavailable(
                "pairing failed: nobody approved it in time",
            ));
        }
        std::thread::sleep(started.interval.min(left));
        match get(client, &started.path, Some(&started.token)) {
            Err(failure) => {
                failures += 1;
                if failures > FAILURES_MAX || !failure.passing {
                    return Err(failed(&failure));
                }
            }
            Ok(reply) if reply.status == 429 => {
                failures = 0;
                started.interval = slower(started.interval);
            }
            Ok(reply) if reply.status >= 500 => {
                failures += 1;
                if failures > FAILURES_MAX {
                    return Err(unclear());
                }
            }
            Ok(reply) => {
                failures = 0;
                if let Some(credentials) = judge(&reply)? {
                    return Ok(credentials);
                }
            }
        }
    }
}

fn slower(interval: Duration) -> Duration {
    (interval + Duration::from_secs(SLOWER)).min(Duration::from_secs(INTERVAL.1))
}

/// What a look at the pairing shows; none while it is pending.
fn judge(reply: &Reply) -> Result<Option<Credentials>> {
    let told = object(reply)?;
    let over = |why: &str| Err(Error::unavailable(format!("pairing failed: {why}")));
    match told["status"].as_str() {
        Some("pending") => Ok(None),
        Some("approved") => {
            let id = told["installation_id"]
                .as_str()
                .filter(|id| provider::is_name(id));
            let token = told["installation_token"]
                .as_str()
                .and_then(installation_token);
            match (id, token) {
                (Some(id), Some(token)) => Ok(Some(Credentials {
                    installation_id: id.to_owned(),
                    token,
                })),
                _ => over("the Relay gave no usable token"),
            }
        }
        Some("denied") => over("it was declined"),
        Some("expired") => over("nobody approved it in time"),
        Some("consumed") => over("its token was handed over before; start again"),
        _ => Err(unclear()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: &Value) -> Reply {
        Reply {
            status: 200,
            retry_after: None,
            body: body.to_string().into_bytes(),
        }
    }

    #[test]
    fn slow_down_adds_five_seconds_up_to_a_minute() {
        assert_eq!(slower(Duration::from_secs(2)), Duration::from_secs(7));
        assert_eq!(slower(Duration::from_secs(58)), Duration::from_secs(60));
    }

    #[test]
    fn every_end_of_a_pairing() {
        let token = "inst_0123456789abcdef";
        let approved = json!({
            "status": "approved", "installation_id": "i1", "installation_token": token,
        });
        let credentials = judge(&reply(&approved)).unwrap().unwrap();
        assert_eq!(credentials.installation_id, "i1");
        assert!(
            judge(&reply(&json!({ "status": "pending" })))
                .unwrap()
                .is_none()
        );
        for status in ["denied", "expired", "consumed", "other"] {
            assert!(
                judge(&reply(&json!({ "status": status }))).is_err(),
                "{status}"
            );
        }
        for (member, value) in [
            ("installation_token", json!("inst_short")),
            ("installation_id", json!("a|b")),
            ("installation_id", Value::Null),
        ] {
            let mut bad = approved.clone();
            bad[member] = value;
            let error = judge(&reply(&bad)).unwrap_err();
            assert!(!error.message.contains("inst_"), "{member}");
        }
    }
}
