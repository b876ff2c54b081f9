//! Many processes at once: one winner, one record per key, nothing torn, nothing left behind.
//!
//! Each answerer is a process that has done everything but read its nonce; writing all the nonces is the
//! start gate. What makes the winner unique is shown by controls: the same race over a commit that
//! replaces, and over one that rewrites in place, has many winners.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sayso::fsio;
use serde_json::Value;
use tempfile::TempDir;

use crate::library;
use crate::sandbox::{Ran, Sandbox, finish, until};

const ANSWERERS: usize = 64;
const ROUNDS: usize = 50;
const WAITERS: usize = 5;

#[test]
fn sixty_four_answerers_have_one_winner() {
    let world = Sandbox::new();
    world.request(&["first of all"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| list_until(&world, &done));
        let rounds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..ROUNDS {
                answer_round(&world, round);
            }
        }));
        done.store(true, Ordering::SeqCst);
        let lists = reader.join().unwrap();
        if let Err(failure) = rounds {
            std::panic::resume_unwind(failure);
        }
        assert!(
            lists > ROUNDS,
            "only {lists} listings beside {ROUNDS} rounds"
        );
    });
    let all = world.json(&["list", "--all", "--limit", "1000"]);
    assert_eq!(all["count"], 1 + ROUNDS);
    let litter: Vec<_> = names(&world.scope())
        .into_iter()
        .filter(|name| {
            ![
                "scope.json",
                "lock",
                "pruned",
                "interactions",
                "events.jsonl",
            ]
            .contains(&&**name)
        })
        .collect();
    assert_eq!(litter, [""; 0]);
}

/// Lists everything in a loop: every envelope parses, and no record is ever corrupt or in between.
fn list_until(world: &Sandbox, done: &AtomicBool) -> usize {
    let mut lists = 0;
    while !done.load(Ordering::SeqCst) {
        let ran = world.run(["list", "--all", "--limit", "1000", "--json"]);
        assert_eq!(ran.stderr, "", "a record could not be read");
        let list = ran.data();
        for record in list["interactions"].as_array().unwrap() {
            let answered = record["status"] == "answered";
            assert!(answered || record["status"] == "pending", "{record}");
            assert_eq!(answered, record["response"].is_object(), "{record}");
        }
        lists += 1;
    }
    lists
}

fn answer_round(world: &Sandbox, round: usize) {
    let record = world.request(&[&format!("round {round}")]);
    let id = record["id"].as_str().unwrap();
    let wait = ["wait", id, "--timeout", "30", "--json"];
    let waiters: Vec<Child> = (0..WAITERS).map(|_| world.start(wait)).collect();
    let racers = (0..ANSWERERS)
        .map(|n| start_answerer(world, &record, n))
        .collect();
    let ran = open_gate(racers, record["nonce"].as_str().unwrap());

    let won: Vec<usize> = (0..ANSWERERS).filter(|n| ran[*n].code == 0).collect();
    assert_eq!(won.len(), 1, "round {round}: winners {won:?}");
    let winner = format!("answerer-{}", won[0]);
    assert_eq!(response_id(&ran[won[0]].data()), winner);
    for lost in ran.iter().filter(|r| r.code != 0) {
        let error = lost.error();
        assert_eq!(
            (&error["code"], lost.code),
            (&Value::from("already_answered"), 4)
        );
        assert!(
            error["message"].as_str().unwrap().contains(&winner),
            "{error}"
        );
    }
    for waiter in waiters {
        assert_eq!(response_id(&finish(waiter).data()), winner);
    }
    assert_eq!(response_id(&world.json(&["show", id])), winner);
    let answered: Vec<Value> = world
        .events()
        .into_iter()
        .filter(|e| e["interaction_id"] == id && e["type"] == "interaction_answered")
        .collect();
    assert_eq!(answered.len(), 1, "{answered:?}");
    assert_eq!(answered[0]["by"], *winner);
    let interactions = world.scope().join("interactions");
    assert_eq!(names(&interactions.join("tmp")), BTreeSet::new());
    assert!(!world.pending(id).exists());
}

