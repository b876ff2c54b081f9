//! Waiting: no wake is lost, whoever waits learns of every end, and giving up takes nothing from others.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sayso::broker;
use sayso::interrupt::Interrupts;
use sayso::model::interaction::{Interaction, Status};
use sayso::park::{self, Ended, Output, Wait};
use sayso::store::Store;
use sayso::time::Time;
use sayso::watch::{TICK, Watch};
use serde_json::Value;

use crate::library;
use crate::sandbox::{Sandbox, finish, has, until};

/// Held by the tests that need inotify instances, or use all of them up.
static INSTANCES: Mutex<()> = Mutex::new(());

/// What ends a wait in this process: nothing but its question.
fn interrupts() -> &'static Interrupts {
    static LISTENING: OnceLock<Interrupts> = OnceLock::new();
    LISTENING.get_or_init(|| {
        let interrupts = Interrupts::listen().unwrap();
        // So that Ctrl-C still ends the tests.
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let always = Arc::new(AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal as i32, always).unwrap();
        }
        interrupts
    })
}

fn wait_for(store: &Store, record: &Interaction, budget: Duration) -> Ended {
    let wait = Wait::new(store, record, Some(budget), interrupts(), Output::Ignored);
    wait.unwrap().run().unwrap()
}

fn settled(ended: Ended) -> Interaction {
    match ended {
        Ended::Settled(record) => *record,
        other => panic!("{other:?}"),
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// Waits until a process has opened the question that it waits for.
fn await_lease(child: &Child, id: &str) {
    let fds = format!("/proc/{}/fd", child.id());
    let holds = |fd: std::io::Result<fs::DirEntry>| {
        let target = fs::read_link(fd.ok()?.path()).ok()?;
        target
            .to_string_lossy()
            .ends_with(&format!("/{id}.json"))
            .then_some(())
    };
    until("a waiter", || fs::read_dir(&fds).ok()?.find_map(holds));
}

/// Different moments up to `most`, without a pattern that the scheduler could follow.
fn moment(round: u64, most: Duration) -> Duration {
    let mixed = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    most * u32::try_from(mixed % 1000).unwrap() / 1000
}

fn spin(span: Duration) {
    let start = Instant::now();
    while start.elapsed() < span {
        std::hint::spin_loop();
    }
}

#[test]
fn no_wake_is_lost_between_arming_and_checking() {
    const ROUNDS: u64 = 2000;
    let _instances = INSTANCES.lock();
    let world = Sandbox::in_memory();
    let store = library::store(&world);
    let mut delays = Vec::new();
    for round in 0..ROUNDS {
        let record = library::open(&store, "now?", Duration::from_secs(600));
        let gate = Barrier::new(2);
        std::thread::scope(|threads| {
            let waiter = threads.spawn(|| {
                gate.wait();
                let ended = wait_for(&store, &record, Duration::from_secs(20));
                (Instant::now(), settled(ended))
            });
            gate.wait();
            spin(moment(round, Duration::from_micros(800)));
            library::respond(&store, &record, "r").unwrap();
            let answered = Instant::now();
            let (woken, seen) = waiter.join().unwrap();
            assert_eq!(seen.response().unwrap().response_id, "r");
            delays.push(woken.saturating_duration_since(answered));
        });
    }
    // The tick of a second hides a lost wake from everyone but the clock.
    let lost = delays.iter().filter(|d| **d > TICK * 7 / 10).count();
    delays.sort();
    println!(
        "woken after {:?} (median), {:?} (worst)",
        delays[delays.len() / 2],
        delays.last()
    );
    assert_eq!(lost, 0, "of {ROUNDS}");
}

#[test]
fn control_arming_after_the_check_loses_the_wake() {
    let _instances = INSTANCES.lock();
    let world = Sandbox::in_memory();
    let slept = |arm_first: bool| {
        let path = world.path().join("question");
        fs::write(&path, "").unwrap();
        let mut watch = Watch::new().unwrap();
        assert!(!watch.is_polling());
        if arm_first {
            watch.arm(&path);
        }
        assert!(path.exists());
        fs::remove_file(&path).unwrap();
        if !arm_first {
            watch.arm(&path);
        }
        let start = Instant::now();
        watch.sleep(TICK, None, &[]).unwrap();
        start.elapsed()
    };
    assert!(slept(true) < TICK * 7 / 10);
    assert!(slept(false) >= TICK * 9 / 10);
}

#[test]
fn asks_and_answers_in_quick_pairs_are_all_delivered() {
    let world = Sandbox::new();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for round in 0..15 {
                    let ask = world.start([
                        "ask",
                        "ready?",
                        "--json",
                        "--task",
                        &format!("{round}-{:?}", std::thread::current().id()),
                    ]);
                    let task = format!("{round}-{:?}", std::thread::current().id());
                    let asked = until("the question", || {
                        let list = world.json(&["list", "--task", &task]);
                        list["interactions"].as_array()?.first().cloned()
                    });
                    let id = asked["id"].as_str().unwrap();
                    assert_eq!(asked["waiting"], "yes");
                    let answered = world.json(&["answer", id, "--allow"]);
                    assert_eq!(answered["delivery_state"], "delivered");
                    assert_eq!(finish(ask).data()["status"], "answered");
                }
            });
        }
    });
}

