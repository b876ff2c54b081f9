//! Answers that a Relay brings: each judged by itself, by the rules of any other.

use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_relay::{Endpoint, Phone};
use crate::library;
use crate::relayed::Relayed;
use crate::sandbox::{Ran, finish, text};

/// The members of an answer's report.
const REPORTED: [&str; 4] = ["response_id", "interaction_id", "applied", "note"];

fn names(value: &Value) -> Vec<&str> {
    let members = value.as_object().unwrap().keys();
    members.map(String::as_str).collect()
}

#[test]
fn an_answer_is_applied_and_told() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    let item = r
        .relay
        .phone(0)
        .answer(&r.relay.asked(0), "r1", ("choice_id", "deny"));
    r.relay.put(item);
    let polled = r.polled();
    assert_eq!(
        names(&polled),
        ["provider_id", "applied", "fetched", "answers"]
    );
    assert_eq!(
        (
            &polled["provider_id"],
            &polled["applied"],
            &polled["fetched"]
        ),
        (&json!("home"), &json!(1), &json!(1))
    );
    let answer = &polled["answers"][0];
    assert_eq!(names(answer), REPORTED);
    assert_eq!(
        (
            &answer["response_id"],
            &answer["interaction_id"],
            &answer["applied"]
        ),
        (&json!("r1"), &record["id"], &json!(true))
    );
    let settled = r.world.get(text(&record, "id"));
    let response = &settled["response"];
    assert_eq!(settled["status"], "answered");
    for (member, value) in [
        ("response_id", "r1"),
        ("choice_id", "deny"),
        ("source", "relay"),
        ("device_id", "phone-1"),
        ("answered_by", "phone-1"),
    ] {
        assert_eq!(response[member], value, "{response}");
    }
    assert!(response["responder"].get("agent_session").is_none());
    let events: Vec<Value> = r.world.events();
    let polled: Vec<&Value> = events
        .iter()
        .filter(|e| e["type"] == "relay_polled")
        .collect();
    assert_eq!(polled.len(), 1);
    assert_eq!(polled[0]["interaction_id"], record["id"]);
    // Nothing new: said in so many words, and no event.
    let ran = r.world.run(["relay", "poll"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, "home: 0 applied of 0 fetched\n"),
        "{ran:?}"
    );
    assert_eq!(r.world.events().len(), events.len());
}

#[test]
fn people_are_told_of_what_was_not_applied() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    r.relay.answer(&record, "good", ("choice_id", "allow-once"));
    let mut bad = r
        .relay
        .answer_to(&record, "ba\u{202e}d", ("choice_id", "deny"));
    r.relay.put(bad.clone());
    bad["response_id"] = "es\u{1b}[2Jc".into();
    r.relay.put(bad);
    let ran = r.world.run(["poll-responses"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        (ran.code, lines.len(), lines[0]),
        (0, 3, "home: 1 applied of 3 fetched"),
        "{ran:?}"
    );
    let id = text(&record, "id");
    let line = format!("ba\\u{{202e}}d → {id}: ");
    assert!(lines[1].trim_start().starts_with(&line), "{ran:?}");
    assert!(lines[1].contains("not pending"), "{ran:?}");
    assert!(
        lines[2].contains("response_id") && !ran.stdout.contains('\u{1b}'),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("good"), "{ran:?}");
}

/// What is wrong with an item, and what the note must name.
fn malformed(sound: &Value) -> Vec<(Value, &'static str)> {
    let with = |member: &str, value: Value| {
        let mut item = sound.clone();
        item[member] = value;
        item
    };
    let without = |member: &str| {
        let mut item = sound.clone();
        item.as_object_mut().unwrap().remove(member);
        item
    };
    let long = |n: usize| json!("ä".repeat(n));
    let mut rows = vec![
        (Value::Null, "object"),
        (json!([]), "object"),
        (json!("answer"), "object"),
        (json!(17), "object"),
        (json!({}), "contract_version"),
    ];
    let odd = [Value::Null, json!(1), json!([]), json!({}), json!("")];
    for member in [
        "contract_version",
        "response_id",
        "interaction_id",
        "request_digest",
        "nonce",
    ] {
        rows.push((without(member), member));
        rows.extend(odd.iter().map(|v| (with(member, v.clone()), member)));
    }
    for (member, value) in [
        ("contract_version", json!("2")),
        ("contract_version", json!("1 ")),
        ("response_id", long(129)),
        ("response_id", json!("a\nb")),
        ("response_id", json!("a\u{85}b")),
        ("interaction_id", long(129)),
        ("interaction_id", json!("a\u{0}b")),
        ("request_digest", json!("d")),
        ("request_digest", json!("g".repeat(64))),
        ("request_digest", json!("a".repeat(65))),
        ("nonce", long(129)),
        ("installation_id", json!("another")),
        ("installation_id", Value::Null),
        ("installation_id", json!("")),
        ("choice_id", long(65)),
        ("choice_id", json!(7)),
        ("choice_id", json!([])),
        ("device_id", long(129)),
        ("device_id", json!(7)),
    ] {
        rows.push((with(member, value), member));
    }
    rows.push((without("installation_id"), "installation"));
    rows.push((without("choice_id"), "choice_id"));
    rows.push((with("text", json!("both")), "text"));
    let mut free = without("choice_id");
    free["text"] = long(2001);
    rows.push((free, "text"));
    rows
}

