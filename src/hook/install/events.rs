//! Which of a host's events each mode of an installation takes.
//!
//! Formats: Claude Code and Codex were measured (2.1.332, 0.171.0); Gemini CLI's and Copilot CLI's MCP
//! entries were compared with what their own `mcp add` writes (0.61.0, 1.0.102); Gemini's hooks are from
//! the documentation in its package, Copilot's from docs.github.com (hooks reference), Cursor's from
//! cursor.com/docs/hooks.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hook::host::Host;

/// What is captured. Nothing set: notices and reconciling only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Modes {
    /// Answer the host's permission prompts.
    pub ask: bool,
    /// Decide before the host's own rules.
    pub gate: bool,
}

/// When an event is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// In every mode.
    Always,
    /// Unless prompts are captured, which then announce themselves.
    Notice,
    /// With `--ask`.
    Ask,
    /// With `--gate`.
    Gate,
}

/// One of a host's events that a hook entry can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The host's name for it, as in its settings.
    pub(super) native: &'static str,
    /// Our name for it, as in `sayso hook HOST EVENT`.
    pub(super) name: &'static str,
    when: When,
    /// The `matcher` of a new group.
    pub(super) matcher: Option<&'static str>,
}

impl Event {
    const fn new(
        when: When,
        native: &'static str,
        name: &'static str,
        matcher: Option<&'static str>,
    ) -> Self {
        Self {
            native,
            name,
            when,
            matcher,
        }
    }

    /// Whether the hook waits for a human.
    pub(super) fn waits(self) -> bool {
        matches!(self.when, When::Ask | When::Gate)
    }

    /// Whether a failure must not let the tool run.
    pub(super) fn gates(self) -> bool {
        self.when == When::Gate
    }

    /// Whether the mode installs it.
    pub(super) fn wanted(self, modes: Modes) -> bool {
        match self.when {
            When::Always => true,
            When::Notice => !modes.ask,
            When::Ask => modes.ask,
            When::Gate => modes.gate,
        }
    }
}

/// How a host writes hook entries in its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entries {
    /// Whether the entries of an event stand in groups that share a matcher.
    pub(super) grouped: bool,
    /// The member that holds the command.
    pub(super) command: &'static str,
    /// The member that holds the limit.
    pub(super) timeout: &'static str,
    /// Units of the limit in a second.
    pub(super) per_second: u64,
    /// Whether an entry says `"type": "command"`.
    pub(super) typed: bool,
    /// The member that makes a failing gate block, and its value.
    pub(super) fail_closed: Option<(&'static str, &'static str)>,
    /// A line that the host shows while it waits.
    pub(super) status: Option<(&'static str, &'static str)>,
    /// Whether the file needs `"version": 1`.
    pub(super) versioned: bool,
    /// The events.
    pub(super) events: &'static [Event],
}

const CLAUDE: Entries = Entries {
    grouped: true,
    command: "command",
    timeout: "timeout",
    per_second: 1,
    typed: true,
    fail_closed: Some(("onFailure", "\"block\"")),
    status: None,
    versioned: false,
    events: &[
        Event::new(When::Notice, "Notification", "notification", None),
        Event::new(
            When::Ask,
            "PermissionRequest",
            "permission-request",
            Some("*"),
        ),
        Event::new(When::Ask, "Elicitation", "elicitation", None),
        Event::new(When::Gate, "PreToolUse", "pre-tool-use", Some("*")),
        Event::new(When::Always, "PostToolUse", "post-tool-use", Some("*")),
        Event::new(
            When::Always,
            "PostToolUseFailure",
            "post-tool-use-failure",
            Some("*"),
        ),
        Event::new(
            When::Always,
            "PermissionDenied",
            "permission-denied",
            Some("*"),
        ),
        Event::new(When::Always, "Stop", "stop", None),
        Event::new(When::Always, "UserPromptSubmit", "user-prompt-submit", None),
        Event::new(When::Always, "SessionEnd", "session-end", None),
    ],
};

const CODEX: Entries = Entries {
    status: Some(("statusMessage", "waiting for your say-so")),
    fail_closed: None,
    events: &[
        Event::new(When::Ask, "PermissionRequest", "permission-request", None),
        Event::new(When::Always, "SessionStart", "session-start", None),
        Event::new(When::Always, "Stop", "stop", None),
    ],
    ..CLAUDE
};

