//! What an answer may say and who may give it.

use serde_json::json;

use crate::answers::{accepted, refused};
use crate::sandbox::{INVALID_ANSWER, Ran, SELF_ANSWER, Sandbox, failure, text};

#[test]
fn secrets_need_not_be_arguments() {
    let world = Sandbox::new();
    let record = world.request(&["Name?", "--kind", "text"]);
    let file = world.path().join("nonce");
    std::fs::write(&file, format!("{}\n", text(&record, "nonce"))).unwrap();
    let args = [
        "respond",
        text(&record, "id"),
        "--response-id",
        "r",
        "--digest",
        text(&record, "request_digest"),
        "--nonce-file",
        file.to_str().unwrap(),
        "--text-file",
        "-",
        "--json",
    ];
    let response = &world.run_with(args, b"  -x \"two\nlines\"\n").data()["response"];
    assert_eq!(response["text"], "-x \"two\nlines\"");
}

#[test]
fn a_text_is_trimmed_bounded_and_literal() {
    let world = Sandbox::new();
    let ask = || world.request(&["Name?", "--kind", "text", "--text-max", "10"]);
    let record = ask();
    for text in ["way too long an answer", &"é".repeat(11), "", " \t\n"] {
        let error = refused(&world, &record, &["--text", text], INVALID_ANSWER);
        assert!(error["message"].as_str().unwrap().contains("10"));
    }
    refused(&world, &record, &["--choice", "allow-once"], INVALID_ANSWER);
    refused(&world, &record, &["--declined"], INVALID_ANSWER);
    assert_eq!(
        accepted(&world, &record, &["--text", "  short  "])["text"],
        "short"
    );
    // Trimming is part of the answer, so the same text otherwise spaced replays.
    assert_eq!(
        accepted(&world, &record, &["--text", "short"])["text"],
        "short"
    );
    for (given, kept) in [
        (&*"𝄞".repeat(10), &*"𝄞".repeat(10)),
        ("--allow", "--allow"),
        ("@/etc/x", "@/etc/x"),
        ("e\u{301}", "e\u{301}"),
    ] {
        assert_eq!(accepted(&world, &ask(), &["--text", given])["text"], kept);
        let record = ask();
        let answered = world.json(&["answer", text(&record, "id"), "--text", given]);
        assert_eq!(answered["response"]["text"], kept);
    }
}

#[test]
fn allow_and_deny_take_the_only_choice_of_that_effect() {
    let world = Sandbox::new();
    let several = world.request(&[
        "Deploy?",
        "--choice",
        "allow-a:A",
        "--choice",
        "allow-b:B",
        "--choice",
        "maybe:M",
    ]);
    let id = text(&several, "id");
    let error = failure(
        &world.run(["answer", id, "--allow", "--json"]),
        INVALID_ANSWER,
    );
    assert!(
        text(&error, "message").contains("allow-a, allow-b"),
        "{error}"
    );
    let error = failure(
        &world.run(["answer", id, "--deny", "--json"]),
        INVALID_ANSWER,
    );
    assert!(
        text(&error, "message").contains("allow-a, allow-b, maybe"),
        "{error}"
    );
    let choice = world.request(&[
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        "allow:A",
        "--choice",
        "deny:B",
    ]);
    for flag in ["--allow", "--deny"] {
        failure(
            &world.run(["answer", text(&choice, "id"), flag, "--json"]),
            INVALID_ANSWER,
        );
    }
    let typed = world.request(&["Name?", "--kind", "text"]);
    failure(
        &world.run(["answer", text(&typed, "id"), "--allow", "--json"]),
        INVALID_ANSWER,
    );
    let denied = world.json(&["answer", id, "--choice", "maybe"]);
    assert_eq!(denied["response"]["choice_id"], "maybe");
    let only = world.request(&[
        "Deploy?", "--choice", "go:Go", "--choice", "no:No", "--effect", "go=allow",
    ]);
    let answered = world.json(&[
        "answer",
        text(&only, "id"),
        "--allow",
        "--by",
        "me",
        "--response-id",
        "mine",
    ]);
    assert_eq!(
        (
            &answered["response"]["choice_id"],
            &answered["response"]["response_id"],
            &answered["response"]["answered_by"]
        ),
        (&json!("go"), &json!("mine"), &json!("me"))
    );
}

#[test]
fn an_agents_session_may_not_answer_itself_by_accident() {
    let world = Sandbox::new();
    for name in [
        "CLAUDECODE",
        "CODEX_SANDBOX",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "CURSOR_AGENT",
        "SAYSO_AGENT",
    ] {
        let record = world.request(&["Deploy?"]);
        let id = text(&record, "id");
        let before = world.stored(id);
        let inside = |args: &[&str]| -> Ran {
            let mut command = world.command(args.iter().chain(&["--json"]));
            command.env(name, "1").output().unwrap().into()
        };
        let answer = ["answer", id, "--allow"];
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
            "allow-once",
        ];
        for args in [&answer[..], &respond[..]] {
            let error = failure(&inside(args), SELF_ANSWER);
            assert!(text(&error, "message").contains(name));
        }
        assert_eq!(world.stored(id), before);
        let data = inside(&[&answer[..], &["--self-answer"]].concat()).data();
        assert_eq!(data["response"]["responder"]["agent_session"], name);
        assert!(world.run(["show", id]).stdout.contains("self-answered"));
    }
    assert_eq!(
        world
            .run(["list", "--all"])
            .stdout
            .matches("(self-answered)")
            .count(),
        7
    );
    let record = world.request(&["Deploy?"]);
    let mut blank = world.command(["answer", text(&record, "id"), "--allow", "--json"]);
    let data = Ran::from(blank.env("CLAUDECODE", "").output().unwrap()).data();
    assert_eq!(data["response"]["responder"].get("agent_session"), None);
}
