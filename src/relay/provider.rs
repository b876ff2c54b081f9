//! The Relay services that are configured or paired, and what each may carry.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::client::Client;
use super::devices::Newcomers;
use super::state::Dir;
use crate::config::{self, Config, Priority, RelayKind, Route};
use crate::error::{Code, Error, Result};
use crate::http::{Destination, Private};
use crate::model::interaction::{Kind, Question};
use crate::secret::Token;
use crate::store::layout::Home;

/// One Relay service.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name here.
    pub id: String,
    /// Whether it is used at all.
    pub enabled: bool,
    /// Where it is, as it was written.
    pub base_url: String,
    /// Whether it may be at a private or loopback address.
    pub allow_private: bool,
    /// What becomes of a device that it names later.
    pub(super) newcomers: Newcomers,
    /// Whether only `provider.json` says where it is.
    saved: bool,
    routes: Vec<Route>,
    dir: Dir,
}

/// What `relay pair` writes beside the token, for a provider that no configuration file names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    pub(super) provider_id: String,
    pub(super) enabled: bool,
    pub(super) base_url: String,
    #[serde(default)]
    pub(super) allow_private: bool,
}

impl Saved {
    fn read(dir: &Dir) -> Option<Self> {
        Dir::read(&dir.path().join("provider.json"))
    }

    /// What the configuration file says for the same provider.
    pub(super) fn block(&self) -> String {
        let (id, url) = (&self.provider_id, &self.base_url);
        let (enabled, private) = (self.enabled, self.allow_private);
        format!(
            "[[relay]]\nprovider_id = \"{id}\"\nenabled = {enabled}\nbase_url = \"{url}\"\nallow_private = {private}\n\n[[relay.route]]\nenabled = true\ninclude_message = true\n"
        )
    }
}

/// Who this machine is to a Relay.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The installation's public name.
    pub installation_id: String,
    /// What proves it.
    pub token: Token,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedCredentials {
    pub(super) installation_id: String,
    pub(super) token: String,
}

/// Every provider, in the configuration's order, then those that only pairing made.
///
/// # Errors
/// `unavailable` where the directory of the paired ones cannot be read.
pub fn all(home: &Home, config: &Config) -> Result<Vec<Provider>> {
    let relay = relay_dir(home);
    let configured = config.relay.iter().map(|r| Provider {
        id: r.provider_id.get_ref().clone(),
        enabled: r.enabled,
        base_url: r.base_url.get_ref().clone(),
        allow_private: r.allow_private,
        newcomers: match r.accept_new_devices {
            true => Newcomers::Accepted,
            false => Newcomers::Wait,
        },
        saved: false,
        routes: r.route.clone(),
        dir: Dir::new(&relay, r.provider_id.get_ref()),
    });
    let mut providers: Vec<Provider> = configured.collect();
    let entries = match std::fs::read_dir(&relay) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(providers),
        Err(e) => return Err(Error::io("read", &relay, &e)),
    };
    let names = entries
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|n| config::valid_provider_id(n)).collect();
    names.sort();
    for name in names {
        if providers.iter().all(|p| p.id != name) {
            providers.extend(Provider::saved(Dir::new(&relay, &name), &name));
        }
    }
    Ok(providers)
}

/// The providers that are enabled.
///
/// # Errors
/// As [`all`].
pub fn enabled(home: &Home, config: &Config) -> Result<Vec<Provider>> {
    let mut providers = all(home, config)?;
    providers.retain(|p| p.enabled);
    Ok(providers)
}

/// The state root's directory for Relay.
pub(super) fn relay_dir(home: &Home) -> PathBuf {
    home.path().join("relay")
}

/// Whether text can be an installation's or a device's name: they go into the sealed fields, which `|`
/// separates.
pub(super) fn is_name(text: &str) -> bool {
    (1..=128).contains(&text.chars().count()) && !text.chars().any(|c| c.is_control() || c == '|')
}

/// A provider's directory.
pub(super) fn dir(home: &Home, provider_id: &str) -> Dir {
    Dir::new(&relay_dir(home), provider_id)
}

