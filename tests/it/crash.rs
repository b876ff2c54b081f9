//! Killed at every call that changes something, and given an error at every file call: the store stays
//! readable, no other record is affected, nothing that was acknowledged is lost, and the same command
//! again succeeds.
//!
//! A recording says which calls a run makes once it has looked at this world; each of them is then hit in
//! a run of its own, on a fresh copy of the same store, by `strace --inject`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sayso::broker::{self, Lifetime};
use sayso::events;
use sayso::model::interaction::{Interaction, Outcome, State, Status};
use sayso::model::record::{Secrets, to_json};
use sayso::store::Store;
use sayso::store::create::Lease;
use sayso::store::layout::Home;
use sayso::store::query::Entry;
use serde_json::Value;

use crate::arc;
use crate::library;
use crate::sandbox::{Ran, Sandbox};

pub mod trace;

use trace::{Call, Fault, can_inject, copy};

/// The prompt of the question that the asking verbs open.
const NEW: &str = "shall the new one go?";

/// One command, the store that it meets, and what it does to it.
struct Verb {
    name: &'static str,
    args: fn(&Interaction) -> Vec<String>,
    /// Prepares the store; returns the record that the command is about.
    prepare: fn(&Store) -> Interaction,
    effect: fn(&Store, &Interaction) -> Effect,
    /// Its exit code without a fault.
    exit: i32,
    /// Whether exit 0 means that the effect is on disk; a listing may settle something on the way, or not.
    promises: bool,
    /// Whether someone waits, and has taken the answer.
    waiter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// In between, as the specification allows it.
    Partly,
    Done,
}

