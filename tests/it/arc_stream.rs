//! `sayso arc`: streams, inputs that are no events, outputs that are gone, and many at once.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::arc::{accept, ahead, apply, asking, created, event, resolved, submitted};
use crate::sandbox::{INVALID_INPUT, Sandbox, failure, finish, text};

fn lines(output: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap();
    output.lines().map(parse).collect()
}

#[test]
fn a_stream_goes_on_after_a_refusal_and_ends_as_the_first() {
    let world = Sandbox::new();
    let unknown = submitted("a0", "never-asked", &"0".repeat(64), "n");
    let told = json!({ "kind": "completion", "message": "done" });
    let input = format!(
        "{}\n\n   \r\n{}\r\nno event\n{}\n{}",
        asking("e1", "codex", "k", "May I?"),
        unknown,
        resolved("r1", "codex", "k"),
        event("request.created", "t1", "codex", told),
    );
    let ran = world.run_with(["arc", "--stream", "--json"], input.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""));
    let results = lines(&ran.stdout);
    assert_eq!(results.len(), 5);
    let ok: Vec<bool> = results.iter().map(|r| r["ok"] == true).collect();
    assert_eq!(ok, [true, false, false, true, true]);
    assert_eq!(results[1]["error"]["code"], "not_found");
    assert_eq!(results[1]["error"]["details"]["line"], 4);
    assert_eq!(results[2]["error"]["code"], "invalid_input");
    assert_eq!(results[3]["data"]["interaction"]["status"], "cancelled");

    let ran = world.run_with(["arc", "--stream"], input.as_bytes());
    assert_eq!(ran.code, 3);
    let told: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(told.len(), 5);
    assert!(told[0].starts_with("request.created ") && told[0].ends_with("(applied before)"));
    assert!(told[1].starts_with("line 4: not_found: "));
    assert_eq!(
        told[4],
        "request.created notice: codex completed work (applied before)"
    );
    assert_eq!(world.run_with(["arc", "--stream"], b"").code, 0);
    assert_eq!(world.run_with(["arc", "--stream"], b"\n\n").code, 0);
    assert_eq!(world.run(["arc", "--stream", "no-such-file"]).code, 2);
}

