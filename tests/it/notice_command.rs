//! Notices by a command: what it gets, what it does not get, and that nothing it does is felt by whoever
//! asks.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::notice_world::Noticed;
use crate::sandbox::{DEADLINE, text, until};

const WRITES_DOWN: &str = r#"
cat > "$OUT/stdin"
env | grep '^SAYSO_' | sort > "$OUT/environment"
echo "$0 $*" > "$OUT/arguments"
files=$(for fd in /proc/$$/fd/*; do echo "${fd##*/} $(readlink "$fd")"; done)
echo "$files" > "$OUT/files"
cut -d' ' -f6 /proc/$PPID/stat > "$OUT/session"
pwd > "$OUT/directory"
"#;

fn command(program: &std::path::Path, rest: &str) -> String {
    format!("[[notify]]\ncommand = [{program:?}, \"x y\"]\n{rest}\n")
}

#[test]
fn a_command_gets_the_event_and_the_ids_and_nothing_else() {
    let noticed = Noticed::new("");
    let program = noticed.script("beep", WRITES_DOWN);
    noticed.configure(&command(&program, ""));
    let mut ask = noticed.world.command([
        "request",
        "Deploy?",
        "--session",
        "s-1",
        "--agent",
        "Bot",
        "--json",
    ]);
    ask.env("SAYSO_SESSION", "other")
        .env("SAYSO_RELAY_TOKEN_HOME", "inst_0123456789")
        .env("SAYSO_AGENT", "x");
    let ran: crate::sandbox::Ran = ask.output().unwrap().into();
    let record = ran.data();
    let id = text(&record, "id");
    noticed.written("directory");
    let stdin = noticed.written("stdin");
    assert_eq!(stdin.lines().count(), 1);
    let mut event: Value =
        serde_json::from_str(&noticed.world.run(["events", "--json"]).stdout).unwrap();
    assert_eq!(event["summary"], "Deploy?");
    event.as_object_mut().unwrap().remove("summary");
    assert_eq!(
        event["answer_command"],
        format!("sayso answer {id} --allow")
    );
    assert_eq!(stdin, format!("{event}\n"));
    let scope = noticed.world.scope();
    let expected = format!(
        "SAYSO_CONFIG={}\nSAYSO_EVENT=interaction_created\nSAYSO_EVENT_ID={id}:interaction_created\n\
         SAYSO_HOME={}\nSAYSO_INTERACTION_ID={id}\nSAYSO_KIND=permission\nSAYSO_SCOPE={}\nSAYSO_WAITING=1\n",
        noticed
            .world
            .path()
            .join("home/.config/sayso/config.toml")
            .display(),
        noticed.world.store().display(),
        scope.file_name().unwrap().to_str().unwrap(),
    );
    assert_eq!(noticed.written("environment"), expected);
    let arguments = format!("{} x y\n", program.display());
    assert_eq!(noticed.written("arguments"), arguments);
    assert_eq!(noticed.written("directory"), "/\n");
    // Its sender is in a session of its own, not in that of this test.
    let own = fs::read_to_string("/proc/self/stat").unwrap();
    let own = own.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap();
    assert_ne!(noticed.written("session").trim(), own);
    for line in noticed.written("files").lines() {
        let (fd, target) = line.split_once(' ').unwrap();
        match fd {
            "0" => assert!(target.starts_with("pipe:"), "{line}"),
            "1" | "2" => assert_eq!(target, "/dev/null", "{line}"),
            // The shell's own: its script, a copy of its output, the pipe of a substitution.
            _ => assert!(
                ["", "/dev/null"].contains(&target)
                    || target.ends_with("/beep")
                    || target.starts_with("pipe:"),
                "{line}"
            ),
        }
    }
}

