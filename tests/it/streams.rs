//! `watch` and `events`: what happens, as it happens, once, and in order.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::pty::Terminal;
use crate::sandbox::{DEADLINE, Sandbox, finish, text, until};

/// A process whose lines are read as they come.
pub struct Stream {
    child: Child,
    lines: Receiver<String>,
}

impl Stream {
    pub fn start(world: &Sandbox, args: &[&str]) -> Self {
        let mut child = world.start(args);
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    pub fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line in time")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap());
        kill(pid, signal).unwrap();
    }

    /// Does something while the process looks at nothing.
    fn unseen(&self, action: impl FnOnce()) {
        self.signal(Signal::SIGSTOP);
        let stat = format!("/proc/{}/stat", self.child.id());
        until("a stopped process", || {
            let stat = fs::read_to_string(&stat).unwrap();
            stat.contains(") T ").then_some(())
        });
        action();
        self.signal(Signal::SIGCONT);
    }

    /// Ends it; nothing else was printed. Returns what it said beside that.
    pub fn stop(self) -> String {
        self.signal(Signal::SIGTERM);
        let ran = finish(self.child);
        assert_eq!(ran.code, 143);
        assert_eq!(self.lines.iter().collect::<Vec<_>>(), Vec::<String>::new());
        ran.stderr
    }
}

fn types(world: &Sandbox, args: &[&str]) -> Vec<String> {
    let ran = world.run(["events", "--json"].iter().chain(args));
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap());
    lines
        .map(|e| {
            text(&e, "type")
                .trim_start_matches("interaction_")
                .to_owned()
        })
        .collect()
}

fn seqs(world: &Sandbox) -> Vec<u64> {
    let ran = world.run(["events", "--json", "--limit", "100000"]);
    let lines = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap());
    lines.map(|e| e["seq"].as_u64().unwrap()).collect()
}

