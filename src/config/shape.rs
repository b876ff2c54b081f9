//! The tables of the configuration file, as they are written, and what must hold between their members.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::Config;
use crate::error::Result;

/// Tables by name, with the position of each name.
pub type Named<T> = BTreeMap<Spanned<String>, T>;

/// `[agents.NAME]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// How this agent's permission requests are decided before a human is asked.
    pub approval_policy: Option<ApprovalPolicy>,
}

/// `[agents.NAME.approval_policy]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalPolicy {
    /// Patterns that allow a call.
    pub auto_allow: Vec<Spanned<String>>,
    /// Patterns that deny a call, whatever allows it.
    pub auto_deny: Vec<Spanned<String>>,
    /// What becomes of every other call; absent: ask.
    pub default: Option<Spanned<Decision>>,
    /// Variables that may be set in front of an allowed command; absent: those that are known to be harmless.
    pub harmless_env: Option<Vec<Spanned<String>>>,
}

/// What becomes of a call; ordered by strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It goes ahead.
    Allow,
    /// A human is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Decision {
    /// The name in the file and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What stands for an id in the resume command's arguments, in braces.
pub const PLACEHOLDERS: [&str; 3] = ["session_id", "workflow_id", "interaction_id"];

/// `[resume]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// Program and arguments; no shell.
    pub command: Spanned<Vec<String>>,
}

/// `[[relay]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relay {
    /// `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`, unique.
    pub provider_id: Spanned<String>,
    /// Whether the service is used at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Where it is; its destination rules are checked when it is used.
    pub base_url: Spanned<String>,
    /// Whether it may be at a private or loopback address.
    #[serde(default)]
    pub allow_private: bool,
    /// Whether a device that it names later is accepted without being asked.
    #[serde(default)]
    pub accept_new_devices: bool,
    /// What may go out; nothing without one.
    #[serde(default)]
    pub route: Vec<Route>,
}

/// `[[relay.route]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    /// Whether the route counts.
    pub enabled: bool,
    /// Whether it carries what was written; without it, it carries no question.
    pub include_message: bool,
    /// Kinds of question; empty: all.
    pub kinds: Vec<RelayKind>,
    /// Projects, compared without case; empty: all.
    pub projects: Vec<String>,
    /// Agents, compared without case; empty: all.
    pub agents: Vec<String>,
    /// The least urgent question that goes out.
    pub min_priority: Priority,
}

impl Default for Route {
    fn default() -> Self {
        Self {
            enabled: false,
            include_message: false,
            kinds: Vec::new(),
            projects: Vec::new(),
            agents: Vec::new(),
            min_priority: Priority::Normal,
        }
    }
}

/// Kinds of question as routes tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelayKind {
    /// A permission.
    Permission,
    /// A single choice or a text.
    Input,
}

/// How urgent a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Below every question.
    Low,
    /// A text.
    Normal,
    /// A permission, a single choice or a form.
    High,
    /// Above every question.
    Critical,
}

/// `[[notify]]`; exactly one of `command`, `webhook`, `ntfy` and `desktop` is set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notify {
    /// Program and arguments to run; no shell.
    pub command: Option<Vec<String>>,
    /// Address that is posted to.
    pub webhook: Option<String>,
    /// Address of an ntfy topic.
    pub ntfy: Option<String>,
    /// Whether a desktop notification is shown.
    pub desktop: bool,
    /// Kinds of question; empty: all.
    pub kinds: Vec<Kind>,
    /// Projects; empty: all.
    pub projects: Vec<String>,
    /// Agents; empty: all.
    pub agents: Vec<String>,
    /// Whether the notice says what is asked.
    pub include_prompt: bool,
    /// The shape of a webhook's body.
    pub format: Option<Format>,
    /// Absolute path of the file that holds a webhook's or topic's secret.
    pub token_file: Option<PathBuf>,
    /// The Telegram chat that is written to: a number, or `@` and a channel's name.
    pub chat_id: Option<String>,
    /// Whether a webhook or topic may be at a private or loopback address.
    pub allow_private: bool,
}

/// Kinds of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// May this be done?
    Permission,
    /// Which one?
    #[serde(alias = "single-choice")]
    SingleChoice,
    /// Free text.
    Text,
    /// Several questions at once.
    Form,
}

/// The shape of a webhook's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A Slack incoming webhook's.
    Slack,
    /// The Telegram bot interface's `sendMessage`.
    Telegram,
    /// The event as it is.
    Json,
}

