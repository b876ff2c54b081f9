//! `sayso harness`: installs sayso into a host's settings, takes it out, says what is there.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::{AudienceArg, HarnessArgs, HarnessVerb, InstallArgs, PlaceArgs, older};
use crate::config::{self, Config, Relay};
use crate::error::{self, Error};
use crate::hook::Host;
use crate::hook::install::status::{self, Status};
use crate::hook::install::trust::{self, Trust};
use crate::hook::install::{
    Audience, Change, Modes, Plan, Request, Surroundings, Verb, disk, instructions, plan, targets,
};
use crate::render::json as envelope;
use crate::render::span;
use crate::repo;
use crate::store::query::Entry;
use crate::text;
use crate::time::Time;

/// The program that keeps crontabs.
const CRONTAB: &str = "crontab";

/// Installs, uninstalls, or says what is installed.
pub fn run(context: &Context, args: &HarnessArgs) -> Result<Exit> {
    match &args.verb {
        HarnessVerb::Install(args) => install(context, args),
        HarnessVerb::Uninstall(args) => {
            let request = status::request(
                Host::parse(&args.place.host)?,
                audience(&args.place),
                args.place.path.clone(),
            );
            let request = Request {
                program: program()?,
                ..request
            };
            carry_out(context, Verb::Uninstall, &request, args.dry_run)
        }
        HarnessVerb::Status(args) => show_status(context, args),
    }
}

