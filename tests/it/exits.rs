//! What `ask` and `wait` end with, and what is left when they are interrupted or nobody listens.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sayso::time::Time;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, finish, text, until};

const FORM: &str =
    r#"[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"Why?"}]"#;

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// Stops a process at a moment when it does not hold the scope's lock.
fn stop(world: &Sandbox, child: &Child) {
    let lock = std::fs::File::open(world.scope().join("lock")).unwrap();
    let stat = format!("/proc/{}/stat", child.id());
    until("a stopped process without the lock", || {
        signal(child, Signal::SIGSTOP);
        until("a stopped process", || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            stat.contains(") T ").then_some(())
        });
        if lock.try_lock().is_ok() {
            lock.unlock().unwrap();
            return Some(());
        }
        signal(child, Signal::SIGCONT);
        None
    });
}

/// A pipe's end that nobody reads any more.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn spawn(command: &mut Command) -> Child {
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts `ask`, answers it, and returns what it ended with.
fn asked(world: &Sandbox, ask: &[&str], answer: &[&str]) -> Ran {
    let child = world.start(["ask"].iter().chain(ask));
    let id = text(&world.await_pending(), "id").to_owned();
    let data = world.json(&[&["answer", &id], answer].concat());
    assert_eq!(data["delivery_state"], "delivered");
    finish(child)
}

/// A pending record whose deadline is so far away.
fn expiring(world: &Sandbox, left: Duration) -> Value {
    let mut record = world.request(&["Deploy?"]);
    world.json(&["cancel", text(&record, "id")]);
    record["id"] = "0".repeat(32).into();
    record["expires_at"] = Time::now().plus(left).to_string().into();
    world.plant(record)
}

#[test]
fn ask_says_by_its_exit_code_what_the_answer_was() {
    let world = Sandbox::new();
    let choices = [
        "Deploy?",
        "--choice",
        "allow:Yes",
        "--choice",
        "deny:No",
        "--choice",
        "maybe:Perhaps",
    ];
    let form = world.path().join("form.json");
    std::fs::write(&form, FORM).unwrap();
    let form = [
        "Form",
        "--kind",
        "form",
        "--questions",
        form.to_str().unwrap(),
    ];
    let single = [
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        "deny:A",
        "--choice",
        "b:B",
    ];
    let typed = ["Name?", "--kind", "text"];
    let picked = r#"{"answers":{"Which?":"A"},"unanswered":["Why?"],"response":null}"#;
    let rows: [(&[&str], &[&str], i32, &str); 7] = [
        (&choices, &["--allow"], 0, "allow"),
        (&choices, &["--deny"], 10, "deny"),
        (&choices, &["--choice", "maybe"], 12, "maybe"),
        (&single, &["--choice", "deny"], 0, "deny"),
        (&typed, &["--text", "\u{1b}[31m a\nb"], 0, "\u{1b}[31m a\nb"),
        (&form, &["--select", "#1=A"], 0, picked),
        (&form, &["--deny"], 10, r#"{"declined":true}"#),
    ];
    for (ask, answer, code, output) in rows {
        let ran = asked(&world, ask, answer);
        assert_eq!(
            (ran.code, ran.stdout),
            (code, format!("{output}\n")),
            "{answer:?}"
        );
        let ran = asked(&world, &[ask, &["--json"]].concat(), answer);
        assert_eq!((ran.code, ran.stdout.lines().count()), (code, 1), "{ran:?}");
        let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&envelope["ok"], &envelope["data"]["status"]),
            (&json!(true), &json!("answered"))
        );
        assert_eq!(envelope["data"].get("nonce"), None);
        // Whoever waits for it by its id hears the same.
        let id = text(&envelope["data"], "id");
        assert_eq!(world.run(["wait", id, "--exit-status"]).code, code);
        let wait = world.run(["wait", id]);
        assert_eq!((wait.code, wait.stdout.as_str()), (0, "answered\n"));
    }
    let told = asked(
        &world,
        &["Deploy?"],
        &["--deny", "--message", "not on a Friday"],
    );
    assert!(told.stderr.contains("not on a Friday"));
}

#[test]
fn a_question_that_ends_without_an_answer_ends_its_ask_with_11() {
    let world = Sandbox::new();
    let ask = |args: &[&str]| {
        let child = world.start(["ask", "Deploy?"].iter().chain(args));
        (child, text(&world.await_pending(), "id").to_owned())
    };
    let (child, id) = ask(&[]);
    world.json(&["cancel", &id]);
    let ran = finish(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (11, ""));
    assert!(ran.stderr.contains("cancelled"), "{ran:?}");
    let (child, _) = ask(&["--key", "k"]);
    let next = world.request(&["Another?", "--key", "k"]);
    let ran = finish(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (11, ""));
    world.json(&["cancel", text(&next, "id")]);
    let (child, id) = ask(&["--json"]);
    world.json(&["cancel", &id]);
    let ran = finish(child);
    assert_eq!(ran.code, 11);
    let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(envelope["data"]["status"], "cancelled");
}