impl Provider {
    fn saved(dir: Dir, name: &str) -> Option<Self> {
        let saved = Saved::read(&dir)?;
        // Whoever enabled it while pairing wanted the questions on the phone.
        let everything = Route {
            enabled: true,
            include_message: true,
            ..Route::default()
        };
        (saved.provider_id == name).then(|| Self {
            id: saved.provider_id,
            enabled: saved.enabled,
            base_url: saved.base_url,
            allow_private: saved.allow_private,
            newcomers: Newcomers::Wait,
            saved: true,
            routes: vec![everything],
            dir,
        })
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Whether a route lets a question out.
    pub fn carries(&self, question: &Question) -> bool {
        self.routes.iter().any(|route| carries(route, question))
    }

    /// Whether this machine is paired with it.
    pub fn is_paired(&self) -> bool {
        self.credentials().is_ok()
    }

    /// Who this machine is to it: what pairing wrote, the token from the environment if that names one.
    ///
    /// # Errors
    /// `invalid_input` where it is not paired, or the variable holds no installation token.
    pub fn credentials(&self) -> Result<Credentials> {
        let saved: Option<SavedCredentials> = Dir::read(&self.dir.path().join("credentials.json"));
        let Some(saved) = saved.filter(|s| is_name(&s.installation_id)) else {
            return Err(Error::input(format!("'{}' is not paired", self.id))
                .hint("pair it: sayso relay pair --url URL --provider ID"));
        };
        let variable = config::token_variable(&self.id);
        let token = match std::env::var(&variable) {
            Ok(text) if !text.trim().is_empty() => installation_token(&text).ok_or_else(|| {
                Error::new(
                    Code::ConfigError,
                    format!("{variable} holds no installation token"),
                )
            })?,
            _ => installation_token(&saved.token).ok_or_else(|| {
                Error::input(format!("the saved token of '{}' is damaged", self.id))
                    .hint("pair again")
            })?,
        };
        Ok(Credentials {
            installation_id: saved.installation_id,
            token,
        })
    }

    /// A client that is who this machine is.
    ///
    /// # Errors
    /// `invalid_input` for an address that cannot be used, or where it is not paired.
    pub(super) fn client(&self) -> Result<Client> {
        let destination = base(&self.base_url, Private::allowed(self.allow_private))?;
        let credentials = self.credentials()?;
        // Pairing writes the address before the token: whoever has the new token sees the new address.
        let moved = |saved: Saved| saved.base_url != self.base_url;
        if self.saved && Saved::read(&self.dir).is_none_or(moved) {
            let told = format!("'{}' was paired with another Relay just now", self.id);
            return Err(Error::unavailable(told));
        }
        Ok(Client::new(destination, credentials))
    }

    /// Checks the address without using it.
    ///
    /// # Errors
    /// `invalid_input`.
    pub fn check_address(&self) -> Result<()> {
        base(&self.base_url, Private::allowed(self.allow_private)).map(drop)
    }
}

/// A Relay's base URL: what comes after it is ours to add.
///
/// # Errors
/// `invalid_input`.
pub(super) fn base(text: &str, private: Private) -> Result<Destination> {
    let destination = Destination::parse(text, private)?;
    let after_origin = &destination.as_str()[destination.origin().len()..];
    let mut segments = after_origin.split('/');
    if segments.clone().any(|s| s == "v1") || segments.next_back() == Some("envelopes") {
        return Err(Error::input(
            "this address cannot be used: it must be the Relay's base, without /v1/… or /envelopes",
        ));
    }
    Ok(destination)
}

/// An installation's token: `inst_`, then at least 10 of A-Z a-z 0-9 _ -, 20 to 512 in all.
pub(super) fn installation_token(text: &str) -> Option<Token> {
    let text = text.trim();
    let rest = text.strip_prefix("inst_")?;
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let sound = rest.len() >= 10 && (20..=512).contains(&text.len()) && rest.bytes().all(fine);
    if sound { Token::parse(text) } else { None }
}

fn carries(route: &Route, question: &Question) -> bool {
    let kind = match question.kind() {
        Kind::Permission => RelayKind::Permission,
        Kind::SingleChoice | Kind::Text | Kind::Form => RelayKind::Input,
    };
    let priority = match question.kind() {
        Kind::Text => Priority::Normal,
        Kind::Permission | Kind::SingleChoice | Kind::Form => Priority::High,
    };
    let among = |list: &[String], value: Option<&str>| {
        let same = |entry: &String| value.is_some_and(|v| same_name(entry, v));
        list.is_empty() || list.iter().any(same)
    };
    route.enabled
        && route.include_message
        && (route.kinds.is_empty() || route.kinds.contains(&kind))
        && priority >= route.min_priority
        && among(&route.projects, question.project.as_deref())
        && among(&route.agents, Some(&question.agent))
}

fn same_name(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_ends_before_our_own_paths() {
        let base = |text| base(text, Private::Allowed).is_ok();
        assert!(base("https://relay.example.com") && base("https://10.0.0.8:8443/relay/"));
        assert!(!base("https://relay.example.com/v1/envelopes"));
        assert!(!base("https://relay.example.com/v1"));
        assert!(!base("https://relay.example.com/a/envelopes"));
    }

    #[test]
    fn a_token_goes_to_no_address_that_was_read_before_it() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::new(root.path(), "home");
        dir.make().unwrap();
        let save = |url: &str| {
            let saved = Saved {
                provider_id: "home".to_owned(),
                enabled: true,
                base_url: url.to_owned(),
                allow_private: false,
            };
            dir.write(&dir.path().join("provider.json"), &saved)
                .unwrap();
        };
        let secret = SavedCredentials {
            installation_id: "i".to_owned(),
            token: "inst_0123456789abcdef".to_owned(),
        };
        save("https://old.example.org");
        dir.write(&dir.path().join("credentials.json"), &secret)
            .unwrap();
        let provider = Provider::saved(dir.clone(), "home").unwrap();
        assert!(provider.client().is_ok());
        save("https://new.example.org");
        let refused = provider.client().map(drop).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        assert!(Provider::saved(dir, "home").unwrap().client().is_ok());
    }

    #[test]
    fn installation_tokens() {
        let fine = |text: &str| installation_token(text).is_some();
        assert!(fine("inst_0123456789abcdef") && fine(" inst_0123456789_-abcd\n"));
        assert!(!fine("inst_short") && !fine("inst_0123456789"));
        assert!(!fine("token_0123456789abcdef") && !fine("inst_0123456789abcde!"));
        assert!(!fine(&format!("inst_{}", "a".repeat(508))));
    }
}
