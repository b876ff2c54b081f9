//! The answer rules, row by row and in their order: code, exit code, HTTP status, and a file that stays
//! as it was whenever an answer is refused or replayed.

use serde_json::{Value, json};

use crate::sandbox::{
    ALREADY, DIGEST, INVALID_ANSWER, INVALID_INPUT, NONCE, NOT_FOUND, NOT_PENDING, Refusal,
    Sandbox, failure, text,
};

/// Responds with `answer`; it must be refused so and change nothing.
pub fn refused(world: &Sandbox, record: &Value, answer: &[&str], kind: Refusal) -> Value {
    let id = text(record, "id");
    let before = world.stored(id);
    let answer: Vec<&str> = answer.iter().chain(&["--json"]).copied().collect();
    let error = failure(&world.respond(record, "r", &answer), kind);
    assert_eq!(world.stored(id), before);
    error
}

/// Responds with `answer`, which must be accepted; returns the response.
pub fn accepted(world: &Sandbox, record: &Value, answer: &[&str]) -> Value {
    let answer: Vec<&str> = answer.iter().chain(&["--json"]).copied().collect();
    let data = world.respond(record, "r", &answer).data();
    assert_eq!(data["status"], "answered");
    assert_eq!(data.get("nonce"), None);
    data["response"].clone()
}

fn altered(record: &Value, member: &str, value: &str) -> Value {
    let mut altered = record.clone();
    altered[member] = value.into();
    altered
}

#[test]
fn row_0_what_no_question_could_take_is_malformed_even_for_an_unknown_id() {
    let world = Sandbox::new();
    let known = world.request(&["Deploy?"]);
    let unknown = altered(&known, "id", &"0".repeat(32));
    let long = |n: usize| "é".repeat(n);
    let rows: [&[&str]; 22] = [
        &[],
        &["--message", "only"],
        &["--choice", "allow-once", "--text", "x"],
        &["--choice", "allow-once", "--declined"],
        &["--text", "x", "--answers", "{}"],
        &["--response", "x", "--declined"],
        &["--choice", ""],
        &["--choice", &"c".repeat(65)],
        &["--text", &long(2001)],
        &["--response", &long(2001)],
        &["--answers", "{\"Q\":\"A\",\"Q\":\"B\"}"],
        &["--answers", "[]"],
        &["--answers", "{\"Q\":5}"],
        &["--answers", "{\"Q\":{\"other\":\"x\",\"more\":\"y\"}}"],
        &["--choice", "allow-once", "--message", &long(2001)],
        &["--choice", "allow-once", "--source", "a b"],
        &["--choice", "allow-once", "--source", &"s".repeat(65)],
        &["--choice", "allow-once", "--device", &long(129)],
        &["--choice", "allow-once", "--by", &long(201)],
        &["--choice", "allow-once", "--updated-input", "5"],
        &["--choice", "allow-once", "--updated-input", "null"],
        &["--choice", "allow-once", "--updated-input", "[]"],
    ];
    for row in rows {
        refused(&world, &known, row, INVALID_INPUT);
        let row: Vec<&str> = row.iter().chain(&["--json"]).copied().collect();
        failure(&world.respond(&unknown, "r", &row), INVALID_INPUT);
    }
    for response_id in ["", &long(129)] {
        failure(
            &world.respond(&known, response_id, &["--choice", "deny", "--json"]),
            INVALID_INPUT,
        );
    }
    let most = [
        "--choice",
        "deny",
        "--message",
        &long(2000),
        "--source",
        &"s".repeat(64),
        "--device",
        &long(128),
        "--by",
        &long(200),
    ];
    let ran = world.respond(&known, &long(128), &[&most[..], &["--json"]].concat());
    let response = &ran.data()["response"];
    assert_eq!(response["response_id"], long(128));
    assert_eq!(response["message"], long(2000));
    assert_eq!(response["source"], "s".repeat(64));
}

#[test]
fn row_1_an_unknown_id_is_not_found_and_what_is_no_id_is_refused() {
    let world = Sandbox::new();
    let known = world.request(&["Deploy?"]);
    let unknown = altered(&known, "id", &"0".repeat(32));
    failure(
        &world.respond(&unknown, "r", &["--choice", "deny", "--json"]),
        NOT_FOUND,
    );
    failure(
        &world.run(["answer", &"0".repeat(32), "--allow", "--json"]),
        NOT_FOUND,
    );
    failure(&world.run(["cancel", &"0".repeat(32), "--json"]), NOT_FOUND);
    for bad in [
        "../../../etc/passwd",
        "abc",
        "xyz!",
        &"a".repeat(33),
        "",
        "a/b/c/d",
        "pending",
    ] {
        failure(
            &world.respond(
                &altered(&known, "id", bad),
                "r",
                &["--choice", "deny", "--json"],
            ),
            INVALID_INPUT,
        );
        failure(
            &world.run(["answer", bad, "--allow", "--json"]),
            INVALID_INPUT,
        );
    }
}

