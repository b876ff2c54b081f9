//! The hosts that sayso knows: their ids, aliases and names.

use crate::error::{Error, Result};

/// A host whose questions can be caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// OpenAI Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// OpenCode.
    OpenCode,
    /// Hermes Agent.
    Hermes,
    /// OpenClaw.
    OpenClaw,
    /// Pi coding agent.
    Pi,
}

impl Host {
    /// Every host, in the order of the manual.
    pub const ALL: [Self; 9] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
        Self::OpenCode,
        Self::Hermes,
        Self::OpenClaw,
        Self::Pi,
    ];

    /// By id or alias, in any case.
    ///
    /// # Errors
    /// `invalid_input`, listing the hosts, for anything else.
    pub fn parse(name: &str) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        if lower == "claude-code" {
            return Ok(Self::Claude);
        }
        Self::ALL
            .into_iter()
            .find(|h| h.id() == lower)
            .ok_or_else(|| {
                Error::input(format!(
                    "unknown host {name:?}; known are {}",
                    Self::ids(", ")
                ))
            })
    }

    /// Every host's id, in the order of the manual, with `last` before the last one.
    pub fn ids(last: &str) -> String {
        let ids = Self::ALL.map(Self::id);
        let (end, others) = ids.split_last().expect("there are hosts");
        format!("{}{last}{end}", others.join(", "))
    }

    /// The name in commands, records and policies.
    pub fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::Hermes => "hermes",
            Self::OpenClaw => "openclaw",
            Self::Pi => "pi",
        }
    }

    /// The name that people know.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::OpenCode => "OpenCode",
            Self::Hermes => "Hermes",
            Self::OpenClaw => "OpenClaw",
            Self::Pi => "Pi",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 102.
    #[test]
    fn names_are_found_in_any_case_and_unknown_ones_list_the_rest() {
        for name in ["CLAUDE", "Claude-Code", "claude"] {
            assert_eq!(Host::parse(name).unwrap(), Host::Claude);
        }
        for host in Host::ALL {
            assert_eq!(Host::parse(&host.id().to_uppercase()).unwrap(), host);
        }
        let error = Host::parse("emacs").unwrap_err();
        assert_eq!(error.code.exit(), 2);
        for host in Host::ALL {
            assert!(error.message.contains(host.id()), "{}", error.message);
        }
    }
}