fn start_answerer(world: &Sandbox, record: &Value, n: usize) -> Child {
    let name = format!("answerer-{n}");
    let choice = if n.is_multiple_of(2) {
        "allow-once"
    } else {
        "deny"
    };
    let mut command = world.command([
        "respond",
        record["id"].as_str().unwrap(),
        "--response-id",
        &name,
        "--by",
        &name,
        "--digest",
        record["request_digest"].as_str().unwrap(),
        "--choice",
        choice,
        "--nonce-file",
        "-",
        "--json",
    ]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until every racer sleeps in its read, then lets all of them go.
fn open_gate(mut racers: Vec<Child>, nonce: &str) -> Vec<Ran> {
    for racer in &racers {
        until("a racer at the gate", || sleeps(racer.id()).then_some(()));
    }
    let gates: Vec<_> = racers.iter_mut().map(|r| r.stdin.take().unwrap()).collect();
    for mut gate in gates {
        gate.write_all(nonce.as_bytes()).unwrap();
    }
    racers.into_iter().map(finish).collect()
}

fn sleeps(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.starts_with(" S "))
}

fn response_id(record: &Value) -> &str {
    record["response"]["response_id"].as_str().unwrap()
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Runs 200 requests, 20 at a time, and returns what each printed.
fn two_hundred_requests(world: &Sandbox, args: &[&str]) -> Vec<Value> {
    std::thread::scope(|threads| {
        let ten = || (0..10).map(|_| world.request(args)).collect::<Vec<_>>();
        let askers: Vec<_> = (0..20).map(|_| threads.spawn(ten)).collect();
        askers.into_iter().flat_map(|a| a.join().unwrap()).collect()
    })
}

fn distinct<'a>(records: &'a [Value], member: &str) -> BTreeSet<&'a str> {
    records
        .iter()
        .map(|r| r[member].as_str().unwrap())
        .collect()
}

