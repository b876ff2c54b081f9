//! The plugin files that are shipped for hosts without hook entries.
//!
//! A file is written as a whole and carries a digest of itself. One that somebody edited, or that is not
//! ours, is only touched with force. Whatever fails in a plugin leaves the host's own prompt, or blocks
//! where the host has none.
//!
//! What each talks to, and how far that was exercised:
//!
//! * OpenCode: `sayso hook opencode permission-ask` reads `{hook_event_name, session_id, cwd, request}` and
//!   prints `{"status":"allow"|"deny"}` or nothing; `session-idle` and `session-deleted` reconcile. Run
//!   against OpenCode 1.18.33, which declares the hook `permission.ask` and never calls it, so the plugin
//!   answers the `permission.asked` event; a local answer withdraws the question.
//! * Pi: `sayso hook pi tool-call` reads `{hook_event_name, session_id, cwd, tool_name, tool_call_id,
//!   tool_input}` and prints `{"block":false}` or `{"block":true,"reason":…}`. Run against Pi 0.73.1.
//! * Hermes: `sayso ask`. The approval transport is from Hermes' documentation; 0.19.0, the newest on PyPI,
//!   loads the plugin and has no transports yet, which the plugin says in its log.
//! * OpenClaw: `sayso hook openclaw poll`, from its documentation (see [`cron`](super::cron)).

use std::path::{Path, PathBuf};

use serde_json::json;

use super::events::Modes;
use super::hooks::OWN_LIMIT;
use super::stamp::{self, Author};
use crate::hook::host::Host;

/// A file to ship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shim {
    /// Where.
    pub(super) path: PathBuf,
    /// What.
    pub(super) text: String,
}

/// What is shipped under one name, before it is filled in.
struct Template {
    name: &'static str,
    comment: &'static str,
    text: &'static str,
}

fn templates(host: Host) -> &'static [Template] {
    match host {
        Host::OpenCode => &[Template {
            name: "sayso.js",
            comment: "//",
            text: include_str!("shims/opencode.js"),
        }],
        Host::Pi => &[Template {
            name: "sayso.ts",
            comment: "//",
            text: include_str!("shims/pi.ts"),
        }],
        Host::Hermes => &[
            Template {
                name: "plugin.yaml",
                comment: "#",
                text: include_str!("shims/hermes.yaml"),
            },
            Template {
                name: "__init__.py",
                comment: "#",
                text: include_str!("shims/hermes.py"),
            },
        ],
        Host::Claude
        | Host::Codex
        | Host::Gemini
        | Host::Copilot
        | Host::Cursor
        | Host::OpenClaw => &[],
    }
}

/// The paths of a host's plugin files under their directory.
pub(super) fn paths(host: Host, dir: &Path) -> Vec<PathBuf> {
    templates(host).iter().map(|t| dir.join(t.name)).collect()
}

/// The plugin files of a host, filled in.
pub(super) fn files(
    host: Host,
    dir: &Path,
    program: &str,
    modes: Modes,
    agent: Option<&str>,
) -> Vec<Shim> {
    let fill = |text: &str| {
        let mut extra: Vec<&str> = agent.map_or(Vec::new(), |a| vec!["--agent", a]);
        if host == Host::Hermes && agent.is_none() {
            extra = vec!["--agent", host.id()];
        }
        text.replace("\"@PROGRAM@\"", &json!(program).to_string())
            .replace("\"@EXTRA@\"", &json!(extra).to_string())
            .replace("\"@ASK@\"", &json!(modes.ask).to_string())
            .replace("\"@WAIT@\"", &json!(OWN_LIMIT).to_string())
    };
    let shim = |t: &Template| Shim {
        path: dir.join(t.name),
        text: stamp::stamped(t.comment, "", &fill(t.text)),
    };
    templates(host).iter().map(shim).collect()
}

/// The program that a plugin file runs.
pub(super) fn program(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("SAYSO = ")?;
    serde_json::Deserializer::from_str(rest)
        .into_iter()
        .next()?
        .ok()
}

/// Whether a plugin file captures prompts or calls, rather than only reconciling.
pub(super) fn captures(text: &str) -> bool {
    !text.contains("const CAPTURE = false")
}

/// Whether a file may be replaced or removed without force.
pub(super) fn is_ours(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|t| stamp::author(t) == Author::Ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_and_every_file_is_ours() {
        let program = "/opt/\"my\" \\tools/sayso";
        for host in [Host::OpenCode, Host::Pi, Host::Hermes] {
            for agent in [None, Some("swe")] {
                let files = files(host, Path::new("/p"), program, host.offers(), agent);
                assert!(!files.is_empty());
                for file in &files {
                    assert!(!file.text.contains('@'), "{}", file.text);
                    assert!(is_ours(file.text.as_bytes()));
                    assert!(!is_ours(file.text.replace("sayso", "say").as_bytes()));
                }
                let all: String = files.iter().map(|f| f.text.as_str()).collect();
                assert!(all.contains(r#""/opt/\"my\" \\tools/sayso""#), "{all}");
                assert_eq!(super::program(&all).as_deref(), Some(program));
                assert_eq!(all.contains("\"--agent\",\"swe\""), agent.is_some());
            }
        }
    }

    #[test]
    fn a_shim_without_the_mode_captures_nothing() {
        let off = files(
            Host::OpenCode,
            Path::new("/p"),
            "/s/sayso",
            Modes::default(),
            None,
        );
        assert!(!captures(&off[0].text));
    }
}