#[test]
fn rows_2_and_3_only_the_very_same_answer_is_replayed() {
    let world = Sandbox::new();
    let record = world.request(&[
        "Deploy?",
        "--choice",
        "allow:Yes",
        "--choice",
        "also:Also",
        "--choice",
        "deny:No",
    ]);
    let id = text(&record, "id");
    let answer = ["--choice", "allow", "--message", "go", "--json"];
    let respond = |record: &Value, rid: &str, args: &[&str]| world.respond(record, rid, args);
    let first = respond(&record, "r1", &answer);
    let accepted = first.data();
    let file = world.stored(id);
    let events = world.events();
    let again = respond(&record, "r1", &answer);
    assert_eq!((again.code, &again.stdout), (0, &first.stdout));
    let wrong_digest = altered(&record, "request_digest", &"0".repeat(64));
    let wrong_nonce = altered(&record, "nonce", &"A".repeat(32));
    let others: [(&Value, &str, &[&str]); 9] = [
        (&record, "r2", &["--choice", "deny", "--json"]),
        (
            &record,
            "r1",
            &["--choice", "deny", "--message", "go", "--json"],
        ),
        (&record, "r2", &answer),
        (&record, "r1", &["--choice", "allow", "--json"]),
        (
            &record,
            "r1",
            &["--choice", "allow", "--message", "other", "--json"],
        ),
        (
            &record,
            "r1",
            &["--choice", "also", "--message", "go", "--json"],
        ),
        (&record, "r1", &["--text", "not even fitting", "--json"]),
        (&wrong_digest, "r1", &answer),
        (&wrong_nonce, "r1", &answer),
    ];
    for (record, response_id, answer) in others {
        let error = failure(&respond(record, response_id, answer), ALREADY);
        let message = text(&error, "message");
        let expected = format!("interaction '{id}' is not pending (status: answered)");
        assert!(message.contains(&expected), "{message}");
        assert!(
            message.contains(text(&accepted["response"], "answered_by")),
            "{message}"
        );
        assert!(
            message.contains(text(&accepted, "answered_at")),
            "{message}"
        );
    }
    let human = respond(&record, "r2", &["--choice", "deny"]);
    assert_eq!((human.code, human.stdout.as_str()), (4, ""));
    assert!(human.stderr.starts_with("error: interaction"), "{human:?}");
    for flags in [
        &["--deny"][..],
        &["--text", "x"],
        &["--choice", "never-offered"],
        &["--select", "1=x"],
    ] {
        let args: Vec<&str> = ["answer", id]
            .iter()
            .chain(flags)
            .chain(&["--json"])
            .copied()
            .collect();
        failure(&world.run(args), ALREADY);
    }
    let args = [
        "answer",
        id,
        "--allow",
        "--digest",
        &"0".repeat(64),
        "--json",
    ];
    failure(&world.run(args), ALREADY);
    assert_eq!(world.stored(id), file);
    assert_eq!(world.events(), events);
}

#[test]
fn row_4_what_ended_otherwise_says_how() {
    let world = Sandbox::new();
    let answer = ["--choice", "allow-once"];
    let cancelled = world.request(&["Deploy?"]);
    world.json(&["cancel", text(&cancelled, "id")]);
    let old = world.request(&["Deploy?", "--key", "k"]);
    let new = world.request(&["Deploy now?", "--key", "k"]);
    let mut overdue = world.request(&["Deploy?"]);
    for (member, value) in [
        ("id", "0".repeat(32)),
        ("created_at", "2020-01-01T00:00:00.000000Z".into()),
        ("updated_at", "2020-01-01T00:00:00.000000Z".into()),
        ("expires_at", "2020-01-01T00:10:00.000000Z".into()),
    ] {
        overdue[member] = value.into();
    }
    let overdue = world.plant(overdue);
    // Not in any listing, although nobody has settled it.
    let count = world.json(&["count"]);
    assert_eq!(count["count"], 2);
    assert_eq!(world.json(&["list"])["count"], 2);
    assert_eq!(
        world.json(&["show", text(&overdue, "id")])["status"],
        "expired"
    );
    for (record, status) in [
        (&cancelled, "cancelled"),
        (&old, "superseded"),
        (&overdue, "expired"),
    ] {
        let wrong = altered(record, "request_digest", &"0".repeat(64));
        for record in [record, &wrong] {
            let error = refused(&world, record, &answer, NOT_PENDING);
            assert!(
                text(&error, "message").contains(&format!("(status: {status})")),
                "{error}"
            );
            assert_eq!(error["details"]["status"], status);
        }
        failure(
            &world.run(["answer", text(record, "id"), "--text", "x", "--json"]),
            NOT_PENDING,
        );
        assert_eq!(world.get(text(record, "id"))["status"], status);
    }
    let error = refused(&world, &old, &answer, NOT_PENDING);
    assert!(text(&error, "message").contains(text(&new, "id")));
    let expiries = world
        .events()
        .iter()
        .filter(|e| e["type"] == "interaction_expired")
        .count();
    assert_eq!(expiries, 1);
    assert_eq!(accepted(&world, &new, &answer)["choice_id"], "allow-once");
}

