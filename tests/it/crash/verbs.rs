//! The commands that are hit, the stores that they meet, and what they do to them.

use std::fs;
use std::time::Duration;

use sayso::broker::{self, Lifetime};
use sayso::events;
use sayso::model::interaction::{Interaction, Outcome, State, Status};
use sayso::model::record::{Secrets, to_json};
use sayso::store::Store;
use sayso::store::query::Entry;
use serde_json::Value;

use crate::arc;
use crate::library;

/// The prompt of the question that the asking verbs open.
pub const NEW: &str = "shall the new one go?";

/// One command, the store that it meets, and what it does to it.
pub struct Verb {
    pub name: &'static str,
    pub args: fn(&Interaction) -> Vec<String>,
    /// Prepares the store; returns the record that the command is about.
    pub prepare: fn(&Store) -> Interaction,
    pub effect: fn(&Store, &Interaction) -> Effect,
    /// Its exit code without a fault.
    pub exit: i32,
    /// Whether exit 0 means that the effect is on disk; a listing may settle something on the way, or not.
    pub promises: bool,
    /// Whether someone waits, and has taken the answer.
    pub waiter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// In between, as the specification allows it.
    Partly,
    Done,
}

pub static VERBS: [Verb; 15] = [
    Verb {
        name: "first request",
        args: |_| words(&["request", NEW]),
        prepare: |store| {
            let target = library::open(store, "unused", Duration::from_secs(600));
            fs::remove_dir_all(store.home.path()).unwrap();
            target
        },
        effect: asked,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "request",
        args: |_| words(&["request", NEW]),
        prepare: pending,
        effect: asked,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "request under a new key",
        args: |_| words(&["request", NEW, "--key", "new"]),
        prepare: pending,
        effect: asked,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "request that supersedes",
        args: |_| words(&["request", NEW, "--key", "k"]),
        prepare: |store| {
            let question = library::question("shall the old one go?", Some("k"));
            let lifetime = Lifetime::For(Duration::from_secs(600));
            broker::open(store, question, lifetime, 100).unwrap().record
        },
        effect: superseded,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "ask that gives up",
        args: |_| words(&["ask", NEW, "--timeout", "0"]),
        prepare: pending,
        effect: |store, _| match only(store, NEW).map(|r| r.status()) {
            None => Effect::Nothing,
            Some(Status::Pending) => Effect::Partly,
            Some(Status::Cancelled) => Effect::Done,
            Some(other) => panic!("{other:?}"),
        },
        exit: 124,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "respond",
        args: respond,
        prepare: pending,
        effect: answered,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "respond to a waiter",
        args: respond,
        prepare: pending,
        effect: answered,
        exit: 0,
        promises: true,
        waiter: true,
    },
    Verb {
        name: "respond again to one half settled",
        args: respond,
        prepare: |store| half_settled(store, Duration::ZERO),
        effect: answered,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "cancel",
        args: |target| words(&["cancel", target.id.as_str()]),
        prepare: pending,
        effect: |store, target| ended(store, target, Status::Cancelled),
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "list that expires",
        args: |_| words(&["list"]),
        prepare: overdue,
        effect: |store, target| ended(store, target, Status::Expired),
        exit: 0,
        promises: false,
        waiter: false,
    },
    Verb {
        name: "wait that expires",
        args: |target| words(&["wait", target.id.as_str()]),
        prepare: overdue,
        effect: |store, target| ended(store, target, Status::Expired),
        exit: 0,
        promises: false,
        waiter: false,
    },
    Verb {
        name: "prune",
        args: |_| words(&["prune", "--older-than", "1h"]),
        prepare: |store| half_settled(store, Duration::from_secs(7200)),
        effect: |store, target| match status(store, target) {
            None => Effect::Done,
            Some(Status::Answered) => Effect::Nothing,
            Some(other) => panic!("a settled record is {other:?} again"),
        },
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "arc that asks",
        args: |_| words(&["arc", "event.json"]),
        prepare: |store| {
            write_event(
                store,
                &arc::created("e1", "swe", NEW, "2099-01-01T00:00:00Z"),
            );
            pending(store)
        },
        effect: asked_once,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "arc that answers",
        args: |_| words(&["arc", "event.json"]),
        prepare: |store| {
            let target = keyed(store);
            let answer = arc::submitted("e1", "k", &target.digest, target.nonce.expose());
            write_event(store, &answer);
            target
        },
        effect: answered,
        exit: 0,
        promises: true,
        waiter: false,
    },
    Verb {
        name: "arc that withdraws",
        args: |_| words(&["arc", "event.json"]),
        prepare: |store| {
            write_event(store, &arc::resolved("e1", "swe", "k"));
            keyed(store)
        },
        effect: |store, target| ended(store, target, Status::Cancelled),
        exit: 0,
        promises: true,
        waiter: false,
    },
];