fn yes() -> bool {
    true
}

/// What the types cannot say.
pub(super) fn check(config: &Config) -> Result<()> {
    let source = &config.source;
    if let Some(Resume { command }) = &config.resume
        && let Some(wrong) = wrong_with_resume(command.get_ref())
    {
        let at = command.span().start;
        return Err(source.error(at, format!("resume.command {wrong}")));
    }
    for notify in &config.notify {
        if let Some(wrong) = wrong_with(notify.get_ref()) {
            return Err(source.error(notify.span().start, format!("notify: {wrong}")));
        }
    }
    check_relays(config)
}

/// Its program is the user's own choice: neither a question nor the repository in which it runs has a say.
fn wrong_with_resume(argv: &[String]) -> Option<String> {
    let Some(program) = argv.first().filter(|program| !program.is_empty()) else {
        return Some("names no program".into());
    };
    if program.contains(['{', '}']) {
        return Some("must name its program without a placeholder".into());
    }
    if program.contains('/') && !program.starts_with('/') {
        return Some("must give its program as an absolute path, or as a name on the PATH".into());
    }
    let unknown = argv.iter().find(|argument| {
        let name = argument.strip_prefix('{').and_then(|a| a.strip_suffix('}'));
        name.is_some_and(|name| is_word(name) && !PLACEHOLDERS.contains(&name))
    })?;
    let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
    Some(format!("has no placeholder {unknown}, but {known}"))
}

fn is_word(name: &str) -> bool {
    let lower = |b: u8| b.is_ascii_lowercase() || b == b'_';
    !name.is_empty() && name.bytes().all(lower)
}

fn runnable(argv: &[String]) -> bool {
    argv.first().is_some_and(|program| !program.is_empty())
}

fn wrong_with(notify: &Notify) -> Option<&'static str> {
    let targets = [
        notify.command.is_some(),
        notify.webhook.is_some(),
        notify.ntfy.is_some(),
        notify.desktop,
    ];
    if targets.into_iter().filter(|set| *set).count() != 1 {
        return Some("exactly one of command, webhook, ntfy and desktop must be set");
    }
    if notify.command.as_ref().is_some_and(|argv| !runnable(argv)) {
        return Some("command names no program");
    }
    if notify.format.is_some() && notify.webhook.is_none() {
        return Some("format goes with webhook only");
    }
    let web = notify.webhook.is_some() || notify.ntfy.is_some();
    if !web && (notify.token_file.is_some() || notify.allow_private) {
        return Some("token_file and allow_private go with webhook and ntfy only");
    }
    let telegram = notify.format == Some(Format::Telegram);
    if telegram && (notify.chat_id.is_none() || notify.token_file.is_none()) {
        return Some("format telegram needs chat_id and token_file");
    }
    if !telegram && notify.chat_id.is_some() {
        return Some("chat_id goes with format telegram only");
    }
    match &notify.token_file {
        Some(path) if !path.is_absolute() => Some("token_file must be an absolute path"),
        _ => None,
    }
}

fn check_relays(config: &Config) -> Result<()> {
    let mut variables = BTreeMap::new();
    for relay in &config.relay {
        let id = relay.provider_id.get_ref();
        let at = relay.provider_id.span().start;
        if !valid_provider_id(id) {
            let message = "provider_id must be 1 to 64 of A-Z a-z 0-9 _ . -, the first no sign";
            return Err(config.source.error(at, message));
        }
        if let Some(other) = variables.insert(token_variable(id), id) {
            let message = format!(
                "relays {other} and {id} would share the variable {}",
                token_variable(id)
            );
            return Err(config.source.error(at, message));
        }
    }
    Ok(())
}

/// Whether text is a provider's name: `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`.
pub fn valid_provider_id(id: &str) -> bool {
    id.len() <= 64
        && id.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// The variables of this process that hold a Relay's token: no program that it starts needs them.
pub fn token_variables() -> impl Iterator<Item = std::ffi::OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| name.as_encoded_bytes().starts_with(TOKEN.as_bytes()))
}

/// What the variables for Relays' tokens begin with.
const TOKEN: &str = "SAYSO_RELAY_TOKEN_";

/// The variable that overrides a Relay's token.
pub fn token_variable(provider_id: &str) -> String {
    let id: String = provider_id
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
            _ => '_',
        })
        .collect();
    format!("{TOKEN}{id}")
}