#[test]
fn an_answer_itself_settles_what_is_overdue() {
    let world = Sandbox::new();
    let mut overdue = world.request(&["Deploy?"]);
    overdue["id"] = "0".repeat(32).into();
    overdue["created_at"] = "2020-01-01T00:00:00.000000Z".into();
    overdue["updated_at"] = overdue["created_at"].clone();
    overdue["expires_at"] = "2020-01-01T00:10:00.000000Z".into();
    let overdue = world.plant(overdue);
    failure(
        &world.respond(&overdue, "r", &["--choice", "allow-once", "--json"]),
        NOT_PENDING,
    );
    let stored: Value = serde_json::from_str(&world.stored(text(&overdue, "id"))).unwrap();
    assert_eq!(stored["status"], "expired");
    assert!(!world.pending(text(&overdue, "id")).exists());
    assert_eq!(
        world.json(&["cancel", text(&overdue, "id")])["status"],
        "expired"
    );
}

#[test]
fn rows_5_to_8_digest_then_nonce_then_fit_then_accepted() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let wrong_digest = altered(&record, "request_digest", &"0".repeat(64));
    let wrong_both = altered(&wrong_digest, "nonce", "bogus");
    let wrong_nonce = altered(&record, "nonce", &"A".repeat(32));
    let misfit = ["--choice", "allow-always"];
    refused(&world, &wrong_both, &misfit, DIGEST);
    refused(&world, &wrong_digest, &["--choice", "allow-once"], DIGEST);
    refused(
        &world,
        &altered(&record, "request_digest", ""),
        &misfit,
        DIGEST,
    );
    refused(
        &world,
        &altered(
            &record,
            "request_digest",
            &text(&record, "request_digest").to_uppercase(),
        ),
        &misfit,
        DIGEST,
    );
    refused(&world, &wrong_nonce, &misfit, NONCE);
    refused(
        &world,
        &altered(&record, "nonce", ""),
        &["--choice", "allow-once"],
        NONCE,
    );
    let bare = |more: &[&str]| {
        let args = [
            "respond",
            id,
            "--response-id",
            "r",
            "--choice",
            "allow-once",
            "--json",
        ];
        world.run(args.iter().chain(more).copied())
    };
    failure(&bare(&["--nonce", text(&record, "nonce")]), DIGEST);
    failure(&bare(&["--digest", text(&record, "request_digest")]), NONCE);
    let error = refused(&world, &record, &misfit, INVALID_ANSWER);
    assert_eq!(error["details"]["offered"], json!(["allow-once", "deny"]));
    assert!(text(&error, "message").contains("offered"));
    for row in [
        &["--text", "x"][..],
        &["--declined"],
        &["--answers", "{}"],
        &["--response", "x"],
        &["--choice", "Deny"],
    ] {
        refused(&world, &record, row, INVALID_ANSWER);
    }
    for flags in [
        &["--allow"][..],
        &["--choice", "never-offered"],
        &["--text", "x"],
    ] {
        let wrong = text(&wrong_digest, "request_digest");
        let args = ["answer", id, "--digest", wrong, "--json"];
        let args = args.iter().chain(flags).copied();
        failure(&world.run(args), DIGEST);
    }
    let response = accepted(
        &world,
        &record,
        &["--choice", "deny", "--source", "web", "--by", "me"],
    );
    assert_eq!(
        (
            &response["choice_id"],
            &response["source"],
            &response["answered_by"]
        ),
        (&json!("deny"), &json!("web"), &json!("me"))
    );
    assert_eq!(response["responder"]["uid"], nix::unistd::getuid().as_raw());
    assert!(response["responder"]["pid"].is_u64());
}
