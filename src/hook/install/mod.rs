//! Installs sayso into the hosts' settings, and takes it out again.
//!
//! What it promises:
//!
//! * Everything is planned, and every refusal made, before the first byte is written. A plan is a value:
//!   [`plan()`] turns what was read into what would be written, and [`disk`] does the reading and writing.
//! * A settings file keeps every byte that is not ours: formatting, comments, numbers, unknown members,
//!   order, and other tools' hooks, also inside a group that they share with ours.
//! * A second run changes nothing. An uninstall restores the file byte for byte if nothing else changed
//!   since; what was created is removed.
//! * A file that is not understood is refused, with its line and column.
//! * A host always waits longer for a hook than the hook for a human, and no failure of a shipped plugin
//!   allows anything.
//!
//! Which contracts were exercised: the entries of Claude Code (2.1.332) and Codex (0.171.0) against the
//! programs; the MCP entries of Gemini CLI (0.61.0) and Copilot CLI (1.0.102) against what their own
//! `mcp add` writes; the plugin files as `shim.rs` says. The rest is from the hosts' documentation.

mod block;
mod codex;
mod command;
mod cron;
pub mod disk;
mod entries;
mod events;
mod hooks;
pub mod instructions;
mod json;
mod layout;
mod obstacles;
mod place;
mod plan;
mod servers;
mod shim;
mod stamp;
pub mod status;
pub mod trust;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use events::Modes;
pub use hooks::{HOST_LIMIT, NOTE_LIMIT, OWN_LIMIT};

pub use place::{Audience, Surroundings};
pub use plan::{Change, Found, Plan, Target};
pub use servers::TOOL_LIMIT;

use crate::error::{Error, Result};
use crate::hook::host::Host;
use hooks::Job;
use plan::{Broken, Draft};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Make the files hold exactly what the request asks for.
    Install,
    /// Take everything of ours out of the host's files.
    Uninstall,
}

/// An installation as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Into which host.
    pub host: Host,
    /// For whom.
    pub audience: Audience,
    /// Stands in for the host's own directory, or for the project's root.
    pub at: Option<PathBuf>,
    /// What to capture. Replaces what an earlier installation captured.
    pub modes: Modes,
    /// Whether to register the MCP server. An earlier registration stays either way.
    pub server: bool,
    /// The file to write the instructions into.
    pub instructions: Option<PathBuf>,
    /// The agent whose policy counts (at most 100 characters); the host's id if absent.
    pub agent: Option<String>,
    /// This binary as found on `PATH`: absolute, symbolic links unresolved.
    pub program: PathBuf,
    /// Replace what is broken or was edited; a `.bak` is kept.
    pub force: bool,
}

/// What has to be read before [`plan()`] can decide.
///
/// # Errors
/// `invalid_input` or `unavailable` if the request's directories are not known.
pub fn targets(request: &Request, around: &Surroundings) -> Result<Vec<Target>> {
    let files = around.files(request.host, request.audience, request.at.as_deref())?;
    let plugins = files
        .plugins
        .iter()
        .flat_map(|dir| shim::paths(request.host, dir));
    let mut targets: Vec<Target> = files
        .hooks
        .iter()
        .cloned()
        .chain(files.servers.iter().cloned())
        .chain(plugins)
        .chain(request.instructions.clone())
        .map(Target::File)
        .collect();
    if request.host == Host::OpenClaw {
        targets.push(Target::Crontab);
    }
    targets.dedup();
    Ok(targets)
}

/// Decides what is to be written. `found` holds what [`targets`] named, as far as it exists.
///
/// # Errors
/// `invalid_input` for a mode that the host has no place for; `config_error`, naming file, line and column,
/// for a file that is not understood; `config_error` for a shipped file that was edited.
pub fn plan(verb: Verb, request: &Request, around: &Surroundings, found: &Found) -> Result<Plan> {
    let files = around.files(request.host, request.audience, request.at.as_deref())?;
    let mut draft = Draft::new(found, request.force);
    let mut plan = match verb {
        Verb::Install => install(request, &files, &mut draft)?,
        Verb::Uninstall => uninstall(request, &files, &mut draft)?,
    };
    plan.changes = draft.finish();
    plan.shared = request.audience == Audience::Project;
    if plan.changed() && verb == Verb::Install {
        plan.steps.extend(steps(request, &plan.changes));
    }
    Ok(plan)
}

fn install(request: &Request, files: &place::Files, draft: &mut Draft<'_>) -> Result<Plan> {
    let (host, modes) = (request.host, request.modes);
    let program = command::program_text(&request.program)?;
    let agent = request.agent.as_deref();
    check(request, files)?;
    let mut plan = Plan::default();
    if let Some(path) = &files.hooks {
        let job = Job {
            host,
            modes,
            program,
            agent,
        };
        let target = Target::File(path.clone());
        let outcome = draft.edit(&target, Broken::Replace, |text, _| {
            hooks::install(text, job)
        })?;
        plan.notes.extend(hook_notes(host, modes, &outcome));
    }
    let captures = modes != Modes::default() || host.has_notices();
    if let Some(dir) = files.plugins.as_deref().filter(|_| captures) {
        for file in shim::files(host, dir, program, modes, agent) {
            draft.ship(file)?;
        }
    }
    if host == Host::OpenClaw && modes.ask {
        draft.edit(&Target::Crontab, Broken::Refuse, |text, _| {
            Ok(cron::install(text, program, agent))
        })?;
    }
    if request.server {
        let target = server_target(files, draft)?;
        let broken = if host == Host::Codex {
            Broken::Refuse
        } else {
            Broken::Replace
        };
        draft.edit(&target, broken, |text, foreign| match host {
            Host::Codex => codex::install(text, program, agent, foreign),
            _ => servers::install(text, host, program, agent, foreign),
        })?;
    }
    if let Some(path) = &request.instructions {
        let target = Target::File(path.clone());
        draft.edit(&target, Broken::Refuse, instructions::install)?;
    }
    if request.audience == Audience::Project {
        plan.notes.push(format!(
            "the project's files now name {program}; everybody who works there needs it at that path"
        ));
    }
    Ok(plan)
}