#[test]
fn each_result_of_a_stream_is_there_before_the_next_event_comes() {
    let world = Sandbox::new();
    let mut command = world.command(["arc", "--stream", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        let event = created(&format!("e{n}"), "codex", "May I?", &ahead(600));
        writeln!(input, "{event}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let result: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(result["data"]["event_id"], format!("e{n}"));
        assert_eq!(world.json(&["list"])["count"], n + 1);
    }
    drop(input);
    assert_eq!(finish(child).code, 0);
}

#[test]
fn what_is_no_event_is_refused_whatever_it_is() {
    let world = Sandbox::new();
    let deep = |open: &str, close: &str| {
        let half = (1 << 20) / 2 / open.len().max(close.len());
        format!("{}1{}", open.repeat(half), close.repeat(half))
    };
    let mut nested = asking("e1", "codex", "k", "May I?");
    nested["extensions"] = json!({ "x-deep": 0 });
    let nested = nested.to_string().replace(
        "\"x-deep\":0",
        &format!("\"x-deep\":{}1{}", "[".repeat(500), "]".repeat(500)),
    );
    let twice = asking("e1", "codex", "k", "May I?").to_string();
    let twice = twice.replace(
        "\"kind\":\"permission\",\"message\"",
        "\"message\":\"What?\",\"kind\":\"permission\",\"message\"",
    );
    let inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" \n\t\n".to_vec(),
        b"\0".to_vec(),
        vec![0; 4096],
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"event\"".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"{}{}".to_vec(),
        b"{\"arc_version\":\"0.2\"}\0".to_vec(),
        b"\xff\xfe{}".to_vec(),
        "\u{feff}{}".into(),
        br#"{"arc_version":"\ud800"}"#.to_vec(),
        deep("[", "]").into(),
        deep("{\"a\":", "}").into(),
        nested.into(),
        twice.into(),
        vec![b' '; 3 << 20],
        vec![b'x'; 3 << 20],
        (0..=255).collect(),
    ];
    for input in inputs {
        let head = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
        let ran = world.run_with(["arc", "--json"], &input);
        let error = failure(&ran, INVALID_INPUT);
        assert!(text(&error, "message").len() < 200, "{head}: {error}");
        assert!(!world.store().exists(), "{head}");
        // In a stream it is one line, or a few, and what follows is applied.
        let world = Sandbox::in_memory();
        let mut stream = input.clone();
        stream.extend(format!("\n{}\n", asking("e9", "codex", "k", "May I?")).bytes());
        let ran = world.run_with(["arc", "--stream", "--json"], &stream);
        let last = lines(&ran.stdout).pop().unwrap();
        assert_eq!(last["data"]["event_id"], "e9", "{head}");
        let blank = input.iter().all(|b| b" \n\t".contains(b)) && input.len() < 100;
        assert_eq!(ran.code, if blank { 0 } else { 2 }, "{head}");
    }
}

#[test]
fn an_event_comes_from_a_file_or_from_standard_input() {
    let world = Sandbox::new();
    let event = serde_json::to_string_pretty(&asking("e1", "codex", "k", "May I?")).unwrap();
    let file = world.repo().join("event.json");
    fs::write(&file, &event).unwrap();
    let first = world.run(["arc", "event.json", "--json"]).data();
    for args in [&["arc", "-", "--json"][..], &["arc", "--json"]] {
        let again = world.run_with(args, event.as_bytes()).data();
        assert_eq!(again["interaction"]["id"], first["interaction"]["id"]);
    }
    let missing = world.run(["arc", "missing.json", "--json"]);
    failure(&missing, INVALID_INPUT);
    let two = format!(
        "{}\n{}\n",
        created("a", "codex", "A?", &ahead(600)),
        created("b", "codex", "B?", &ahead(600))
    );
    let error = world.run_with(["arc"], two.as_bytes());
    assert!(error.stderr.contains("--stream"), "{error:?}");
    assert_eq!(world.json(&["list"])["count"], 1);
}

#[test]
fn an_output_that_is_gone_loses_nothing_that_was_applied() {
    let world = Sandbox::new();
    let events: String = (0..3)
        .map(|n| {
            format!(
                "{}\n",
                created(&format!("e{n}"), "codex", "May I?", &ahead(600))
            )
        })
        .collect();
    let file = world.path().join("events");
    fs::write(&file, &events).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(["arc", "--stream"]);
    command.arg(&file).stdout(writer).stderr(Stdio::piped());
    let ran = finish(command.spawn().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(world.json(&["list"])["count"], 1);
    let mut command = world.command(["arc", "--stream"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    command.arg(&file).stdout(full).stderr(Stdio::piped());
    assert_eq!(finish(command.spawn().unwrap()).code, 7);
    let ran = world.run(["arc", "--stream", "--json", file.to_str().unwrap()]);
    let replayed: Vec<Value> = lines(&ran.stdout)
        .iter()
        .map(|r| r["data"]["replayed"].clone())
        .collect();
    assert_eq!(replayed, [true, false, false]);
    assert_eq!(world.json(&["list"])["count"], 3);
}

#[test]
fn an_event_that_comes_many_times_at_once_is_applied_once() {
    let world = Sandbox::new();
    // Where it tells something only, nothing but its entry keeps it from being told twice.
    let told = json!({ "kind": "failure", "message": "it broke" });
    let events = [
        created("e1", "codex", "May I?", &ahead(600)),
        asking("e2", "codex", "k", "May I?"),
        event("request.created", "e3", "codex", told),
    ];
    for event in events {
        let gate = Barrier::new(12);
        let results: Vec<Value> = std::thread::scope(|threads| {
            let run = || {
                gate.wait();
                accept(&world, &event)
            };
            let started: Vec<_> = (0..12).map(|_| threads.spawn(run)).collect();
            started.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let first = results.iter().filter(|r| r["replayed"] == false).count();
        assert_eq!(first, 1);
        let ids = results.iter().map(|r| r["interaction"]["id"].to_string());
        assert_eq!(ids.collect::<std::collections::HashSet<_>>().len(), 1);
    }
    assert_eq!(world.json(&["list"])["count"], 2);
}

#[test]
fn an_entry_that_cannot_be_read_is_no_way_around_it() {
    let world = Sandbox::new();
    let event = created("e1", "codex", "May I?", &ahead(600));
    let first = accept(&world, &event);
    let entry = fs::read_dir(world.store().join("arc"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|path| path.extension().is_some())
        .unwrap();
    let whole = fs::read_to_string(&entry).unwrap();
    assert!(!whole.contains("May I?") && !whole.contains("e1"));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(
        entry.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    // Cut short, or nonsense, as a crash leaves it: the question itself is known.
    for left in [&whole[..0], &whole[..30], "{}", "\0\0\0"] {
        fs::write(&entry, left).unwrap();
        let again = accept(&world, &event);
        assert_eq!(
            (&again["replayed"], &again["interaction"]["id"]),
            (&json!(true), &first["interaction"]["id"])
        );
    }
    fs::write(&entry, whole.replace("\"schema\":1", "\"schema\":2")).unwrap();
    assert_eq!(apply(&world, &event).error()["code"], "unavailable");
    fs::write(&entry, whole.replace("\"scope\":\"", "\"scope\":\"../../")).unwrap();
    assert_eq!(
        accept(&world, &event)["interaction"]["id"],
        first["interaction"]["id"]
    );
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert_eq!(apply(&world, &event).error()["code"], "unavailable");
    fs::remove_dir(&entry).unwrap();
    std::os::unix::fs::symlink(world.path().join("victim"), &entry).unwrap();
    assert_eq!(apply(&world, &event).error()["code"], "unavailable");
    assert!(!world.path().join("victim").exists());
    assert_eq!(world.json(&["list"])["count"], 1);
}

#[test]
fn what_an_event_says_cannot_draw_on_a_terminal() {
    let world = Sandbox::new();
    let hostile = "\u{1b}[2J\u{1b}]0;pwn\u{7}\r\u{9b}\u{202e}x";
    let mut told = event(
        "request.created",
        "t1",
        hostile,
        json!({ "kind": "failure", "message": hostile, "title": hostile }),
    );
    told["sender"]["name"] = hostile.into();
    let mut asked = created("e1", hostile, hostile, &ahead(600));
    asked["request"]["key"] = hostile.into();
    let mut refused = asked.clone();
    refused["request"][hostile] = json!(1);
    let mut input = String::new();
    for event in [&told, &asked, &refused] {
        input.push_str(&format!("{event}\n"));
    }
    let stream = world.run_with(["arc", "--stream"], input.as_bytes());
    let single = world.run_with(["arc"], refused.to_string().as_bytes());
    assert_eq!((stream.code, single.code), (2, 2));
    for output in [&stream.stdout, &stream.stderr, &single.stderr] {
        let odd = output.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(odd, None, "{output:?}");
        assert!(!output.contains('\u{202e}'));
    }
    assert_eq!(stream.stdout.lines().count(), 3);
    assert!(single.stderr.contains("\\u{1b}"));
}
