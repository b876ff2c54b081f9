//! The power is cut before every call that changes the disk, and right after the exit: what was
//! acknowledged is there, every record is whole, no other one is affected, and the same command succeeds.
//!
//! The whole world is on an ext4 file system in a file (`disk`). A run is killed at a call, and the file is
//! copied as it is then, without what is only in memory; the copy is what is found when the power is back.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use sayso::events;
use serde_json::Value;

use crate::crash::in_parallel;
use crate::crash::trace::{Call, Fault, can_inject};
use crate::crash::verbs::{self, Verb};
use crate::crash::world::World;
use crate::sandbox::{Ran, Sandbox, skip};

mod disk;

use disk::Disk;

const VERBS: [&str; 10] = [
    "request that supersedes",
    "first request",
    "respond",
    "request under a new key",
    "prune",
    "cancel",
    "arc that asks",
    "arc that answers",
    "ask that gives up",
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
        for luck in [Luck::Nothing, Luck::Names] {
            let run = Run {
                disk,
                world: &world,
                call,
                luck,
            };
            cuts += run.cut();
        }
    }
    cuts
}

/// Locks are in memory; a write to the output is there because what comes before it differs.
fn reaches_the_disk(call: &Call) -> bool {
    call.changes() && !call.name.starts_with("fcntl") && call.name != "flock"
}

/// One run, and where it ends: before a call, or at its exit.
struct Run<'a> {
    disk: &'a Disk,
    world: &'a World<'a>,
    call: Option<&'a Call>,
    luck: Luck,
}

impl Run<'_> {
    /// Cuts where the run ends, and if that was early, also after the same command has been given again
    /// without a cut in between. Returns how many cuts there were.
    fn cut(&self) -> usize {
        self.disk.copy("before", "live");
        let mounted = self.disk.mount("live").unwrap();
        let power_off = |image: &str| {
            if self.luck == Luck::Names {
                mounted.sync_names();
            }
            self.disk.copy("live", image);
        };
        let Some(call) = self.call else {
            let ran = self.world.plain();
            power_off("cut");
            drop(mounted);
            self.judge("cut", &ran);
            return 1;
        };
        let ran = self.world.inject(call, Fault::Kill);
        power_off("cut");
        let repeated = self.world.plain();
        power_off("repeated");
        drop(mounted);
        self.judge("cut", &ran);
        self.judge("repeated", &repeated);
        2
    }

    /// What must hold when the power is back.
    fn judge(&self, image: &str, ran: &Ran) {
        let _mounted = self.disk.mount(image).unwrap();
        let world = self.world;
        let place = self.call.map_or("its exit", |call| &call.line);
        let (verb, luck) = (world.verb.name, self.luck);
        let case = format!("{verb}: {image} at {place}, {luck:?} more on disk: {ran:?}");
        let killed = image == "cut" && self.call.is_some();
        assert_eq!(
            ran.code,
            if killed { 137 } else { world.verb.exit },
            "{case}"
        );
        let effect = world.effect(&case);
        // A prune that finds nothing promises nothing of what one before it was removing.
        if !ran.stdout.contains("\"count\":0") {
            world.judge_promise(ran, effect, &case);
        }
        world.judge_others(&case);
        self.judge_events(&case);
        world.judge_again(&case);
        world.judge_tidy(&case);
        self.judge_events(&case);
        let scope = fs::read(world.store.layout().scope_file()).unwrap();
        let scope = serde_json::from_slice::<Value>(&scope);
        assert!(scope.is_ok(), "{case}: {scope:?}");
    }

    /// The events are readable, and numbered without a gap. The last lines may be lost: they are not synced,
    /// and no state is read from them.
    fn judge_events(&self, case: &str) {
        let events = events::read(&self.world.store.layout().dir).unwrap();
        let in_order = events.windows(2).all(|two| two[0].seq + 1 == two[1].seq);
        assert!(in_order, "{case}: {events:?}");
    }
}
