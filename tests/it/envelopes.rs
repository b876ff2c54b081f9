//! JSON envelopes, usage errors, cancel and get, and the spellings of the older tools.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, finish, text};

fn names(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_success_is_one_line_on_standard_output_and_nothing_else() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let rows: [(&[&str], &[&str]); 12] = [
        (&["list"], &["count", "interactions"]),
        (&["list", "--all", "-A"], &["count", "interactions"]),
        (&["show", id], &[]),
        (&["get", id], &[]),
        (&["count"], &["count"]),
        (&["prune"], &["count", "dry_run", "ids"]),
        (&["doctor"], &["ok", "findings"]),
        (&["wait", id, "--timeout", "1"], &[]),
        (&["answer", id, "--allow"], &[]),
        (&["cancel", id], &[]),
        (&["cancel", id, id], &["count", "interactions"]),
        (&["cancel", "--session", "none"], &["count", "interactions"]),
    ];
    for (args, members) in rows {
        let ran = world.run(args.iter().chain(&["--json"]));
        let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(names(&envelope), ["schema", "ok", "data"], "{args:?}");
        assert_eq!(ran.stdout, format!("{envelope}\n"), "{args:?}");
        assert_eq!(ran.stderr, "", "{args:?}");
        if members.is_empty() {
            assert_eq!(envelope["data"]["id"], id);
            assert_eq!(
                envelope["data"].get("nonce").is_some(),
                args[0] == "get",
                "{args:?}"
            );
        } else {
            assert_eq!(names(&envelope["data"]), members, "{args:?}");
        }
    }
    assert_eq!(
        world.run(["get", id]).stdout,
        world.run(["get", id, "--json"]).stdout
    );
}

#[test]
fn a_failure_is_one_line_on_standard_error() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let none = "0".repeat(32);
    let rows: [(&[&str], &str, i64, Option<i64>); 9] = [
        (&["get", &none], "not_found", 3, Some(404)),
        (&["show", "0000"], "not_found", 3, Some(404)),
        (&["wait", &none], "not_found", 3, Some(404)),
        (&["get", "abc"], "invalid_input", 2, Some(400)),
        (
            &["answer", id, "--choice", "x"],
            "invalid_answer",
            2,
            Some(400),
        ),
        (&["request", " "], "invalid_input", 2, Some(400)),
        (
            &["list", "--scope", "-bad/name"],
            "invalid_input",
            2,
            Some(400),
        ),
        (&["frobnicate"], "invalid_input", 2, Some(400)),
        (&["events", "--type", "none"], "invalid_input", 2, Some(400)),
    ];
    for (args, code, exit, http) in rows {
        let ran = world.run(args.iter().chain(&["--json"]));
        assert_eq!(ran.stdout, "");
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?} {ran:?}");
        let envelope: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(names(&envelope), ["schema", "ok", "error"]);
        assert_eq!(
            (&envelope["schema"], &envelope["ok"]),
            (&json!("sayso.cli.v1"), &json!(false))
        );
        let error = &envelope["error"];
        assert_eq!(
            (&error["code"], &error["exit_code"]),
            (&json!(code), &json!(exit)),
            "{args:?}"
        );
        assert_eq!(error.get("http_status").and_then(Value::as_i64), http);
        assert_eq!(i64::from(ran.code), exit);
        assert!(text(error, "message").len() > 10);
        let human = world.run(args);
        assert_eq!(
            (i64::from(human.code), human.stdout.as_str()),
            (exit, ""),
            "{args:?}"
        );
        assert!(human.stderr.starts_with("error: "), "{human:?}");
    }
}

#[test]
fn a_broken_configuration_is_an_error_that_says_where() {
    let world = Sandbox::new();
    let config = world.path().join("config.toml");
    std::fs::write(&config, "max_pending = [\n").unwrap();
    let mut command = world.command(["request", "Deploy?", "--json"]);
    let error = Ran::from(command.env("SAYSO_CONFIG", &config).output().unwrap()).error();
    assert_eq!(
        (&error["code"], &error["exit_code"]),
        (&json!("config_error"), &json!(2))
    );
    assert!(text(&error, "message").contains("config.toml"));
    assert_eq!(world.json(&["list"])["count"], 0);
}

#[test]
fn usage_errors_are_2_and_change_nothing() {
    let world = Sandbox::new();
    let rows: [&[&str]; 17] = [
        &[],
        &["--json"],
        &["frobnicate"],
        &["ask"],
        &["ask", "A?", "--prompt", "B?"],
        &["request", "A?", "--input", "{}"],
        &["request", "A?", "--choice", "no-colon"],
        &["wait"],
        &["get"],
        &["cancel"],
        &["cancel", "--session", "s", "--key", "k"],
        &["answer", "--allow", "--deny"],
        &["list", "--status", "bogus"],
        &["list", "--limit", "-1"],
        &["list", "--kind", "poll"],
        &["answer"],
        &["inbox"],
    ];
    for args in rows {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?} {ran:?}");
        assert_ne!(ran.stderr, "", "{args:?}");
    }
    assert!(!world.store().join("scopes").exists());
}