#[test]
fn watch_prints_a_snapshot_then_what_comes_and_goes() {
    let world = Sandbox::new();
    let old = world.request(&["Old?"]);
    let watch = Stream::start(&world, &["watch", "--json"]);
    let snapshot = watch.json();
    assert_eq!(
        (&snapshot["type"], &snapshot["interaction"]["id"]),
        (&json!("snapshot"), &old["id"])
    );
    assert_eq!(watch.line(), r#"{"type":"sync"}"#);
    let new = world.request(&["New?"]);
    let created = watch.json();
    assert_eq!(
        (&created["type"], &created["interaction"]["id"]),
        (&json!("created"), &new["id"])
    );
    assert_eq!(created["interaction"].get("nonce"), None);
    world.json(&["answer", text(&old, "id"), "--allow"]);
    let settled = watch.json();
    assert_eq!(
        (
            &settled["type"],
            &settled["interaction"]["id"],
            &settled["interaction"]["status"]
        ),
        (&json!("settled"), &old["id"], &json!("answered"))
    );
    world.json(&["cancel", text(&new, "id")]);
    assert_eq!(watch.json()["interaction"]["status"], "cancelled");
    watch.stop();
}

#[test]
fn watch_begins_before_there_is_a_store_and_sees_every_scope() {
    let world = Sandbox::new();
    let watch = Stream::start(&world, &["watch", "--json", "-A"]);
    assert_eq!(watch.line(), r#"{"type":"sync"}"#);
    let record = world.json(&["request", "Elsewhere?", "--scope", "other"]);
    let created = watch.json();
    assert_eq!(
        (&created["type"], &created["interaction"]["id"]),
        (&json!("created"), &record["id"])
    );
    watch.stop();
    let human = Stream::start(&world, &["watch", "--scope", "other"]);
    assert!(human.line().contains("Elsewhere?"));
    world.json(&["cancel", text(&record, "id"), "--scope", "other"]);
    assert!(human.line().starts_with("cancelled "));
    human.stop();
}

/// Grows the log beyond its bound, so that the next writer rotates it. The padding is a line that no
/// reader takes.
fn outgrow(world: &Sandbox) {
    let log = world.scope().join("events.jsonl");
    let mut file = fs::File::options().append(true).open(log).unwrap();
    file.write_all(format!("{}\n", "x".repeat(11 << 20)).as_bytes())
        .unwrap();
}

#[test]
fn watch_tells_of_what_came_and_went_between_two_looks() {
    let world = Sandbox::new();
    let old = world.request(&["Old?"]);
    let watch = Stream::start(&world, &["watch", "--json"]);
    let human = Stream::start(&world, &["watch"]);
    assert_eq!(watch.json()["type"], "snapshot");
    assert_eq!(watch.line(), r#"{"type":"sync"}"#);
    assert!(human.line().starts_with("pending "));
    let mut right: Vec<(&str, String, &str)> = Vec::new();
    let act = || {
        let id = |record: &Value| text(record, "id").to_owned();
        let answered = world.request(&["Answered?"]);
        world.json(&["answer", &id(&answered), "--allow"]);
        let replaced = world.request(&["Replaced?", "--key", "k"]);
        // The log is rotated, and then once more: a whole one lies between what was read and what is there.
        outgrow(&world);
        let cancelled = world.request(&["Cancelled?", "--key", "k"]);
        world.json(&["cancel", &id(&cancelled)]);
        outgrow(&world);
        let here = world.request(&["Here?"]);
        right.extend([
            ("created", id(&answered), "pending"),
            ("settled", id(&answered), "answered"),
            ("created", id(&replaced), "pending"),
            ("created", id(&cancelled), "pending"),
            ("settled", id(&replaced), "superseded"),
            ("settled", id(&cancelled), "cancelled"),
            ("created", id(&here), "pending"),
        ]);
    };
    human.unseen(|| watch.unseen(act));
    for (kind, id, status) in &right {
        let told = watch.json();
        assert_eq!(told["type"], *kind, "{id}");
        assert_eq!(told["interaction"]["id"], *id);
        assert_eq!(told["interaction"]["status"], *status);
        assert!(
            human
                .line()
                .starts_with(&format!("{status} {} cli ", &id[..8]))
        );
    }
    // Nothing is told twice, not what was open from the start either.
    world.json(&["cancel", text(&old, "id")]);
    let settled = watch.json();
    assert_eq!(
        (&settled["type"], &settled["interaction"]["id"]),
        (&json!("settled"), &old["id"])
    );
    watch.stop();
    assert!(human.line().starts_with("cancelled "));
    human.stop();
}

#[test]
fn watch_tells_of_what_came_and_went_in_a_scope_that_is_new() {
    let world = Sandbox::new();
    world.request(&["Known?"]);
    let watch = Stream::start(&world, &["watch", "--json", "-A"]);
    assert_eq!(watch.json()["type"], "snapshot");
    assert_eq!(watch.line(), r#"{"type":"sync"}"#);
    watch.unseen(|| {
        let record = world.json(&["request", "Elsewhere?", "--scope", "other"]);
        world.json(&["cancel", text(&record, "id"), "--scope", "other"]);
    });
    for kind in ["created", "settled"] {
        let told = watch.json();
        assert_eq!(
            (&told["type"], &told["interaction"]["scope"]),
            (&json!(kind), &json!("other"))
        );
    }
    watch.stop();
}

#[test]
fn lines_are_cut_to_a_terminal_and_whole_in_a_pipe() {
    let world = Sandbox::new();
    let long = format!("{} the end", "word ".repeat(60));
    let record = world.request(&[&long]);
    let watch = Stream::start(&world, &["watch"]);
    for line in [watch.line(), world.run(["events"]).stdout] {
        assert!(line.trim_end().ends_with("the end"), "{line}");
    }
    watch.stop();
    let narrow = world.command(["events"]).env("COLUMNS", "40").output();
    let narrow = String::from_utf8(narrow.unwrap().stdout).unwrap();
    assert!(narrow.ends_with("the end\n"), "{narrow}");
    for args in [&["events"][..], &["watch"]] {
        let terminal = Terminal::start(&world, 100, "xterm", args);
        terminal.expect("word word");
        terminal.expect("…+");
        let screen = terminal.screen();
        assert!(!screen.contains("the end"), "{screen}");
        assert!(
            screen.lines().all(|line| line.chars().count() <= 100),
            "{screen}"
        );
        if args == ["watch"] {
            let pid = Pid::from_raw(terminal.pid().try_into().unwrap());
            kill(pid, Signal::SIGTERM).unwrap();
        }
        terminal.finish();
    }
    world.json(&["cancel", text(&record, "id")]);
}

#[test]
fn events_end_by_themselves_and_are_filtered() {
    let world = Sandbox::new();
    assert_eq!(world.run(["events"]).stdout, "");
    for _ in 0..15 {
        let record = world.request(&["Deploy?"]);
        world.json(&["answer", text(&record, "id"), "--allow"]);
    }
    assert_eq!(types(&world, &[]).len(), 20);
    assert_eq!(
        types(&world, &["--limit", "3"]),
        ["answered", "created", "answered"]
    );
    assert_eq!(
        types(&world, &["--type", "interaction_created", "--limit", "100"]).len(),
        15
    );
    assert_eq!(
        types(&world, &["--since", "1h", "--limit", "100"]).len(),
        30
    );
    assert_eq!(types(&world, &["--since", "2999-01-01T00:00:00Z"]).len(), 0);
    assert_eq!(types(&world, &["--limit", "0"]).len(), 0);
    assert_eq!(world.run(["events"]).stdout.lines().count(), 20);
    for bad in [
        ["--since", "yesterday"],
        ["--type", "bogus"],
        ["--limit", "-1"],
    ] {
        assert_eq!(world.run(["events"].iter().chain(&bad)).code, 2, "{bad:?}");
    }
}

#[test]
fn an_event_holds_no_texts_but_its_printed_form_says_how_to_answer() {
    let world = Sandbox::new();
    let record = world.request(&[
        "It's \"quoted\"",
        "--kind",
        "single-choice",
        "--choice",
        "a:A",
        "--choice",
        "b:B",
        "--session",
        "s",
        "--workflow",
        "w",
    ]);
    let id = text(&record, "id");
    let line: Value = serde_json::from_str(&world.run(["events", "--json"]).stdout).unwrap();
    assert_eq!(line["summary"], "It's \"quoted\"");
    assert_eq!(
        line["answer_command"],
        format!("sayso answer {id} --choice a")
    );
    world.respond(
        &record,
        "r",
        &["--choice", "a", "--source", "web", "--by", "me"],
    );
    let events = world.events();
    let names: Vec<&str> = events[1]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        names,
        [
            "schema",
            "id",
            "seq",
            "at",
            "type",
            "interaction_id",
            "kind",
            "agent",
            "session_id",
            "workflow_id",
            "outcome",
            "by",
            "source"
        ]
    );
    assert_eq!(
        (
            &events[1]["id"],
            &events[1]["outcome"],
            &events[1]["by"],
            &events[1]["source"]
        ),
        (
            &json!(format!("{id}:interaction_answered")),
            &json!("answered"),
            &json!("me"),
            &json!("web")
        )
    );
    let after = world.run(["events", "--json", "--limit", "1"]).stdout;
    assert!(!after.contains("answer_command"));
}

#[test]
fn follow_goes_on_over_a_rotation_and_misses_nothing() {
    let world = Sandbox::new();
    world.request(&["One?"]);
    let follow = Stream::start(&world, &["events", "--follow", "--json"]);
    assert_eq!(follow.json()["seq"], 1);
    world.request(&["Two?"]);
    assert_eq!(follow.json()["seq"], 2);
    let log = world.scope().join("events.jsonl");
    outgrow(&world);
    for seq in 3..8 {
        world.request(&["More?"]);
        assert_eq!(follow.json()["seq"], seq);
    }
    follow.stop();
    assert!(world.scope().join("events.jsonl.1").exists());
    assert!(fs::metadata(&log).unwrap().len() < 10_000);
    assert_eq!(seqs(&world), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_store_that_is_not_fit_is_told_once_however_often_it_is_looked_at() {
    let world = Sandbox::new();
    let record = world.request(&["One?"]);
    let loose = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(world.store(), loose).unwrap();
    let watch = Stream::start(&world, &["watch"]);
    let follow = Stream::start(&world, &["events", "--follow"]);
    watch.line();
    follow.line();
    let log = world.scope().join("events.jsonl");
    for id in ["a", "b", "c"] {
        let mut copy = record.clone();
        copy["id"] = id.repeat(32).into();
        world.plant(copy);
        watch.line();
        let mut event = world.events()[0].clone();
        event["id"] = id.into();
        let mut log = fs::File::options().append(true).open(&log).unwrap();
        writeln!(log, "{event}").unwrap();
        follow.line();
    }
    for said in [watch.stop(), follow.stop()] {
        assert_eq!(said.matches("can be written to by").count(), 1, "{said}");
    }
}

#[test]
fn follow_goes_on_into_a_scope_that_is_new() {
    let world = Sandbox::new();
    world.request(&["One?"]);
    let follow = Stream::start(&world, &["events", "--follow", "--json", "-A"]);
    assert_eq!(follow.json()["summary"], "One?");
    world.json(&["request", "Elsewhere?", "--scope", "other"]);
    assert_eq!(follow.json()["summary"], "Elsewhere?");
    follow.stop();
}

#[test]
fn numbers_go_on_from_the_last_valid_line() {
    let world = Sandbox::new();
    world.request(&["One?"]);
    let log = world.scope().join("events.jsonl");
    let append = |text: &str| {
        fs::File::options()
            .append(true)
            .open(&log)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    };
    append("{\"schema\":\"sayso.event.v1\",\"id\":\"torn");
    world.request(&["Two?"]);
    append("not json\n\n\u{1b}[2J\n");
    world.request(&["Three?"]);
    assert_eq!(seqs(&world), [1, 2, 3]);
    assert_eq!(types(&world, &[]), ["created"; 3]);
    // Each line is whole, the torn one alone on its own.
    let lines = fs::read_to_string(&log).unwrap();
    assert_eq!(
        lines
            .lines()
            .filter(|l| serde_json::from_str::<Value>(l).is_ok())
            .count(),
        3
    );
    // A log that vanished begins anew; nothing else depends on it.
    fs::rename(&log, world.scope().join("events.jsonl.1")).unwrap();
    world.request(&["Four?"]);
    assert_eq!(seqs(&world), [1, 2, 3, 4]);
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    let ran = world.run(["request", "Five?"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stderr.contains("an event could not be written"),
        "{ran:?}"
    );
    assert_eq!(world.json(&["list"])["count"], 5);
}

#[test]
fn an_event_of_the_log_that_comes_twice_is_printed_once() {
    let world = Sandbox::new();
    world.request(&["One?"]);
    let log = world.scope().join("events.jsonl");
    let line = fs::read_to_string(&log).unwrap();
    fs::write(&log, line.repeat(3)).unwrap();
    assert_eq!(types(&world, &[]), ["created"]);
}