#[test]
fn a_malformed_item_is_dropped_and_poisons_nothing() {
    let r = Relayed::new();
    r.relay.state().page = 1000;
    let record = r.world.request(&["Deploy?"]);
    let sound = r
        .relay
        .answer_to(&record, "r1", ("choice_id", "allow-once"));
    let rows = malformed(&sound);
    for (item, _) in &rows {
        r.relay.put(item.clone());
    }
    let polled = r.polled();
    assert_eq!(
        (&polled["fetched"], &polled["applied"]),
        (&json!(rows.len()), &json!(0))
    );
    assert_eq!(polled["answers"].as_array().unwrap().len(), rows.len());
    for ((item, member), told) in rows.iter().zip(polled["answers"].as_array().unwrap()) {
        assert_eq!(names(told), REPORTED);
        assert!(text(told, "note").contains(member), "{item}: {told}");
    }
    assert_eq!(r.world.get(text(&record, "id"))["status"], "pending");
    // A batch goes on after each of them, and unknown members do no harm.
    for (item, _) in &rows {
        r.relay.put(item.clone());
    }
    let mut rich = sound.clone();
    rich["received_at"] = json!("2026-08-30T00:00:00Z");
    rich["choice"] = json!("deny");
    rich["nested"] = json!({ "a": [null, { "choice_id": "deny" }] });
    rich["text"] = Value::Null;
    r.relay.put(rich);
    let polled = r.polled();
    assert_eq!(
        (&polled["fetched"], &polled["applied"]),
        (&json!(rows.len() + 1), &json!(1))
    );
    assert_eq!(
        r.world.get(text(&record, "id"))["response"]["choice_id"],
        "allow-once"
    );
    // All of it is behind us.
    assert_eq!(r.polled()["fetched"], 0);
}