#[test]
fn include_prompt_tells_what_is_being_approved() {
    let noticed = Noticed::new("");
    let program = noticed.script("beep", WRITES_DOWN);
    noticed.configure(&command(&program, "include_prompt = true"));
    let input = r#"{"file_path":"/etc/hosts","content":"127.0.0.1 bank"}"#;
    noticed
        .world
        .request(&["May I?", "--tool", "Write", "--input", input]);
    let stdin: Value = serde_json::from_str(&noticed.written("stdin")).unwrap();
    let summary = "May I? · Write: /etc/hosts\ncontent: 127.0.0.1 bank";
    assert_eq!(stdin["summary"], summary);
    let events = noticed.world.run(["events", "--json"]).stdout;
    assert_eq!(stdin, serde_json::from_str::<Value>(&events).unwrap());
    noticed.written("directory");
    noticed.idle();
    // What is long is cut with its count, and what could move a cursor is visible.
    fs::remove_file(noticed.out().join("stdin")).unwrap();
    let long = format!("{{\"command\":\"\\u001b[2J{}\"}}", "é".repeat(50_000));
    let file = noticed.world.path().join("input.json");
    fs::write(&file, long).unwrap();
    let from = format!("@{}", file.display());
    noticed
        .world
        .request(&["May I?", "--tool", "Bash", "--input", &from]);
    let stdin: Value = serde_json::from_str(&noticed.written("stdin")).unwrap();
    let summary = stdin["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("May I? · Bash: \\u{1b}[2Jé"),
        "{summary:.40}"
    );
    assert!(summary.chars().count() <= 4000 && summary.contains("…+"));
}

/// Whether a process is there and no zombie.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn a_command_that_hangs_is_killed_with_all_its_children_after_five_seconds() {
    let hangs = "echo $$ > \"$OUT/leader\"; sleep 600 & echo $! > \"$OUT/child\"; wait";
    let leaves = "sleep 600 & echo $! > \"$OUT/child\"; echo $$ > \"$OUT/leader\"; exit 0";
    for (script, error) in [
        (hangs, "the command: it was killed after 5 seconds"),
        (leaves, ""),
    ] {
        let noticed = Noticed::new("");
        let program = noticed.script("beep", script);
        noticed.configure(&command(&program, ""));
        let start = Instant::now();
        let ran = noticed.world.run(["request", "Deploy?"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(start.elapsed() < Duration::from_secs(4));
        let pids = [noticed.written("leader"), noticed.written("child")];
        assert!(lives(&pids[1]));
        until("their end", || {
            pids.iter().all(|pid| !lives(pid)).then_some(())
        });
        let lived = start.elapsed();
        assert!(
            lived > Duration::from_secs(4) && lived < DEADLINE,
            "{lived:?}"
        );
        assert_eq!(noticed.error(), error);
    }
}

#[test]
fn whatever_a_notifier_does_the_asker_does_not_feel_it() {
    let plain = Noticed::new("");
    let expected = plain.world.run(["request", "Deploy?", "--json"]);
    let shape = |ran: &crate::sandbox::Ran| {
        let members: Vec<String> = ran.data().as_object().unwrap().keys().cloned().collect();
        (ran.code, ran.stderr.clone(), members)
    };
    let rows = [
        ("exec yes; :", "", Some("killed after 5 seconds")),
        ("exit 3", "", Some("it ended with exit status: 3")),
        ("kill -9 $$", "", Some("signal: 9")),
        ("cat > /dev/null; echo words; echo words >&2", "", None),
        ("exec 0<&-; exit 0", "", None),
        (
            ": > /dev/null",
            "command = [\"./beep\"]",
            Some("the command is not there"),
        ),
        (
            ": > /dev/null",
            "command = [\"/nowhere/beep\"]",
            Some("the command is not there"),
        ),
        (
            ": > /dev/null",
            "command = [\"/etc/passwd\"]",
            Some("it cannot be started: "),
        ),
    ];
    let check = &|(script, other, error): (&str, &str, Option<&str>)| {
        let noticed = Noticed::new("");
        let program = noticed.script("beep", script);
        let entry = match other {
            "" => command(&program, ""),
            other => format!("[[notify]]\n{other}\n"),
        };
        noticed.configure(&entry);
        let start = Instant::now();
        let ran = noticed.world.run(["request", "Deploy?", "--json"]);
        assert!(start.elapsed() < Duration::from_secs(4), "{script}");
        assert_eq!(shape(&ran), shape(&expected), "{script}");
        let last = noticed.last();
        assert_eq!(last.get("error").is_some(), error.is_some(), "{script}");
        if let Some(error) = error {
            let told = noticed.error();
            assert!(told.contains(error), "{script}: {told}");
            let doctor = noticed.world.run(["doctor"]);
            let line = "FAIL notices: [[notify]] in line 1 (command ";
            assert!(
                doctor.code == 1 && doctor.stdout.contains(line),
                "{doctor:?}"
            );
        }
    };
    std::thread::scope(|scope| {
        for row in rows {
            scope.spawn(move || check(row));
        }
    });
}

#[test]
fn a_store_that_takes_no_queue_still_takes_the_question() {
    let noticed = Noticed::new("[[notify]]\ncommand = [\"true\"]\n");
    fs::create_dir_all(noticed.world.store()).unwrap();
    fs::write(noticed.notify_dir(), "").unwrap();
    for args in [
        &["request", "Deploy?"][..],
        &["request", "Deploy?", "--json"],
    ] {
        let ran = noticed.world.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
    assert_eq!(
        noticed.world.json(&["list"])["interactions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    fs::remove_file(noticed.notify_dir()).unwrap();
}

#[test]
fn what_no_entry_wants_touches_nothing() {
    let noticed = Noticed::new("");
    let program = noticed.script("beep", "cat > \"$OUT/stdin\"; echo > \"$OUT/done\"");
    let filters = "kinds = [\"text\"]\nagents = [\"BOT\"]\nprojects = [\"SHOP\"]";
    noticed.configure(&command(&program, filters));
    noticed.world.request(&["Deploy?", "--agent", "bot"]);
    noticed
        .world
        .request(&["Why?", "--kind", "text", "--agent", "other"]);
    noticed.world.request(&[
        "Why?",
        "--kind",
        "text",
        "--agent",
        "bot",
        "--project",
        "else",
    ]);
    assert!(!noticed.notify_dir().exists());
    // A question that was asked before is no news either.
    noticed
        .world
        .request(&["Why?", "--kind", "text", "--agent", "bot", "--key", "k"]);
    noticed.written("done");
    noticed.idle();
    fs::remove_file(noticed.out().join("stdin")).unwrap();
    let again = noticed
        .world
        .request(&["Why?", "--kind", "text", "--agent", "bot", "--key", "k"]);
    assert_eq!(again["reused"], true);
    assert_eq!(noticed.queued(), 0);
    assert!(!noticed.out().join("stdin").exists());
}

/// The median of some durations, in milliseconds.
fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    all[all.len() / 2].as_secs_f64() * 1000.0
}

#[test]
fn a_notice_costs_the_asker_a_few_milliseconds() {
    let noticed = Noticed::new("");
    let times = |config: &str| {
        noticed.configure(config);
        let one = |_| {
            let start = Instant::now();
            noticed.world.request(&["Deploy?"]);
            start.elapsed()
        };
        median((0..15).map(one).collect())
    };
    let without = times("");
    // A sender that is busy, and one that must be started each time.
    let busy = times("[[notify]]\ncommand = [\"sleep\", \"1\"]\n");
    println!("request: {without:.1} ms; with a notice: {busy:.1} ms");
    assert!(busy < without + 40.0, "{without} {busy}");
}
