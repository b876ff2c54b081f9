//! Killed at every call that changes something, and given an error at every file call: the store stays
//! readable, no other record is affected, nothing that was acknowledged is lost, and the same command
//! again succeeds.
//!
//! A recording says which calls a run makes once it has looked at this world; each of them is then hit in
//! a run of its own, on a fresh copy of the same store, by `strace --inject`.
use std::sync::atomic::{AtomicUsize, Ordering};

pub mod trace;
pub mod verbs;
pub mod world;

use trace::{Call, Fault, can_inject};
use verbs::VERBS;
use world::World;

/// Does something with each of these, on as many threads as there are processors.
pub fn in_parallel<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
            work(one);
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
}

/// Runs every verb with every fault that `faults` names for its calls.
fn hit_every_call(test: &str, faults: fn(&Call) -> Vec<Fault>) {
    if !can_inject(test) {
        return;
    }
    let hits = AtomicUsize::new(0);
    in_parallel(&VERBS, |verb| {
        let world = World::new(verb);
        world.reset();
        for call in world.record() {
            for fault in faults(&call) {
                world.reset();
                let ran = world.inject(&call, fault);
                world.judge(&call, fault, &ran);
                hits.fetch_add(1, Ordering::SeqCst);
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
    let verb = verbs::named(verb);
    let world = World::new(verb);
    world.reset();
    let calls = world.record();
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
        in_tmp,
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
        ("fsync", "/interactions/settled>"),
        printed,
    ];
    assert_order("prune", &prune);
}
