//! What makes a question the same or another: digest, nonce, the members of its record; and the
//! sizes that are refused, never cut.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, digest, text};

fn names(record: &Value) -> Vec<&str> {
    record
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn ids_digests_and_nonces_have_their_shape() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let base64url = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    assert!(text(&record, "id").len() == 32 && hex(text(&record, "id")));
    assert!(text(&record, "request_digest").len() == 64 && hex(text(&record, "request_digest")));
    assert!(text(&record, "nonce").len() == 32 && text(&record, "nonce").bytes().all(base64url));
    assert_eq!(
        (&record["schema"], &record["status"]),
        (&json!(1), &json!("pending"))
    );
    assert_eq!(record["updated_at"], record["created_at"]);
    for name in ["created_at", "expires_at"] {
        let time = text(&record, name);
        assert!(
            time.len() == 27 && time.ends_with('Z') && time.as_bytes()[19] == b'.',
            "{time}"
        );
    }
}

#[test]
fn the_digest_is_that_of_the_specification_for_every_kind() {
    let world = Sandbox::new();
    let questions = world.path().join("q.json");
    fs::write(&questions, r#"[{"question":"Which?","header":"H","options":[{"label":"A","description":"d"}],"multi_select":true},{"question":"é?"}]"#).unwrap();
    let all = [
        "--agent",
        "a\u{200b}",
        "--agent-instance",
        "i",
        "--project",
        "p",
        "--session",
        "s",
        "--turn",
        "t",
        "--native-request",
        "n",
        "--workflow",
        "w",
        "--task",
        "k",
        "--key",
        "K",
    ];
    let rows: [&[&str]; 5] = [
        &[
            "Deploy \"it\"?\u{1b}[2J",
            "--tool",
            "Bash",
            "--input",
            r#"{"command":"ls","n":1.0, "z":null}"#,
        ],
        &[
            "Deploy?",
            "--action",
            "push",
            "--choice",
            "go:Go",
            "--choice",
            "no:No",
            "--choice-detail",
            "go:now",
            "--effect",
            "go=allow",
        ],
        &[
            "Which?",
            "--kind",
            "single-choice",
            "--choice",
            "a:A",
            "--choice",
            "b:B",
        ],
        &["Name?", "--kind", "text", "--text-max", "7"],
        &[
            "Form",
            "--kind",
            "form",
            "--questions",
            questions.to_str().unwrap(),
        ],
    ];
    for row in rows {
        let args: Vec<&str> = row.iter().chain(&all).copied().collect();
        let record = world.request(&args);
        assert_eq!(
            text(&record, "request_digest"),
            digest(&world.stored(text(&record, "id")))
        );
        assert_eq!(
            world.get(text(&record, "id"))["request_digest"],
            record["request_digest"]
        );
    }
}

#[test]
fn a_zero_width_character_or_another_composition_is_another_question() {
    let world = Sandbox::new();
    let mut digests = HashSet::new();
    let prompts = [
        "Café?",
        "Cafe\u{301}?",
        "Café\u{200b}?",
        "Café?",
        "Café?\u{fe0f}",
    ];
    for (round, prompt) in prompts.iter().enumerate() {
        let record = world.request(&[prompt, "--key", "k"]);
        assert_eq!(record["reused"], false, "{round}");
        assert!(digests.insert(text(&record, "request_digest").to_owned()));
    }
    assert_eq!(world.json(&["list"])["count"], 1);
}

#[test]
fn the_members_stand_in_one_order() {
    let world = Sandbox::new();
    let record = world.request(&[
        "Run?",
        "--key",
        "k",
        "--agent-instance",
        "i",
        "--session",
        "s",
        "--turn",
        "t",
        "--native-request",
        "n",
        "--workflow",
        "w",
        "--task",
        "x",
        "--tool",
        "Bash",
        "--input",
        "{}",
        "--action",
        "a",
    ]);
    let id = text(&record, "id");
    let question = [
        "schema",
        "id",
        "key",
        "kind",
        "status",
        "agent",
        "agent_instance",
        "project",
        "session_id",
        "turn_id",
        "native_request_id",
        "workflow_id",
        "task_id",
        "cwd",
        "prompt",
        "choices",
        "tool",
        "action",
        "request_digest",
        "nonce",
        "created_at",
        "updated_at",
        "expires_at",
    ];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        question.iter().chain(more).copied().collect()
    };
    assert_eq!(names(&record), with(&["reused"]));
    assert_eq!(names(&world.get(id)), with(&["waiting"]));
    let stored = |id: &str| -> Value { serde_json::from_str(&world.stored(id)).unwrap() };
    assert_eq!(names(&stored(id)), question);
    let settled = world.respond(
        &record,
        "r1",
        &[
            "--choice",
            "allow-once",
            "--message",
            "m",
            "--updated-input",
            "{}",
            "--device",
            "d",
        ],
    );
    assert_eq!(settled.code, 0, "{settled:?}");
    let answered = stored(id);
    assert_eq!(
        names(&answered),
        with(&["answered_at", "response", "settled_digest"])
    );
    assert_eq!(
        names(&answered["response"]),
        [
            "response_id",
            "choice_id",
            "message",
            "updated_input",
            "source",
            "device_id",
            "answered_by",
            "responder",
            "created_at"
        ]
    );
    assert_eq!(answered["answered_at"], answered["response"]["created_at"]);
    assert_eq!(answered["answered_at"], answered["updated_at"]);
    let public = world.json(&["show", id]);
    assert_eq!(public.get("nonce"), None);
}

