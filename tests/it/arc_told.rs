//! `sayso events --format arc`: what happens here, as events of the contract.

use std::fs;

use serde_json::{Value, json};

use crate::arc::accept;
use crate::arc_schema::schema;
use crate::sandbox::{Sandbox, text};
use crate::streams::Stream;

/// Every event that is told; each must be one of the schema's.
fn told(world: &Sandbox, args: &[&str]) -> Vec<Value> {
    let ran = world.run(["events", "--format", "arc"].iter().chain(args));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &events {
        assert!(schema().is_valid(event), "{event}");
        sayso::arc::parse(&event.to_string()).map(drop).unwrap();
        for secret in ["nonce", "digest"] {
            assert!(!event.to_string().contains(secret), "{event}");
        }
    }
    events
}

#[test]
fn a_question_of_each_kind_is_told_with_the_answer_that_it_wants() {
    let world = Sandbox::new();
    let permission = world.request(&["Deploy?", "--key", "deploy", "--session", "s1"]);
    let choice = [
        "Where?",
        "--kind",
        "single-choice",
        "--choice",
        "a:Here",
        "--choice",
        "b:There",
        "--choice-detail",
        "b:far away",
    ];
    let choice = world.request(&choice);
    let typed = world.request(&["Why?", "--kind", "text", "--text-max", "77"]);
    let events = told(&world, &[]);
    let rows = [
        (
            &permission,
            "deploy",
            json!({ "kind": "permission", "choices": [
                { "id": "allow-once", "label": "Allow once" }, { "id": "deny", "label": "Deny" },
            ] }),
        ),
        (
            &choice,
            text(&choice, "id"),
            json!({ "kind": "single_choice", "choices": [
                { "id": "a", "label": "Here" }, { "id": "b", "label": "There", "detail": "far away" },
            ] }),
        ),
        (
            &typed,
            text(&typed, "id"),
            json!({ "kind": "text", "text_max_length": 77 }),
        ),
    ];
    assert_eq!(events.len(), rows.len());
    for (event, (record, key, mut response)) in events.iter().zip(rows) {
        response["expires_at"] = record["expires_at"].clone();
        let kind = match text(record, "kind") {
            "permission" => "permission",
            _ => "question",
        };
        let request = json!({
            "key": key, "kind": kind, "message": record["prompt"], "response": response,
        });
        assert_eq!(event["request"], request);
        assert_eq!(event["sender"], json!({ "id": "cli" }));
        assert_eq!(event["event_type"], "request.created");
        assert_eq!(event["occurred_at"], record["created_at"]);
        assert_eq!(
            event["event_id"],
            format!("{}:interaction_created", text(record, "id"))
        );
        assert_eq!(event["context"]["cwd"], record["cwd"]);
        assert_eq!(event["context"]["project"], "shop");
        assert_eq!(
            event["context"]["session_id"],
            record.get("session_id").cloned().unwrap_or_default()
        );
    }
}

#[test]
fn every_end_is_told_with_its_outcome_and_nothing_else_is() {
    let world = Sandbox::new();
    let answered = world.request(&["A?"]);
    world.respond(
        &answered,
        "r1",
        &["--choice", "deny", "--message", "not now"],
    );
    let cancelled = world.request(&["B?", "--key", "b"]);
    world.run(["cancel", text(&cancelled, "id")]);
    let superseded = world.request(&["C?", "--key", "c"]);
    let by = world.request(&["C, really?", "--key", "c"]);
    let expired = world.request(&["D?"]);
    let mut past: Value = serde_json::from_str(&world.stored(text(&expired, "id"))).unwrap();
    past["expires_at"] = "2020-01-01T00:00:00.000000Z".into();
    world.plant(past);
    world.run(["list"]);
    let events = told(&world, &["--limit", "100"]);
    let ends: Vec<(&str, &str)> = events
        .iter()
        .filter(|e| e["event_type"] == "request.resolved")
        .map(|e| (text(&e["request"], "key"), text(&e["request"], "outcome")))
        .collect();
    let expected = [
        (text(&answered, "id"), "answered"),
        ("b", "cancelled"),
        (text(&expired, "id"), "expired"),
    ];
    assert_eq!(ends, expected);
    // Who was superseded is told by its successor: an end of their key would withdraw that one.
    assert_eq!(events.len(), 5 + 3);
    let all = world.events();
    assert!(all.len() >= 9);
    assert!(events.iter().all(|e| !e.to_string().contains("not now")));
    assert_eq!(text(&superseded, "status"), "pending");
    assert_eq!(text(&by, "status"), "pending");
    // The filters are those of the events; the limit counts what is told.
    assert_eq!(told(&world, &["--limit", "2"]), events[6..]);
    assert_eq!(told(&world, &["--type", "interaction_expired"]).len(), 1);
    assert_eq!(told(&world, &["--type", "interaction_delivered"]).len(), 0);
    assert_eq!(told(&world, &["--since", "2999-01-01T00:00:00Z"]).len(), 0);
    assert_eq!(world.run(["events", "--format", "xml"]).code, 2);
}