#[test]
fn cancel_is_idempotent_exact_and_leaves_what_ended_alone() {
    let world = Sandbox::new();
    let one = world.request(&["One?", "--session", "s", "--agent", "a", "--key", "k"]);
    let two = world.request(&["Two?", "--session", "s", "--agent", "b", "--key", "k"]);
    let other = world.request(&["Three?", "--session", "s1"]);
    let id = |record: &Value| text(record, "id").to_owned();
    assert_eq!(world.error(&["cancel", &id(&one)[..8]])["exit_code"], 2);
    assert_eq!(world.json(&["cancel", &id(&one)])["status"], "cancelled");
    let file = world.stored(&id(&one));
    assert_eq!(world.json(&["cancel", &id(&one)])["status"], "cancelled");
    assert_eq!(world.stored(&id(&one)), file);
    let several = world.json(&["cancel", &id(&one), &id(&two)]);
    assert_eq!(
        (&several["count"], &several["interactions"][1]["status"]),
        (&json!(2), &json!("cancelled"))
    );
    for miss in [
        &["--session", "S"][..],
        &["--session", ""],
        &["--key", "K"],
        &["--session", "s"],
        &["--key", "k"],
    ] {
        assert_eq!(
            world.json(&[&["cancel"], miss].concat())["count"],
            0,
            "{miss:?}"
        );
    }
    let again = world.request(&["Four?", "--key", "k", "--agent", "a"]);
    world.request(&["Five?", "--key", "k", "--agent", "b"]);
    let only = world.json(&["cancel", "--key", "k", "--agent", "a"]);
    assert_eq!(
        (&only["count"], &only["interactions"][0]["id"]),
        (&json!(1), &again["id"])
    );
    assert_eq!(
        world.json(&["cancel", "--session", "s1"])["interactions"][0]["id"],
        other["id"]
    );
    let answered = world.request(&["Six?"]);
    world.json(&["answer", &id(&answered), "--allow"]);
    let file = world.stored(&id(&answered));
    assert_eq!(
        world.json(&["cancel", &id(&answered)])["status"],
        "answered"
    );
    assert_eq!(world.stored(&id(&answered)), file);
    // One unknown id among several: nothing is withdrawn.
    let last = world.request(&["Seven?"]);
    assert_eq!(
        world.error(&["cancel", &id(&last), &"0".repeat(32)])["code"],
        "not_found"
    );
    assert_eq!(world.get(&id(&last))["status"], "pending");
}

#[test]
fn the_older_tools_spellings_work() {
    let world = Sandbox::new();
    for group in [&["interactions"][..], &["agent", "interactions"]] {
        let run = |args: &[&str]| world.run([group, args].concat());
        let record = run(&[
            "request",
            "Deploy?",
            "--agent-id",
            "a",
            "--session-id",
            "s",
            "--workflow-id",
            "w",
            "--task-id",
            "t",
            "--kind",
            "single_choice",
            "--choice",
            "x:X",
            "--choice",
            "y:Y",
            "--json",
        ])
        .data();
        let expected = json!(["a", "s", "w", "t", "single_choice"]);
        let found: Value = ["agent", "session_id", "workflow_id", "task_id", "kind"]
            .iter()
            .map(|m| record[*m].clone())
            .collect();
        assert_eq!(found, expected);
        let filter = [
            "list",
            "--agent-id",
            "a",
            "--session-id",
            "s",
            "--workflow-id",
            "w",
            "--task-id",
            "t",
            "--json",
        ];
        assert_eq!(run(&filter).data()["count"], 1);
        let id = text(&record, "id");
        assert_eq!(run(&["show", id]).code, 0);
        let respond = [
            "respond",
            id,
            "--response-id",
            "r",
            "--digest",
            text(&record, "request_digest"),
            "--nonce",
            text(&record, "nonce"),
            "--choice",
            "y",
            "--device-id",
            "phone",
            "--json",
        ];
        assert_eq!(run(&respond).data()["response"]["device_id"], "phone");
        assert_eq!(run(&["get", id, "--json"]).data()["status"], "answered");
        assert_eq!(
            run(&["cancel", "--session-id", "s", "--agent-id", "a"]).code,
            0
        );
        // The group alone prints what the older client printed (older.rs).
        let (bare, waited) = match group.len() {
            1 => (1, "{\n  \"id\""),
            _ => (0, "answered\n"),
        };
        let wait = run(&["wait", id]);
        assert!(wait.stdout.starts_with(waited), "{wait:?}");
        assert_eq!(run(&["count", "--zero"]).stdout, "0\n");
        assert_eq!(run(&["bogus"]).code, if bare == 1 { 1 } else { 2 });
        assert_eq!(run(&[]).code, bare);
        let ask = world.start([group, &["ask", "Deploy?"]].concat());
        world.json(&["answer", text(&world.await_pending(), "id"), "--allow"]);
        assert_eq!(finish(ask).code, 0);
        let globally: Vec<&str> = ["--json"]
            .iter()
            .chain(group)
            .chain(&["list"])
            .copied()
            .collect();
        assert_eq!(world.run(globally).data()["count"], 0);
    }
    let events = world.run(["daemon", "events", "--limit", "1"]);
    assert_eq!(
        (events.code, events.stdout.lines().count()),
        (0, 1),
        "{events:?}"
    );
    let help = world.run(["request", "--help"]).stdout;
    for hidden in ["agent-id", "session-id", "workflow-id", "task-id"] {
        assert!(!help.contains(hidden), "{hidden}");
    }
    let all = world.run(["--help"]).stdout;
    assert!(!all.contains("daemon") && !all.contains("agent interactions"));
}