#[test]
fn an_input_of_a_mebibyte_is_taken_and_one_byte_more_is_not() {
    let world = Sandbox::new();
    let file = world.path().join("input.json");
    let given = format!("@{}", file.display());
    let input = |size: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(size - 8));
    fs::write(&file, input(1 << 20)).unwrap();
    let record = world.request(&["Run?", "--tool", "T", "--input", &given]);
    assert_eq!(
        record["tool"]["input"]["a"].as_str().unwrap().len(),
        (1 << 20) - 8
    );
    fs::write(&file, input((1 << 20) + 1)).unwrap();
    let error = world.error(&["request", "Run?", "--tool", "T", "--input", &given]);
    assert_eq!(error["code"], "invalid_input");
    assert!(text(&error, "message").contains("1048576"));
    let update = [
        "--choice",
        "allow-once",
        "--updated-input",
        &given,
        "--json",
    ];
    assert_eq!(
        world.respond(&record, "r", &update).error()["code"],
        "invalid_input"
    );
    for (depth, taken) in [(127, true), (129, false), (100_000, false)] {
        fs::write(
            &file,
            format!(
                "{{\"a\":{}{}}}",
                "[".repeat(depth - 1),
                "]".repeat(depth - 1)
            ),
        )
        .unwrap();
        let ran = world.run(["request", "Run?", "--tool", "T", "--input", &given]);
        assert_eq!(ran.code, if taken { 0 } else { 2 }, "{depth}");
        assert_eq!(
            ran.stdout.matches('[').count(),
            if taken { depth - 1 } else { 0 }
        );
    }
}

#[test]
fn a_record_that_would_grow_beyond_its_bound_is_not_settled() {
    let world = Sandbox::new();
    let mut record = world.request(&["Run?", "--tool", "T", "--input", "{}"]);
    record["id"] = "0".repeat(32).into();
    record["tool"]["input"] = json!({ "a": "x".repeat((7 << 20) / 2) });
    let record = world.plant(record);
    let file = world.path().join("input.json");
    fs::write(&file, json!({ "b": "x".repeat(1 << 19) }).to_string()).unwrap();
    let given = format!("@{}", file.display());
    let update = [
        "--choice",
        "allow-once",
        "--updated-input",
        &given,
        "--json",
    ];
    let error = world.respond(&record, "r", &update).error();
    assert_eq!(error["code"], "invalid_input");
    assert!(text(&error, "message").contains("4194304"));
    assert_eq!(world.get(text(&record, "id"))["status"], "pending");
    assert_eq!(
        world
            .respond(&record, "r", &["--choice", "allow-once"])
            .code,
        0
    );
}

#[test]
fn the_number_of_pending_questions_is_bounded() {
    let world = Sandbox::new();
    let config = world.path().join("config.toml");
    fs::write(&config, "max_pending = 2\n").unwrap();
    let request = |args: &[&str]| {
        let args = ["request"].iter().chain(args).chain(&["--json"]).copied();
        crate::sandbox::Ran::from(
            world
                .command(args)
                .env("SAYSO_CONFIG", &config)
                .output()
                .unwrap(),
        )
    };
    request(&["One?"]).data();
    let keyed = request(&["Two?", "--key", "k"]).data();
    let error = request(&["Three?"]).error();
    assert_eq!(
        (&error["code"], &error["exit_code"]),
        (&json!("unavailable"), &json!(7))
    );
    assert!(text(&error, "message").contains("max_pending"));
    // One that takes another's place, or finds itself again, adds none.
    assert_eq!(request(&["Two?", "--key", "k"]).data()["id"], keyed["id"]);
    let other = request(&["Two and a half?", "--key", "k"]).data();
    world.json(&["cancel", text(&other, "id")]);
    request(&["Three?"]).data();
}
