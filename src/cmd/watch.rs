//! `sayso watch`: questions as they come and go.
//!
//! What is open is read from the questions; the log says which ones came and went between two looks.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::list::{collect, is_open};
use crate::error::Error;
use crate::events::{Event, Tail, Type};
use crate::id::Id;
use crate::interrupt::Interrupts;
use crate::model::interaction::{Interaction, State};
use crate::model::record::Secrets;
use crate::render::json as envelope;
use crate::render::out::Out;
use crate::render::question::summary;
use crate::store::Store;
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};

/// Prints a snapshot, then changes, until it is interrupted or nobody reads any more.
pub fn run(context: &Context) -> Result<Exit> {
    let fail = |e: std::io::Error| Error::unavailable(format!("cannot wait: {e}"));
    let interrupts = Interrupts::listen().map_err(fail)?;
    let scopes = context.operator_scopes_told()?;
    let mut watch = Watch::new().map_err(fail)?;
    watch.arm(&context.home.scopes());
    let mut armed: HashSet<String> = HashSet::new();
    let mut seen = Seen::from_here(&scopes.stores);
    let mut out = context.out();
    let mut first = true;
    let stdout = std::io::stdout();
    loop {
        let scopes = context.operator_scopes()?;
        for store in &scopes.stores {
            if store.layout().pending.is_dir() && armed.insert(store.scope.clone()) {
                watch.arm(&store.layout().pending);
            }
        }
        let changes = seen.look(&scopes.stores)?;
        let in_snapshot = |change: &Change| first && seen.open.contains_key(&change.record.id);
        let (snapshot, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(in_snapshot);
        for change in &snapshot {
            print(context, &mut out, "snapshot", change)?;
        }
        if first && context.global.json {
            out.line(r#"{"type":"sync"}"#)?;
        }
        first = false;
        for change in &changes {
            print(context, &mut out, change.kind, change)?;
        }
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

/// A question that came or went, as it stood at that time.
struct Change {
    kind: &'static str,
    at: Time,
    store: Store,
    record: Interaction,
}

impl Change {
    fn created(store: &Store, record: &Interaction) -> Self {
        let mut record = record.clone();
        record.state = State::Pending;
        Self {
            kind: "created",
            at: record.created_at,
            store: store.clone(),
            record,
        }
    }

    fn settled(store: &Store, record: Interaction, now: Time) -> Self {
        let at = match &record.state {
            State::Settled { at, .. } => *at,
            State::Pending => record.expires_at.unwrap_or(now),
        };
        Self {
            kind: "settled",
            // Never before it came, whatever the clock did in between.
            at: at.max(record.created_at),
            store: store.clone(),
            record,
        }
    }
}

/// What was told already, and where the reading of each scope's log stands.
struct Seen {
    tails: HashMap<String, Tail>,
    open: HashMap<Id, (Store, Interaction)>,
    gone: HashSet<Id>,
}

impl Seen {
    /// The logs from their ends on: what is appended before the first look may be told in it too.
    fn from_here(stores: &[Store]) -> Self {
        let tail = |store: &Store| (store.scope.clone(), Tail::at_end(&store.layout().dir));
        Self {
            tails: stores.iter().map(tail).collect(),
            open: HashMap::new(),
            gone: HashSet::new(),
        }
    }

    /// What came and went since the last look, in the order in which it did.
    fn look(&mut self, stores: &[Store]) -> Result<Vec<Change>> {
        // The log first: what it tells of and what is not open below has gone already.
        let told = self.told(stores);
        let now = Time::now();
        let (rows, _) = collect(stores, false, now)?;
        let rows = rows.into_iter().filter(|row| is_open(&row.record, now));
        let still: HashMap<Id, (Store, Interaction)> = rows
            .map(|row| (row.record.id.clone(), (row.store, row.record)))
            .collect();
        let mut changes = Vec::new();
        for (id, (store, record)) in &still {
            if !self.open.contains_key(id) {
                changes.push(Change::created(store, record));
            }
        }
        for (id, (store, record)) in &self.open {
            if !still.contains_key(id) {
                let record = store.must_load(id).unwrap_or_else(|_| record.clone());
                changes.push(Change::settled(store, record, now));
                self.gone.insert(id.clone());
            }
        }
        for (store, id) in told {
            if still.contains_key(&id) || self.gone.contains(&id) {
                continue;
            }
            let Ok(record) = store.must_load(&id) else {
                continue;
            };
            if !is_open(&record, now) {
                changes.push(Change::created(&store, &record));
                changes.push(Change::settled(&store, record, now));
                self.gone.insert(id);
            }
        }
        self.open = still;
        // A question that replaces another comes at the very moment at which that one goes.
        changes.sort_by(|a, b| (a.at, a.kind, &a.record.id).cmp(&(b.at, b.kind, &b.record.id)));
        Ok(changes)
    }

    /// The questions of which the logs say that they were asked since the last look.
    fn told(&mut self, stores: &[Store]) -> Vec<(Store, Id)> {
        let mut told = Vec::new();
        let asked = |event: &Event| event.kind_of_event == Type::InteractionCreated;
        for store in stores {
            let tail = self.tails.entry(store.scope.clone());
            let tail = tail.or_insert_with(|| Tail::new(&store.layout().dir));
            let ids = tail.appended().into_iter().filter(asked);
            let ids = ids.filter_map(|event| Id::parse(&event.interaction_id?));
            told.extend(ids.map(|id| (store.clone(), id)));
        }
        told
    }
}

fn print(context: &Context, out: &mut Out, kind: &str, change: &Change) -> Result<()> {
    let Change { store, record, .. } = change;
    let now = match change.kind {
        "created" => record.created_at,
        _ => Time::now(),
    };
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
        out.line(&out.fit(&line))?;
    }
    Ok(())
}
