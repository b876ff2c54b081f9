//! A poll that is killed at every call that changes something, here or at the Relay, and one that is given
//! an error at every file call: each answer is applied exactly once, the cursor is never lost and never
//! past a page that was not processed, and the next poll finishes what was begun.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use sayso::events;
use sayso::model::interaction::Status;
use sayso::store::Store;
use serde_json::{Value, json};

use crate::crash::trace::{self, Call, Fault, can_inject, copy};
use crate::fake_relay::{Endpoint, FakeRelay};
use crate::library;
use crate::relayed::Relayed;
use crate::sandbox::{Ran, Sandbox, text};

/// The calls that reach a Relay.
const WIRE: &str = "?socket,?connect,?sendto,?sendmsg,?recvfrom";

/// What the killed process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    /// Fetches two pages with an answer each that applies, and one each that does not.
    Answers,
    /// Polls for the first time, and sends a question that a crash left without an entry.
    Outbox,
    /// Opens a question that goes out.
    Request,
}

/// A store that is copied afresh for every run, and the Relay that it speaks to.
struct World {
    scene: Scene,
    r: Relayed,
    store: Store,
    /// Two that are answered, one whose answer is refused, and a bystander.
    questions: Vec<Value>,
}

impl World {
    fn new(scene: Scene) -> Self {
        let r = Relayed::of(Sandbox::in_memory(), crate::relayed::EVERYTHING);
        r.relay.state().page = 2;
        let store = library::store(&r.world);
        let questions = match scene {
            Scene::Answers => ["One?", "Two?", "Refused?", "Bystander?"]
                .map(|prompt| r.world.request(&[prompt]))
                .to_vec(),
            Scene::Outbox => {
                r.world.run(["count"]);
                let lifetime = std::time::Duration::from_secs(600);
                let record = library::open(&store, "Left?", lifetime);
                vec![r.world.get(record.id.as_str())]
            }
            Scene::Request => Vec::new(),
        };
        if scene == Scene::Answers {
            r.poll();
            let answer = |n: usize| {
                r.relay
                    .answer_to(&questions[n], &format!("r{n}"), ("choice_id", "deny"))
            };
            let mut refused = answer(2);
            refused["nonce"] = "another".into();
            for item in [answer(0), Value::Null, refused, answer(1)] {
                r.relay.put(item);
            }
        }
        fs::write(store.layout().pruned(), "").unwrap_or_default();
        let world = Self {
            scene,
            r,
            store,
            questions,
        };
        copy(&world.r.world.store(), &world.template());
        world
    }

    fn template(&self) -> std::path::PathBuf {
        self.r.world.path().join("template")
    }

    fn relay(&self) -> &FakeRelay {
        &self.r.relay
    }

    fn reset(&self) {
        let _ = fs::remove_dir_all(self.r.world.store());
        copy(&self.template(), &self.r.world.store());
    }

    fn args(&self) -> Vec<String> {
        let args: &[&str] = match self.scene {
            Scene::Answers | Scene::Outbox => &["relay", "poll", "--json"],
            Scene::Request => &["request", "New?", "--json"],
        };
        args.iter().map(|a| (*a).to_owned()).collect()
    }

    /// The calls of a run without a fault.
    fn record(&self) -> Vec<Call> {
        self.reset();
        let file = self.r.world.path().join("trace");
        let what = format!("trace={},{WIRE}", trace::CALLS);
        let options = ["-y", "-e", &what, "-o", file.to_str().unwrap()];
        let ran = trace::run(&self.r.world, &options, &self.args());
        assert_eq!(ran.code, 0, "{:?}: {ran:?}", self.scene);
        assert!(self.is_done(), "{:?}: {ran:?}", self.scene);
        let calls = trace::calls(&fs::read_to_string(file).unwrap(), &self.r.world.path());
        let changes = calls.iter().filter(|call| call.changes()).count();
        assert!(changes > 10, "{calls:?}");
        calls
    }