fn uninstall(request: &Request, files: &place::Files, draft: &mut Draft<'_>) -> Result<Plan> {
    let host = request.host;
    if let Some(path) = &files.hooks {
        let target = Target::File(path.clone());
        draft.edit(&target, Broken::Refuse, |text, _| {
            hooks::uninstall(text, host)
        })?;
    }
    for path in &files.servers {
        draft.edit(
            &Target::File(path.clone()),
            Broken::Refuse,
            |text, foreign| match host {
                Host::Codex => codex::uninstall(text, foreign),
                _ => servers::uninstall(text, host),
            },
        )?;
    }
    for path in files.plugins.iter().flat_map(|dir| shim::paths(host, dir)) {
        draft.withdraw(&path)?;
    }
    if host == Host::OpenClaw {
        draft.edit(&Target::Crontab, Broken::Refuse, |text, _| {
            Ok(cron::uninstall(text))
        })?;
    }
    if let Some(path) = &request.instructions {
        let target = Target::File(path.clone());
        draft.edit(&target, Broken::Refuse, instructions::uninstall)?;
    }
    Ok(Plan {
        prune: files.plugins.clone().filter(|_| host == Host::Hermes),
        ..Plan::default()
    })
}

/// Refuses what cannot be done as asked.
fn check(request: &Request, files: &place::Files) -> Result<()> {
    let (host, modes) = (request.host, request.modes);
    host.check(modes)?;
    if let Some(agent) = &request.agent {
        let bad = agent.is_empty()
            || agent.chars().count() > 100
            || agent.starts_with('-')
            || agent.chars().any(char::is_control);
        if bad {
            return Err(Error::input(
                "--agent must be 1 to 100 characters, not start with - and hold no control characters",
            ));
        }
    }
    if request.server && files.servers.is_empty() {
        let command = servers::args(host, request.agent.as_deref()).join(" ");
        return Err(Error::input(format!(
            "{} has no file that --mcp could edit",
            host.title()
        ))
        .hint(format!("register the server by hand: sayso {command}")));
    }
    let something = request.server || request.instructions.is_some() || modes != Modes::default();
    if something || host.has_notices() {
        return Ok(());
    }
    let mode = if host.offers().ask { "--ask" } else { "--gate" };
    Err(
        Error::input(format!("{} has no notices to install", host.title()))
            .hint(format!("say what to capture with {mode}")),
    )
}

/// The file that holds the server, or is to hold it.
fn server_target(files: &place::Files, draft: &Draft<'_>) -> Result<Target> {
    let all: Vec<Target> = files.servers.iter().cloned().map(Target::File).collect();
    let existing = all.iter().find(|t| draft.exists(t)).or(all.first());
    existing
        .cloned()
        .ok_or_else(|| Error::input("this host has no file that --mcp could edit"))
}

fn hook_notes(host: Host, modes: Modes, outcome: &hooks::Outcome) -> Vec<String> {
    let mut notes = Vec::new();
    let events = host.entries().map_or(&[][..], |e| e.events);
    for event in events.iter().filter(|e| e.waits() && !e.wanted(modes)) {
        if outcome.did.contains(&format!("remove {}", event.native)) {
            notes.push(format!("{} is no longer captured", event.native));
        }
    }
    for command in &outcome.mentions {
        notes.push(format!(
            "left alone, although it calls sayso too: {command}"
        ));
    }
    if let Some(text) = &outcome.text {
        notes.extend(obstacles::find(host, text, modes));
    }
    notes
}

/// What the user has to do to finish.
fn steps(request: &Request, changes: &[Change]) -> Vec<String> {
    let touched = |name: &str| {
        changes.iter().any(|c| match &c.target {
            Target::File(path) => path.ends_with(name),
            Target::Crontab => name == "crontab",
        })
    };
    let mut steps = Vec::new();
    match request.host {
        Host::Codex if touched("hooks.json") => steps.push(
            "review the hooks in Codex with /hooks: it skips them until you trust them".to_owned(),
        ),
        Host::Claude if request.server => steps.push(
            "claude -p --permission-prompt-tool mcp__sayso__request_approval \"YOUR PROMPT\""
                .to_owned(),
        ),
        Host::Hermes if touched("__init__.py") => steps.extend([
            "hermes plugins enable sayso".to_owned(),
            "hermes config set security.approval.transport sayso".to_owned(),
            "hermes config set security.approval.transport_fallback builtin".to_owned(),
        ]),
        Host::OpenClaw if touched("crontab") => {
            steps.push("make sure that cron's PATH finds openclaw".to_owned());
        }
        Host::OpenCode if touched("sayso.js") => steps.push("restart OpenCode".to_owned()),
        Host::Pi if touched("sayso.ts") => steps.push("/reload in Pi, or restart it".to_owned()),
        _ => {}
    }
    steps
}
