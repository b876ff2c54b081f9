//! The older client's hook, as a client of our own that makes the same calls, through programs of the
//! older names.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, binary, finish, has, text, until};

const NAMES: [&str; 2] = ["agentnotify", "animus"];

/// A directory with this program under both older names.
pub fn names(world: &Sandbox) -> String {
    let bin = world.path().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        for name in NAMES {
            symlink(binary(), bin.join(name)).unwrap();
        }
    }
    bin.display().to_string()
}

/// A command that finds the older names on its PATH.
pub fn under(world: &Sandbox, program: &str) -> Command {
    let bin = names(world);
    let mut command = Command::new(program);
    world.dress(&mut command);
    command.env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
    command
}

fn hook(world: &Sandbox, name: &str, rest: &[&str]) -> Child {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/older_hook.py");
    let mut command = under(world, "python3");
    command
        .args([script, name])
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let payload = json!({
        "session_id": "0123456789-session", "tool_name": "Bash", "cwd": world.repo(),
        "tool_input": { "command": "git push" },
    });
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    child
}

/// Waits until the hook's question is open and the hook waits for it: the request before it held the
/// question for a moment, too.
fn waited_for(world: &Sandbox) -> Value {
    until("a question that is waited for", || {
        let list = world.json(&["list"]);
        let id = list["interactions"][0]["id"].as_str()?.to_owned();
        let wait = format!("interactions\0wait\0{id}\0");
        let waits = fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = fs::read_to_string(process.path().join("cmdline"));
            line.is_ok_and(|line| line.contains(&wait))
        });
        let record = world.json(&["list"])["interactions"][0].take();
        (waits && record["waiting"] == "yes").then_some(record)
    })
}

fn waiting(world: &Sandbox) -> Value {
    world.json(&["list"])["interactions"][0]["waiting"].clone()
}

#[test]
fn the_older_hook_prints_what_the_operator_decided() {
    if !has("python3", "the_older_hook_prints_what_the_operator_decided") {
        return;
    }
    for name in NAMES {
        for (option, behavior) in [("--allow", "allow"), ("--deny", "deny")] {
            let world = Sandbox::new();
            let asking = hook(&world, name, &["60"]);
            let record = waited_for(&world);
            assert_eq!(
                (text(&record, "agent"), text(&record, "project")),
                ("codex", "shop")
            );
            assert_eq!(record["key"], "shop-01234567-ask");
            assert_eq!(record["prompt"], "Codex approval: Bash git push");
            let answered = world.json(&["answer", text(&record, "id"), option]);
            assert_eq!(answered["delivery_state"], "delivered", "{name}");
            let ran = finish(asking);
            let told: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(
                told["hookSpecificOutput"]["decision"]["behavior"], behavior,
                "{name}: {ran:?}"
            );
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        }
    }
}

#[test]
fn a_question_that_ends_otherwise_makes_the_older_hook_silent() {
    if !has(
        "python3",
        "a_question_that_ends_otherwise_makes_the_older_hook_silent",
    ) {
        return;
    }
    for name in NAMES {
        let world = Sandbox::new();
        let asking = hook(&world, name, &["60"]);
        let record = waited_for(&world);
        world.json(&["cancel", text(&record, "id")]);
        let ran = finish(asking);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, ""),
            "cancelled: {ran:?}"
        );

        // The deadline passes: nothing else of the record is touched, and no digest holds it.
        let asking = hook(&world, name, &["60"]);
        let record = waited_for(&world);
        let path = world.pending(text(&record, "id"));
        let mut stored: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        stored["expires_at"] = stored["created_at"].clone();
        fs::write(path.with_extension("new"), format!("{stored}\n")).unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
        assert_eq!(world.json(&["list"])["count"], 0);
        let ran = finish(asking);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "expired: {ran:?}");
        let expired = world.get(text(&record, "id"));
        assert_eq!(expired["status"], "expired");

        // The hook's own time is up: the question is open, and nobody is shown as waiting.
        let ran = finish(hook(&world, name, &["1"]));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, ""),
            "timed out: {ran:?}"
        );
        assert_eq!(waiting(&world), "no");
    }
}

#[test]
fn a_question_of_a_killed_older_hook_does_not_look_waited_for() {
    if !has(
        "python3",
        "a_question_of_a_killed_older_hook_does_not_look_waited_for",
    ) {
        return;
    }
    for name in NAMES {
        let world = Sandbox::new();
        let mut asking = hook(&world, name, &["60"]);
        let record = waited_for(&world);
        asking.kill().unwrap();
        asking.wait().unwrap();
        until("nobody waits any more", || {
            (waiting(&world) == "no").then_some(())
        });
        let answered = world.json(&["answer", text(&record, "id"), "--allow"]);
        assert_eq!(answered["delivery_state"], "unattended", "{name}");
        // The same question under the same key is a new one: nothing old is taken for its answer.
        let again = hook(&world, name, &["60"]);
        let next = waited_for(&world);
        assert_ne!(next["id"], record["id"]);
        world.json(&["answer", text(&next, "id"), "--deny"]);
        assert!(finish(again).stdout.contains(r#""behavior": "deny""#));
    }
}