    fn inject(&self, call: &Call, fault: Fault) -> Ran {
        self.reset();
        let [what, injection] = trace::injection(call, fault);
        let options = ["-e", &what, "-e", &injection, "-o", "/dev/null"];
        trace::run(&self.r.world, &options, &self.args())
    }

    fn status(&self, n: usize) -> Status {
        let id = library::id(&self.questions[n]);
        self.store.must_load(&id).unwrap().status()
    }

    /// How many items are behind the cursor.
    fn behind(&self) -> usize {
        let file = self.r.dir().join("cursor.json");
        let Ok(bytes) = fs::read(file) else {
            return 0;
        };
        let file: Value = serde_json::from_slice(&bytes).expect("the cursor's file is whole");
        let cursor = text(&file, "cursor").to_owned();
        let known = (0..=4).find(|n| self.relay().cursor(*n) == cursor);
        known
            .or_else(|| cursor.is_empty().then_some(0))
            .expect("a cursor of this Relay")
    }

    /// The questions whose entry is at a stage.
    fn at(&self, stage: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.r.dir().join("outbox")) else {
            return Vec::new();
        };
        let read = |path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
        let entries = entries.map(|e| read(e.unwrap().path()));
        let found = entries.filter(|e| e["stage"] == stage);
        found
            .map(|e| text(&e, "interaction_id").to_owned())
            .collect()
    }

    fn pending(&self) -> Vec<String> {
        let names = fs::read_dir(self.store.layout().dir.join("interactions/pending"));
        let names = names.into_iter().flatten().map(|e| e.unwrap().file_name());
        names
            .map(|n| n.to_str().unwrap().trim_end_matches(".json").to_owned())
            .collect()
    }

    fn is_done(&self) -> bool {
        match self.scene {
            Scene::Answers => {
                self.behind() == 4 && [0, 1].map(|n| self.status(n)) == [Status::Answered; 2]
            }
            Scene::Outbox => self.at("sent") == [text(&self.questions[0], "id")],
            Scene::Request => self.pending().len() == 1 && self.at("sent") == self.pending(),
        }
    }

    /// What must hold after any fault, and after the next poll.
    fn judge(&self, call: &Call, fault: Fault, ran: &Ran) {
        let case = format!(
            "{:?} with {fault:?} at {} {}: {} — {ran:?}",
            self.scene, call.name, call.nth, call.line
        );
        self.judge_exit(call, fault, ran, &case);
        let behind = self.behind();
        let settled = |n: usize| {
            let id = library::id(&self.questions[n]);
            fs::read(self.store.layout().settled_file(&id)).ok()
        };
        let mut before = Vec::new();
        if self.scene == Scene::Answers {
            // The cursor is never past what was not processed.
            assert!(behind < 2 || settled(0).is_some(), "{case}");
            assert!(behind < 4 || settled(1).is_some(), "{case}");
            before = vec![settled(0), settled(1)];
        }
        let mut again = self.r.world.run(["relay", "poll", "--json"]);
        if self.scene == Scene::Request && !ran.stdout.is_empty() {
            let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
            self.r.world.get(text(&envelope["data"], "id"));
        }
        if !self.at("due").is_empty() {
            // A failure was noted, and its time is not there yet.
            self.make_due();
            again = self.r.world.run(["relay", "poll", "--json"]);
        }
        let told = again.data();
        assert!(told[0].get("error").is_none(), "{case}; then {again:?}");
        match self.scene {
            Scene::Answers => self.judge_answers(&before, ran, &case),
            Scene::Outbox => assert!(self.is_done(), "{case}; then {again:?}"),
            Scene::Request => {
                let open = self.pending().len();
                assert_eq!(self.at("sent").len(), open, "{case}; then {again:?}");
                assert!(open <= 1, "{case}");
            }
        }
        // All of it is behind us: nothing is fetched or sent any more.
        let envelopes = self.relay().requests(Endpoint::Envelopes).len();
        assert_eq!(self.r.polled()["fetched"], json!(0), "{case}");
        assert_eq!(
            self.relay().requests(Endpoint::Envelopes).len(),
            envelopes,
            "{case}"
        );
    }

    fn judge_exit(&self, call: &Call, fault: Fault, ran: &Ran, case: &str) {
        if fault == Fault::Kill {
            assert_eq!(ran.code, 128 + 9, "the call never came: {case}");
            let told = !ran.stdout.is_empty() && self.scene == Scene::Answers;
            assert!(
                !told || self.is_done(),
                "acknowledged, but not there: {case}"
            );
            return;
        }
        if ran.code != 0 {
            assert!(fault != Fault::Error("EINTR"), "{case}");
            assert!([2, 7].contains(&ran.code), "{case}");
            assert!(!ran.stderr.contains("panicked"), "{case}");
            return;
        }
        // What concerns the outbox is told by `relay status` and tried again; the rest is acknowledged.
        if self.scene == Scene::Answers {
            assert!(self.is_done(), "acknowledged, but not there: {case}");
            let synced = !call.commits() || fault == Fault::Error("EINTR");
            assert!(
                synced || call.line.contains("/outbox"),
                "acknowledged, but not on disk: {case}"
            );
        }
    }

    fn judge_answers(&self, before: &[Option<Vec<u8>>], ran: &Ran, case: &str) {
        assert!(self.is_done(), "{case}");
        assert_eq!(
            [2, 3].map(|n| self.status(n)),
            [Status::Pending; 2],
            "{case}"
        );
        let log = events::read(&self.store.layout().dir).unwrap();
        for n in 0..2 {
            let id = library::id(&self.questions[n]);
            let bytes = fs::read(self.store.layout().settled_file(&id)).unwrap();
            if let Some(before) = &before[n] {
                assert_eq!(before, &bytes, "{case}: rewritten");
            }
            let record: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(record["response"]["response_id"], format!("r{n}"), "{case}");
            let event = format!("{id}:interaction_answered");
            let said = ran.stderr.contains("an event could not be written");
            let there = log.iter().any(|e| e.id == event);
            assert!(said || there, "{case}: no {event}");
        }
    }

    fn make_due(&self) {
        for entry in fs::read_dir(self.r.dir().join("outbox")).unwrap() {
            let path = entry.unwrap().path();
            let mut entry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            if entry["stage"] == "due" {
                entry["due_at"] = "2020-01-01T00:00:00.000000Z".into();
                fs::write(&path, entry.to_string()).unwrap();
            }
        }
    }
}

