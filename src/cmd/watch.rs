//! `sayso watch`: questions as they come and go.

use std::collections::HashMap;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::list::collect;
use crate::error::Error;
use crate::id::Id;
use crate::interrupt::Interrupts;
use crate::model::interaction::Interaction;
use crate::model::record::Secrets;
use crate::render::json as envelope;
use crate::render::out::Out;
use crate::render::question::summary;
use crate::store::Store;
use crate::text;
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};

/// Prints a snapshot, then changes, until it is interrupted or nobody reads any more.
pub fn run(context: &Context) -> Result<Exit> {
    let fail = |e: std::io::Error| Error::unavailable(format!("cannot wait: {e}"));
    let interrupts = Interrupts::listen().map_err(fail)?;
    context.operator_scopes_told()?;
    let mut watch = Watch::new().map_err(fail)?;
    watch.arm(&context.home.scopes());
    let mut armed: Vec<String> = Vec::new();
    let mut open: HashMap<Id, (Store, Interaction)> = HashMap::new();
    let mut out = context.out();
    let mut first = true;
    let stdout = std::io::stdout();
    loop {
        let scopes = context.operator_scopes()?;
        for store in &scopes.stores {
            if store.layout().pending.is_dir() && !armed.contains(&store.scope) {
                watch.arm(&store.layout().pending);
                armed.push(store.scope.clone());
            }
        }
        changes(context, &scopes.stores, &mut open, &mut out, first)?;
        if first && context.global.json {
            out.line(r#"{"type":"sync"}"#)?;
        }
        first = false;
        out.flush()?;
        if let Some(signal) = interrupts.signal() {
            return Ok(Exit::Interrupted(signal));
        }
        let also = [Also::hangup_of(&stdout)];
        if watch.sleep(TICK, Some(&interrupts), &also).map_err(fail)? == [true] {
            return Ok(Exit::Done);
        }
    }
}

fn changes(
    context: &Context,
    stores: &[Store],
    open: &mut HashMap<Id, (Store, Interaction)>,
    out: &mut Out,
    first: bool,
) -> Result<()> {
    let now = Time::now();
    let (rows, _) = collect(stores, false, now)?;
    let mut still: HashMap<Id, (Store, Interaction)> = HashMap::new();
    for row in rows {
        if !super::list::is_open(&row.record, now) {
            continue;
        }
        let id = row.record.id.clone();
        if !open.contains_key(&id) {
            let kind = if first { "snapshot" } else { "created" };
            print(context, out, kind, &row.store, &row.record, now)?;
        }
        still.insert(id, (row.store, row.record));
    }
    for (id, (store, record)) in open.iter() {
        if !still.contains_key(id) {
            let record = store.must_load(id).unwrap_or_else(|_| record.clone());
            print(context, out, "settled", store, &record, now)?;
        }
    }
    *open = still;
    Ok(())
}

fn print(
    context: &Context,
    out: &mut Out,
    kind: &str,
    store: &Store,
    record: &Interaction,
    now: Time,
) -> Result<()> {
    if context.global.json {
        let scope = [("scope", store.scope.clone().into())];
        let record = envelope::record(record, now, Secrets::Hidden, &scope);
        out.line(&format!("{{\"type\":\"{kind}\",\"interaction\":{record}}}"))?;
    } else {
        let status = record.status_at(now).name();
        let id = &record.id.as_str()[..8];
        let line = format!(
            "{status} {id} {} {}",
            record.question.agent,
            summary(&record.question)
        );
        out.line(&text::cut(&line, out.columns))?;
    }
    Ok(())
}