#[test]
fn two_hundred_waiters_of_one_user_are_all_woken() {
    const WAITERS: usize = 200;
    let _instances = INSTANCES.lock();
    let world = Sandbox::new();
    let record = world.request(&["all of you?"]);
    let id = record["id"].as_str().unwrap();
    let waiters: Vec<Child> = (0..WAITERS)
        .map(|_| world.start(["wait", id, "--timeout", "60", "--json", "-v"]))
        .collect();
    for waiter in &waiters {
        await_lease(waiter, id);
    }
    assert_eq!(world.respond(&record, "r", &["--choice", "deny"]).code, 0);
    let answered = Instant::now();
    let mut polled = 0;
    for waiter in waiters {
        let ran = finish(waiter);
        assert_eq!(ran.data()["response"]["response_id"], "r");
        let told = ran.stderr.matches("no file watch").count();
        assert!(told <= 1, "{ran:?}");
        polled += told;
    }
    println!(
        "{polled} of {WAITERS} polled; all gone after {:?}",
        answered.elapsed()
    );
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    assert!(
        polled >= WAITERS.saturating_sub(limit),
        "{polled} polled, {limit} may watch"
    );
}

#[test]
fn a_deadline_during_a_wait_is_stored_and_ends_every_wait() {
    let world = Sandbox::new();
    let record = library::open(
        &library::store(&world),
        "soon over?",
        Duration::from_secs(2),
    );
    let id = record.id.as_str();
    let waiters: Vec<Child> = (0..8)
        .map(|_| world.start(["wait", id, "--timeout", "20", "--json"]))
        .collect();
    for waiter in waiters {
        assert_eq!(finish(waiter).data()["status"], "expired");
    }
    let late = Time::now().since(record.expires_at.unwrap());
    assert!(late < Duration::from_secs(5), "{late:?} late");
    assert!(world.settled(id).exists() && !world.pending(id).exists());
    let expired = world
        .events()
        .iter()
        .filter(|e| e["type"] == "interaction_expired")
        .count();
    assert_eq!(expired, 1);
}

#[test]
fn whoever_expires_a_question_wakes_the_others() {
    let world = Sandbox::new();
    let store = library::store(&world);
    // The waiter's own clock has not come to the deadline that it knows.
    let stored = library::open(&store, "over?", Duration::from_millis(1));
    let mut known = stored.clone();
    known.expires_at = Some(stored.created_at.plus(Duration::from_secs(600)));
    let record = std::thread::scope(|threads| {
        let waiter = threads.spawn(|| settled(wait_for(&store, &known, Duration::from_secs(20))));
        // A listing settles it only where the lock is free at once.
        until("the sweep", || {
            assert_eq!(world.json(&["list"])["count"], 0);
            world.settled(stored.id.as_str()).exists().then_some(())
        });
        waiter.join().unwrap()
    });
    assert_eq!(record.status(), Status::Expired);
}