/// Runs every scene with every fault that `faults` names for its calls.
fn hit_every_call(test: &str, faults: fn(&Call) -> Vec<Fault>) {
    if !can_inject(test) {
        return;
    }
    let hits = AtomicUsize::new(0);
    let hit = |scene: Scene| {
        let world = World::new(scene);
        for call in world.record() {
            for fault in faults(&call) {
                let ran = world.inject(&call, fault);
                world.judge(&call, fault, &ran);
                hits.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    std::thread::scope(|threads| {
        let first = threads.spawn(|| hit(Scene::Answers));
        hit(Scene::Outbox);
        hit(Scene::Request);
        if let Err(failure) = first.join() {
            std::panic::resume_unwind(failure);
        }
    });
    println!("{test}: {} runs", hits.into_inner());
}

#[test]
fn a_poll_killed_at_every_call_that_changes_something() {
    hit_every_call(
        "a_poll_killed_at_every_call_that_changes_something",
        |call| {
            if call.changes() {
                vec![Fault::Kill]
            } else {
                Vec::new()
            }
        },
    );
}

#[test]
fn a_poll_given_an_error_at_every_file_call() {
    hit_every_call("a_poll_given_an_error_at_every_file_call", |call| {
        call.errors().into_iter().map(Fault::Error).collect()
    });
}
