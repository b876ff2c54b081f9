//! The group that prints what the older client printed.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::older_hook::under;
use crate::sandbox::{Ran, Sandbox, has, text};

/// The members of the older client's record, in its order.
const MEMBERS: [&str; 20] = [
    "id",
    "key",
    "agent",
    "agent_instance",
    "project",
    "session_id",
    "turn_id",
    "native_request_id",
    "kind",
    "prompt",
    "choices",
    "text_max_length",
    "status",
    "request_digest",
    "nonce",
    "created_at",
    "updated_at",
    "expires_at",
    "answered_at",
    "response",
];
const RESPONSE: [&str; 6] = [
    "response_id",
    "choice_id",
    "text",
    "source",
    "device_id",
    "created_at",
];

pub fn ran(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

/// `interactions …`, started under the older client's name.
fn older(world: &Sandbox, args: &[&str]) -> Ran {
    let mut command = under(world, "agentnotify");
    command.arg("interactions").args(args);
    ran(command)
}

fn names(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// The bare record that a verb of the group printed: its members, its indent, nothing beside it.
fn bare(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(names(&record), MEMBERS);
    assert_eq!(ran.stdout, format!("{record:#}\n"));
    assert!(ran.stdout.starts_with("{\n  \"id\""), "{ran:?}");
    assert!(record["text_max_length"].is_u64() && record["choices"].is_array());
    for time in ["created_at", "updated_at", "expires_at"] {
        let time = text(&record, time);
        assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    }
    record
}

fn refused(ran: &Ran, code: i32, head: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:?}");
    assert!(ran.stderr.starts_with(head), "{head}: {ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

#[test]
fn a_request_prints_the_bare_record_with_the_older_defaults() {
    let world = Sandbox::new();
    let choices = ["--choice", "allow-once:Allow once", "--choice", "deny:Deny"];
    let record = bare(&older(
        &world,
        &[&["request", "--prompt", "Deploy to prod?"][..], &choices].concat(),
    ));
    let right = json!({
        "key": null, "agent": "unknown", "agent_instance": null, "project": null,
        "session_id": null, "turn_id": null, "native_request_id": null, "kind": "permission",
        "prompt": "Deploy to prod?", "text_max_length": 500, "status": "pending",
        "answered_at": null, "response": null,
        "choices": [
            { "id": "allow-once", "label": "Allow once", "detail": null },
            { "id": "deny", "label": "Deny", "detail": null },
        ],
    });
    for (member, value) in right.as_object().unwrap() {
        assert_eq!(record[member], *value, "{member}");
    }
    assert_eq!(text(&record, "request_digest").len(), 64);
    assert_eq!(text(&record, "nonce").len(), 32);
    let stored = world.get(text(&record, "id"));
    assert_eq!(record["request_digest"], stored["request_digest"]);
    assert_eq!(record["nonce"], stored["nonce"]);

    // Everything that can be given arrives.
    let record = bare(&older(
        &world,
        &[
            "request",
            "Which?",
            "--kind",
            "single_choice",
            "--choice",
            "a:b:c",
            "--choice",
            "d:D",
            "--choice-detail",
            "d:more",
            "--agent",
            "codex",
            "--agent-instance",
            "i",
            "--project",
            "shop",
            "--session",
            "s",
            "--turn",
            "t",
            "--native-request",
            "n",
            "--key",
            "k",
            "--ttl",
            "99999",
        ],
    ));
    let given = [
        "key",
        "agent",
        "agent_instance",
        "project",
        "session_id",
        "turn_id",
    ];
    let found: Vec<&str> = given.iter().map(|m| text(&record, m)).collect();
    assert_eq!(found, ["k", "codex", "i", "shop", "s", "t"]);
    assert_eq!(record["native_request_id"], "n");
    assert_eq!(record["kind"], "single_choice");
    assert_eq!(
        record["choices"],
        json!([
            { "id": "a", "label": "b:c", "detail": null },
            { "id": "d", "label": "D", "detail": "more" },
        ])
    );
    let again = older(
        &world,
        &[
            "request",
            "Which?",
            "--kind",
            "single_choice",
            "--choice",
            "a:b:c",
            "--choice",
            "d:D",
            "--choice-detail",
            "d:more",
            "--agent",
            "codex",
            "--agent-instance",
            "i",
            "--project",
            "shop",
            "--session",
            "s",
            "--turn",
            "t",
            "--native-request",
            "n",
            "--key",
            "k",
        ],
    );
    assert_eq!(bare(&again)["id"], record["id"]);

    let typed = bare(&older(&world, &["request", "Note?", "--kind", "text"]));
    assert_eq!(typed["choices"], json!([]));
    // Clamped, never refused: what a text takes, and how long a question stays open.
    for (given, taken) in [
        ("0", 1),
        ("-3", 1),
        ("5000", 2000),
        ("99999999999999999999", 2000),
    ] {
        let args = ["request", "Note?", "--kind", "text", "--text-max", given];
        assert_eq!(
            bare(&older(&world, &args))["text_max_length"],
            taken,
            "{given}"
        );
    }
    let args = ["request", "Deploy?", "--text-max", "9"];
    assert_eq!(bare(&older(&world, &args))["text_max_length"], 500);
    for (given, taken) in [("-1", 30), ("5", 30), ("60", 60), ("99999", 3600)] {
        let record = bare(&older(&world, &["request", "Deploy?", "--ttl", given]));
        let second = |member: &str| {
            let time: jiff::Timestamp = text(&record, member).parse().unwrap();
            time.as_second()
        };
        assert_eq!(
            second("expires_at") - second("created_at"),
            taken,
            "{given}"
        );
    }
    // That client's own variable says who asks; the option beats it.
    for (args, agent) in [(&[][..], "pi"), (&["--agent", "x"], "x")] {
        let mut command = under(&world, "agentnotify");
        command.env("AGENTNOTIFY_AGENT", "pi");
        command
            .args(["interactions", "request", "Deploy?"])
            .args(args);
        assert_eq!(bare(&ran(command))["agent"], agent);
    }
}

#[test]
fn a_digest_goes_through_a_pipe() {
    let world = Sandbox::new();
    if !has("jq", "a_digest_goes_through_a_pipe") {
        return;
    }
    let mut command = under(&world, "sh");
    command.args([
        "-c",
        "agentnotify interactions request 'Deploy?' --agent codex | jq -r .request_digest",
    ]);
    let ran = ran(command);
    let pending = world.await_pending();
    assert_eq!(
        ran.stdout.trim_end(),
        text(&pending, "request_digest"),
        "{ran:?}"
    );
}

#[test]
fn every_verb_of_the_group_prints_the_record_as_it_stands() {
    let world = Sandbox::new();
    let asked = bare(&older(&world, &["request", "Deploy?", "--agent", "codex"]));
    let id = text(&asked, "id");
    assert_eq!(bare(&older(&world, &["get", id])), asked);
    assert_eq!(bare(&older(&world, &["wait", id, "--timeout", "0"])), asked);
    let respond = [
        "respond",
        id,
        "--response-id",
        "r1",
        "--digest",
        text(&asked, "request_digest"),
        "--nonce",
        text(&asked, "nonce"),
        "--choice",
        "deny",
        "--device",
        "phone",
    ];
    let answered = bare(&older(&world, &respond));
    assert_eq!(answered["status"], "answered");
    let response = &answered["response"];
    assert_eq!(names(response), RESPONSE);
    assert_eq!(response["choice_id"], "deny");
    assert_eq!(response["text"], Value::Null);
    assert_eq!(response["source"], "cli");
    assert_eq!(response["device_id"], "phone");
    assert_eq!(response["created_at"], answered["answered_at"]);
    assert_eq!(answered["updated_at"], answered["answered_at"]);
    // The same answer again, and everything that looks at it, sees the same record.
    for args in [&respond[..], &["get", id], &["wait", id], &["cancel", id]] {
        assert_eq!(bare(&older(&world, args)), answered, "{args:?}");
    }
    assert_eq!(older(&world, &["wait", id, "--exit-status"]).code, 10);
    let open = bare(&older(&world, &["request", "Note?", "--kind", "text"]));
    let cancelled = bare(&older(&world, &["cancel", text(&open, "id")]));
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["answered_at"], Value::Null);
    assert_eq!(
        bare(&older(&world, &["cancel", text(&open, "id")])),
        cancelled
    );
    // A form is a text to that client, with its questions in the prompt.
    let questions =
        r#"[{"question":"Size?","options":[{"label":"S"},{"label":"L"}]},{"question":"Why?"}]"#;
    let form = world.path().join("form.json");
    fs::write(&form, questions).unwrap();
    let form = world.request(&[
        "Two",
        "--kind",
        "form",
        "--questions",
        form.to_str().unwrap(),
    ]);
    let shown = bare(&older(&world, &["get", text(&form, "id")]));
    assert_eq!(shown["kind"], "text");
    assert_eq!(shown["prompt"], "Two\n1. Size? (S | L)\n2. Why?");
}

#[test]
fn a_list_has_a_line_each_newest_first() {
    let world = Sandbox::new();
    let list = |args: &[&str]| older(&world, &[&["list"], args].concat());
    let none = list(&[]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (0, "(no interactions)\n")
    );
    let first = world.request(&["One?", "--agent", "a", "--project", "p", "--session", "s"]);
    let long = format!("Two\u{1b}[2J {}", "x".repeat(200));
    let second = world.request(&[
        &long,
        "--agent",
        "b",
        "--kind",
        "single-choice",
        "--choice",
        "x:X",
        "--choice",
        "y:Y",
    ]);
    world.json(&["answer", text(&first, "id"), "--deny"]);
    let one = format!("{}  [Permission/Answered] One?  (a)", text(&first, "id"));
    let head = format!(
        "{}  [SingleChoice/Pending] Two\\u{{1b}}[2J xxx",
        text(&second, "id")
    );
    let all = list(&[]);
    let lines: Vec<&str> = all.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{all:?}");
    assert!(
        lines[0].starts_with(&head) && lines[0].ends_with("  (b)"),
        "{all:?}"
    );
    assert!(lines[0].chars().count() <= 32 + 2 + 23 + 80 + 6, "{all:?}");
    assert_eq!(lines[1], one);
    let only = |args: &[&str], right: &[&str]| {
        let ran = list(args);
        let found: Vec<&str> = ran.stdout.lines().map(|l| &l[..32]).collect();
        assert_eq!((ran.code, found.as_slice()), (0, right), "{args:?}");
    };
    let (first, second) = (text(&first, "id"), text(&second, "id"));
    for args in [
        &["--pending"][..],
        &["--pending", "true"],
        &["--status", "pending"],
    ] {
        only(args, &[second]);
    }
    for args in [
        &["--status", "answered"][..],
        &["--agent", "a"],
        &["--project", "p"],
        &["--session-id", "s"],
    ] {
        only(args, &[first]);
    }
    for args in [
        &["--pending", "false"][..],
        &["--status", "bogus"],
        &["--limit", "9999"],
    ] {
        only(args, &[second, first]);
    }
    for limit in ["0", "1", "-7"] {
        only(&["--limit", limit], &[second]);
    }
    let none = list(&["--agent", "nobody"]);
    assert_eq!(none.stdout, "(no interactions)\n");
}

#[test]
fn errors_are_one_line_with_status_and_name() {
    let world = Sandbox::new();
    let asked = bare(&older(&world, &["request", "Deploy?"]));
    let (id, digest, nonce) = (
        text(&asked, "id"),
        text(&asked, "request_digest"),
        text(&asked, "nonce"),
    );
    let (unknown, zeros) = ("0".repeat(32), "0".repeat(64));
    let respond = |response: &str, digest: &str, nonce: &str, choice: &str| {
        older(
            &world,
            &[
                "respond",
                id,
                "--response-id",
                response,
                "--digest",
                digest,
                "--nonce",
                nonce,
                "--choice",
                choice,
            ],
        )
    };
    let bad = "Error 400 BadRequest: ";
    let missing = "Error 404 NotFound: ";
    for verb in ["get", "wait", "cancel"] {
        for id in [&unknown, "does-not-exist", "../../etc/passwd"] {
            refused(&older(&world, &[verb, id]), 3, missing);
        }
        refused(&older(&world, &[verb]), 1, bad);
        refused(&older(&world, &[verb, id, "--nonsense"]), 1, bad);
    }
    for id in [&unknown, "does-not-exist"] {
        let args = [
            "respond",
            id,
            "--response-id",
            "r",
            "--digest",
            &zeros,
            "--choice",
            "deny",
        ];
        refused(&older(&world, &args), 3, missing);
    }
    for args in [
        &["request"][..],
        &["request", "--prompt", "   "],
        &["request", "--prompt", &"x".repeat(2001)],
        &["request", "Deploy?", "--kind", "poll"],
        &["request", "Deploy?", "--kind", "PERMISSION"],
        &["request", "Deploy?", "--choice", "allow"],
        &["request", "Deploy?", "--choice", ":x"],
        &["request", "Deploy?", "--choice", "only:One"],
        &["request", "Deploy?", "--choice-detail", "z:x"],
        &["request", "Deploy?", "--ttl", "soon"],
        &["request", "Deploy?", "--key", &"k".repeat(101)],
        &["request", "Deploy?", "--agent", &"a".repeat(101)],
        &["request", "One?", "Two?"],
        &["list", "--limit", "many"],
        &["list", "--nonsense"],
        &["bogus"],
        &[
            "respond", id, "--digest", digest, "--nonce", nonce, "--choice", "deny",
        ],
        &[
            "respond",
            id,
            "--response-id",
            "r",
            "--digest",
            digest,
            "--choice",
            "deny",
        ],
        &[
            "respond",
            id,
            "--response-id",
            "r",
            "--nonce",
            nonce,
            "--choice",
            "deny",
        ],
        &[
            "respond",
            id,
            "--response-id",
            "r",
            "--digest",
            digest,
            "--nonce",
            nonce,
        ],
    ] {
        refused(&older(&world, args), 1, bad);
    }
    refused(&respond("r", &zeros, nonce, "deny"), 1, bad);
    refused(&respond("r", digest, "bogus", "deny"), 1, bad);
    refused(&respond("r", digest, nonce, "allow-always"), 1, bad);
    // An agent's session does not answer itself in this spelling either.
    let mut command = under(&world, "agentnotify");
    command.env("CLAUDECODE", "1").args([
        "interactions",
        "respond",
        id,
        "--response-id",
        "r",
        "--digest",
        digest,
        "--nonce",
        nonce,
        "--choice",
        "allow-once",
    ]);
    refused(&ran(command), 1, "Error 403 Forbidden: ");
    assert_eq!(world.get(id)["status"], "pending");
    bare(&respond("r", digest, nonce, "deny"));
    refused(
        &respond("r2", digest, nonce, "deny"),
        1,
        "Error 409 Conflict: ",
    );
    refused(
        &respond("r", digest, nonce, "allow-once"),
        1,
        "Error 409 Conflict: ",
    );
    let cancelled = bare(&older(&world, &["request", "Deploy?"]));
    older(&world, &["cancel", text(&cancelled, "id")]);
    let late = older(
        &world,
        &[
            "respond",
            text(&cancelled, "id"),
            "--response-id",
            "r",
            "--digest",
            text(&cancelled, "request_digest"),
            "--nonce",
            text(&cancelled, "nonce"),
            "--choice",
            "deny",
        ],
    );
    refused(&late, 1, bad);
    // A list is 1 whatever went wrong, and so is a store that cannot be used.
    let broken = |args: &[&str]| {
        let mut command = under(&world, "agentnotify");
        command
            .env("SAYSO_HOME", "relative")
            .args(["interactions"])
            .args(args);
        ran(command)
    };
    for args in [&["list"][..], &["get", id], &["request", "Deploy?"]] {
        refused(&broken(args), 1, "Error ");
    }
    for told in [digest, nonce] {
        let ran = respond("r3", digest, nonce, "deny");
        assert!(!ran.stderr.contains(told), "{ran:?}");
    }
}

#[test]
fn json_anywhere_is_this_programs_own() {
    let world = Sandbox::new();
    let asked = older(&world, &["request", "Deploy?", "--json"]).data();
    let id = text(&asked, "id");
    assert_eq!(asked["reused"], false);
    let command = |args: &[&str]| {
        let mut command = under(&world, "agentnotify");
        command.args(args);
        ran(command)
    };
    for args in [
        &["--json", "interactions", "list"][..],
        &["interactions", "--json", "list"],
        &["interactions", "list", "--json"],
        &["interactions", "list", "--pending", "--json"],
    ] {
        assert_eq!(command(args).data()["count"], 1, "{args:?}");
    }
    assert_eq!(older(&world, &["get", id, "--json"]).data()["id"], id);
    let unknown = "0".repeat(32);
    let error = older(&world, &["get", &unknown, "--json"]).error();
    assert_eq!(error["code"], "not_found");
    assert_eq!(
        older(&world, &["list", "--nonsense", "--json"]).error()["exit_code"],
        2
    );
    assert_eq!(older(&world, &["bogus", "--json"]).error()["exit_code"], 2);
    assert_eq!(
        older(&world, &["poll-responses", "--json"]).data(),
        json!([])
    );
    assert_eq!(older(&world, &["show", id, "--json"]).data()["id"], id);
}

#[test]
fn a_group_without_a_verb_prints_help() {
    let world = Sandbox::new();
    let verbs = [
        "request",
        "list",
        "get",
        "wait",
        "respond",
        "cancel",
        "publish",
        "poll-responses",
    ];
    for (args, code) in [(&[][..], 1), (&["--help"], 0), (&["-h"], 0)] {
        let ran = older(&world, args);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{args:?}");
        for verb in verbs {
            assert!(ran.stdout.contains(verb), "{verb}: {ran:?}");
        }
    }
    assert_eq!(older(&world, &["get", "--help"]).code, 0);
    let ran = world.run(["agent", "interactions"]);
    assert!(ran.code == 0 && ran.stdout.contains("Usage:"), "{ran:?}");
}

#[test]
fn a_broker_is_refused_and_a_token_counts_for_nothing() {
    let world = Sandbox::new();
    for args in [
        &["request", "Deploy?", "--port", "47821"][..],
        &["--port=47821", "request", "Deploy?"],
        &["request", "Deploy?", "--port", "47821", "--token", "secret"],
    ] {
        let ran = older(&world, args);
        refused(&ran, 1, "Error 400 BadRequest: --port ");
        assert!(!ran.stderr.contains("secret"));
    }
    let args = ["request", "Deploy?", "--port", "47821", "--json"];
    assert_eq!(older(&world, &args).error()["code"], "invalid_input");
    let mut command = under(&world, "agentnotify");
    command
        .env("AGENTNOTIFY_PORT", "47821")
        .args(["interactions", "request", "Deploy?"]);
    refused(&ran(command), 1, "Error 400 BadRequest: AGENTNOTIFY_PORT ");
    assert_eq!(world.json(&["list"])["count"], 0);
    let mut command = under(&world, "agentnotify");
    command
        .env("AGENTNOTIFY_TOKEN", "secret")
        .env("AGENTNOTIFY_PORT", " ")
        .args([
            "interactions",
            "request",
            "Deploy?",
            "--token",
            "secret",
            "--token-file=x",
        ]);
    bare(&ran(command));
}

#[test]
fn without_a_relay_there_is_nothing_to_send_or_to_fetch() {
    let world = Sandbox::new();
    let asked = bare(&older(&world, &["request", "Deploy?"]));
    for args in [
        &["publish", text(&asked, "id")][..],
        &["publish", "does-not-exist"],
        &["poll-responses"],
        &["poll-responses", "--provider", "does-not-exist"],
    ] {
        refused(&older(&world, args), 1, "Error 400 BadRequest: ");
    }
    assert_eq!(world.run(["poll-responses"]).code, 0);
    assert_eq!(world.run(["poll-responses", "--provider", "x"]).code, 2);
    let config = world.path().join("home/.config/sayso/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(
        &config,
        "[[relay]]\nprovider_id = \"home\"\nbase_url = \"https://relay.example.org\"\nenabled = true\n",
    )
    .unwrap();
    let sent = older(&world, &["publish", text(&asked, "id")]);
    let right = json!({ "id": asked["id"], "published": 0 });
    assert_eq!((sent.code, sent.stdout), (0, format!("{right:#}\n")));
    let unknown = older(&world, &["publish", &"0".repeat(32)]);
    refused(&unknown, 3, "Error 404 NotFound: ");
}
