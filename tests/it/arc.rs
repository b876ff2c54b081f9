//! `sayso arc`: the life of a question as events, and what must be true of each of them.

use std::fs;
use std::time::Duration;

use sayso::arc;
use sayso::time::Time;
use serde_json::{Value, json};

use crate::sandbox::{
    ALREADY, DIGEST, INVALID_INPUT, NONCE, NOT_FOUND, NOT_PENDING, Ran, Refusal, Sandbox, failure,
    text,
};

/// An event of a type, with a request.
pub fn event(kind: &str, event_id: &str, sender: &str, request: Value) -> Value {
    json!({
        "arc_version": "0.2",
        "event_id": event_id,
        "event_type": kind,
        "occurred_at": "2026-08-26T01:15:00Z",
        "sender": { "id": sender },
        "request": request,
    })
}

/// A request that asks for a permission; it has no key.
pub fn created(event_id: &str, sender: &str, message: &str, expires_at: &str) -> Value {
    let response = json!({
        "kind": "permission",
        "choices": [{ "id": "allow", "label": "Allow" }, { "id": "deny", "label": "Deny" }],
        "expires_at": expires_at,
    });
    let request = json!({ "kind": "permission", "message": message, "response": response });
    event("request.created", event_id, sender, request)
}

/// An allow.
pub fn submitted(event_id: &str, key: &str, digest: &str, nonce: &str) -> Value {
    let mut event = event(
        "response.submitted",
        event_id,
        "phone",
        json!({ "key": key }),
    );
    event["response"] = json!({
        "response_id": "r1", "digest": digest, "nonce": nonce, "choice_id": "allow",
    });
    event
}

/// An end.
pub fn resolved(event_id: &str, sender: &str, key: &str) -> Value {
    let request = json!({ "key": key, "outcome": "not_needed" });
    event("request.resolved", event_id, sender, request)
}

/// So many seconds from now.
pub fn ahead(seconds: u64) -> String {
    Time::now().plus(Duration::from_secs(seconds)).to_string()
}

/// A question under a key, ten minutes long.
pub fn asking(event_id: &str, sender: &str, key: &str, message: &str) -> Value {
    let mut event = created(event_id, sender, message, &ahead(600));
    event["request"]["key"] = key.into();
    event
}

/// Applies an event.
pub fn apply(world: &Sandbox, event: &Value) -> Ran {
    world.run_with(["arc", "--json"], event.to_string().as_bytes())
}

/// Applies an event that must be accepted; what it came to.
pub fn accept(world: &Sandbox, event: &Value) -> Value {
    apply(world, event).data()
}

/// Applies an event that must be refused; how.
pub fn refuse(world: &Sandbox, event: &Value, how: Refusal) -> Value {
    failure(&apply(world, event), how)
}

/// An allow to what an event opened, with what `get` tells of it.
pub fn answer_to(world: &Sandbox, opened: &Value, event_id: &str) -> Value {
    let record = world.get(text(&opened["interaction"], "id"));
    let key = text(opened, "key");
    submitted(
        event_id,
        key,
        text(&record, "request_digest"),
        text(&record, "nonce"),
    )
}

fn nothing_stored(world: &Sandbox) {
    assert!(!world.store().exists(), "something was stored");
}