const GEMINI: Entries = Entries {
    per_second: 1000,
    fail_closed: None,
    events: &[
        Event::new(When::Gate, "BeforeTool", "before-tool", Some("*")),
        Event::new(When::Notice, "Notification", "notification", None),
        Event::new(When::Always, "SessionEnd", "session-end", None),
    ],
    ..CLAUDE
};

const COPILOT: Entries = Entries {
    grouped: false,
    command: "bash",
    timeout: "timeoutSec",
    fail_closed: None,
    versioned: true,
    events: &[
        Event::new(When::Gate, "preToolUse", "pre-tool-use", None),
        Event::new(When::Notice, "notification", "notification", None),
        Event::new(When::Always, "agentStop", "agent-stop", None),
        Event::new(When::Always, "sessionEnd", "session-end", None),
    ],
    ..CLAUDE
};

const CURSOR: Entries = Entries {
    grouped: false,
    typed: false,
    fail_closed: Some(("failClosed", "true")),
    versioned: true,
    events: &[
        Event::new(
            When::Gate,
            "beforeShellExecution",
            "before-shell-execution",
            None,
        ),
        Event::new(
            When::Gate,
            "beforeMCPExecution",
            "before-mcp-execution",
            None,
        ),
        Event::new(When::Always, "stop", "stop", None),
        Event::new(When::Always, "sessionEnd", "session-end", None),
    ],
    ..CLAUDE
};

impl Host {
    /// What there is to install.
    pub fn offers(self) -> Modes {
        match self.entries() {
            Some(entries) => Modes {
                ask: entries.events.iter().any(|e| e.when == When::Ask),
                gate: entries.events.iter().any(|e| e.when == When::Gate),
            },
            None => Modes {
                ask: self != Self::Pi,
                gate: self == Self::Pi,
            },
        }
    }

    /// Whether a plain install, without any mode, does something.
    pub fn has_notices(self) -> bool {
        self.entries().is_some() || self == Self::OpenCode
    }

    /// How the host's hook entries look; `None` where something else is shipped.
    pub(super) fn entries(self) -> Option<&'static Entries> {
        match self {
            Self::Claude => Some(&CLAUDE),
            Self::Codex => Some(&CODEX),
            Self::Gemini => Some(&GEMINI),
            Self::Copilot => Some(&COPILOT),
            Self::Cursor => Some(&CURSOR),
            Self::OpenCode | Self::Hermes | Self::OpenClaw | Self::Pi => None,
        }
    }

    /// Refuses modes that the host has no place for, so that no gate is missing silently.
    pub(super) fn check(self, modes: Modes) -> Result<()> {
        let offers = self.offers();
        let refuse = |asked: &str, hint: &str| {
            Err(Error::input(format!(
                "{} has nothing that --{asked} could capture",
                self.title()
            ))
            .hint(hint.to_owned()))
        };
        if modes.ask && !offers.ask {
            return refuse("ask", "use --gate, which decides before every tool call");
        }
        if modes.gate && !offers.gate {
            return refuse("gate", "use --ask, which answers the host's own prompts");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_without_a_place_is_refused() {
        let ask = Modes {
            ask: true,
            gate: false,
        };
        let gate = Modes {
            ask: false,
            gate: true,
        };
        for host in Host::ALL {
            assert_eq!(host.check(ask).is_ok(), host.offers().ask, "{host:?}");
            assert_eq!(host.check(gate).is_ok(), host.offers().gate, "{host:?}");
            assert!(host.offers().ask || host.offers().gate, "{host:?}");
        }
        let error = Host::Gemini.check(ask).unwrap_err();
        assert!(error.hint.unwrap().contains("--gate"));
    }

    #[test]
    fn every_waiting_event_is_bound_to_a_mode_and_every_name_is_unique() {
        for host in Host::ALL {
            let Some(entries) = host.entries() else {
                continue;
            };
            for event in entries.events {
                assert!(!event.waits() || !event.wanted(Modes::default()));
                let same = entries.events.iter().filter(|e| e.name == event.name);
                assert_eq!(same.count(), 1, "{event:?}");
            }
        }
    }
}
