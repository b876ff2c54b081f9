//! Hosts' hooks: one JSON object in, one line of JSON or nothing out.
//!
//! A permission hook never allows and never denies on its own account: whatever fails prints nothing,
//! and the host asks its own prompt.

pub mod claude;
pub mod codex;
pub mod payload;
pub mod permission;
pub mod question_tool;

use crate::error::{Error, Result};

/// A host whose prompts are caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// What a host calls a hook for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The host would ask its user for a permission.
    PermissionRequest,
}

impl Host {
    /// From its id or an alias, in any case.
    pub fn parse(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "claude" | "claude-code" => Ok(Self::Claude),
            "codex" => Ok(Self::Codex),
            _ => Err(Error::input("there is no such host").hint("hosts: claude, codex")),
        }
    }

    /// Its id, as records hold it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Its name, as people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }
}

impl Event {
    /// From its name on the command line.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "permission-request" | "ask-permission" => Ok(Self::PermissionRequest),
            _ => Err(Error::input("there is no such event").hint("events: permission-request")),
        }
    }
}
