//! What many waiters cost while others are answered, and how soon all of them are gone.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use sayso::model::interaction::Interaction;

use crate::figure::{Figure, millis};
use crate::world::{World, private_dirty, until, watches};

const WAITERS: usize = 1000;
const UNRELATED: usize = 50;

pub(crate) fn figures() -> Vec<Figure> {
    let world = World::new();
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap_or_default();
    let limit: usize = limit.trim().parse().unwrap_or(0);
    let count = WAITERS.min(limit.saturating_sub(28));
    let mut waiters = Vec::new();
    for _ in 0..count {
        let record = world.open();
        let child = world.start_waiter(&record);
        waiters.push((record, child));
    }
    for (_, waiter) in &waiters {
        until("a waiter's watch", || watches(waiter.id()));
    }
    let others: Vec<Interaction> = (0..UNRELATED).map(|_| world.open()).collect();
    std::thread::park_timeout(Duration::from_secs(2));
    let before = wakes(&waiters);
    for other in &others {
        world.answer(other);
    }
    let woken = wakes(&waiters) - before;
    let note = match count {
        WAITERS => format!("{UNRELATED} answers, {count} waiters"),
        _ => format!("only {count} waiters: max_user_instances is {limit}"),
    };
    let memory = median_memory(&waiters);
    for (record, _) in &waiters {
        world.answer(record);
    }
    let last = Instant::now();
    for (_, waiter) in &mut waiters {
        assert!(waiter.wait().unwrap().success());
    }
    let gone = last.elapsed();
    vec![
        Figure::new(
            "waiters woken by unrelated answers",
            woken as f64,
            0.0,
            note.clone(),
        ),
        Figure::new(
            "a waiter's private dirty memory (KiB)",
            memory as f64,
            512.0,
            "median",
        ),
        Figure::new(
            "last answer → all waiters gone (s)",
            gone.as_secs_f64(),
            1.0,
            format!("{}; {note}", millis(gone)),
        ),
    ]
}

/// How often the threads that listen to file events have slept; the main threads tick once a second.
fn wakes(waiters: &[(Interaction, Child)]) -> u64 {
    let switches = |status: String| -> Option<u64> {
        let line = status
            .lines()
            .find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    };
    let listeners = |pid: u32| {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let others = threads
            .map(|t| t.unwrap())
            .filter(move |t| t.file_name().to_string_lossy() != pid.to_string());
        others
            .map(|t| switches(fs::read_to_string(t.path().join("status")).unwrap()).unwrap())
            .sum::<u64>()
    };
    waiters.iter().map(|(_, w)| listeners(w.id())).sum()
}

fn median_memory(waiters: &[(Interaction, Child)]) -> u64 {
    let mut each: Vec<u64> = waiters.iter().map(|(_, w)| private_dirty(w.id())).collect();
    each.sort_unstable();
    each.get(each.len() / 2).copied().unwrap_or(0)
}