#[test]
fn an_answer_at_the_deadline_is_never_overwritten() {
    let world = Sandbox::in_memory();
    let store = &library::store(&world);
    let life = Duration::from_millis(12);
    let (mut answered, mut expired) = (0, 0);
    for round in 0..300 {
        let record = library::open(store, "just in time?", life);
        let accepted = std::thread::scope(|threads| {
            let waiter =
                threads.spawn(|| settled(wait_for(store, &record, Duration::from_secs(20))));
            let deadline = record.expires_at.unwrap();
            let sweeper = threads.spawn(move || {
                spin(deadline.since(Time::now()));
                store.sweep_if_free();
            });
            let early = Duration::from_millis(5);
            let at = deadline.minus(early).plus(moment(round, early * 6 / 5));
            spin(at.since(Time::now()));
            let accepted = library::respond(store, &record, "r");
            sweeper.join().unwrap();
            let seen = waiter.join().unwrap();
            assert_eq!(seen, store.must_load(&record.id).unwrap());
            accepted
        });
        let stored = store.must_load(&record.id).unwrap();
        match accepted {
            Ok(accepted) => {
                assert_eq!(stored, accepted);
                assert!(stored.updated_at() <= stored.expires_at.unwrap());
                answered += 1;
            }
            Err(error) => {
                assert_eq!(error.code.name(), "not_pending");
                assert_eq!(stored.status(), Status::Expired);
                expired += 1;
            }
        }
    }
    println!("{answered} answered, {expired} expired");
    assert!(
        answered > 10 && expired > 10,
        "{answered} answered, {expired} expired"
    );
}

#[test]
fn an_answer_beside_a_withdrawal_is_used_or_refused() {
    let world = Sandbox::in_memory();
    let store = library::store(&world);
    let (mut answered, mut withdrawn) = (0, 0);
    for round in 0..300 {
        let record = library::open(&store, "still there?", Duration::from_secs(600));
        let lease = store.lease(&record.id);
        let gate = Barrier::new(2);
        let (seen, accepted) = std::thread::scope(|threads| {
            let asker = threads.spawn(|| {
                gate.wait();
                // On a crowded machine its 300 ms may run out; then it has withdrawn nothing.
                park::withdraw(&store, &record, lease).ok()
            });
            gate.wait();
            spin(moment(round, Duration::from_micros(200)));
            let accepted = library::respond(&store, &record, "r").is_ok();
            (asker.join().unwrap(), accepted)
        });
        let Some(seen) = seen else {
            continue;
        };
        assert_eq!(seen, store.must_load(&record.id).unwrap());
        let expected = if accepted {
            Status::Answered
        } else {
            Status::Cancelled
        };
        assert_eq!(seen.status(), expected);
        *(if accepted {
            &mut answered
        } else {
            &mut withdrawn
        }) += 1;
    }
    assert!(
        answered > 0 && withdrawn > 0,
        "{answered} answered, {withdrawn} withdrawn"
    );
}

#[test]
fn a_new_question_under_the_key_wakes_who_waits_for_the_old_one() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "Deploy to prod?", "--key", "k2", "--json"]);
    let old = world.await_pending();
    let new = world.request(&["Wipe the database?", "--key", "k2"]);
    assert_ne!(old["id"], new["id"]);
    let asked = finish(ask);
    assert_eq!(asked.code, 11);
    let envelope: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(envelope["data"]["status"], "superseded");
    assert_eq!(world.json(&["list"])["count"], 1);
    let late = world.error(&["answer", old["id"].as_str().unwrap(), "--allow"]);
    assert_eq!(late["exit_code"], 5);
}

