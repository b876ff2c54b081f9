//! `sayso policy`: what the approval policy says about a call, what is odd about it, what it is; and
//! changes to it.

mod edit;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::context::Context;
use super::exit::Exit;
use super::request::json_argument;
use crate::broker::decide::repository_files;
use crate::broker::resolve::resolve;
use crate::cli::{PolicyArgs, PolicyCheckArgs, PolicyShowArgs, PolicyVerb};
use crate::config::{Config, Decision};
use crate::error::Error;
use crate::policy::{self, Call, Effective, Finding, Level, Part, RepoFile, Verdict};
use crate::render::json as envelope;
use crate::repo;
use crate::text;

/// Checks, lints, shows or changes.
pub fn run(context: &Context, args: &PolicyArgs) -> Result<Exit> {
    match &args.verb {
        PolicyVerb::Check(args) => check(context, args),
        PolicyVerb::Show(args) => show(context, args),
        PolicyVerb::Lint => lint(context),
        PolicyVerb::Init(args) => edit::init(context, args),
        PolicyVerb::Add(args) => edit::edit(context, args, edit::Change::Add),
        PolicyVerb::Remove(args) => edit::edit(context, args, edit::Change::Remove),
    }
}

fn here(context: &Context) -> crate::error::Result<PathBuf> {
    match &context.global.repo {
        Some(dir) => dir.canonicalize().map_err(|e| Error::io("use", dir, &e)),
        None => repo::current_dir(),
    }
}

fn files(dir: &Path) -> crate::error::Result<Vec<RepoFile>> {
    repository_files(dir.to_str())
}

fn agent(context: &Context, given: Option<&String>) -> String {
    given
        .cloned()
        .or_else(|| context.var("SAYSO_AGENT"))
        .unwrap_or_else(|| "unknown".into())
}

fn check(context: &Context, args: &PolicyCheckArgs) -> Result<Exit> {
    let config = context.config()?;
    let dir = here(context)?;
    let files = files(&dir)?;
    let agent = agent(context, args.agent.as_ref());
    let effective = Effective::new(&config, &agent, &files)?;
    let input = args
        .input
        .as_deref()
        .map(|text| json_argument("--input", text))
        .transpose()?;
    let value = input.as_ref().map(crate::model::json::Json::value);
    let words = (!args.command.is_empty()).then(|| json!({ "command": args.command.join(" ") }));
    let call = Call {
        tool_name: match (&args.tool, &words) {
            (Some(tool), _) => Some(tool.as_str()),
            (None, Some(_)) => Some("Bash"),
            (None, None) => None,
        },
        input: value.as_ref().or(words.as_ref()),
        action: args.action.as_deref(),
        cwd: Some(&dir),
        resolved: &[],
    };
    if call.tool_name.is_none() && call.action.is_none() {
        return Err(Error::input(
            "say what to check: --tool NAME --input JSON, --action TEXT, or -- COMMAND",
        )
        .into());
    }
    let resolved = resolve(&call);
    let call = Call {
        resolved: &resolved,
        ..call
    };
    let verdict = policy::decide(&effective, &call);
    let parts = policy::explain(&effective, &call);
    match print(context, &agent, &verdict, &parts) {
        Ok(()) => {}
        // Nobody reads it any more; the exit code still must not take a denial for an allow.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error.into()),
    }
    Ok(match verdict.decision {
        Decision::Allow => Exit::Done,
        Decision::Deny => Exit::Denied,
        Decision::Ask => Exit::Undecided,
    })
}

