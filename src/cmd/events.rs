//! `sayso events`: what happened, one line per transition.

use std::collections::HashSet;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::arc;
use crate::cli::{EventFormat, EventsArgs};
use crate::error::{self, Error};
use crate::events::{self, Event, Tail, Type};
use crate::id::Id;
use crate::interrupt::Interrupts;
use crate::render::out::Out;
use crate::render::question::summary;
use crate::store::Store;
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};

/// Prints the newest, and goes on with what follows.
pub fn run(context: &Context, args: &EventsArgs) -> Result<Exit> {
    let filter = Filter::new(args)?;
    let scopes = context.operator_scopes_told()?;
    let mut tails: Vec<Tail> = Vec::new();
    let mut found: Vec<(usize, Event)> = Vec::new();
    for (index, store) in scopes.stores.iter().enumerate() {
        let mut tail = Tail::new(&store.layout().dir);
        // In this order, so that a rotation in between shows lines twice and loses none.
        let newer = tail.appended();
        let older = tail.rotated();
        found.extend(older.into_iter().chain(newer).map(|event| (index, event)));
        tails.push(tail);
    }
    let mut seen = HashSet::new();
    found.retain(|(_, event)| filter.wants(event) && seen.insert(event.id.clone()));
    found.sort_by(|a, b| a.1.at.cmp(&b.1.at));
    let limit = args.limit.unwrap_or(20);
    let mut out = context.out();
    for (index, event) in found.iter().skip(found.len().saturating_sub(limit)) {
        print(context, &filter, &mut out, &scopes.stores[*index], event)?;
    }
    out.flush()?;
    if args.follow {
        return follow(context, &filter, scopes.stores, tails, seen, out);
    }
    Ok(Exit::Done)
}

fn follow(
    context: &Context,
    filter: &Filter,
    mut stores: Vec<Store>,
    mut tails: Vec<Tail>,
    mut seen: HashSet<String>,
    mut out: Out,
) -> Result<Exit> {
    let fail = |e: std::io::Error| Error::unavailable(format!("cannot wait: {e}"));
    let interrupts = Interrupts::listen().map_err(fail)?;
    let mut watch = Watch::new().map_err(fail)?;
    watch.arm(&context.home.scopes());
    for store in &stores {
        watch.arm(&store.layout().dir);
    }
    let stdout = std::io::stdout();
    loop {
        for store in context.operator_scopes()?.stores {
            if stores.iter().all(|known| known.scope != store.scope) {
                watch.arm(&store.layout().dir);
                tails.push(Tail::new(&store.layout().dir));
                stores.push(store);
            }
        }
        for (index, tail) in tails.iter_mut().enumerate() {
            for event in tail.appended() {
                if filter.wants(&event) && seen.insert(event.id.clone()) {
                    print(context, filter, &mut out, &stores[index], &event)?;
                }
            }
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

struct Filter {
    kind: Option<Type>,
    since: Option<Time>,
    format: Option<EventFormat>,
}

impl Filter {
    fn new(args: &EventsArgs) -> error::Result<Self> {
        let kind = match &args.kind {
            None => None,
            Some(name) => Some(Type::parse(name).ok_or_else(|| {
                let names: Vec<&str> = Type::ALL.iter().map(|t| t.name()).collect();
                Error::input("there is no such type of event")
                    .hint(format!("one of {}", names.join(", ")))
            })?),
        };
        let since = match &args.since {
            None => None,
            Some(text) => Some(match Time::parse_loose(text) {
                Some(time) => time,
                None => Time::now().minus(super::prune::duration("--since", text)?),
            }),
        };
        Ok(Self {
            kind,
            since,
            format: args.format,
        })
    }

    fn wants(&self, event: &Event) -> bool {
        self.kind.is_none_or(|kind| kind == event.kind_of_event)
            && (self.format.is_none() || arc::is_told(event.kind_of_event))
            && self
                .since
                .is_none_or(|since| Time::parse(&event.at).is_some_and(|at| at >= since))
    }
}

fn print(
    context: &Context,
    filter: &Filter,
    out: &mut Out,
    store: &Store,
    event: &Event,
) -> Result<()> {
    let record = event
        .interaction_id
        .as_deref()
        .and_then(Id::parse)
        .and_then(|id| store.must_load(&id).ok());
    if filter.format == Some(EventFormat::Arc) {
        if let Some(told) = record.and_then(|record| arc::told(event, &record)) {
            out.line(&told.to_string())?;
        }
        return Ok(());
    }
    if context.global.json {
        let told = events::with_texts(event, record.as_ref(), Time::now());
        out.line(&told.to_string())?;
        return Ok(());
    }
    let id = event
        .interaction_id
        .as_deref()
        .map_or("-", |id| &id[..id.len().min(8)]);
    let by = event
        .by
        .as_deref()
        .map_or(String::new(), |by| format!(" by {by}"));
    let what = record.map_or(String::new(), |r| summary(&r.question));
    let line = format!(
        "{} {} {id} {}{by} {what}",
        event.at,
        event.kind_of_event.name(),
        event.agent
    );
    out.line(&out.fit(&line))?;
    Ok(())
}