#[test]
fn waiting_for_what_is_settled_or_unknown_ends_at_once() {
    let world = Sandbox::new();
    let record = world.request(&["done?"]);
    let id = record["id"].as_str().unwrap();
    assert_eq!(world.respond(&record, "r", &["--choice", "deny"]).code, 0);
    let start = Instant::now();
    assert_eq!(world.json(&["wait", id])["status"], "answered");
    assert_eq!(world.run(["wait", id, "--exit-status"]).code, 10);
    assert_eq!(world.run(["wait", &"0".repeat(32)]).code, 3);
    assert_eq!(world.run(["wait", "zero"]).code, 2);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_wait_has_a_budget_of_one_to_three_hundred_seconds() {
    let world = Sandbox::new();
    let record = world.request(&["patience?"]);
    let id = record["id"].as_str().unwrap();
    let long: Vec<Child> = ["9999", "abc", ""]
        .iter()
        .map(|t| world.start(["wait", id, "--timeout", t, "--json"]))
        .collect();
    for timeout in ["0", "1", "-5"] {
        let start = Instant::now();
        let ran = world.run(["wait", id, &format!("--timeout={timeout}"), "--json"]);
        assert_eq!(ran.data()["status"], "pending");
        assert!(
            start.elapsed() >= Duration::from_secs(1),
            "{timeout}: {:?}",
            start.elapsed()
        );
    }
    assert_eq!(
        world
            .run(["wait", id, "--timeout", "1", "--exit-status"])
            .code,
        124
    );
    assert_eq!(world.respond(&record, "r", &["--choice", "deny"]).code, 0);
    for waiter in long {
        assert_eq!(finish(waiter).data()["status"], "answered");
    }
}

#[test]
fn a_stopped_lock_holder_is_named_and_not_waited_for_for_ever() {
    if !has(
        "flock",
        "a_stopped_lock_holder_is_named_and_not_waited_for_for_ever",
    ) {
        return;
    }
    let world = Sandbox::new();
    let record = world.request(&["whose turn?"]);
    let mut command = Command::new("flock");
    world.dress(&mut command);
    command.arg("--no-fork").arg(world.scope().join("lock"));
    let mut holder = command.args(["sleep", "600"]).spawn().unwrap();
    let lock = fs::File::open(world.scope().join("lock")).unwrap();
    until("the lock to be held", || sayso::fsio::lock_holder(&lock));
    send(&holder, Signal::SIGSTOP);

    let start = Instant::now();
    let id = record["id"].as_str().unwrap();
    let mut answer = world.start(["answer", id, "--deny", "--response-id", "r"]);
    // Reading goes on meanwhile.
    assert_eq!(world.json(&["list"])["count"], 1);
    assert_eq!(world.json(&["count"])["count"], 1);
    let stderr = answer.stderr.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stderr));
    let told = lines.next().unwrap().unwrap();
    let after = start.elapsed();
    assert!(
        told.contains(&format!("held by pid {} (sleep)", holder.id())),
        "{told}"
    );
    assert!(
        (Duration::from_secs(1)..Duration::from_secs(5)).contains(&after),
        "{after:?}"
    );
    let refused = finish(answer);
    let after = start.elapsed();
    assert_eq!(refused.code, 7);
    assert!(
        (Duration::from_secs(10)..Duration::from_secs(15)).contains(&after),
        "{after:?}"
    );
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(
        rest[0].contains(&format!("pid {}", holder.id())),
        "{rest:?}"
    );
    assert_eq!(world.get(id)["status"], "pending");

    // Whoever gives up does not wait that long.
    let start = Instant::now();
    let asked = world.run(["wait", id, "--timeout", "1", "--json"]);
    assert_eq!(asked.data()["status"], "pending");
    assert!(start.elapsed() < Duration::from_secs(5));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(world.run(["answer", id, "--deny"]).code, 0);
}

#[test]
fn a_suspended_waiter_takes_the_answer_when_it_goes_on() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "asleep?"]);
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    // Not while it still holds the lock.
    let lock = fs::File::open(world.scope().join("lock")).unwrap();
    let waits =
        || sayso::fsio::lock_holder(&lock).is_none() && world.scope().join("pruned").exists();
    until("the asker to wait", || waits().then_some(()));
    send(&ask, Signal::SIGSTOP);
    let answered = world.json(&["answer", &id, "--allow"]);
    assert_eq!(answered["delivery_state"], "waiting");
    assert_eq!(world.get(&id)["delivery"], Value::Null);
    send(&ask, Signal::SIGCONT);
    let asked = finish(ask);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "allow-once\n"));
    assert!(world.get(&id)["delivery"].is_object());
}

