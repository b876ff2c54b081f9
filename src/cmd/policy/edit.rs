//! `sayso policy init|add|remove`: the operator writes the policy.
//!
//! Promise: nothing is written that was not shown, that does not read back as exactly the change that was
//! meant, or from an agent's session. What cannot be understood is left as it is.

use std::io::{IsTerminal, Write as _};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::cli::{ListArg, PolicyEditArgs, PolicyInitArgs};
use crate::cmd::context::Context;
use crate::cmd::exit::Exit;
use crate::cmd::operator::agent_session;
use crate::config::edit::{self, Rule};
use crate::config::{self, Config, Source};
use crate::diff;
use crate::error::{Code, Error, Result as Checked};
use crate::fsio;
use crate::policy::{self, Effective};
use crate::render::json as envelope;
use crate::terminal::discard_typed_ahead;
use crate::text;

const STARTER: &str = include_str!("starter.toml");

/// What becomes of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is put at the end of its list.
    Add,
    /// It is taken out.
    Remove,
}

/// A policy is its operator's: an agent must not widen its own.
fn refuse_agents(context: &Context) -> Checked<()> {
    match agent_session(context) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            Code::SelfAnswer,
            format!("an agent's session may not change the policy ({name} is set)"),
        )
        .hint("change it from a terminal of your own; --dry-run only shows the change")),
    }
}