const VERBS: [Verb; 15] = [
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

fn records(store: &Store) -> Vec<Interaction> {
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

/// A store that is copied afresh for every run of a verb.
struct World<'a> {
    sandbox: Sandbox,
    store: Store,
    verb: &'a Verb,
    target: Interaction,
    untouched: Vec<(PathBuf, Vec<u8>)>,
    lease: Mutex<Option<Lease>>,
}

impl<'a> World<'a> {
    fn new(verb: &'a Verb) -> Self {
        let sandbox = Sandbox::in_memory();
        let home = sandbox.store();
        let home =
            Home::locate(|name| (name == "SAYSO_HOME").then(|| home.clone().into())).unwrap();
        let store = Store::new(&home, "shop", None);
        let bystander = library::open(&store, "a bystander", Duration::from_secs(600));
        let other = library::open(&store, "another one", Duration::from_secs(600));
        library::respond(&store, &other, "r0").unwrap();
        let layout = store.layout().clone();
        fs::write(layout.pruned(), "").unwrap();
        let target = (verb.prepare)(&store);
        if verb.waiter {
            fs::write(layout.delivered_mark(&target.id), "").unwrap();
        }
        let untouched = [
            layout.pending_file(&bystander.id),
            layout.settled_file(&other.id),
        ];
        let untouched = untouched
            .into_iter()
            .filter_map(|path| Some((path.clone(), fs::read(path).ok()?)));
        let world = Self {
            untouched: untouched.collect(),
            sandbox,
            store,
            verb,
            target,
            lease: Mutex::default(),
        };
        if world.sandbox.store().exists() {
            copy(&world.sandbox.store(), &world.template());
        }
        world
    }

    fn template(&self) -> PathBuf {
        self.sandbox.path().join("template")
    }

    fn reset(&self) {
        let _ = fs::remove_dir_all(self.sandbox.store());
        if self.template().exists() {
            copy(&self.template(), &self.sandbox.store());
        }
        let lease = self
            .verb
            .waiter
            .then(|| self.store.lease(&self.target.id).unwrap());
        *self.lease.lock().unwrap() = lease;
    }

    fn args(&self) -> Vec<String> {
        let mut args = (self.verb.args)(&self.target);
        args.extend(["--scope", "shop", "--json"].map(str::to_owned));
        args
    }

    fn plain(&self) -> Ran {
        self.sandbox.run(self.args())
    }

    fn traced(&self, options: &[&str]) -> Ran {
        trace::run(&self.sandbox, options, &self.args())
    }

    /// The calls of a run without a fault, from the first that is about this world.
    fn record(&self) -> Vec<Call> {
        self.reset();
        let file = self.sandbox.path().join("trace");
        let what = format!("trace={}", trace::CALLS);
        let ran = self.traced(&["-y", "-e", &what, "-o", file.to_str().unwrap()]);
        assert_eq!(ran.code, self.verb.exit, "{}: {ran:?}", self.verb.name);
        assert_eq!((self.verb.effect)(&self.store, &self.target), Effect::Done);
        let text = fs::read_to_string(file).unwrap();
        let calls = trace::calls(&text, &self.sandbox.path());
        assert!(
            calls.iter().any(Call::changes),
            "{}: {calls:?}",
            self.verb.name
        );
        calls
    }

    fn inject(&self, call: &Call, fault: Fault) -> Ran {
        self.reset();
        let [trace, what] = trace::injection(call, fault);
        let options = ["-e", &trace, "-e", &what, "-o", "/dev/null"];
        self.traced(&options)
    }

    /// What must hold after any fault, and after the same command again.
    fn judge(&self, call: &Call, fault: Fault, ran: &Ran) {
        let case = format!(
            "{} with {fault:?} at {} {}: {} — {ran:?}",
            self.verb.name, call.name, call.nth, call.line
        );
        let effect = self.effect(&case);
        self.judge_exit(call, fault, ran, effect, &case);
        for (path, bytes) in &self.untouched {
            assert_eq!(
                fs::read(path).ok().as_ref(),
                Some(bytes),
                "{case}: {}",
                path.display()
            );
        }
        let settled = self.store.layout().settled_file(&self.target.id);
        let before = fs::read(&settled).ok();
        *self.lease.lock().unwrap() = None;
        let again = self.plain();
        assert_eq!(again.code, self.verb.exit, "{case}; then {again:?}");
        assert_eq!(self.effect(&case), Effect::Done, "{case}; then {again:?}");
        if let (Some(before), Ok(after)) = (before, fs::read(&settled)) {
            assert_eq!(before, after, "{case}: rewritten");
        }
        self.judge_events(ran, &case);
    }

    fn effect(&self, case: &str) -> Effect {
        let effect = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (self.verb.effect)(&self.store, &self.target)
        }));
        effect.unwrap_or_else(|_| panic!("{case}"))
    }

    fn judge_exit(&self, call: &Call, fault: Fault, ran: &Ran, effect: Effect, case: &str) {
        if fault == Fault::Kill {
            assert_eq!(ran.code, 128 + 9, "the call never came: {case}");
            let told = !ran.stdout.is_empty() && self.verb.promises;
            assert!(
                !told || effect == Effect::Done,
                "acknowledged, but not there: {case}"
            );
            return;
        }
        if ran.code == self.verb.exit {
            assert!(
                effect == Effect::Done || !self.verb.promises,
                "acknowledged, but not there: {case}"
            );
            assert!(
                !self.verb.promises || !call.commits() || fault == Fault::Error("EINTR"),
                "acknowledged, but not on disk: {case}"
            );
            let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(envelope["ok"], true, "{case}");
            return;
        }
        assert!(fault != Fault::Error("EINTR"), "{case}");
        let error = ran.error();
        // A configuration that cannot be read never counts as none, and says so with a code of its own; so
        // does an input.
        let given = ["config.toml", "event.json"];
        let expected = if given.iter().any(|file| call.line.contains(file)) {
            2
        } else {
            7
        };
        assert_eq!(ran.code, expected, "{case}");
        assert!(error["message"].as_str().unwrap().len() > 20, "{case}");
        for secret in [
            NEW,
            "shall it go",
            &self.target.digest,
            self.target.nonce.expose(),
        ] {
            assert!(!ran.stderr.contains(secret), "{case}");
        }
    }

    /// After the next writer has tidied up: nothing stale, and every end is in the events, unless it was said
    /// that it could not be written.
    fn judge_events(&self, ran: &Ran, case: &str) {
        self.store
            .lock(Duration::from_secs(5))
            .unwrap()
            .sweep()
            .unwrap();
        let layout = self.store.layout();
        let names = |dir: &Path| {
            fs::read_dir(dir)
                .unwrap()
                .map(|e| e.unwrap().file_name())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&layout.tmp), [""; 0], "{case}");
        let settled = names(&layout.settled);
        assert!(
            names(&layout.pending)
                .iter()
                .all(|name| !settled.contains(name)),
            "{case}"
        );
        let log: Vec<String> = events::read(&layout.dir)
            .unwrap()
            .into_iter()
            .map(|e| e.id)
            .collect();
        for record in records(&self.store) {
            if let Some(event) = events::Event::of_settled(&record)
                && !ran.stderr.contains("an event could not be written")
            {
                assert!(
                    log.contains(&event.id),
                    "{case}: no {} in {log:?}",
                    event.id
                );
            }
        }
    }
}