#[test]
fn a_store_that_vanishes_during_a_wait_is_an_error() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "where?", "--json"]);
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    let wait = world.start(["wait", &id, "--json"]);
    await_lease(&wait, &id);
    until("the store to be removed", || {
        fs::remove_dir_all(world.store()).ok()
    });
    for waiter in [ask, wait] {
        let ran = finish(waiter);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(
            ran.error()["message"]
                .as_str()
                .unwrap()
                .contains("vanished"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_killed_asker_is_known_to_wait_no_more() {
    let world = Sandbox::new();
    let mut ask = world.start(["ask", "anyone?"]);
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    assert_eq!(world.await_pending()["waiting"], "yes");
    ask.kill().unwrap();
    ask.wait().unwrap();
    assert_eq!(world.await_pending()["waiting"], "no");
    let answered = world.json(&["answer", &id, "--allow"]);
    assert_eq!(answered["delivery_state"], "unattended");
    // Whoever comes later gets it, and takes delivery.
    assert_eq!(world.run(["wait", &id, "--exit-status"]).code, 0);
    assert!(world.get(&id)["delivery"].is_object());
}

#[test]
fn one_of_two_waiters_gives_up_and_the_other_is_answered() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let world = Sandbox::new();
        let ask = ["ask", "both of us?", "--key", "k"];
        let first = world.start(ask);
        let id = world.await_pending()["id"].as_str().unwrap().to_owned();
        let second = world.start(ask);
        await_lease(&second, &id);
        send(&first, signal);
        assert_eq!(finish(first).code, 128 + signal as i32);
        let left = world.await_pending();
        assert_eq!(
            (left["id"].as_str(), &left["waiting"]),
            (Some(&*id), &Value::from("yes"))
        );
        assert_eq!(
            world.json(&["answer", &id, "--allow"])["delivery_state"],
            "delivered"
        );
        assert_eq!(finish(second).stdout, "allow-once\n");
    }
}

#[test]
fn the_last_waiter_that_gives_up_withdraws() {
    let world = Sandbox::new();
    let gone = |asked: Child, code: i32| {
        let id = world.await_pending()["id"].as_str().unwrap().to_owned();
        (asked, code, id)
    };
    let by_signal = gone(world.start(["ask", "one?"]), 143);
    send(&by_signal.0, Signal::SIGTERM);
    check_withdrawn(&world, by_signal);
    let by_timeout = gone(world.start(["ask", "two?", "--timeout", "1"]), 124);
    check_withdrawn(&world, by_timeout);
    let mut hung_up = gone(world.start(["ask", "three?"]), 11);
    drop(hung_up.0.stdout.take());
    check_withdrawn(&world, hung_up);
}

fn check_withdrawn(world: &Sandbox, (asked, code, id): (Child, i32, String)) {
    assert_eq!(finish(asked).code, code);
    assert_eq!(world.get(&id)["status"], "cancelled");
    assert_eq!(world.json(&["list"])["count"], 0);
}

#[test]
fn a_wait_never_withdraws() {
    let world = Sandbox::new();
    let record = world.request(&["mine?"]);
    let id = record["id"].as_str().unwrap();
    let wait = world.start(["wait", id]);
    await_lease(&wait, id);
    send(&wait, Signal::SIGTERM);
    assert_eq!(finish(wait).code, 143);
    assert_eq!(
        world.run(["wait", id, "--timeout", "1"]).stdout,
        "pending\n"
    );
    let store = library::store(&world);
    assert!(park::is_open(
        &store.must_load(&library::id(&record)).unwrap()
    ));
    drop(broker::cancel(&store, &library::id(&record), "asker").unwrap());
    assert_eq!(world.run(["wait", id]).stdout, "cancelled\n");
}

#[test]
fn a_waiter_that_is_asked_for_a_record_in_a_directory_of_that_name_says_so() {
    let world = Sandbox::new();
    let record = world.request(&["a file?"]);
    let path = world.pending(record["id"].as_str().unwrap());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let ran = world.run(["wait", record["id"].as_str().unwrap(), "--json"]);
    assert_eq!(ran.error()["code"], "corrupt");
    assert!(Path::new(&path).is_dir());
}