#[test]
fn a_question_lives_as_events_and_comes_back_as_events() {
    let world = Sandbox::new();
    let mut question = asking("e1", "codex", "release", "May I run the release?");
    question["sender"] = json!({ "id": "codex", "name": "Codex", "instance_id": "s-42" });
    question["context"] = json!({
        "session_id": "s-42", "cwd": world.repo(), "turn_id": "t-19", "native_request_id": "n-1",
    });
    let opened = accept(&world, &question);
    let id = text(&opened["interaction"], "id").to_owned();
    assert_eq!(opened["replayed"], false);
    assert_eq!(opened["title"], "Codex needs permission");
    assert!(opened["interaction"].get("nonce").is_none());

    let record = world.get(&id);
    let expected = json!({
        "key": "release", "kind": "permission", "status": "pending", "agent": "codex",
        "agent_instance": "s-42", "project": "shop", "session_id": "s-42", "turn_id": "t-19",
        "native_request_id": "n-1", "cwd": world.repo(), "prompt": "May I run the release?",
        "expires_at": question["request"]["response"]["expires_at"],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }

    let told = world.run(["events", "--format", "arc"]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["event_type"], "request.created");
    assert_eq!(told["request"]["key"], "release");
    assert_eq!(told["request"]["response"], question["request"]["response"]);

    let answer = answer_to(&world, &opened, "a1");
    let answered = accept(&world, &answer);
    assert_eq!(answered["interaction"]["status"], "answered");
    assert_eq!(answered["delivery_state"], "unattended");
    let response = &answered["interaction"]["response"];
    assert_eq!(
        (&response["source"], &response["answered_by"]),
        (&json!("arc"), &json!("phone"))
    );
    let told = world.run(["events", "--format", "arc"]);
    let last: Value = serde_json::from_str(told.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event_type"], "request.resolved");
    assert_eq!(
        last["request"],
        json!({ "key": "release", "outcome": "answered" })
    );
    assert_eq!(last["sender"]["id"], "codex");
    // What ended is ended: withdrawing it is no failure and changes nothing.
    let end = accept(&world, &resolved("e2", "codex", "release"));
    assert_eq!(end["interaction"]["status"], "answered");
}

#[test]
fn what_is_no_event_of_this_version_is_refused_and_leaves_nothing() {
    let world = Sandbox::new();
    let good = asking("e1", "codex", "k", "May I?");
    let with = |pointer: &str, value: Value| {
        let mut event = good.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = value;
        event
    };
    let mut no_key = event("request.updated", "e1", "codex", good["request"].clone());
    no_key["request"].as_object_mut().unwrap().remove("key");
    let mut both = submitted("e1", "k", &"0".repeat(64), "n");
    both["response"]["text"] = "both".into();
    let mut response_on_resolved = resolved("e1", "codex", "k");
    response_on_resolved["response"] = both["response"].clone();
    let one_choice = json!([{ "id": "allow", "label": "Allow" }]);
    let rows = [
        (with("/arc_version", json!("1.0")), "arc_version"),
        (with("/arc_version", json!("0.1")), "arc_version"),
        (
            with("/event_type", json!("notification.sent")),
            "event_type",
        ),
        (with("/request/kind", json!("form")), "request.kind"),
        (no_key, "request.key is required"),
        (with("/response", both["response"].clone()), "response"),
        (
            with("/request/outcome", json!("answered")),
            "request.outcome",
        ),
        (both, "exactly one of"),
        (response_on_resolved, "response"),
        (with("/unknown", json!(1)), "unknown"),
        (with("/sender/mail", json!("x")), "sender.mail"),
        (with("/context", json!({ "host": "x" })), "context.host"),
        (
            with("/request/response/effect", json!(1)),
            "request.response.effect",
        ),
        (
            with("/extensions", json!({ "vendor": 1 })),
            "extensions.vendor",
        ),
        (
            with("/extensions", json!({ "x-agentnotify": { "sound": 1 } })),
            "extensions.x-agentnotify.sound",
        ),
        (with("/request/response/choices", one_choice), "2 to 12"),
        (with("/request/message", json!("m".repeat(3000))), "2000"),
        (
            with("/request/response/expires_at", json!(ahead(0))),
            "expires_at",
        ),
        (
            with(
                "/request/response/expires_at",
                json!("2020-01-01T00:00:00Z"),
            ),
            "expires_at",
        ),
        (with("/occurred_at", json!("yesterday")), "occurred_at"),
        (
            with("/context", json!({ "cwd": "relative" })),
            "context.cwd",
        ),
        (
            with("/request/key", json!("k".repeat(101))),
            "request.key must be 1 to 100 characters, not 101",
        ),
    ];
    for (event, named) in rows {
        let error = refuse(&world, &event, INVALID_INPUT);
        let message = text(&error, "message");
        assert!(message.contains(named), "{named}: {message}");
        assert!(!message.contains("May I?"), "{message}");
        nothing_stored(&world);
    }
    let extended = with("/extensions", json!({ "x-example": { "any": [1] } }));
    assert_eq!(
        accept(&world, &extended)["interaction"]["status"],
        "pending"
    );
}

#[test]
fn a_long_message_only_tells() {
    let world = Sandbox::new();
    let mut event = asking("e1", "codex", "k", &"m".repeat(3000));
    event["request"].as_object_mut().unwrap().remove("response");
    let told = accept(&world, &event);
    assert_eq!(told["interaction"], Value::Null);
    assert_eq!(world.json(&["list", "--all", "-A"])["count"], 0);
    assert_eq!(accept(&world, &event)["replayed"], true);
}

#[test]
fn what_is_not_given_goes_by_the_kind() {
    let world = Sandbox::new();
    let rows = [
        ("question", "Codex needs input", "high"),
        ("permission", "Codex needs permission", "high"),
        ("blocked", "Codex is blocked", "high"),
        ("failure", "Codex reported a failure", "high"),
        ("completion", "Codex completed work", "normal"),
        ("information", "Update from Codex", "normal"),
    ];
    for (kind, title, priority) in rows {
        let request = json!({ "kind": kind, "message": "m" });
        let mut event = event("request.created", kind, "codex", request);
        event["sender"]["name"] = "Codex".into();
        let told = accept(&world, &event);
        assert_eq!(
            (text(&told, "title"), text(&told, "priority")),
            (title, priority)
        );
        assert!(text(&told, "key").starts_with("arc:") && text(&told, "key").len() == 68);
        let arc::Body::Created(request) = arc::parse(&event.to_string()).unwrap().body else {
            panic!("{kind}");
        };
        assert_eq!(request.message.title, title);
        assert_eq!(request.message.priority.name(), priority);
        event["event_id"] = format!("{kind} by id").into();
        event["sender"].as_object_mut().unwrap().remove("name");
        let told = accept(&world, &event);
        assert_eq!(text(&told, "title"), title.replace("Codex", "codex"));
        event["event_id"] = format!("{kind} with both").into();
        event["request"]["title"] = "Look  here\nnow".into();
        event["request"]["priority"] = "critical".into();
        let told = accept(&world, &event);
        assert_eq!(
            (text(&told, "title"), text(&told, "priority")),
            ("Look here now", "critical")
        );
    }
}

#[test]
fn an_answer_goes_by_the_rules_of_answers() {
    let world = Sandbox::new();
    let opened = accept(&world, &asking("e1", "codex", "k", "May I?"));
    let good = answer_to(&world, &opened, "a1");
    refuse(
        &world,
        &submitted("x", "never-asked", &"0".repeat(64), "n"),
        NOT_FOUND,
    );
    refuse(&world, &submitted("x", "k", &"0".repeat(64), "n"), DIGEST);
    let mut wrong = good.clone();
    wrong["response"].as_object_mut().unwrap().remove("nonce");
    refuse(&world, &wrong, NONCE);
    wrong["response"]["nonce"] = "n".into();
    refuse(&world, &wrong, NONCE);
    let mut misfit = good.clone();
    misfit["response"]["choice_id"] = "other".into();
    assert_eq!(apply(&world, &misfit).error()["code"], "invalid_answer");
    assert_eq!(
        world.get(text(&opened["interaction"], "id"))["status"],
        "pending"
    );

    // A refused event's id is free for the right one.
    assert_eq!(accept(&world, &good)["replayed"], false);
    let mut same_again = good.clone();
    same_again["event_id"] = "a2".into();
    assert_eq!(
        accept(&world, &same_again)["interaction"]["status"],
        "answered"
    );
    let mut deny = good.clone();
    deny["response"]["choice_id"] = "deny".into();
    refuse(&world, &deny, ALREADY);
    deny["event_id"] = "a3".into();
    deny["response"]["response_id"] = "r2".into();
    refuse(&world, &deny, ALREADY);

    let late = accept(&world, &asking("e2", "codex", "late", "May I?"));
    let answer = answer_to(&world, &late, "a4");
    accept(&world, &resolved("e3", "codex", "late"));
    refuse(&world, &answer, NOT_PENDING);
}

#[test]
fn an_end_withdraws_once_and_is_no_failure_twice() {
    let world = Sandbox::new();
    refuse(&world, &resolved("r0", "codex", "k"), NOT_FOUND);
    nothing_stored(&world);
    accept(&world, &asking("e1", "codex", "k", "May I?"));
    for event_id in ["r1", "r1", "r2"] {
        let end = accept(&world, &resolved(event_id, "codex", "k"));
        assert_eq!(end["interaction"]["status"], "cancelled");
    }
    let ends = world
        .events()
        .iter()
        .filter(|e| e["type"] == "interaction_cancelled")
        .count();
    assert_eq!(ends, 1);
    refuse(&world, &resolved("r3", "codex", "unknown"), NOT_FOUND);
}

#[test]
fn an_event_that_comes_again_is_looked_up() {
    let world = Sandbox::new();
    let event = created("e1", "codex", "May I?", &ahead(600));
    let first = accept(&world, &event);
    let again = accept(&world, &event);
    assert_eq!(
        (&first["replayed"], &again["replayed"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(first["interaction"], again["interaction"]);
    // The sender tries again with the time of that.
    let mut later = event.clone();
    later["occurred_at"] = "2026-08-26T01:16:00Z".into();
    later["request"]["response"]["expires_at"] = "2020-01-01T00:00:00Z".into();
    assert_eq!(
        accept(&world, &later)["interaction"]["id"],
        first["interaction"]["id"]
    );
    // Another sender's event has the same id by chance.
    let other = created("e1", "claude", "May I?", &ahead(600));
    assert_ne!(
        accept(&world, &other)["interaction"]["id"],
        first["interaction"]["id"]
    );

    accept(&world, &answer_to(&world, &first, "a1"));
    let after = accept(&world, &event);
    assert_eq!(after["interaction"]["id"], first["interaction"]["id"]);
    assert_eq!(after["interaction"]["status"], "answered");
    assert_eq!(world.json(&["list", "--all"])["count"], 2);
}

#[test]
fn an_id_that_was_used_up_is_no_way_to_an_old_answer() {
    let world = Sandbox::new();
    let first = accept(
        &world,
        &created("1", "careless", "May I look?", &ahead(600)),
    );
    accept(&world, &answer_to(&world, &first, "a1"));
    let mut other = created("1", "careless", "May I delete?", &ahead(600));
    let error = refuse(&world, &other, INVALID_INPUT);
    assert!(text(&error, "message").contains("event_id"));
    // Also where nothing but the question itself is left of the first.
    fs::remove_dir_all(world.store().join("arc")).unwrap();
    refuse(&world, &other, INVALID_INPUT);
    other["request"]["message"] = "May I look?".into();
    let found = accept(&world, &other);
    assert_eq!(
        (&found["replayed"], &found["interaction"]["id"]),
        (&json!(true), &first["interaction"]["id"])
    );
    assert_eq!(world.json(&["list", "--all"])["count"], 1);
    let told = json!({ "kind": "completion", "message": "done" });
    accept(&world, &event("request.created", "2", "careless", told));
    let told = json!({ "kind": "completion", "message": "not done" });
    refuse(
        &world,
        &event("request.created", "2", "careless", told),
        INVALID_INPUT,
    );
}

#[test]
fn an_old_event_never_reaches_a_new_question() {
    let world = Sandbox::new();
    let first = accept(&world, &asking("e1", "codex", "k", "May I?"));
    let answer = answer_to(&world, &first, "a1");
    accept(&world, &answer);
    let second = accept(&world, &asking("e2", "codex", "k", "May I?"));
    assert_ne!(first["interaction"]["id"], second["interaction"]["id"]);
    let again = accept(&world, &answer);
    assert_eq!(again["interaction"]["id"], first["interaction"]["id"]);
    accept(&world, &resolved("r1", "codex", "k"));
    let third = accept(&world, &asking("e3", "codex", "k", "May I?"));
    let again = accept(&world, &resolved("r1", "codex", "k"));
    assert_eq!(again["interaction"]["id"], second["interaction"]["id"]);
    assert_eq!(
        world.get(text(&third["interaction"], "id"))["status"],
        "pending"
    );
    let mut elsewhere = answer.clone();
    elsewhere["event_id"] = "a2".into();
    elsewhere["response"]["response_id"] = "r9".into();
    refuse(&world, &elsewhere, DIGEST);
}

#[test]
fn a_key_is_asked_under_again_as_on_the_command_line() {
    let world = Sandbox::new();
    let mut update = asking("u1", "codex", "k", "May I now?");
    update["event_type"] = "request.updated".into();
    refuse(&world, &update, NOT_FOUND);
    let first = accept(&world, &asking("e1", "codex", "k", "May I?"));
    let same = accept(&world, &asking("e2", "codex", "k", "May I?"));
    assert_eq!(
        (&same["reused"], &same["interaction"]["id"]),
        (&json!(true), &first["interaction"]["id"])
    );

    // That it found a question, and which, is known for as long as that it opened one.
    accept(&world, &resolved("r0", "codex", "k"));
    let mut again = asking("e2", "codex", "k", "May I?");
    again["request"]["response"]["expires_at"] = "2020-01-01T00:00:00Z".into();
    let again = accept(&world, &again);
    assert_eq!(again["interaction"]["id"], first["interaction"]["id"]);
    assert_eq!(again["interaction"]["status"], "cancelled");
    let first = accept(&world, &asking("e3", "codex", "k", "May I?"));

    let mut tell = update.clone();
    tell["event_id"] = "u0".into();
    tell["request"].as_object_mut().unwrap().remove("response");
    let told = accept(&world, &tell);
    assert_eq!(told["interaction"]["id"], first["interaction"]["id"]);
    assert_eq!(told["interaction"]["prompt"], "May I?");

    let second = accept(&world, &update);
    assert_ne!(second["interaction"]["id"], first["interaction"]["id"]);
    let old = world.get(text(&first["interaction"], "id"));
    assert_eq!(old["status"], "superseded");
    assert_eq!(old["superseded_by"], second["interaction"]["id"]);
    assert_eq!(
        accept(&world, &update)["interaction"]["id"],
        second["interaction"]["id"]
    );
    accept(&world, &answer_to(&world, &second, "a1"));
    update["event_id"] = "u2".into();
    refuse(&world, &update, NOT_FOUND);
}

#[test]
fn of_several_agents_under_a_key_the_digest_tells_which() {
    let world = Sandbox::new();
    let a = accept(&world, &asking("e1", "a", "k", "May A?"));
    let b = accept(&world, &asking("e1", "b", "k", "May B?"));
    assert_ne!(a["interaction"]["id"], b["interaction"]["id"]);
    refuse(
        &world,
        &submitted("x", "k", &"0".repeat(64), "n"),
        INVALID_INPUT,
    );
    refuse(&world, &resolved("x", "c", "k"), INVALID_INPUT);
    let mut update = asking("x", "c", "k", "May C?");
    update["event_type"] = "request.updated".into();
    refuse(&world, &update, INVALID_INPUT);

    let done = accept(&world, &answer_to(&world, &b, "a1"));
    assert_eq!(done["interaction"]["id"], b["interaction"]["id"]);
    // Late, from somebody else, and still about that one.
    let mut late = answer_to(&world, &b, "a2");
    late["response"]["response_id"] = "r2".into();
    refuse(&world, &late, ALREADY);
    let end = accept(&world, &resolved("x", "a", "k"));
    assert_eq!(end["interaction"]["id"], a["interaction"]["id"]);
    assert_eq!(end["interaction"]["status"], "cancelled");
    refuse(
        &world,
        &submitted("x2", "k", &"0".repeat(64), "n"),
        INVALID_INPUT,
    );
}

#[test]
fn a_question_of_the_command_line_is_answered_by_its_key_or_its_id() {
    let world = Sandbox::new();
    for (key, args) in [(Some("k"), &["Go?", "--key", "k"][..]), (None, &["Go?"])] {
        let record = world.request(args);
        let id = text(&record, "id");
        let mut answer = submitted(
            id,
            key.unwrap_or(id),
            text(&record, "request_digest"),
            text(&record, "nonce"),
        );
        answer["response"]["choice_id"] = "allow-once".into();
        answer["response"]["source"] = "desktop".into();
        answer["response"]["device_id"] = "d1".into();
        let done = accept(&world, &answer);
        assert_eq!(done["interaction"]["id"], id);
        let response = &done["interaction"]["response"];
        assert_eq!(
            (&response["source"], &response["device_id"]),
            (&json!("desktop"), &json!("d1"))
        );
    }
}