#[test]
fn what_the_contract_has_no_place_for_goes_out_as_information() {
    let world = Sandbox::new();
    let long = |n: usize| "x".repeat(n);
    let questions = world.path().join("questions.json");
    fs::write(
        &questions,
        r#"[{"question":"How big?","options":[{"label":"S"},{"label":"L"}]}]"#,
    )
    .unwrap();
    let deep = format!("/{}", "deep/".repeat(250));
    let plain = world.request(&["plain"]);
    let rows: [(&str, Vec<String>); 6] = [
        (
            "form",
            vec![
                "--kind".into(),
                "form".into(),
                "--questions".into(),
                questions.display().to_string(),
            ],
        ),
        ("key", vec!["--key".into(), long(101)]),
        ("session", vec!["--session".into(), long(101)]),
        (
            "tool",
            vec![
                "--tool".into(),
                "Bash".into(),
                "--input".into(),
                json!({ "command": long(2000) }).to_string(),
            ],
        ),
        ("action", vec!["--action".into(), long(2000)]),
        ("cwd", vec![]),
    ];
    let mut records = Vec::new();
    for (name, args) in rows {
        let args = [vec![format!("{name}?")], args].concat();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        records.push(world.request(&args));
    }
    // One that was asked from very deep, and one that never ends.
    let mut odd: Value = serde_json::from_str(&world.stored(text(&records[5], "id"))).unwrap();
    odd["cwd"] = deep.as_str().into();
    world.plant(odd);
    let mut suspended: Value = serde_json::from_str(&world.stored(text(&plain, "id"))).unwrap();
    suspended.as_object_mut().unwrap().remove("expires_at");
    suspended["suspended"] = true.into();
    world.plant(suspended);
    records.insert(0, plain);
    let events = told(&world, &[]);
    assert_eq!(events.len(), records.len());
    for (event, record) in events.iter().zip(&records) {
        let request = &event["request"];
        let name = text(record, "prompt");
        assert_eq!(request["kind"], "information", "{name}");
        assert_eq!(request["message"], record["prompt"], "{name}");
        assert!(request.get("response").is_none(), "{name}");
        assert!(!event.to_string().contains(&long(50)), "{name}");
        assert_eq!(request["priority"], "high", "{name}");
        let title = match text(record, "kind") {
            "form" => "cli needs input",
            _ => "cli needs permission",
        };
        assert_eq!(request["title"], title, "{name}");
        // The end finds it again.
        assert_eq!(request["key"], record["id"], "{name}");
        world.run(["cancel", text(record, "id")]);
    }
    let ends = told(&world, &["--type", "interaction_cancelled"]);
    let keys: Vec<&Value> = ends.iter().map(|e| &e["request"]["key"]).collect();
    assert_eq!(keys, records.iter().map(|r| &r["id"]).collect::<Vec<_>>());
}

#[test]
fn who_may_allow_a_call_is_told_all_of_it() {
    let world = Sandbox::new();
    world.request(&[
        "Run it?",
        "--tool",
        "Bash",
        "--input",
        r#"{"command":"rm -rf x","n":1.0}"#,
    ]);
    world.request(&["May I?", "--action", "delete the branch"]);
    world.request(&["May I look?", "--tool", "Read"]);
    let messages: Vec<Value> = told(&world, &[])
        .iter()
        .map(|e| e["request"]["message"].clone())
        .collect();
    assert_eq!(
        messages,
        [
            "Run it?\n\nBash: {\"command\":\"rm -rf x\",\"n\":1.0}",
            "May I?\n\ndelete the branch",
            "May I look?\n\nRead: no input",
        ]
    );
}

#[test]
fn a_follower_is_told_of_a_question_and_its_answer_as_they_come() {
    let world = Sandbox::new();
    world.request(&["Old?"]);
    let follower = Stream::start(
        &world,
        &["events", "--format", "arc", "--follow", "--limit", "0"],
    );
    let record = world.request(&["New?", "--key", "new"]);
    let next = || -> Value { serde_json::from_str(&follower.line()).unwrap() };
    let created = next();
    assert_eq!(created["request"]["message"], "New?");
    world.respond(&record, "r1", &["--choice", "allow-once"]);
    let end = next();
    assert_eq!(
        end["request"],
        json!({ "key": "new", "outcome": "answered" })
    );
    assert!(schema().is_valid(&created) && schema().is_valid(&end));
    follower.stop();
}

#[test]
fn what_is_told_in_one_place_can_be_asked_in_another() {
    let here = Sandbox::new();
    let there = Sandbox::new();
    here.request(&["Deploy?", "--key", "deploy"]);
    let mut created = told(&here, &[]).remove(0);
    // The other place has no such directory.
    created["context"]["cwd"] = "/no/such/place".into();
    let opened = accept(&there, &created);
    assert_eq!(opened["interaction"]["prompt"], "Deploy?");
    let id = text(&opened["interaction"], "id");
    here.run(["cancel", "--key", "deploy"]);
    let mut end = told(&here, &[]).remove(1);
    end["event_id"] = "the end".into();
    accept(&there, &end);
    assert_eq!(there.get(id)["status"], "cancelled");
}

#[test]
fn a_log_and_records_that_were_tampered_with_are_told_validly_or_not_at_all() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let log = world.scope().join("events.jsonl");
    let line = fs::read_to_string(&log).unwrap();
    let id = text(&record, "id");
    let at = text(&record, "created_at");
    let mut lines = String::new();
    for (from, to) in [
        (at, "yesterday"),
        (at, "2030-02-30T00:00:00Z"),
        (id, "unknown"),
    ] {
        lines.push_str(&line.replace(from, to));
    }
    fs::write(&log, lines).unwrap();
    assert_eq!(told(&world, &[]).len(), 0);
    fs::write(&log, &line).unwrap();
    let mut odd: Value = serde_json::from_str(&world.stored(id)).unwrap();
    odd["choices"][0]["label"] = "x".repeat(300).into();
    odd["key"] = "\u{feff}".into();
    world.plant(odd);
    let events = told(&world, &[]);
    assert_eq!(events[0]["request"]["kind"], "information");
    assert_eq!(events[0]["request"]["key"], id);
}
