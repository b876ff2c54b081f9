//! `sayso doctor`: what is wrong with the store and its surroundings.

mod hosts;
mod notices;
mod relay;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::DoctorArgs;
use crate::fsio;
use crate::model::interaction::Interaction;
use crate::policy::{self, Level};
use crate::render::json as envelope;
use crate::store::Store;
use crate::store::query::Entry;
use crate::text;
use crate::time::Time;
use crate::watch::Watch;

#[derive(serde::Serialize)]
struct Finding {
    check: &'static str,
    ok: bool,
    detail: String,
}

/// Checks everything and reports; exit 1 if anything is wrong.
pub fn run(context: &Context, args: &DoctorArgs) -> Result<Exit> {
    let mut findings = Vec::new();
    check_root(context, &mut findings);
    check_config(context, &mut findings);
    check_watch(&mut findings);
    if let Some(fault) = clock_fault(Time::now()) {
        push(&mut findings, "clock", Some(fault), String::new());
    }
    hosts::check(context, &mut findings);
    relay::check(context, args.online, &mut findings);
    let stores = context
        .every_scope()
        .map(|all| all.stores)
        .unwrap_or_default();
    for store in &stores {
        check_scope(store, &mut findings);
    }
    let mut out = context.out();
    let ok = findings.iter().all(|f| f.ok);
    if context.global.json {
        let data = serde_json::json!({ "ok": ok, "findings": findings });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        for finding in &findings {
            let mark = if finding.ok {
                out.style.green("ok  ")
            } else {
                out.style.red("FAIL")
            };
            out.line(&format!(
                "{mark} {}: {}",
                finding.check,
                text::line(&finding.detail)
            ))?;
        }
    }
    out.flush()?;
    Ok(if ok { Exit::Done } else { Exit::Found })
}

fn push(findings: &mut Vec<Finding>, check: &'static str, fault: Option<String>, fine: String) {
    findings.push(Finding {
        check,
        ok: fault.is_none(),
        detail: fault.unwrap_or(fine),
    });
}

fn check_root(context: &Context, findings: &mut Vec<Finding>) {
    let root = context.home.path();
    push(
        findings,
        "store",
        context.home.fault(),
        root.display().to_string(),
    );
    if !root.exists() {
        return;
    }
    let probe = || -> std::io::Result<()> {
        let temp = fsio::write_temp(root, &[b' '; 8192])?;
        temp.as_file().sync_data()
    };
    let fault = probe()
        .err()
        .map(|e| format!("cannot write in {}: {e}", root.display()));
    push(
        findings,
        "writable",
        fault,
        "files can be written and synced".into(),
    );
}

fn check_config(context: &Context, findings: &mut Vec<Finding>) {
    match context.config() {
        Ok(config) => {
            push(findings, "config", None, "readable".into());
            for finding in policy::lint(&config) {
                if finding.level != Level::Note {
                    let line = super::policy::finding_line(&finding);
                    push(findings, "policy", Some(line), String::new());
                }
            }
        }
        Err(error) => push(findings, "config", Some(error.to_string()), String::new()),
    }
}

fn check_watch(findings: &mut Vec<Finding>) {
    let fault = match Watch::new() {
        Ok(watch) if watch.is_polling() => Some(
            "no file watch can be had; waits poll instead (fs.inotify.max_user_instances)".into(),
        ),
        Ok(_) => None,
        Err(error) => Some(format!("cannot wait for files: {error}")),
    };
    push(findings, "watch", fault, "files can be watched".into());
}

fn check_scope(store: &Store, findings: &mut Vec<Finding>) {
    let layout = store.layout();
    for dir in [
        &layout.dir,
        &layout.pending,
        &layout.settled,
        &layout.marks,
        &layout.keys,
        &layout.tmp,
    ] {
        if let Some(fault) = loose(dir) {
            push(findings, "modes", Some(fault), String::new());
        }
    }
    let entries = match store.all() {
        Ok(entries) => entries,
        Err(error) => {
            push(
                findings,
                "records",
                Some(format!("scope '{}': {error}", store.scope)),
                String::new(),
            );
            return;
        }
    };
    let total = entries.len();
    let now = Time::now();
    for entry in entries {
        match entry {
            Entry::Corrupt { why, .. } => push(
                findings,
                "records",
                Some(format!("scope '{}': {why}", store.scope)),
                String::new(),
            ),
            Entry::Newer(newer) => push(
                findings,
                "records",
                Some(format!(
                    "scope '{}': interaction '{}' needs a newer sayso (schema {})",
                    store.scope, newer.id, newer.schema
                )),
                String::new(),
            ),
            Entry::Current(record) => check_clock(&record, now, findings),
        }
    }
    push(
        findings,
        "records",
        None,
        format!("scope '{}': {total} records", store.scope),
    );
    let fault = store
        .lock(Duration::from_millis(200))
        .err()
        .map(|e| e.to_string());
    push(
        findings,
        "lock",
        fault,
        format!("scope '{}' can be locked", store.scope),
    );
}

fn clock_fault(now: Time) -> Option<String> {
    let beyond = now <= Time::EARLIEST || now >= Time::LATEST;
    beyond.then(|| "it is set beyond the years 0 to 9999; nothing can be asked".to_owned())
}

fn check_clock(record: &Interaction, now: Time, findings: &mut Vec<Finding>) {
    if record.created_at > now.plus(Duration::from_secs(60)) {
        let detail = format!(
            "interaction '{}' was asked in the future: the clock was set back",
            record.id
        );
        push(findings, "clock", Some(detail), String::new());
    }
}

fn loose(dir: &Path) -> Option<String> {
    let metadata = dir.metadata().ok()?;
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Some(format!("{} belongs to another user", dir.display()));
    }
    (metadata.mode() & 0o077 != 0).then(|| format!("{} is open to other users", dir.display()))
}