fn install(context: &Context, args: &InstallArgs) -> Result<Exit> {
    if args.instructions.as_deref() == Some(Path::new("-")) {
        let mut out = context.out();
        out.line(instructions::TEXT.trim_end())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let request = Request {
        host: Host::parse(&args.place.host)?,
        audience: audience(&args.place),
        at: args.place.path.clone(),
        modes: Modes {
            ask: args.ask,
            gate: args.gate,
        },
        server: args.mcp,
        instructions: args.instructions.clone(),
        agent: args.agent.clone(),
        program: program()?,
        force: args.force,
    };
    let exit = carry_out(context, Verb::Install, &request, args.dry_run)?;
    if args.ask || args.gate {
        say_where_questions_appear(context);
    }
    Ok(exit)
}

/// Who is told of a question by nobody has to look for it.
fn say_where_questions_appear(context: &Context) {
    let told = |config: &Config| {
        let routed = |relay: &Relay| relay.enabled && relay.route.iter().any(|r| r.enabled);
        !config.notify.is_empty() || config.relay.iter().any(routed)
    };
    if context.config().as_ref().is_ok_and(told) {
        return;
    }
    context.note("questions will appear in 'sayso inbox', 'sayso list' and 'sayso watch'");
    if let Ok((path, _)) = config::path(&config::Env::of_process()) {
        context.note(&format!(
            "to be told of them on the desktop, put these two lines into {}:",
            path.display()
        ));
        context.note("  [[notify]]");
        context.note("  desktop = true");
    }
}

fn audience(place: &PlaceArgs) -> Audience {
    match place.audience {
        AudienceArg::User => Audience::User,
        AudienceArg::Project => Audience::Project,
    }
}

/// This binary as `PATH` finds it, links unresolved, so that an upgrade does not change it. A link that
/// has an older tool's name is resolved: entries are known again by this program's name.
fn program() -> error::Result<PathBuf> {
    let invoked = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    if older::is_older_name(invoked.as_os_str()) {
        return std::env::current_exe().map_err(|e| Error::io("find", &invoked, &e));
    }
    if invoked.components().count() > 1 {
        return std::path::absolute(&invoked).map_err(|e| Error::io("find", &invoked, &e));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(&invoked))
        .find(|candidate| candidate.is_file());
    found.map_or_else(
        || std::env::current_exe().map_err(|e| Error::io("find", &invoked, &e)),
        Ok,
    )
}

pub(super) fn surroundings() -> error::Result<Surroundings> {
    let home = crate::config::home(std::env::var_os("HOME").as_deref()).ok();
    let git_dir = std::env::var_os("GIT_DIR");
    let here = repo::current_dir()?;
    let project = repo::discover(&here, git_dir.as_deref())?
        .and_then(|found| found.worktree)
        .or(Some(here));
    Surroundings::new(home, project, |name| std::env::var_os(name))
}

fn carry_out(context: &Context, verb: Verb, request: &Request, dry_run: bool) -> Result<Exit> {
    let around = surroundings()?;
    let found = disk::read(&targets(request, &around)?, Path::new(CRONTAB))?;
    let plan = plan(verb, request, &around, &found)?;
    if !dry_run {
        disk::apply(&plan, Path::new(CRONTAB))?;
    }
    let mut out = context.out();
    if context.global.json {
        let data = serde_json::json!({
            "host": request.host.id(),
            "changed": plan.changed(),
            "dry_run": dry_run,
            "files": plan.changes.iter().map(|c| c.target.name()).collect::<Vec<_>>(),
            "notes": plan.notes,
            "steps": plan.steps,
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        out.lines(&told(&plan, dry_run))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn told(plan: &Plan, dry_run: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if !plan.changed() {
        lines.push("nothing to change".to_owned());
    } else if dry_run {
        lines.extend(plan.diff().lines().map(text::line));
    } else {
        lines.extend(plan.changes.iter().flat_map(change_lines));
    }
    lines.extend(
        plan.notes
            .iter()
            .map(|note| text::line(&format!("note: {note}"))),
    );
    lines.extend(
        plan.steps
            .iter()
            .map(|step| text::line(&format!("next: {step}"))),
    );
    lines
}

fn change_lines(change: &Change) -> Vec<String> {
    let name = change.target.name();
    change
        .did
        .iter()
        .map(|did| text::line(&format!("{name}: {did}")))
        .collect()
}

fn show_status(context: &Context, args: &PlaceArgs) -> Result<Exit> {
    let host = Host::parse(&args.host)?;
    let around = surroundings()?;
    let audience = audience(args);
    let request = status::request(host, audience, args.path.clone());
    let found = disk::read(&targets(&request, &around)?, Path::new(CRONTAB))?;
    let status = status::status(host, audience, args.path.as_deref(), &around, &found, &runs)?;
    let mut out = context.out();
    if context.global.json {
        let mut data = serde_json::to_value(&status)?;
        if let Some(trust) = trust_of(host, &status) {
            data["trust"] = serde_json::to_value(trust)?;
        }
        if let Some(asked) = last_asked(context, host) {
            data["last_asked"] = asked.to_string().into();
        }
        if let Some(object) = data.as_object_mut() {
            object.insert("host".into(), host.id().into());
            object.insert("installed".into(), status.installed().into());
        }
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        for line in status_lines(&status) {
            out.line(&text::line(&line))?;
        }
        if let Some(asked) = last_asked(context, host) {
            out.line(&format!("last asked {} ago", span::age(Time::now(), asked)))?;
        }
        for hook in trust_of(host, &status).unwrap_or_default() {
            out.line(&text::line(&format!("{} is {}", hook.event, hook.trust)))?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// When a hook of the host last asked something, as far as the records go back.
fn last_asked(context: &Context, host: Host) -> Option<Time> {
    let stores = context.every_scope().ok()?.stores;
    let records = stores.iter().filter_map(|store| store.all().ok()).flatten();
    let asked = records
        .filter_map(Entry::current)
        .filter(|record| record.question.host.as_deref() == Some(host.id()));
    asked.map(|record| record.created_at).max()
}

/// What Codex says of our hooks, where Codex is on `PATH` and has some.
fn trust_of(host: Host, status: &Status) -> Option<Vec<Trust>> {
    if host != Host::Codex || status.hooks.is_empty() || !runs("codex") {
        return None;
    }
    trust::of_codex(&repo::current_dir().ok()?).ok()
}

/// Whether a program can be run, given as an entry names it.
pub(super) fn runs(program: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let can = |path: &Path| {
        path.metadata()
            .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return can(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| can(&dir.join(program)))
}

fn status_lines(status: &Status) -> Vec<String> {
    if !status.installed() {
        return vec!["not installed".to_owned()];
    }
    let missing = |exists: bool| if exists { "" } else { " (missing)" };
    let mut lines = Vec::new();
    for hook in &status.hooks {
        let host_limit = hook
            .host_limit
            .map_or("default".into(), |s| format!("{s} s"));
        let own = hook
            .own_limit
            .map_or(String::new(), |s| format!(", ours {s} s"));
        lines.push(format!(
            "{} {}: {}{} (host's limit {host_limit}{own})",
            hook.file,
            hook.native,
            hook.program,
            missing(hook.exists)
        ));
    }
    if let Some(server) = &status.server {
        lines.push(format!(
            "{} MCP server: {}{}",
            server.file,
            server.program,
            missing(server.exists)
        ));
    }
    for plugin in &status.plugins {
        let edited = if plugin.edited { " (edited)" } else { "" };
        lines.push(format!("{}{edited}{}", plugin.file, missing(plugin.exists)));
    }
    lines.extend(status.faults.iter().map(|fault| format!("! {fault}")));
    lines
}