fn print(
    context: &Context,
    agent: &str,
    verdict: &Verdict<'_>,
    parts: &[Part<'_>],
) -> io::Result<()> {
    let mut out = context.out();
    if context.global.json {
        let parts: Vec<Value> = parts.iter().map(part_json).collect();
        let data = json!({
            "agent": agent,
            "verdict": verdict.decision.name(),
            "rule": verdict.rule.as_ref().map(rule_json),
            "reason": verdict.reason,
            "parts": parts,
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        for line in lines(verdict, parts) {
            out.line(&text::line(&line))?;
        }
    }
    out.flush()
}

fn lines(verdict: &Verdict<'_>, parts: &[Part<'_>]) -> Vec<String> {
    let by = |rule: Option<String>| rule.map_or(String::new(), |rule| format!(" by {rule}"));
    let rule = verdict.rule.as_ref().map(ToString::to_string);
    let mut lines = vec![format!("{}{}", verdict.decision.name(), by(rule))];
    lines.extend(verdict.reason.iter().map(|reason| format!("  {reason}")));
    for part in parts {
        let rule = part.rule.as_ref().map(ToString::to_string);
        let why = part
            .reason
            .as_ref()
            .filter(|why| parts.len() > 1 && verdict.reason.as_ref() != Some(*why));
        lines.push(format!(
            "  {}: {}{}{}",
            part.decision.name(),
            part.text,
            by(rule),
            why.map_or(String::new(), |why| format!(" — {why}"))
        ));
    }
    lines
}

fn rule_json(rule: &policy::Ruling<'_>) -> Value {
    json!({
        "list": rule.list.name(),
        "index": rule.index,
        "pattern": rule.pattern,
        "file": rule.place.path.display().to_string(),
        "line": rule.place.line,
        "column": rule.place.column,
    })
}

fn part_json(part: &Part<'_>) -> Value {
    json!({
        "command": part.text,
        "words": part.words,
        "expands": part.expands,
        "verdict": part.decision.name(),
        "rule": part.rule.as_ref().map(rule_json),
        "reason": part.reason,
    })
}

fn show(context: &Context, args: &PolicyShowArgs) -> Result<Exit> {
    let config = context.config()?;
    let files = files(&here(context)?)?;
    let agent = agent(context, args.agent.as_ref());
    let effective = Effective::new(&config, &agent, &files)?;
    let (default, ruling) = effective.default();
    let mut out = context.out();
    if context.global.json {
        let rules = |rules: &[policy::Rule<'_>]| -> Vec<Value> {
            rules.iter().map(|rule| rule_json(&rule.ruling())).collect()
        };
        let data = json!({
            "agent": agent,
            "auto_deny": rules(effective.deny()),
            "auto_allow": rules(effective.allow()),
            "default": default.name(),
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        for rule in effective.deny().iter().chain(effective.allow()) {
            out.line(&text::line(&rule.ruling().to_string()))?;
        }
        let at = ruling.map_or("built in".to_owned(), |r| r.place.to_string());
        out.line(&text::line(&format!("default {:?} ({at})", default.name())))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn lint(context: &Context) -> Result<Exit> {
    let config: Config = context.config()?;
    let files = files(&here(context)?)?;
    let found: Vec<Finding<'_>> = policy::lint(&config)
        .into_iter()
        .chain(files.iter().flat_map(policy::lint_repo_file))
        .collect();
    let mut out = context.out();
    if context.global.json {
        let findings: Vec<Value> = found.iter().map(finding_json).collect();
        let data = json!({ "count": findings.len(), "findings": findings });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        for finding in &found {
            out.line(&text::line(&finding_line(finding)))?;
        }
        if found.is_empty() {
            context.note("nothing to remark");
        }
    }
    out.flush()?;
    let only_notes = found.iter().all(|finding| finding.level == Level::Note);
    Ok(if only_notes {
        Exit::Done
    } else {
        Exit::Remarked
    })
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// A finding on one line.
pub(super) fn finding_line(finding: &Finding<'_>) -> String {
    format!(
        "{}: {}: {}",
        finding.place,
        level_name(finding.level),
        finding.message
    )
}

fn finding_json(finding: &Finding<'_>) -> Value {
    json!({
        "level": level_name(finding.level),
        "message": finding.message,
        "file": finding.place.path.display().to_string(),
        "line": finding.place.line,
        "column": finding.place.column,
    })
}
