//! What is installed, read from the files as they are. Pure.

use serde::Serialize;

use super::events::Modes;
use super::place::{Audience, Surroundings};
use super::plan::{Found, Target};
use super::stamp::{self, Author};
use super::{Request, codex, cron, entries, obstacles, servers, shim};
use crate::error::Result;
use crate::hook::host::Host;

/// What is installed in a host for one audience.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// The hook entries, in the order of the file.
    pub hooks: Vec<Hook>,
    /// The MCP server.
    pub server: Option<Server>,
    /// The shipped plugin files that exist.
    pub plugins: Vec<Plugin>,
    /// What is captured.
    pub captures: Modes,
    /// Files that are not understood, and settings that silence a hook.
    pub faults: Vec<String>,
}

/// A hook entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hook {
    /// The file, or `crontab`.
    pub file: String,
    /// The host's name for the event.
    pub native: String,
    /// Our name for it.
    pub event: String,
    /// The program that it runs, as written.
    pub program: String,
    /// Whether that program is there.
    pub exists: bool,
    /// How long the host waits, in seconds.
    pub host_limit: Option<f64>,
    /// How long the hook waits, in seconds.
    pub own_limit: Option<u64>,
    /// The agent that it names.
    pub agent: Option<String>,
}

/// The MCP server entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Server {
    /// The file.
    pub file: String,
    /// The program that it starts, as written.
    pub program: String,
    /// Whether that program is there.
    pub exists: bool,
    /// The pinned agent.
    pub agent: Option<String>,
}

/// A shipped plugin file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plugin {
    /// The file.
    pub file: String,
    /// The program that it runs; the manifest beside a plugin runs none.
    pub program: Option<String>,
    /// Whether that program is there.
    pub exists: bool,
    /// Whether somebody edited it.
    pub edited: bool,
}

impl Status {
    /// Whether anything is.
    pub fn installed(&self) -> bool {
        !self.hooks.is_empty() || self.server.is_some() || !self.plugins.is_empty()
    }
}

/// Reads the status. `found` holds what [`targets`](super::targets) named for this host; `exists` says
/// whether a program can be run, given as it is written in an entry.
///
/// # Errors
/// Those of finding the host's directories.
pub fn status(
    host: Host,
    audience: Audience,
    at: Option<&std::path::Path>,
    around: &Surroundings,
    found: &Found,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Status> {
    let files = around.files(host, audience, at)?;
    let mut status = Status::default();
    if let Some(path) = &files.hooks {
        status.read_hooks(host, &Target::File(path.clone()), found, exists);
    }
    for path in &files.servers {
        status.read_server(host, &Target::File(path.clone()), found, exists);
    }
    for path in files.plugins.iter().flat_map(|dir| shim::paths(host, dir)) {
        status.read_plugin(host, &Target::File(path), found, exists);
    }
    if host == Host::OpenClaw {
        status.read_crontab(found, exists);
    }
    Ok(status)
}

/// The request whose [`targets`](super::targets) a status needs.
pub fn request(host: Host, audience: Audience, at: Option<std::path::PathBuf>) -> Request {
    Request {
        host,
        audience,
        at,
        modes: Modes::default(),
        server: false,
        instructions: None,
        agent: None,
        program: std::path::PathBuf::new(),
        force: false,
    }
}

impl Status {
    fn read_hooks(
        &mut self,
        host: Host,
        target: &Target,
        found: &Found,
        exists: &dyn Fn(&str) -> bool,
    ) {
        let (Some(text), Some(format)) = (self.text(target, found), host.entries()) else {
            return;
        };
        let entries = match entries::scan(&text, host) {
            Ok(found) => found.entries,
            Err(fault) => return self.fault(target, &text, &fault),
        };
        for entry in entries {
            #[expect(clippy::cast_precision_loss, reason = "1 or 1000")]
            let per_second = format.per_second as f64;
            self.hooks.push(Hook {
                file: target.name(),
                exists: exists(&entry.own.program),
                native: entry.native,
                event: entry.own.event,
                program: entry.own.program,
                host_limit: entry.limit.map(|l| l / per_second),
                own_limit: entry.own.wait,
                agent: entry.own.agent,
            });
        }
        let has = |gates: bool| {
            let waiting = format
                .events
                .iter()
                .filter(|e| e.waits() && e.gates() == gates);
            let mut names = waiting.map(|e| e.name);
            names.any(|name| self.hooks.iter().any(|h| h.event == name))
        };
        self.captures = Modes {
            ask: has(false),
            gate: has(true),
        };
        if !self.hooks.is_empty() {
            self.faults
                .extend(obstacles::find(host, &text, self.captures));
        }
    }

    fn read_server(
        &mut self,
        host: Host,
        target: &Target,
        found: &Found,
        exists: &dyn Fn(&str) -> bool,
    ) {
        let Some(text) = self.text(target, found) else {
            return;
        };
        let server = match host {
            Host::Codex => codex::find(&text),
            _ => servers::find(&text, host),
        };
        match server {
            Ok(Some(server)) => {
                self.server = Some(Server {
                    file: target.name(),
                    exists: exists(&server.program),
                    program: server.program,
                    agent: server.agent,
                });
            }
            Ok(None) => {}
            Err(fault) => self.fault(target, &text, &fault),
        }
    }

    fn read_plugin(
        &mut self,
        host: Host,
        target: &Target,
        found: &Found,
        exists: &dyn Fn(&str) -> bool,
    ) {
        let Some(text) = self.text(target, found) else {
            return;
        };
        let author = stamp::author(&text);
        if author == Author::Other {
            return;
        }
        let program = shim::program(&text);
        if program.is_some() && shim::captures(&text) {
            self.captures = host.offers();
        }
        self.plugins.push(Plugin {
            file: target.name(),
            exists: program.as_deref().is_some_and(exists),
            program,
            edited: author == Author::Edited,
        });
    }

    fn read_crontab(&mut self, found: &Found, exists: &dyn Fn(&str) -> bool) {
        let Some(own) = self
            .text(&Target::Crontab, found)
            .and_then(|t| cron::find(&t))
        else {
            return;
        };
        self.captures = Host::OpenClaw.offers();
        self.hooks.push(Hook {
            file: Target::Crontab.name(),
            native: "cron".to_owned(),
            exists: exists(&own.program),
            event: own.event,
            program: own.program,
            host_limit: None,
            own_limit: own.wait,
            agent: own.agent,
        });
    }

    fn text(&mut self, target: &Target, found: &Found) -> Option<String> {
        let bytes = found.get(target)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
            Err(_) => {
                self.faults.push(format!("{}: not UTF-8", target.name()));
                None
            }
        }
    }

    fn fault(&mut self, target: &Target, text: &str, fault: &super::json::Fault) {
        let (line, column) = fault.position(text);
        let said = format!("{}:{line}:{column}: {}", target.name(), fault.what);
        if !self.faults.contains(&said) {
            self.faults.push(said);
        }
    }
}