pub fn named(name: &str) -> &'static Verb {
    VERBS.iter().find(|verb| verb.name == name).unwrap()
}

/// Beside the store, where the commands run.
fn write_event(store: &Store, event: &Value) {
    let place = store.home.path().parent().unwrap().join("shop/event.json");
    fs::write(place, event.to_string()).unwrap();
}

fn keyed(store: &Store) -> Interaction {
    let question = library::question("shall it go?", Some("k"));
    let lifetime = Lifetime::For(Duration::from_secs(600));
    broker::open(store, question, lifetime, 100).unwrap().record
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

fn respond(target: &Interaction) -> Vec<String> {
    words(&[
        "respond",
        target.id.as_str(),
        "--response-id",
        "r1",
        "--by",
        "r1",
        "--digest",
        &target.digest,
        "--nonce",
        target.nonce.expose(),
        "--choice",
        "allow",
    ])
}

fn pending(store: &Store) -> Interaction {
    library::open(store, "shall it go?", Duration::from_secs(600))
}

fn overdue(store: &Store) -> Interaction {
    library::open(store, "too late?", Duration::from_micros(1))
}

/// A record that was answered so long ago by a process that was killed after the commit.
fn half_settled(store: &Store, age: Duration) -> Interaction {
    let question = pending(store);
    let path = store.layout().pending_file(&question.id);
    let bytes = fs::read(&path).unwrap();
    let mut record = library::respond(store, &question, "r1").unwrap();
    record.created_at = record.created_at.minus(age);
    if let State::Settled { at, .. } = &mut record.state {
        *at = at.minus(age);
    }
    let settled = store.layout().settled_file(&record.id);
    fs::write(settled, to_json(&record, Secrets::Shown)).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::write(store.layout().delivered_mark(&record.id), "").unwrap();
    let log = events::file(&store.layout().dir);
    let lines = fs::read_to_string(&log).unwrap();
    let kept: String = lines
        .split_inclusive('\n')
        .filter(|l| !l.contains(&format!("{}:interaction_answered", record.id)))
        .collect();
    fs::write(log, kept).unwrap();
    record
}

pub fn records(store: &Store) -> Vec<Interaction> {
    let read = |entry| match entry {
        Entry::Current(record) => *record,
        other => panic!("not readable: {other:?}"),
    };
    store.all().unwrap().into_iter().map(read).collect()
}

fn status(store: &Store, target: &Interaction) -> Option<Status> {
    let all = records(store);
    let mut found = all.iter().filter(|r| r.id == target.id);
    let status = found.next().map(Interaction::status);
    assert!(found.next().is_none(), "one record is listed twice");
    status
}

fn only(store: &Store, prompt: &str) -> Option<Interaction> {
    let mut found: Vec<_> = records(store)
        .into_iter()
        .filter(|r| r.question.prompt == prompt)
        .collect();
    found.sort_by_key(|r| r.created_at);
    found.pop()
}

fn asked(store: &Store, _: &Interaction) -> Effect {
    match only(store, NEW) {
        None => Effect::Nothing,
        Some(record) => {
            assert_eq!(record.status(), Status::Pending);
            Effect::Done
        }
    }
}

/// However often the event came, one question was opened.
fn asked_once(store: &Store, target: &Interaction) -> Effect {
    let all = records(store);
    assert!(all.iter().filter(|r| r.question.prompt == NEW).count() <= 1);
    asked(store, target)
}

fn superseded(store: &Store, target: &Interaction) -> Effect {
    match (only(store, NEW).map(|r| r.status()), status(store, target)) {
        (None, Some(Status::Pending)) => Effect::Nothing,
        (Some(Status::Pending), Some(Status::Pending)) => Effect::Partly,
        (Some(Status::Pending), Some(Status::Superseded)) => Effect::Done,
        other => panic!("new and old are {other:?}"),
    }
}

fn answered(store: &Store, target: &Interaction) -> Effect {
    let record = store.must_load(&target.id).unwrap();
    match &record.state {
        State::Pending => Effect::Nothing,
        State::Settled {
            outcome: Outcome::Answered(response),
            ..
        } => {
            assert_eq!(response.response_id, "r1");
            Effect::Done
        }
        other @ State::Settled { .. } => panic!("{other:?}"),
    }
}

fn ended(store: &Store, target: &Interaction, how: Status) -> Effect {
    match status(store, target) {
        Some(Status::Pending) => Effect::Nothing,
        Some(status) if status == how => Effect::Done,
        other => panic!("{other:?}"),
    }
}
