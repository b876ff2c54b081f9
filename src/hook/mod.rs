//! Hosts' hooks: one JSON object in, one line of JSON or nothing out.
//!
//! A permission hook never allows and never denies on its own account: whatever fails prints nothing,
//! and the host asks its own prompt. Silence from a gate would let the tool run, so a gate prints its
//! `ask` instead.

pub mod asking;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod defer;
pub mod gemini;
pub mod host;
pub mod install;
pub mod openclaw;
pub mod opencode;
pub mod payload;
pub mod pi;
pub mod reconcile;

pub use host::Host;

use crate::error::{Code, Error, Result};
use crate::model::interaction::{Effect, Interaction, Tool};
use crate::model::response::{Body, Response};

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
    /// Gemini CLI's BeforeTool.
    GeminiGate,
    /// Copilot CLI's preToolUse.
    CopilotGate,
    /// Cursor's beforeShellExecution.
    CursorShell,
    /// Cursor's beforeMCPExecution.
    CursorMcp,
    /// OpenCode's permission, through the shipped plugin.
    OpenCodePermission,
    /// Pi's tool_call, through the shipped extension.
    PiGate,
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
    /// Nobody calls: what is pending at the host is fetched, what was answered is brought back.
    Poll,
}

impl Event {
    /// From its name on the command line.
    ///
    /// # Errors
    /// `invalid_input`, listing the host's events.
    pub fn parse(host: Host, text: &str) -> Result<Self> {
        let text = if text == "ask-permission" {
            "permission-request"
        } else {
            text
        };
        let events = Self::of(host);
        let found = events.iter().find(|(name, _)| *name == text);
        found.map(|(_, event)| *event).ok_or_else(|| {
            let names: Vec<&str> = events.iter().map(|(name, _)| *name).collect();
            if names.is_empty() {
                return Error::input("this host calls no hook: its plugin asks with 'sayso ask'")
                    .hint(format!("'sayso harness install {}' installs it", host.id()));
            }
            Error::input("this host has no such event")
                .hint(format!("events: {}", names.join(", ")))
        })
    }

    /// A host's events by their names.
    pub fn of(host: Host) -> &'static [(&'static str, Self)] {
        use Event::{Decide, Notice, Reconcile};
        use reconcile::Told;
        const TURN: Event = Reconcile(Told::TurnEnded);
        const SESSION: Event = Reconcile(Told::SessionEnded);
        match host {
            Host::Claude => &[
                ("permission-request", Decide(Surface::ClaudePermission)),
                ("pre-tool-use", Decide(Surface::ClaudeGate)),
                ("elicitation", Decide(Surface::ClaudeElicitation)),
                ("post-tool-use", Reconcile(Told::ToolRan)),
                ("post-tool-use-failure", Reconcile(Told::ToolDecided)),
                ("permission-denied", Reconcile(Told::ToolDecided)),
                ("stop", TURN),
                ("user-prompt-submit", TURN),
                ("session-end", SESSION),
                ("notification", Notice),
            ],
            Host::Codex => &[
                ("permission-request", Decide(Surface::CodexPermission)),
                ("stop", TURN),
                ("session-start", SESSION),
            ],
            Host::Gemini => &[
                ("before-tool", Decide(Surface::GeminiGate)),
                ("session-end", SESSION),
                ("notification", Notice),
            ],
            Host::Copilot => &[
                ("pre-tool-use", Decide(Surface::CopilotGate)),
                ("agent-stop", TURN),
                ("session-end", SESSION),
                ("notification", Notice),
            ],
            Host::Cursor => &[
                ("before-shell-execution", Decide(Surface::CursorShell)),
                ("before-mcp-execution", Decide(Surface::CursorMcp)),
                ("stop", TURN),
                ("session-end", SESSION),
            ],
            Host::OpenCode => &[
                ("permission-ask", Decide(Surface::OpenCodePermission)),
                ("session-idle", TURN),
                ("session-deleted", SESSION),
            ],
            Host::Pi => &[("tool-call", Decide(Surface::PiGate))],
            Host::OpenClaw => &[("poll", Event::Poll)],
            // Its plugin asks with `sayso ask`.
            Host::Hermes => &[],
        }
    }
}

