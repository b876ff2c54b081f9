//! `sayso prune`: removes settled records past their retention.

use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::arc;
use crate::cli::PruneArgs;
use crate::error::{self, Error};
use crate::log;
use crate::render::json as envelope;
use crate::store::{LOCK_WAIT, Store};
use crate::time::Time;

/// Removes them, or says which they are.
pub fn run(context: &Context, args: &PruneArgs) -> Result<Exit> {
    let retention = match &args.older_than {
        Some(text) => duration("--older-than", text)?,
        None => context.config()?.retention(),
    };
    let scopes = context.operator_scopes_told()?;
    let now = Time::now();
    let mut pruned = Vec::new();
    for store in &scopes.stores {
        let ids = store.past_retention(retention, now)?;
        if !args.dry_run && !ids.is_empty() {
            store.lock(LOCK_WAIT)?.prune(&ids)?;
        }
        pruned.extend(ids);
    }
    if !args.dry_run {
        arc::prune(&context.home, retention, arc::Wanted::Now)?;
    }
    let mut out = context.out();
    if context.global.json {
        let ids: Vec<&str> = pruned.iter().map(crate::id::Id::as_str).collect();
        let data = serde_json::json!({ "count": ids.len(), "dry_run": args.dry_run, "ids": ids });
        out.line(&envelope::success(&data.to_string()))?;
    } else if !context.global.quiet {
        if args.dry_run {
            for id in &pruned {
                out.line(id.as_str())?;
            }
        }
        let verb = if args.dry_run {
            "would be removed"
        } else {
            "removed"
        };
        out.line(&format!("{} {verb}", pruned.len()))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Prunes after a request, at most once a day. It never fails the request.
pub(super) fn prune_when_due(context: &Context, store: &Store) {
    if !store.prune_is_due() {
        return;
    }
    let prune = || {
        let retention = context.config()?.retention();
        let ids = store.past_retention(retention, Time::now())?;
        let writer = store.lock(Duration::from_millis(100))?;
        writer.prune(&ids)?;
        writer.stamp_prune();
        Ok::<_, Error>(())
    };
    if let Err(error) = prune() {
        log::info(|| format!("not pruned: {error}"));
    }
}

/// A duration such as `90s`, `10m`, `2h`, `7d`.
pub(super) fn duration(name: &str, text: &str) -> error::Result<Duration> {
    let bad = || {
        Error::input(format!(
            "{name} takes a number and s, m, h, d or w, such as 30d"
        ))
    };
    let text = text.trim();
    let unit = text.chars().next_back().ok_or_else(bad)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return Err(bad()),
    };
    let number: u64 = text[..text.len() - 1].trim().parse().map_err(|_| bad())?;
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .ok_or_else(bad)
}