/// Runs every verb with every fault that `faults` names for its calls, on as many threads as there are
/// processors.
fn hit_every_call(test: &str, faults: fn(&Call) -> Vec<Fault>) {
    if !can_inject(test) {
        return;
    }
    let next = AtomicUsize::new(0);
    let hits = AtomicUsize::new(0);
    let work = || {
        while let Some(verb) = VERBS.get(next.fetch_add(1, Ordering::SeqCst)) {
            let world = World::new(verb);
            for call in world.record() {
                for fault in faults(&call) {
                    let ran = world.inject(&call, fault);
                    world.judge(&call, fault, &ran);
                    hits.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
    };
    std::thread::scope(|threads| {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        for worker in (0..processors)
            .map(|_| threads.spawn(work))
            .collect::<Vec<_>>()
        {
            if let Err(failure) = worker.join() {
                std::panic::resume_unwind(failure);
            }
        }
    });
    println!("{test}: {} runs", hits.into_inner());
}

#[test]
fn killed_at_every_call_that_changes_something() {
    hit_every_call("killed_at_every_call_that_changes_something", |call| {
        if call.changes() {
            vec![Fault::Kill]
        } else {
            Vec::new()
        }
    });
}

#[test]
fn given_an_error_at_every_file_call() {
    hit_every_call("given_an_error_at_every_file_call", |call| {
        call.errors().into_iter().map(Fault::Error).collect()
    });
}

/// Asserts that the calls of a run hold these, in this order; each is a name and what its line must hold.
fn assert_order(verb: &str, expected: &[(&str, &str)]) {
    let verb = VERBS.iter().find(|v| v.name == verb).unwrap();
    let calls = World::new(verb).record();
    let mut rest = calls.iter();
    for (name, what) in expected {
        let found = rest.any(|call| call.name.starts_with(name) && call.line.contains(what));
        let lines: Vec<&str> = calls
            .iter()
            .filter(|c| c.changes())
            .map(|c| &*c.line)
            .collect();
        assert!(
            found,
            "{}: no {name} of {what} in its place:\n{}",
            verb.name,
            lines.join("\n")
        );
    }
}

#[test]
fn what_is_acknowledged_is_synced_first() {
    if !can_inject("what_is_acknowledged_is_synced_first") {
        return;
    }
    let in_tmp = ("fdatasync", "/interactions/tmp/");
    let settle = [
        in_tmp,
        ("renameat2", "RENAME_NOREPLACE"),
        ("fsync", "/interactions/settled>"),
        ("write", "/events.jsonl>"),
        ("unlink", "/interactions/pending/"),
    ];
    let printed = ("write", "write(1<");
    for verb in ["respond", "respond to a waiter", "cancel"] {
        assert_order(verb, &[settle.as_slice(), &[printed]].concat());
    }
    assert_order("list that expires", &settle);
    assert_order(
        "wait that expires",
        &[settle.as_slice(), &[printed]].concat(),
    );
    let create = [
        ("fcntl", "F_OFD_SETLK"),
        in_tmp,
        ("renameat2", "RENAME_NOREPLACE"),
        ("fsync", "/interactions/pending>"),
    ];
    let told = [("write", "/events.jsonl>"), printed];
    assert_order("request", &[create.as_slice(), &told].concat());
    let key = [("rename", "/interactions/keys/")];
    assert_order(
        "request under a new key",
        &[create.as_slice(), &key, &told].concat(),
    );
    assert_order(
        "request that supersedes",
        &[create.as_slice(), &key, &settle, &[printed]].concat(),
    );
    let scope = [
        ("fsync", "/shop/interactions>"),
        ("fsync", "/scopes/shop>"),
        ("fsync", "/scopes>"),
        ("fsync", "/store>"),
        ("rename", "/scope.json"),
        ("fsync", "/scopes/shop>"),
    ];
    assert_order(
        "first request",
        &[scope.as_slice(), &create, &told].concat(),
    );
    let kept = [("fdatasync", "/store/arc/"), ("fsync", "/store/arc>")];
    assert_order(
        "arc that asks",
        &[create.as_slice(), &kept, &[printed]].concat(),
    );
    for verb in ["arc that answers", "arc that withdraws"] {
        assert_order(verb, &[&kept, settle.as_slice(), &[printed]].concat());
    }
    let prune = [
        ("fsync", "/interactions/settled>"),
        ("unlink", "/interactions/pending/"),
        ("fsync", "/interactions/pending>"),
        ("unlink", ".delivered"),
        ("unlink", "/interactions/settled/"),
        printed,
    ];
    assert_order("prune", &prune);
}
