//! `.sayso.toml`: what a repository adds to the user's policy.
//!
//! Promise: it can only tighten. The agent can write it, so whatever could loosen anything is an error.

use serde::Deserialize;
use toml::Spanned;

use crate::config::{Decision, Named, Source};
use crate::error::Result;

/// The file's name, in the main worktree.
pub const REPO_FILE_NAME: &str = ".sayso.toml";
/// Bytes of it.
pub const REPO_FILE_MAX: u64 = 64 * 1024;

/// The content of a `.sayso.toml`.
#[derive(Clone, Debug, Default)]
pub struct RepoFile {
    pub(super) agents: Named<Agent>,
    pub(super) source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    #[serde(default)]
    agents: Named<Agent>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) approval_policy: Option<Tightening>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tightening {
    #[serde(default)]
    pub(super) auto_deny: Vec<Spanned<String>>,
    pub(super) default: Option<Spanned<Stricter>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stricter {
    Ask,
    Deny,
}

impl From<Stricter> for Decision {
    fn from(stricter: Stricter) -> Self {
        match stricter {
            Stricter::Ask => Self::Ask,
            Stricter::Deny => Self::Deny,
        }
    }
}

impl RepoFile {
    /// From the file's text.
    ///
    /// # Errors
    /// `config_error`, with the position, for anything but `auto_deny` and a `default` of `ask` or `deny`.
    pub fn parse(source: Source) -> Result<Self> {
        let shape: Shape = source.parse("auto_deny = [\"git push*\"]").map_err(|error| {
            let meant = error.hint.as_ref().map(|hint| format!("{hint}\n")).unwrap_or_default();
            error.hint(format!("{meant}a repository's file can only tighten: auto_deny, and default = \"ask\" or \"deny\""))
        })?;
        Ok(Self {
            agents: shape.agents,
            source,
        })
    }
}