/// Writes the starter file.
pub(super) fn init(context: &Context, args: &PolicyInitArgs) -> Result<Exit> {
    if !args.dry_run {
        refuse_agents(context)?;
    }
    let agent = checked_name(args.agent.as_deref().unwrap_or("*"))?;
    let (path, _) = config::path(&config::Env::of_process())?;
    let text = starter(agent);
    if !args.dry_run && path.symlink_metadata().is_ok() {
        return Err(Error::input(format!("{} is there already", path.display()))
            .hint("'sayso policy add' changes it; 'sayso policy init --dry-run' prints what would stand there")
            .into());
    }
    let mut out = context.out();
    if !args.dry_run {
        fsio::write_file(&path, None, text.as_bytes())
            .map_err(|e| Error::io("write", &path, &e))?;
    }
    if context.global.json {
        let data = json!({ "file": path.display().to_string(), "agent": agent, "dry_run": args.dry_run, "changed": true, "text": text });
        out.line(&envelope::success(&data.to_string()))?;
    } else if args.dry_run {
        for line in text.lines() {
            out.line(&text::line(line))?;
        }
        context.note(&format!("would be written to {}", path.display()));
    } else {
        let said = format!("wrote the policy of {}: {}", whose(agent), path.display());
        out.line(&text::line(&said))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn starter(agent: &str) -> String {
    STARTER.replace(
        "[agents.AGENT.",
        &format!("[agents.{}.", edit::quoted(agent)),
    )
}

fn whose(agent: &str) -> String {
    match agent {
        "*" => "every agent without one of its own".to_owned(),
        agent => agent.to_owned(),
    }
}

fn checked_name(agent: &str) -> Checked<&str> {
    if agent.is_empty() || agent.chars().any(char::is_control) {
        return Err(Error::input(
            "an agent's name is not empty and holds no control characters",
        ));
    }
    Ok(agent)
}

/// The table that a rule goes into or comes from.
struct Target {
    /// Its name.
    agent: String,
    /// Another table that decides for the agent so far, which has none.
    like: Option<String>,
}

/// Adds or removes a rule.
pub(super) fn edit(context: &Context, args: &PolicyEditArgs, change: Change) -> Result<Exit> {
    if !args.dry_run {
        refuse_agents(context)?;
    }
    let (path, text) = config::current(&config::Env::of_process())?;
    let old = Config::parse(Source {
        path: path.clone(),
        text: text.clone().unwrap_or_default(),
    })?;
    let given = args.agent.clone().or_else(|| context.var("SAYSO_AGENT"));
    let target = target(&old, given.as_deref())?;
    let told = Told {
        context,
        args,
        path: &path,
        agent: &target.agent,
    };
    let Some(new) = changed(&old, &target, args, change)? else {
        let holder = target.like.as_ref().unwrap_or(&target.agent);
        told.say(
            &format!(
                "nothing to change: {} of '{holder}' has it already",
                args.list.key()
            ),
            None,
        )?;
        return Ok(Exit::Done);
    };
    let diff = diff::unified(
        &path.display().to_string(),
        text.as_deref(),
        Some(&new.source.text),
    );
    told.show(&diff)?;
    remarks(context, &old, &new);
    if !args.dry_run {
        if !args.yes {
            confirm(context)?;
        }
        let before = text.as_deref().map(str::as_bytes);
        fsio::write_file(&path, before, new.source.text.as_bytes())
            .map_err(|e| Error::io("write", &path, &e).hint("nothing was changed"))?;
    }
    let verb = match (args.dry_run, change) {
        (true, _) => "nothing was written",
        (_, Change::Add) => "added",
        (_, Change::Remove) => "removed",
    };
    told.say(
        &format!(
            "{verb}: {} of '{}' in {}",
            args.list.key(),
            target.agent,
            path.display()
        ),
        Some(&diff),
    )?;
    Ok(Exit::Done)
}

/// The configuration with the change; none if it has it already.
fn changed(
    old: &Config,
    target: &Target,
    args: &PolicyEditArgs,
    change: Change,
) -> Checked<Option<Config>> {
    let (list, pattern) = (args.list.key(), args.pattern.as_str());
    let holder = target.like.as_ref().unwrap_or(&target.agent);
    let mut wanted = patterns(old, holder, args.list);
    let held = wanted.iter().any(|other| other == pattern);
    let rule = Rule {
        agent: &target.agent,
        list,
        pattern,
    };
    let text = &old.source.text;
    let text = match change {
        Change::Add => {
            policy::check_pattern(pattern)
                .map_err(|why| Error::input(format!("{pattern:?} is no pattern: {why}")))?;
            // A policy that holds for nobody is to be mended first.
            Effective::new(old, &target.agent, &[])?;
            if held {
                return Ok(None);
            }
            wanted.push(pattern.to_owned());
            edit::add(text, rule, target.like.as_deref())
        }
        Change::Remove if !held || target.like.is_some() => {
            return Err(missing(target, held, args));
        }
        Change::Remove => {
            wanted.retain(|other| other != pattern);
            edit::remove(text, rule)
        }
    };
    let path = &old.source.path;
    let new = Config::parse(Source {
        path: path.clone(),
        text: text.map_err(|why| unfit(path, &why))?,
    })?;
    if patterns(&new, &target.agent, args.list) != wanted {
        return Err(unfit(
            path,
            "the change would not read back as it was meant",
        ));
    }
    Ok(Some(new))
}

/// The table for the agent: its own, or one to be made.
fn target(config: &Config, given: Option<&str>) -> Checked<Target> {
    let own = |agent: &str| Target {
        agent: agent.to_owned(),
        like: None,
    };
    let Some(agent) = given else {
        let tables = config
            .agents
            .iter()
            .filter(|(_, agent)| agent.approval_policy.is_some());
        let names: Vec<&str> = tables.map(|(name, _)| name.get_ref().as_str()).collect();
        return match names[..] {
            [] => Ok(own("*")),
            [only] => Ok(own(only)),
            _ => Err(Error::input(format!(
                "several agents have a policy: {}",
                names.join(", ")
            ))
            .hint("say whose: --agent NAME; '*' is every agent without one of its own")),
        };
    };
    let agent = checked_name(agent)?;
    Ok(match policy::table_name(config, agent)? {
        Some(name) if name.eq_ignore_ascii_case(agent) => own(name),
        like => Target {
            agent: agent.to_owned(),
            like: like.map(str::to_owned),
        },
    })
}

/// The patterns of a list.
fn patterns(config: &Config, agent: &str, list: ListArg) -> Vec<String> {
    let table = config
        .agents
        .get(agent)
        .and_then(|agent| agent.approval_policy.as_ref());
    let list = table.map(|table| match list {
        ListArg::Allow => &table.auto_allow,
        ListArg::Deny => &table.auto_deny,
    });
    let patterns = list.into_iter().flatten();
    patterns.map(|pattern| pattern.get_ref().clone()).collect()
}

fn missing(target: &Target, held: bool, args: &PolicyEditArgs) -> Error {
    let agent = &target.agent;
    let message = format!("{} of '{agent}' has no {:?}", args.list.key(), args.pattern);
    let error = Error::new(Code::NotFound, message);
    match &target.like {
        Some(other) if held => error.hint(format!(
            "'{agent}' has no table of its own, and that of '{other}' has it: --agent '{other}'"
        )),
        _ => error.hint("'sayso policy show --agent NAME' prints what there is"),
    }
}

fn unfit(path: &Path, why: &str) -> Error {
    Error::new(Code::ConfigError, format!("{}: {why}", path.display()))
        .hint("nothing was changed; edit the file by hand")
}

/// What lint says of the new text and did not say of the old one.
fn remarks(context: &Context, old: &Config, new: &Config) {
    let known: Vec<String> = policy::lint(old)
        .into_iter()
        .map(|finding| finding.message)
        .collect();
    for finding in policy::lint(new) {
        if !known.contains(&finding.message) {
            context.note(&text::line(&format!(
                "{}: {}",
                super::level_name(finding.level),
                finding.message
            )));
        }
    }
}

/// Waits for a `y` at the terminal.
fn confirm(context: &Context) -> Checked<()> {
    let stdin = std::io::stdin();
    let mut stderr = std::io::stderr();
    if context.global.json || !stdin.is_terminal() || !stderr.is_terminal() {
        return Err(Error::input(
            "nothing was changed: without a terminal this needs --yes",
        ));
    }
    let failed = |e: std::io::Error| Error::unavailable(format!("cannot ask at the terminal: {e}"));
    discard_typed_ahead(stdin.as_fd()).map_err(failed)?;
    write!(stderr, "write it? [y/N] ").map_err(failed)?;
    stderr.flush().map_err(failed)?;
    let mut line = String::new();
    stdin.read_line(&mut line).map_err(failed)?;
    match line.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Error::input("nothing was changed: it was not confirmed")),
    }
}

/// How a change is told.
struct Told<'a> {
    context: &'a Context,
    args: &'a PolicyEditArgs,
    path: &'a Path,
    agent: &'a str,
}

impl Told<'_> {
    fn show(&self, diff: &str) -> Result<()> {
        if self.context.global.json {
            return Ok(());
        }
        let mut out = self.context.out();
        for line in diff.lines() {
            out.line(&text::line(line))?;
        }
        out.flush()?;
        Ok(())
    }

    fn say(&self, sentence: &str, diff: Option<&str>) -> Result<()> {
        if !self.context.global.json {
            self.context.note(&text::line(sentence));
            return Ok(());
        }
        let data = json!({
            "agent": self.agent,
            "list": self.args.list.key(),
            "pattern": self.args.pattern,
            "file": self.path.display().to_string(),
            "changed": diff.is_some(),
            "dry_run": self.args.dry_run,
            "diff": diff.unwrap_or_default(),
        });
        let mut out = self.context.out();
        out.line(&envelope::success(&data.to_string()))?;
        out.flush()?;
        Ok(())
    }
}