#[test]
fn two_hundred_requests_without_a_key_are_two_hundred_questions() {
    let world = Sandbox::new();
    let records = two_hundred_requests(&world, &["the same prompt"]);
    assert_eq!(distinct(&records, "id").len(), 200);
    assert_eq!(distinct(&records, "nonce").len(), 200);
    let interactions = world.scope().join("interactions");
    assert_eq!(names(&interactions.join("pending")).len(), 200);
    assert_eq!(names(&interactions.join("tmp")), BTreeSet::new());
    assert_eq!(world.json(&["list"])["count"], 200);
    let created: BTreeSet<String> = world.events().iter().map(|e| e["id"].to_string()).collect();
    assert_eq!(created.len(), 200);
    let seq: Vec<u64> = world
        .events()
        .iter()
        .map(|e| e["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seq, (1..=200).collect::<Vec<u64>>());
    // Nobody can mean one of them without naming it.
    for args in [
        ["answer", "--allow"].as_slice(),
        &[
            "respond",
            "--response-id",
            "r1",
            "--digest",
            "d",
            "--nonce",
            "n",
            "--choice",
            "deny",
        ],
    ] {
        assert_eq!(world.run(args.iter().copied()).code, 2);
    }
    assert_eq!(world.json(&["count"])["count"], 200);
}

#[test]
fn two_hundred_requests_with_one_key_are_one_question() {
    let world = Sandbox::new();
    let records = two_hundred_requests(&world, &["the same prompt", "--key", "k"]);
    assert_eq!(distinct(&records, "id").len(), 1);
    assert_eq!(distinct(&records, "nonce").len(), 1);
    let fresh = records.iter().filter(|r| r["reused"] == false).count();
    assert_eq!(fresh, 1, "and the other 199 are told 'reused'");
    assert_eq!(world.json(&["list"])["count"], 1);
    assert_eq!(world.events().len(), 1);
}

#[test]
fn many_first_requests_make_one_scope() {
    for _ in 0..10 {
        let world = Sandbox::new();
        let asks: Vec<Child> = (0..8)
            .map(|_| world.start(["request", "hi", "--json"]))
            .collect();
        let ids: BTreeSet<String> = asks
            .into_iter()
            .map(|a| finish(a).data()["id"].to_string())
            .collect();
        assert_eq!(ids.len(), 8);
        assert_eq!(names(&world.store().join("scopes")).len(), 1);
        assert_eq!(world.json(&["list"])["count"], 8);
    }
}

#[test]
fn answers_cancellations_and_expiry_at_once_leave_one_outcome() {
    let world = Sandbox::new();
    let store = library::store(&world);
    for round in 0..100 {
        let record = library::open(&store, "which end?", Duration::from_millis(15));
        let gate = Barrier::new(12);
        let accepted = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for n in 0..12 {
                let (store, record, gate, accepted) = (&store, &record, &gate, &accepted);
                threads.spawn(move || {
                    gate.wait();
                    std::thread::park_timeout(Duration::from_micros(
                        (round * 307 + n * 911) % 17_000,
                    ));
                    match n % 3 {
                        0 => {
                            if library::respond(store, record, &format!("r{n}")).is_ok() {
                                accepted.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                        1 => drop(sayso::broker::cancel(store, &record.id, "asker")),
                        _ => store.sweep_if_free(),
                    }
                });
            }
        });
        store.lock(Duration::from_secs(1)).unwrap().sweep().unwrap();
        let record = store.must_load(&record.id).unwrap();
        let answered = record.response().is_some();
        assert_eq!(accepted.into_inner(), usize::from(answered), "{record:?}");
        assert!(!sayso::park::is_open(&record));
    }
    let mut settled: Vec<String> = world
        .events()
        .iter()
        .skip(1)
        .map(|e| e["id"].to_string())
        .collect();
    settled.retain(|id| !id.contains("created"));
    assert_eq!(settled.len(), 100, "one end of each, and one event of it");
}

/// Lets threads race for one name, without any lock; how many believed that they had won.
fn winners(round: usize, dir: &Path, commit: impl Fn(&Path, usize) -> bool + Sync) -> usize {
    let path = dir.join(format!("{round}.json"));
    let gate = Barrier::new(ANSWERERS);
    let won = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for racer in 0..ANSWERERS {
            let (path, gate, won, commit) = (&path, &gate, &won, &commit);
            threads.spawn(move || {
                gate.wait();
                if commit(path, racer) {
                    won.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    won.into_inner()
}

#[test]
fn the_commit_has_one_winner_without_any_lock() {
    let dir = TempDir::new().unwrap();
    for round in 0..10 {
        let won = winners(round, dir.path(), |path, racer| {
            let temp = fsio::write_temp(dir.path(), racer.to_string().as_bytes()).unwrap();
            fsio::commit_new(temp, path).is_ok()
        });
        assert_eq!(won, 1);
    }
}

/// A commit without what makes the winner unique must be caught by the same race.
fn assert_has_many_winners(dir: &Path, commit: impl Fn(&Path, usize) -> bool + Sync) {
    let caught = (0..200).any(|round| winners(round, dir, &commit) > 1);
    assert!(caught, "this race shows nothing");
}

#[test]
fn control_a_commit_that_replaces_has_many_winners() {
    let dir = TempDir::new().unwrap();
    assert_has_many_winners(dir.path(), |path, racer| {
        let free = !path.exists();
        let temp = fsio::write_temp(dir.path(), racer.to_string().as_bytes()).unwrap();
        free && fsio::replace(temp, path).is_ok()
    });
}

#[test]
fn control_rewriting_in_place_has_many_winners() {
    let dir = TempDir::new().unwrap();
    assert_has_many_winners(dir.path(), |path, racer| {
        let settled = fs::read_to_string(path).unwrap_or_default();
        std::thread::yield_now();
        settled.is_empty() && fs::write(path, racer.to_string()).is_ok()
    });
}