impl Surface {
    /// Whose it is.
    pub fn host(self) -> Host {
        match self {
            Self::ClaudePermission | Self::ClaudeGate | Self::ClaudeElicitation => Host::Claude,
            Self::CodexPermission => Host::Codex,
            Self::GeminiGate => Host::Gemini,
            Self::CopilotGate => Host::Copilot,
            Self::CursorShell | Self::CursorMcp => Host::Cursor,
            Self::OpenCodePermission => Host::OpenCode,
            Self::PiGate => Host::Pi,
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
            _ => {
                let decided = match effect(opened, response)? {
                    Effect::Allow => self.allows(&format!("Allowed by {}", response.answered_by)),
                    Effect::Deny => self.denies(&response.denial()),
                };
                decided.ok_or_else(undecided)
            }
        }
    }

    /// The host's words for an allow as it was asked; none where there is no such thing.
    pub fn allows(self, reason: &str) -> Option<String> {
        Some(match self {
            Self::ClaudePermission => claude::permission_allows(),
            Self::ClaudeGate => claude::gate_decides("allow", reason),
            Self::ClaudeElicitation => return None,
            Self::CodexPermission => codex::permission_allows(),
            Self::GeminiGate => gemini::allows(),
            Self::CopilotGate => copilot::decides("allow", reason),
            Self::CursorShell | Self::CursorMcp => cursor::decides("allow", reason),
            Self::OpenCodePermission => opencode::decides("allow"),
            Self::PiGate => pi::allows(),
        })
    }

    /// The host's words for a deny; none where there is no such thing.
    pub fn denies(self, message: &str) -> Option<String> {
        Some(match self {
            Self::ClaudePermission => claude::permission_denies(message),
            Self::ClaudeGate => claude::gate_decides("deny", message),
            Self::ClaudeElicitation => return None,
            Self::CodexPermission => codex::permission_denies(message),
            Self::GeminiGate => gemini::denies(message),
            Self::CopilotGate => copilot::decides("deny", message),
            Self::CursorShell | Self::CursorMcp => cursor::decides("deny", message),
            Self::OpenCodePermission => opencode::decides("deny"),
            Self::PiGate => pi::denies(message),
        })
    }

    /// What is printed where nothing could be decided: nothing, unless silence would let the tool run.
    /// The shipped plugins of OpenCode and Pi take silence for "ask your own user".
    pub fn undecided(self) -> Option<String> {
        match self {
            Self::ClaudePermission
            | Self::ClaudeElicitation
            | Self::CodexPermission
            | Self::OpenCodePermission
            | Self::PiGate => None,
            Self::ClaudeGate => Some(claude::gate_asks()),
            // Gemini has no "ask" here: its strictest verdict that is not an allow.
            Self::GeminiGate => Some(gemini::denies("sayso has no answer")),
            Self::CopilotGate => Some(copilot::decides("ask", "sayso has no answer")),
            Self::CursorShell | Self::CursorMcp => {
                Some(cursor::decides("ask", "sayso has no answer"))
            }
        }
    }

    /// The tool call that a payload is about.
    ///
    /// # Errors
    /// Where there is none in it.
    pub fn tool(self, payload: &payload::Payload) -> Result<Tool> {
        match self {
            Self::ClaudeElicitation => payload.elicitation(),
            Self::CopilotGate => copilot::tool(payload),
            Self::CursorShell => cursor::shell(payload),
            Self::CursorMcp => cursor::mcp(payload),
            Self::OpenCodePermission => opencode::tool(payload),
            _ => payload.tool(),
        }
    }
}

/// What an answer means where only allow and deny can be said.
fn effect(opened: &Interaction, response: &Response) -> Result<Effect> {
    if response.updated_input.is_some() || response.updated_permissions.is_some() {
        return Err(Error::new(
            Code::Internal,
            "this host cannot take an edited input or permissions",
        ));
    }
    match &response.body {
        Body::Choice(id) => opened.question.effect(id).ok_or_else(undecided),
        Body::Text(_) | Body::Form(_) | Body::Declined => Err(undecided()),
    }
}

fn undecided() -> Error {
    Error::new(Code::Internal, "the answer neither allows nor denies")
}
