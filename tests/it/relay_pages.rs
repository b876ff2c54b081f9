//! Pages and cursors: nothing is lost, nothing is passed over, whatever a Relay replies.

use std::fs;
use std::time::Duration;

use sayso::fsio;
use serde_json::{Value, json};

use crate::fake_relay::{Endpoint, FakeRelay, Fault, Reply};
use crate::relayed::{EVERYTHING, Relayed, configure, dir, paired, table};
use crate::sandbox::{INVALID_INPUT, Ran, Sandbox, failure, text, until};

fn since(relay: &FakeRelay) -> Vec<String> {
    let requests = relay.requests(Endpoint::Responses);
    requests
        .iter()
        .map(|r| r.query_value("since").unwrap())
        .collect()
}

#[test]
fn pages_are_fetched_until_one_is_empty() {
    let r = Relayed::new();
    r.relay.state().page = 2;
    for _ in 0..5 {
        r.relay.put(Value::Null);
    }
    assert_eq!(r.polled()["fetched"], 5);
    let cursors = [2, 4, 5].map(|n| r.relay.cursor(n));
    assert_eq!(since(&r.relay), ["", &cursors[0], &cursors[1], &cursors[2]]);
    // The next one goes on from there.
    assert_eq!(r.cursor(), cursors[2]);
    r.relay.put(Value::Null);
    assert_eq!(r.polled()["fetched"], 1);
}

#[test]
fn one_poll_fetches_at_most_twenty_pages() {
    let r = Relayed::new();
    r.relay.state().page = 1;
    for _ in 0..30 {
        r.relay.put(Value::Null);
    }
    assert_eq!(r.polled()["fetched"], 20);
    assert_eq!(r.relay.requests(Endpoint::Responses).len(), 20);
    assert_eq!(r.polled()["fetched"], 10);
    assert_eq!(since(&r.relay)[20], r.relay.cursor(20));
}