#[test]
fn every_rule_for_answers_holds_here_too() {
    let r = Relayed::new();
    r.relay.state().page = 1000;
    let open = |args: &[&str]| r.world.request(args);
    let choice = ["--choice", "a:A", "--choice", "b:B"];
    let (answered, cancelled, old) = (open(&["1?"]), open(&["2?"]), open(&["3?", "--key", "k"]));
    let new = open(&["4?", "--key", "k"]);
    let which = open(&[&["5?", "--kind", "single-choice"][..], &choice].concat());
    let name = open(&["6?", "--kind", "text", "--text-max", "5"]);
    let form = r.world.path().join("form.json");
    std::fs::write(&form, r#"[{"question":"Which?"}]"#).unwrap();
    let form = open(&[
        "7?",
        "--kind",
        "form",
        "--questions",
        form.to_str().unwrap(),
    ]);
    let late = library::open(&library::store(&r.world), "8?", Duration::from_millis(1));
    let late = r.world.get(late.id.as_str());
    r.world
        .json(&["answer", text(&answered, "id"), "--deny", "--by", "Ada"]);
    r.world.json(&["cancel", text(&cancelled, "id")]);
    let item = |record: &Value, answer| {
        r.relay
            .answer_to(record, &format!("r-{}", text(record, "prompt")), answer)
    };
    let with = |record: &Value, member: &str, value: &Value| {
        let mut item = item(record, ("choice_id", "allow-once"));
        item[member] = value.clone();
        item
    };
    let allow = ("choice_id", "allow-once");
    let rows = [
        (
            with(&new, "interaction_id", &json!("ab".repeat(16))),
            "not_found",
        ),
        (
            with(&new, "interaction_id", &json!("../../../etc/passwd")),
            "not_found",
        ),
        (
            with(&new, "interaction_id", &json!(&text(&new, "id")[..8])),
            "not_found",
        ),
        (item(&answered, allow), "already_answered"),
        (item(&cancelled, allow), "not_pending"),
        (item(&old, allow), "not_pending"),
        (item(&late, allow), "not_pending"),
        (
            with(&new, "request_digest", &old["request_digest"]),
            "digest_mismatch",
        ),
        (
            with(
                &new,
                "request_digest",
                &json!(text(&new, "request_digest").to_uppercase()),
            ),
            "digest",
        ),
        (with(&new, "nonce", &old["nonce"]), "nonce_mismatch"),
        (item(&new, ("choice_id", "allow-always")), "invalid_answer"),
        (item(&new, ("choice_id", "Allow-once")), "invalid_answer"),
        (item(&new, ("text", "allow-once")), "invalid_answer"),
        (item(&which, ("text", "a")), "invalid_answer"),
        (item(&name, ("text", "longer")), "invalid_answer"),
        (item(&name, ("text", " \n ")), "invalid"),
        (item(&name, ("choice_id", "a")), "invalid_answer"),
        (item(&form, ("text", "a")), "invalid_answer"),
        // Then one that fits, for each that is still open.
        (item(&new, ("choice_id", "deny")), ""),
        (item(&which, ("choice_id", "b")), ""),
        (item(&name, ("text", " naïf ")), ""),
        // Replays are the answer; another one by the same id is not.
        (item(&name, ("text", " naïf ")), ""),
        (item(&new, ("choice_id", "deny")), ""),
        (item(&new, allow), "already_answered"),
    ];
    for (item, _) in &rows {
        r.relay.put(item.clone());
    }
    let polled = r.polled();
    assert_eq!(polled["answers"].as_array().unwrap().len(), rows.len());
    for ((item, code), told) in rows.iter().zip(polled["answers"].as_array().unwrap()) {
        assert_eq!(told["applied"], code.is_empty(), "{item}: {told}");
        assert!(text(told, "note").contains(code), "{item}: {told}");
        let secrets = [text(item, "nonce"), text(item, "request_digest")];
        assert!(
            secrets.iter().all(|s| !text(told, "note").contains(s)),
            "{told}"
        );
    }
    assert_eq!(polled["applied"], 5);
    let status = |record: &Value| r.world.get(text(record, "id"))["status"].clone();
    for (record, expected) in [
        (&answered, "answered"),
        (&cancelled, "cancelled"),
        (&old, "superseded"),
        (&late, "expired"),
        (&form, "pending"),
    ] {
        assert_eq!(status(record), expected);
    }
    assert_eq!(
        r.world.get(text(&answered, "id"))["response"]["answered_by"],
        "Ada"
    );
    assert_eq!(r.world.get(text(&name, "id"))["response"]["text"], "naïf");
    let (told, cursor) = (r.polled(), r.cursor());
    assert_eq!(
        (&told["fetched"], cursor),
        (&json!(0), r.relay.cursor(rows.len()))
    );
}

#[test]
fn an_answer_finds_its_question_in_any_scope() {
    let r = Relayed::new();
    let here = r.world.request(&["Here?"]);
    let there = r.world.request(&["There?", "--scope", "elsewhere"]);
    assert_eq!(r.relay.envelopes().len(), 2);
    r.relay.answer(&here, "r1", ("choice_id", "deny"));
    r.relay.answer(&there, "r2", ("choice_id", "deny"));
    // From a directory that is in no repository at all.
    let mut poll = r.world.command(["relay", "poll", "--json"]);
    poll.current_dir("/");
    let data = Ran::from(poll.output().unwrap()).data();
    assert_eq!(data[0]["applied"], 2, "{data}");
    for (record, scope) in [(&here, &[][..]), (&there, &["--scope", "elsewhere"])] {
        let args = [&["get", text(record, "id")][..], scope].concat();
        assert_eq!(r.world.json(&args)["status"], "answered");
    }
}

#[test]
fn ten_pollers_at_once_apply_each_answer_once() {
    let r = Relayed::new();
    r.relay.state().page = 3;
    let records: Vec<Value> = (0..10)
        .map(|n| r.world.request(&[&format!("{n}?")]))
        .collect();
    for (n, record) in records.iter().enumerate() {
        r.relay
            .answer(record, &format!("r{n}"), ("choice_id", "deny"));
        r.relay.put(Value::Null);
    }
    let pollers: Vec<_> = (0..10)
        .map(|_| r.world.start(["relay", "poll", "--json"]))
        .collect();
    let mut applied = 0;
    let mut fetched = 0;
    for poller in pollers {
        let data = finish(poller).data();
        applied += data[0]["applied"].as_u64().unwrap();
        fetched += data[0]["fetched"].as_u64().unwrap();
    }
    // No page was fetched twice, so no answer was so much as replayed.
    assert_eq!((applied, fetched), (10, 20));
    let mut since: Vec<String> = Vec::new();
    for request in r.relay.requests(Endpoint::Responses) {
        let cursor = request.query_value("since").unwrap();
        if since.last() != Some(&cursor) {
            since.push(cursor);
        }
    }
    let expected: Vec<String> = [0, 3, 6, 9, 12, 15, 18, 20]
        .map(|n| r.relay.cursor(n))
        .into();
    assert_eq!((&since[1..], since[0].as_str()), (&expected[1..], ""));
    let events = r.world.events();
    let count = |kind: &str| events.iter().filter(|e| e["type"] == kind).count();
    assert_eq!(
        (count("relay_polled"), count("interaction_answered")),
        (10, 10)
    );
    for (n, record) in records.iter().enumerate() {
        let settled = r.world.get(text(record, "id"));
        assert_eq!(settled["response"]["response_id"], format!("r{n}"));
    }
}

#[test]
fn an_answer_from_the_phone_resumes_a_suspended_question() {
    let r = Relayed::new();
    let out = r.world.path().join("resumed");
    let resume = format!(
        "[resume]\ncommand = [\"/usr/bin/touch\", \"{}\"]\n",
        out.display()
    );
    let all = crate::relayed::table(&r.relay, crate::relayed::EVERYTHING);
    crate::relayed::configure(&r.world, &format!("{resume}{all}"));
    let options = [
        "--workflow-id",
        "wf",
        "--session-id",
        "s",
        "--agent-id",
        "bot",
    ];
    let mut client = crate::client::Client::start(&r.world, &options);
    let call = client.call("ask", &json!({ "question": "Which?", "wait": "suspend" }));
    client.done(&call);
    let asked = r.relay.asked(0);
    let item = r.relay.phone(0).answer(&asked, "r1", ("text", "that one"));
    r.relay.put(item);
    client.close();
    assert_eq!(r.polled()["applied"], 1);
    crate::sandbox::until("the resumed command", || out.exists().then_some(()));
}

#[test]
fn what_a_relay_may_take_is_taken_here() {
    let r = Relayed::new();
    let device = "ö".repeat(128);
    let mut phone = Phone::new(&device);
    phone.key_id = "k".into();
    r.relay.pair(phone);
    let record = r
        .world
        .request(&["Name?", "--kind", "text", "--text-max", "2000"]);
    let longest = "🚀".repeat(2000);
    let mut item = r
        .relay
        .answer_to(&record, &"ä".repeat(128), ("text", &longest));
    item["device_id"] = device.into();
    r.relay.put(item);
    let polled = r.polled();
    assert_eq!(polled["applied"], 1, "{polled}");
    assert_eq!(
        r.world.get(text(&record, "id"))["response"]["text"],
        longest
    );
    let id = "c".repeat(64);
    let choice = format!("{id}:C");
    let record = r.world.request(&[
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        &choice,
        "--choice",
        "b:B",
    ]);
    let mut item = r.relay.answer_to(&record, "r", ("choice_id", &id));
    // Who holds the device is not always said.
    item.as_object_mut().unwrap().remove("device_id");
    r.relay.put(item);
    assert_eq!(r.polled()["applied"], 1);
    let settled = r.world.get(text(&record, "id"));
    assert!(settled["response"].get("device_id").is_none());
    assert_eq!(settled["response"]["source"], "relay");
}

#[test]
fn a_page_full_of_nothing_is_got_through() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    r.relay.state().page = 150_000;
    for _ in 0..100_000 {
        r.relay.put(Value::Null);
    }
    r.relay.answer(&record, "r1", ("choice_id", "deny"));
    let polled = r.polled();
    assert_eq!(
        (&polled["fetched"], &polled["applied"]),
        (&json!(100_001), &json!(1))
    );
}
