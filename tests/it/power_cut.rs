//! The power is cut before every call that changes the disk, and right after the exit: what was
//! acknowledged is there, every record is whole, no other one is affected, and the same command succeeds.
//!
//! The whole world is on an ext4 file system in a file (`disk`). A run is killed at a call, and the file is
//! copied as it is then, without what is only in memory; the copy is what is found when the power is back.

use std::sync::atomic::{AtomicUsize, Ordering};

use sayso::events;

use crate::crash::in_parallel;
use crate::crash::trace::{Call, Fault, can_inject};
use crate::crash::verbs::{self, Verb};
use crate::crash::world::World;
use crate::sandbox::{Ran, Sandbox, skip};

mod disk;

use disk::Disk;

const VERBS: [&str; 7] = [
    "request that supersedes",
    "first request",
    "respond",
    "request under a new key",
    "prune",
    "cancel",
    "respond again to one half settled",
];

/// What has reached the disk besides what the run has synced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Nothing,
    /// The names, but not what is in files that were not synced: someone else has synced something.
    Names,
}

#[test]
fn cut_at_every_call_that_changes_the_disk() {
    let test = "the power cut at every call that changes the disk";
    if !can_inject(test) {
        return;
    }
    if let Err(why) = Disk::new("probe") {
        skip(test, &why);
        return;
    }
    let cuts = AtomicUsize::new(0);
    in_parallel(&VERBS, |name| {
        let disk = Disk::new("before").unwrap();
        cuts.fetch_add(cut_everywhere(&disk, verbs::named(name)), Ordering::SeqCst);
    });
    println!("{} cuts", cuts.into_inner());
}

/// Returns how many cuts there were.
fn cut_everywhere(disk: &Disk, verb: &Verb) -> usize {
    let world = {
        let _mounted = disk.mount("before").unwrap();
        World::on(Sandbox::new_in(&disk.place()), verb)
    };
    let calls = {
        disk.copy("before", "live");
        let _mounted = disk.mount("live").unwrap();
        world.record()
    };
    let calls: Vec<_> = calls.into_iter().filter(reaches_the_disk).collect();
    let mut cuts = 0;
    for call in calls.iter().map(Some).chain([None]) {
        cuts += cut_before(disk, &world, call, Luck::Nothing);
        cuts += cut_before(disk, &world, call, Luck::Names);
    }
    cuts
}

/// Locks are in memory; a write to the output is there because what comes before it differs.
fn reaches_the_disk(call: &Call) -> bool {
    call.changes() && !call.name.starts_with("fcntl") && call.name != "flock"
}

/// Cuts before a call of a run, or after the run; and again, with more luck for the process than for the
/// disk, after the same command has been repeated.
fn cut_before(disk: &Disk, world: &World, call: Option<&Call>, luck: Luck) -> usize {
    disk.copy("before", "live");
    let mounted = disk.mount("live").unwrap();
    let ran = match call {
        Some(call) => world.inject(call, Fault::Kill),
        None => world.plain(),
    };
    if luck == Luck::Names {
        mounted.sync_names();
    }
    disk.copy("live", "cut");
    let repeated = call.map(|_| world.plain());
    if luck == Luck::Names {
        mounted.sync_names();
    }
    disk.copy("live", "later");
    drop(mounted);
    let place = call.map_or("its exit", |call| &call.line);
    let case = format!("{}, cut at {place} ({luck:?})", world.verb.name);
    judge(disk, world, "cut", &ran, &case);
    match repeated {
        Some(repeated) => {
            assert_eq!(repeated.code, world.verb.exit, "{case}: {repeated:?}");
            judge(
                disk,
                world,
                "later",
                &repeated,
                &format!("{case}, repeated"),
            );
            2
        }
        None => {
            assert_eq!(ran.code, world.verb.exit, "{case}: {ran:?}");
            1
        }
    }
}

/// What must hold when the power is back.
fn judge(disk: &Disk, world: &World, image: &str, ran: &Ran, case: &str) {
    let _mounted = disk.mount(image).unwrap();
    let case = format!("{case}: {ran:?}");
    let effect = world.effect(&case);
    world.judge_promise(ran, effect, &case);
    world.judge_others(&case);
    judge_events(world, &case);
    world.judge_again(&case);
    world.judge_events(ran, &case);
}

fn judge_events(world: &World, case: &str) {
    let events = events::read(&world.store.layout().dir).unwrap();
    assert!(
        events.windows(2).all(|two| two[0].seq < two[1].seq),
        "{case}: {events:?}"
    );
}