#[test]
fn the_same_cursor_again_ends_the_poll() {
    let r = Relayed::new();
    let page = Fault::body(r#"{"responses":[null],"next_cursor":"same"}"#);
    r.relay.state().remember("same");
    r.relay.always(Endpoint::Responses, page);
    assert_eq!(r.polled()["fetched"], 2);
    assert_eq!(r.polled()["fetched"], 1);
    assert_eq!(since(&r.relay), ["", "same", "same"]);
    // An empty page ends it, too, and its cursor counts.
    let page = Fault::body(r#"{"responses":[],"next_cursor":"further"}"#);
    r.relay.state().remember("further");
    r.relay.always(Endpoint::Responses, page);
    assert_eq!(
        (r.polled()["fetched"].clone(), r.cursor()),
        (json!(0), "further".into())
    );
}

#[test]
fn a_cursor_is_opaque_and_bounded() {
    for cursor in [
        "a&b=c+d%25e%2Be f/ü?#'\"\\\u{1}\n\0",
        "🚀".repeat(512).as_str(),
        "x".repeat(2048).as_str(),
        "",
        "null",
        "../../etc/passwd",
    ] {
        let r = Relayed::new();
        r.relay.state().remember(cursor);
        let page = json!({ "responses": [null], "next_cursor": cursor });
        r.relay
            .once(Endpoint::Responses, Fault::body(page.to_string()));
        assert_eq!(r.world.run(["relay", "poll"]).code, 0, "{cursor:?}");
        let last = since(&r.relay).pop().unwrap();
        assert_eq!(last, cursor);
    }
}

/// Replies after which the cursor stays, the poll fails, and what its message must say.
fn failing() -> Vec<(Fault, &'static str)> {
    let page = |text: String| Fault::body(text);
    let long = json!({ "responses": [], "next_cursor": "x".repeat(2049) }).to_string();
    let far = json!({ "responses": [], "next_cursor": "x".repeat(500_000) }).to_string();
    let deep = format!(
        "{{\"responses\":[{}],\"next_cursor\":\"c\"}}",
        "[".repeat(200_000)
    );
    let full = json!({ "responses": ["x".repeat(1 << 20)], "next_cursor": "c" }).to_string();
    let status = |status: u16| {
        let body = json!({ "responses": [], "next_cursor": "c" });
        Fault::Reply(Reply::json(status, &body))
    };
    vec![
        (status(401), "token"),
        (status(403), "token"),
        (status(201), "201"),
        (status(204), "204"),
        (status(400), "400"),
        (status(404), "404"),
        (status(409), "409"),
        (status(429), "429"),
        (status(500), "500"),
        (status(503), "503"),
        (status(304), "304"),
        (page("not json".into()), ""),
        (page(String::new()), ""),
        (page("null".into()), ""),
        (page("[]".into()), ""),
        (page("{}".into()), ""),
        (page("{\"responses\":[]}".into()), ""),
        (page("{\"responses\":[],\"next_cursor\":null}".into()), ""),
        (page("{\"responses\":[],\"next_cursor\":7}".into()), ""),
        (page("{\"next_cursor\":\"c\"}".into()), ""),
        (
            page("{\"responses\":null,\"next_cursor\":\"c\"}".into()),
            "",
        ),
        (page("{\"responses\":{},\"next_cursor\":\"c\"}".into()), ""),
        (
            page("{\"responses\":[],\"next_cursor\":\"c\"} x".into()),
            "",
        ),
        (page("{\"responses\":[],\"next_cursor\":\"c\"".into()), ""),
        (page(long), ""),
        (page(far), ""),
        (page(deep), ""),
        (page(full), ""),
        (
            Fault::body(b"{\"responses\":[],\"next_cursor\":\"\xff\"}".to_vec()),
            "",
        ),
    ]
}

/// A world with a cursor that is not that of the beginning.
fn under_way() -> Relayed {
    let r = Relayed::new();
    r.relay.put(Value::Null);
    r.polled();
    r
}

#[test]
fn a_page_that_fails_keeps_the_cursor() {
    let r = under_way();
    let kept = r.relay.cursor(1);
    let record = r.world.request(&["Deploy?"]);
    r.relay.answer(&record, "r1", ("choice_id", "deny"));
    for (fault, word) in failing() {
        let case = format!("{:.200}", format!("{fault:?}"));
        let before = r.relay.requests(Endpoint::Responses).len();
        r.relay.once(Endpoint::Responses, fault.clone());
        let human = r.world.run(["relay", "poll"]);
        assert_eq!(human.code, 7, "{case}: {human:?}");
        assert!(
            human.stderr.contains(word) && human.stderr.contains("home"),
            "{case}: {human:?}"
        );
        r.relay.once(Endpoint::Responses, fault);
        let json = r.world.run(["relay", "poll", "--json"]);
        let error = told(&json)[0]["error"].clone();
        assert!(error.to_string().contains(word), "{case}: {json:?}");
        assert_eq!(error["code"], "unavailable");
        // One attempt each, from where we were.
        assert_eq!(since(&r.relay)[before..], [&*kept, &*kept], "{case}");
    }
    assert_eq!(r.world.get(text(&record, "id"))["status"], "pending");
    assert_eq!(r.polled()["applied"], 1);
    let told = r.world.run(["relay", "poll"]);
    assert_eq!(told.code, 0);
}

/// What `relay poll --json` told, whatever its exit code.
fn told(ran: &Ran) -> Value {
    let line = if ran.stdout.is_empty() {
        &ran.stderr
    } else {
        &ran.stdout
    };
    let envelope: Value = serde_json::from_str(line.lines().last().unwrap()).unwrap();
    match envelope.get("data") {
        Some(data) => data.clone(),
        None => envelope["error"]["details"].clone(),
    }
}

#[test]
fn a_rejected_token_stops_one_provider_only() {
    let world = Sandbox::new();
    let (bad, good) = (FakeRelay::named("bad"), FakeRelay::named("good"));
    configure(
        &world,
        &[&bad, &good].map(|r| table(r, EVERYTHING)).concat(),
    );
    paired(&world, &bad);
    paired(&world, &good);
    let record = world.request(&["Deploy?"]);
    good.answer(&record, "r1", ("choice_id", "deny"));
    for status in [401, 403] {
        bad.once(Endpoint::Responses, Fault::status(status));
        let ran = world.run(["relay", "poll"]);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(
            ran.stderr.contains("relay rejected the installation token"),
            "{ran:?}"
        );
        assert!(ran.stdout.contains("good: "), "{ran:?}");
    }
    assert_eq!(world.get(text(&record, "id"))["status"], "answered");
    // Each has a cursor of its own, and one can be polled alone.
    good.put(Value::Null);
    let counts = || {
        (
            bad.requests(Endpoint::Responses).len(),
            good.requests(Endpoint::Responses).len(),
        )
    };
    let (of_bad, of_good) = counts();
    let data = world.json(&["relay", "poll", "--provider", "good"]);
    assert_eq!(
        (data.as_array().unwrap().len(), &data[0]["fetched"]),
        (1, &json!(1))
    );
    assert_eq!(counts().0, of_bad);
    assert!(counts().1 > of_good);
    assert_eq!(since(&bad), ["", ""]);
}

#[test]
fn an_unknown_provider_is_refused_without_a_request() {
    let r = Relayed::new();
    for name in ["does-not-exist", "", "../home", "HOME"] {
        let ran = r.world.run(["relay", "poll", "--provider", name, "--json"]);
        failure(&ran, INVALID_INPUT);
    }
    configure(
        &r.world,
        &table(&r.relay, &format!("enabled = false\n{EVERYTHING}")),
    );
    failure(
        &r.world
            .run(["relay", "poll", "--provider", "home", "--json"]),
        INVALID_INPUT,
    );
    assert_eq!(r.poll(), json!([]));
    assert_eq!(r.relay.count(), 0);
    configure(&r.world, "");
    assert_eq!(r.poll(), json!([]));
}

#[test]
fn a_relay_that_asks_for_patience_gets_it() {
    for status in [429, 503] {
        let r = under_way();
        let kept = r.relay.cursor(1);
        let reply = Reply::json(status, &json!({})).with("retry-after", "3600");
        r.relay.once(Endpoint::Responses, Fault::Reply(reply));
        let first = r.world.run(["relay", "poll"]);
        let count = r.relay.requests(Endpoint::Responses).len();
        assert_eq!(first.code, 0, "{first:?}");
        // Nothing is asked before that time, by whomever.
        for args in [&["relay", "poll"][..], &["relay", "sync", "--json"]] {
            let ran = r.world.run(args);
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
        }
        assert_eq!(r.relay.requests(Endpoint::Responses).len(), count);
        assert!(r.status()["not_before"].is_string());
        // A second is over soon.
        r.relay.put(Value::Null);
        let path = r.dir().join("cursor.json");
        let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        file["not_before"] = "2020-01-01T00:00:00.000000Z".into();
        fs::write(&path, file.to_string()).unwrap();
        let reply = Reply::json(status, &json!({})).with("retry-after", "1");
        r.relay.once(Endpoint::Responses, Fault::Reply(reply));
        r.poll();
        until("the next poll", || {
            (r.polled()["fetched"] == 1).then_some(())
        });
        assert_eq!(since(&r.relay)[count], kept);
        assert_eq!(since(&r.relay)[count + 1], kept);
    }
}

#[test]
fn a_damaged_cursor_is_that_of_the_beginning() {
    for damage in ["", "{", "null", "[]", "\"c\"", "{\"cursor\":7}", "\0\0\0\0"] {
        let r = under_way();
        fs::write(r.dir().join("cursor.json"), damage).unwrap();
        assert_eq!(r.cursor(), r.relay.cursor(1), "{damage}");
        assert_eq!(since(&r.relay)[2], "", "{damage}");
        // And it is mended.
        assert_eq!(r.cursor(), r.relay.cursor(1));
    }
    // A FIFO in its place never hangs, and is mended too.
    let r = under_way();
    let cursor = r.dir().join("cursor.json");
    fs::remove_file(&cursor).unwrap();
    nix::unistd::mkfifo(&cursor, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(r.cursor(), r.relay.cursor(1));
    assert!(cursor.symlink_metadata().unwrap().is_file());
    // A directory cannot be, and is an error about that thing.
    fs::remove_file(&cursor).unwrap();
    fs::create_dir(&cursor).unwrap();
    let ran = r.world.run(["relay", "poll"]);
    assert!(
        ran.code == 7 && ran.stderr.contains("cursor.json"),
        "{ran:?}"
    );
}

#[test]
fn a_locked_store_keeps_the_page() {
    let r = under_way();
    let kept = r.relay.cursor(1);
    let first = r.world.request(&["First?"]);
    let locked = r.world.request(&["Second?", "--scope", "locked"]);
    let third = r.world.request(&["Third?"]);
    for (n, record) in [&first, &locked, &third].into_iter().enumerate() {
        r.relay
            .answer(record, &format!("r{n}"), ("choice_id", "deny"));
    }
    let path = r.world.store().join("scopes/locked/lock");
    let file = fsio::open_or_create(&path).unwrap();
    let lock = fsio::lock(file, Duration::ZERO, |_| {}).unwrap().unwrap();
    let ran = r.world.run(["relay", "poll", "--json"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert_eq!(told(&ran)[0]["error"]["code"], "unavailable", "{ran:?}");
    let status = |record: &Value| {
        let data = r.world.json(&["list", "-A", "--all"]);
        let all = data["interactions"].as_array().unwrap();
        let of = all.iter().find(|i| i["id"] == record["id"]);
        text(of.unwrap(), "status").to_owned()
    };
    let all = [&first, &locked, &third];
    assert_eq!(all.map(status), ["answered", "pending", "pending"]);
    drop(lock);
    let before = r.world.get(text(&first, "id"));
    // The whole page again: the first is a replay, which changes nothing.
    let polled = r.polled();
    assert_eq!(
        (&polled["fetched"], &polled["applied"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(since(&r.relay)[3], kept);
    assert_eq!(r.world.get(text(&first, "id")), before);
    assert_eq!(all.map(status), ["answered"; 3]);
    let mut ends = 0;
    for scope in fs::read_dir(r.world.store().join("scopes")).unwrap() {
        let log = fs::read_to_string(scope.unwrap().path().join("events.jsonl")).unwrap();
        ends += log.matches("\"interaction_answered\"").count();
    }
    assert_eq!(ends, 3);
}

#[test]
fn a_poll_beside_another_says_so() {
    let r = Relayed::new();
    r.relay.put(Value::Null);
    r.poll();
    let file = fsio::open_or_create(&r.dir().join("lock")).unwrap();
    let lock = fsio::lock(file, Duration::ZERO, |_| {}).unwrap().unwrap();
    let count = r.relay.requests(Endpoint::Responses).len();
    let poll = r.world.start(["relay", "poll"]);
    // Publishing takes no such lock.
    r.world.request(&["Deploy?"]);
    assert_eq!(r.relay.envelopes().len(), 1);
    let ran = crate::sandbox::finish(poll);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("already polling"), "{ran:?}");
    assert_eq!(r.relay.requests(Endpoint::Responses).len(), count);
    drop(lock);
    assert_eq!(r.world.run(["relay", "poll"]).code, 0);
}

#[test]
fn another_installation_begins_anew() {
    let r = under_way();
    let old = r.relay.state().installation_id.clone();
    r.relay.state().installation_id = "another".into();
    paired(&r.world, &r.relay);
    r.polled();
    assert_eq!(since(&r.relay)[2], "");
    assert_ne!(old, "another");
    assert!(dir(&r.world, "home").join("cursor.json").exists());
}
