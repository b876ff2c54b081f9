//! Hosts' hooks: one JSON object in, one line of JSON or nothing out.
//!
//! A permission hook never allows and never denies on its own account: whatever fails prints nothing,
//! and the host asks its own prompt. Silence from a gate would let the tool run, so a gate prints its
//! `ask` instead.

pub mod asking;
pub mod claude;
pub mod codex;
pub mod defer;
pub mod install;
pub mod payload;
pub mod reconcile;

use crate::error::{Error, Result};
use crate::model::interaction::{Interaction, Tool};
use crate::model::response::Response;

/// A host whose prompts are caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// A place where a host takes a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Claude Code's PermissionRequest.
    ClaudePermission,
    /// Claude Code's PreToolUse.
    ClaudeGate,
    /// Claude Code's Elicitation.
    ClaudeElicitation,
    /// Codex's PermissionRequest.
    CodexPermission,
}

/// What a host calls a hook for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It wants a decision.
    Decide(Surface),
    /// It tells of something that may have decided an open question.
    Reconcile(reconcile::Told),
    /// It tells of something that needs nothing from here.
    Notice,
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
    pub fn parse(host: Host, text: &str) -> Result<Self> {
        use reconcile::Told;
        let text = if text == "ask-permission" {
            "permission-request"
        } else {
            text
        };
        Ok(match (host, text) {
            (Host::Claude, "permission-request") => Self::Decide(Surface::ClaudePermission),
            (Host::Claude, "pre-tool-use") => Self::Decide(Surface::ClaudeGate),
            (Host::Claude, "elicitation") => Self::Decide(Surface::ClaudeElicitation),
            (Host::Codex, "permission-request") => Self::Decide(Surface::CodexPermission),
            (Host::Claude, "post-tool-use") => Self::Reconcile(Told::ToolRan),
            (Host::Claude, "post-tool-use-failure" | "permission-denied") => {
                Self::Reconcile(Told::ToolDecided)
            }
            (Host::Claude | Host::Codex, "stop") => Self::Reconcile(Told::TurnEnded),
            (Host::Claude, "user-prompt-submit") => Self::Reconcile(Told::TurnEnded),
            (Host::Claude, "session-end") => Self::Reconcile(Told::SessionEnded),
            (Host::Codex, "session-start") => Self::Reconcile(Told::SessionEnded),
            (Host::Claude, "notification") => Self::Notice,
            _ => return Err(unknown_event(host)),
        })
    }
}

fn unknown_event(host: Host) -> Error {
    let events = match host {
        Host::Claude => {
            "permission-request, pre-tool-use, elicitation, post-tool-use, post-tool-use-failure, permission-denied, stop, user-prompt-submit, session-end, notification"
        }
        Host::Codex => "permission-request, stop, session-start",
    };
    Error::input("this host has no such event").hint(format!("events: {events}"))
}

impl Surface {
    /// Whose it is.
    pub fn host(self) -> Host {
        match self {
            Self::ClaudePermission | Self::ClaudeGate | Self::ClaudeElicitation => Host::Claude,
            Self::CodexPermission => Host::Codex,
        }
    }

    /// The host's own words for an answer. They are built from the hook's own input, never from the store's.
    ///
    /// # Errors
    /// Where the answer means neither allow nor deny, or the host cannot take what it carries.
    pub fn decision(
        self,
        opened: &Interaction,
        tool: &Tool,
        response: &Response,
    ) -> Result<String> {
        match self {
            Self::ClaudePermission => claude::permission(opened, tool, response),
            Self::ClaudeGate => claude::gate(opened, tool, response),
            Self::ClaudeElicitation => claude::elicitation(tool, response),
            Self::CodexPermission => codex::permission(opened, response),
        }
    }

    /// What is printed where nothing could be decided: nothing, unless silence would let the tool run.
    pub fn undecided(self) -> Option<String> {
        match self {
            Self::ClaudePermission | Self::ClaudeElicitation | Self::CodexPermission => None,
            Self::ClaudeGate => Some(claude::gate_asks()),
        }
    }
}