#[test]
fn a_deadline_ends_a_wait_and_settles_the_record() {
    let world = Sandbox::new();
    let record = expiring(&world, Duration::from_millis(700));
    let start = Instant::now();
    let waiters: Vec<Child> = (0..8)
        .map(|_| {
            world.start([
                "wait",
                text(&record, "id"),
                "--timeout",
                "300",
                "--exit-status",
            ])
        })
        .collect();
    for waiter in waiters {
        let ran = finish(waiter);
        assert_eq!((ran.code, ran.stdout.as_str()), (11, "expired\n"));
    }
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(
        world
            .stored(text(&record, "id"))
            .contains("\"status\":\"expired\"")
    );
    let expiries = world
        .events()
        .iter()
        .filter(|e| e["type"] == "interaction_expired")
        .count();
    assert_eq!(expiries, 1);
}

#[test]
fn a_timeout_withdraws_the_question_of_ask_but_not_that_of_wait() {
    let world = Sandbox::new();
    let ran = world.run(["ask", "Deploy?", "--timeout", "1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (124, ""));
    assert!(ran.stderr.contains("withdrawn"), "{ran:?}");
    assert_eq!(world.json(&["count"])["count"], 0);
    assert_eq!(
        world.json(&["list", "--all"])["interactions"][0]["status"],
        "cancelled"
    );
    assert_eq!(world.run(["ask", "Deploy?", "--timeout", "0"]).code, 124);
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let start = Instant::now();
    let ran = world.run(["wait", id, "--timeout", "0", "--exit-status"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (124, "pending\n"));
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(world.run(["wait", id, "--timeout", "-5"]).code, 0);
    assert_eq!(world.get(id)["status"], "pending");
    for odd in ["abc", "9999", ""] {
        let waiter = world.start(["wait", id, "--timeout", odd, "--json"]);
        until("a lease", || {
            (world.get(id)["waiting"] == "yes").then_some(())
        });
        signal(&waiter, Signal::SIGTERM);
        assert_eq!(finish(waiter).code, 143);
    }
}

#[test]
fn what_someone_else_also_waits_for_is_not_withdrawn() {
    let world = Sandbox::new();
    let first = world.start(["ask", "Deploy?", "--key", "k"]);
    let id = text(&world.await_pending(), "id").to_owned();
    let second = world.run(["ask", "Deploy?", "--key", "k", "--timeout", "0"]);
    assert_eq!(second.code, 124);
    assert_eq!(world.get(&id)["status"], "pending");
    world.json(&["answer", &id, "--allow"]);
    assert_eq!(finish(first).code, 0);
}

#[test]
fn a_signal_withdraws_the_question_and_prints_nothing() {
    let world = Sandbox::new();
    for (kind, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ] {
        for json in [&[][..], &["--json"]] {
            let child = world.start(["ask", "Deploy?"].iter().chain(json));
            let id = text(&world.await_pending(), "id").to_owned();
            signal(&child, kind);
            let ran = finish(child);
            assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:?}");
            assert_eq!(world.get(&id)["status"], "cancelled");
        }
    }
    assert_eq!(world.json(&["count"])["count"], 0);
    let record = world.request(&["Deploy?"]);
    let waiter = world.start(["wait", text(&record, "id")]);
    until("a lease", || {
        (world.get(text(&record, "id"))["waiting"] == "yes").then_some(())
    });
    signal(&waiter, Signal::SIGINT);
    let ran = finish(waiter);
    assert_eq!((ran.code, ran.stdout.as_str()), (130, ""));
    assert_eq!(world.get(text(&record, "id"))["status"], "pending");
}

#[test]
fn a_killed_asker_leaves_a_question_that_nobody_waits_for() {
    let world = Sandbox::new();
    let child = world.start(["ask", "Deploy?"]);
    let id = text(&world.await_pending(), "id").to_owned();
    signal(&child, Signal::SIGKILL);
    assert_eq!(finish(child).code, 128 + 9);
    assert_eq!(world.get(&id)["waiting"], "no");
    assert!(
        world
            .run(["show", &id])
            .stdout
            .contains("nobody is waiting")
    );
    let answered = world.json(&["answer", &id, "--allow"]);
    assert_eq!(answered["delivery_state"], "unattended");
    assert!(answered.get("delivery").is_none());
}

#[test]
fn a_closed_output_withdraws_the_question() {
    let world = Sandbox::new();
    let mut child = world.start(["ask", "Deploy?"]);
    let id = text(&world.await_pending(), "id").to_owned();
    drop(child.stdout.take());
    assert_eq!(finish(child).code, 11);
    assert_eq!(world.get(&id)["status"], "cancelled");
}

/// Waits until nobody but the child has its output open: what other tests start holds a copy of
/// everything for a moment, until it becomes its own program.
fn await_unread(child: &std::process::Child) {
    let own = format!("/proc/{}/fd", child.id());
    let pipe = std::fs::read_link(format!("{own}/1")).unwrap();
    let held = |dir: std::path::PathBuf| {
        let fds = std::fs::read_dir(dir).into_iter().flatten().flatten();
        fds.filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .any(|target| target == pipe)
    };
    until("a closed output", || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut dirs = processes.map(|process| process.path().join("fd"));
        let others = dirs.any(|dir| dir != std::path::Path::new(&own) && held(dir));
        (!others).then_some(())
    });
}

#[test]
fn a_denial_that_finds_a_closed_output_is_still_no_allow() {
    let world = Sandbox::new();
    for (flag, code) in [("--deny", 10), ("--allow", 0)] {
        let mut child = world.start(["ask", "Deploy?"]);
        let id = text(&world.await_pending(), "id").to_owned();
        // Stopped, so that the answer and the closed output are there at once when it goes on.
        stop(&world, &child);
        let answered = world.json(&["answer", &id, flag]);
        assert_eq!(answered["delivery_state"], "waiting");
        drop(child.stdout.take());
        await_unread(&child);
        signal(&child, Signal::SIGCONT);
        let ran = finish(child);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""));
        // It reached nobody.
        assert_eq!(world.get(&id).get("delivery"), None);
        let mut wait = world.command(["wait", &id, "--exit-status"]);
        assert_eq!(finish(spawn(wait.stdout(closed_pipe()))).code, code);
    }
}

#[test]
fn a_closed_pipe_ends_every_other_verb_quietly() {
    let world = Sandbox::new();
    let check = ["policy", "check", "--action", "rm -rf /"];
    let ran = finish(spawn(world.command(check).stdout(closed_pipe())));
    assert_eq!((ran.code, ran.stderr.as_str()), (12, ""), "still no allow");
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let verbs: [&[&str]; 12] = [
        &["list"],
        &["list", "--json"],
        &["show", id],
        &["get", id],
        &["count"],
        &["events"],
        &["doctor"],
        &["prune"],
        &["watch"],
        &["events", "--follow"],
        &["request", "Another?"],
        &["answer", id, "--allow"],
    ];
    for args in verbs {
        let ran = finish(spawn(world.command(args).stdout(closed_pipe())));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    }
    assert_eq!(world.get(id)["status"], "answered");
}

#[test]
fn a_full_disk_on_the_output_is_an_error() {
    let world = Sandbox::new();
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let verbs: [&[&str]; 13] = [
        &["list"],
        &["list", "--json"],
        &["show", id],
        &["get", id],
        &["count"],
        &["events"],
        &["doctor"],
        &["prune"],
        &["watch"],
        &["wait", id, "--timeout", "1"],
        &["request", "Another?"],
        &["answer", id, "--deny"],
        &["cancel", id],
    ];
    for args in verbs {
        let ran = finish(spawn(world.command(args).stdout(full())));
        assert_eq!(ran.code, 7, "{args:?} {ran:?}");
        assert!(
            ran.stderr.contains("cannot write the output"),
            "{args:?} {ran:?}"
        );
    }
    world.json(&["cancel", text(&world.await_pending(), "id")]);
    let ask = spawn(world.command(["ask", "Deploy?"]).stdout(full()));
    let id = text(&world.await_pending(), "id").to_owned();
    world.json(&["answer", &id, "--allow"]);
    assert_eq!(finish(ask).code, 7);
    // It is not taken for delivered, and is still there to be had.
    assert_eq!(world.get(&id).get("delivery"), None);
    assert_eq!(world.run(["wait", &id, "--exit-status"]).code, 0);
}

/// Everything that is printed before a verb runs, or without a store.
fn helps() -> Vec<Vec<&'static str>> {
    let verbs = sayso::cli::VERBS.iter().filter(|v| !v.starts_with('_'));
    let mut helps: Vec<Vec<&str>> = verbs.map(|verb| vec![*verb, "--help"]).collect();
    let topics = sayso::cmd::help::TOPICS.map(|(topic, _)| vec!["help", topic]);
    helps.extend(topics);
    for args in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["-V"],
        &["help"],
        &["help", "ask"],
        &["ask", "-h"],
        &["harness", "install", "--help"],
        &["hook", "claude", "--help"],
        &["completions", "zsh"],
        &["__complete", "--word=", "--", "list"],
        &["harness", "install", "claude", "--instructions"],
    ] {
        helps.push(args.to_vec());
    }
    helps
}

#[test]
fn help_on_a_full_disk_is_an_error_and_on_a_closed_pipe_ends_quietly() {
    let world = Sandbox::new();
    for args in helps() {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let ran = finish(spawn(world.command(&args).stdout(full.unwrap())));
        assert_eq!(ran.code, 7, "{args:?} {ran:?}");
        let said = ran.stderr.contains("cannot write the output");
        assert!(said, "{args:?} {ran:?}");
        let ran = finish(spawn(world.command(&args).stdout(closed_pipe())));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        let ran = world.run(&args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert!(ran.stdout.ends_with('\n'), "{args:?}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full");
    let told = ["list", "--help", "--json"];
    let error = finish(spawn(world.command(told).stdout(full.unwrap()))).error();
    assert_eq!(error["code"], "unavailable");
}
