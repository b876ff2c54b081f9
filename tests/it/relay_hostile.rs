//! A Relay that is dead, slow or hostile delays nobody, changes nothing, and is never followed elsewhere.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::fake_relay::{Endpoint, FakeRelay, Fault, Reply};
use crate::hosts::{Hook, fixture};
use crate::relayed::{EVERYTHING, Relayed, configure, paired, table};
use crate::sandbox::{Ran, Sandbox, finish, text, until};

/// Far more than the 2 s that an asker may lose, far less than the 15 s of a whole request.
const SOON: Duration = Duration::from_secs(8);

/// What hostile servers write in place of a reply.
fn noise() -> Vec<Vec<u8>> {
    let ok = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let page = "{\"responses\":[],\"next_cursor\":\"c\"}";
    vec![
        Vec::new(),
        b"\0\xff\xfe\x16\x03\x01".to_vec(),
        b"220 smtp.example.org ESMTP\r\n".to_vec(),
        b"HTTP/1.1".to_vec(),
        b"HTTP/9.9 200 OK\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 999999 OK\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 200 OK\r\n".to_vec(),
        b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(),
        format!("{ok}content-length: 999999999999999999999\r\n\r\n{page}").into(),
        format!("{ok}content-length: -1\r\n\r\n{page}").into(),
        format!("{ok}content-length: 1000\r\n\r\n{page}").into(),
        format!("{ok}transfer-encoding: chunked\r\n\r\nzz\r\n{page}").into(),
        format!("{ok}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{page}").into(),
        format!("{ok}content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\u{8b}").into(),
        format!("{ok}x: {}\r\n\r\n{page}", "y".repeat(1 << 20)).into(),
        format!("{ok}{}\r\n{page}", "x: y\r\n".repeat(100_000)).into(),
        // Larger than 1 MiB, with and without saying so beforehand.
        format!(
            "{ok}content-length: 3000000\r\n\r\n{}",
            " ".repeat(3_000_000)
        )
        .into(),
        format!("{ok}connection: close\r\n\r\n{}", " ".repeat(3_000_000)).into(),
    ]
}

#[test]
fn noise_is_no_page() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    for noise in noise() {
        let case = format!("{:.80}", String::from_utf8_lossy(&noise));
        r.relay.once(Endpoint::Responses, Fault::Raw(noise));
        let ran = r.world.run(["relay", "poll"]);
        assert_eq!((ran.code, &*ran.stdout), (7, ""), "{case}: {ran:?}");
        assert!(ran.stderr.starts_with("error: home: "), "{case}: {ran:?}");
    }
    for fault in [Fault::Lost, Fault::Cut, Fault::HalfClosed, Fault::Reset] {
        let case = format!("{fault:?}");
        r.relay.once(Endpoint::Responses, fault);
        let ran = r.world.run(["relay", "poll"]);
        assert_eq!(ran.code, 7, "{case}: {ran:?}");
    }
    let since = r.relay.requests(Endpoint::Responses);
    let read = |request: &crate::fake_relay::Request| request.query_value("since").unwrap();
    assert!(since.iter().all(|request| read(request).is_empty()));
    r.relay.answer(&record, "r1", ("choice_id", "deny"));
    assert_eq!(r.polled()["applied"], 1);
}

#[test]
fn a_poll_ends_within_its_time() {
    let silent = || Fault::Silence;
    let slow = || Fault::Drip(Duration::from_millis(200));
    let polls = |fault: Fault| {
        let r = Relayed::new();
        r.relay.always(Endpoint::Responses, fault);
        let start = Instant::now();
        let ran = r.world.run(["relay", "poll"]);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(
            start.elapsed() < Duration::from_secs(25),
            "{:?}",
            start.elapsed()
        );
    };
    std::thread::scope(|threads| {
        threads.spawn(|| polls(silent()));
        threads.spawn(|| polls(slow()));
    });
}

/// Every way in which a Relay can keep an asker waiting.
fn obstacles() -> Vec<(Endpoint, Fault)> {
    vec![
        (Endpoint::Devices, Fault::Silence),
        (Endpoint::Devices, Fault::Drip(Duration::from_millis(300))),
        (Endpoint::Devices, Fault::Reset),
        (Endpoint::Devices, Fault::body(vec![b' '; 5 << 20])),
        (Endpoint::Envelopes, Fault::Silence),
        (Endpoint::Envelopes, Fault::HalfClosed),
        (Endpoint::Envelopes, Fault::Held),
    ]
}

/// A world whose Relay does that with every such request, and what to call it.
fn obstructed((endpoint, fault): (Endpoint, Fault)) -> (Relayed, String) {
    let r = Relayed::new();
    let name = format!("{endpoint:?}: {:.60}", format!("{fault:?}"));
    r.relay.always(endpoint, fault);
    (r, name)
}

#[test]
fn a_request_is_delayed_by_no_more_than_its_bound() {
    std::thread::scope(|threads| {
        for obstacle in obstacles() {
            threads.spawn(move || {
                let (r, name) = obstructed(obstacle);
                let start = Instant::now();
                let ran = r.world.run(["request", "Deploy?", "--json"]);
                assert!(start.elapsed() < SOON, "{name}: {:?}", start.elapsed());
                assert_eq!(
                    (&*ran.data()["status"].to_string(), &*ran.stderr),
                    ("\"pending\"", ""),
                    "{name}"
                );
                assert_eq!(r.entry().unwrap()["stage"], "due", "{name}");
            });
        }
    });
}

#[test]
fn an_asker_that_is_answered_does_not_wait_for_the_relay() {
    std::thread::scope(|threads| {
        for obstacle in obstacles() {
            threads.spawn(move || asked_and_answered(obstacle));
        }
    });
}

fn asked_and_answered(obstacle: (Endpoint, Fault)) {
    let (r, name) = obstructed(obstacle);
    r.relay.always(Endpoint::Responses, Fault::Silence);
    let answer = |pending: &Value| {
        r.world.json(&["answer", text(pending, "id"), "--allow"]);
        Instant::now()
    };
    let ask = r.world.start(["ask", "Deploy?"]);
    let since = answer(&r.world.await_pending());
    let ran = finish(ask);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{name}: {ran:?}");
    assert!(since.elapsed() < SOON, "{name}: ask {:?}", since.elapsed());

    let hook = Hook::start(
        &r.world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    let since = Instant::now();
    let ran = hook.answer(&["--deny"]);
    assert_eq!(ran.code, 0, "{name}: {ran:?}");
    assert!(ran.stdout.contains("deny"), "{name}: {ran:?}");
    assert!(since.elapsed() < SOON, "{name}: hook {:?}", since.elapsed());

    let mut server = Client::start(&r.world, &[]);
    let (call, pending) = server.ask("ask", &json!({ "question": "Which?" }));
    r.world
        .json(&["answer", text(&pending, "id"), "--text", "this"]);
    let since = Instant::now();
    assert_eq!(server.done(&call)["answer"], "this");
    let (code, _) = server.close();
    assert_eq!(code, 0, "{name}");
    assert!(since.elapsed() < SOON, "{name}: mcp {:?}", since.elapsed());
}

#[test]
fn a_dead_relay_is_no_news_to_an_asker() {
    let r = Relayed::new();
    // A port where nobody listens, and one where nobody accepts.
    let refused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [refused, deaf.local_addr().unwrap()] {
        let text =
            table(&r.relay, EVERYTHING).replace(&r.relay.url(), &format!("http://{address}"));
        configure(&r.world, &text);
        let start = Instant::now();
        let ran = r.world.run(["request", "Deploy?", "--json"]);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    }
    configure(
        &r.world,
        &table(&r.relay, EVERYTHING).replace(&r.relay.url(), &format!("http://{refused}")),
    );
    let ran = r.world.run(["relay", "poll"]);
    assert_eq!(ran.code, 7);
    assert!(
        ran.stderr.contains("127.0.0.1 cannot be reached"),
        "{ran:?}"
    );
}

#[test]
fn no_redirect_is_followed() {
    let r = Relayed::new();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = format!("http://{}/v1/devices", elsewhere.local_addr().unwrap());
    let redirect = |status| Fault::Reply(Reply::new(status, "").with("location", &target));
    for status in [301, 302, 303, 307, 308] {
        r.relay.always(Endpoint::Devices, redirect(status));
        r.world.request(&["Deploy?"]);
        r.relay.heal();
        r.relay.always(Endpoint::Envelopes, redirect(status));
        r.world.request(&["Deploy?"]);
        r.relay.heal();
        r.relay.always(Endpoint::Responses, redirect(status));
        assert_eq!(r.world.run(["relay", "poll"]).code, 7);
        r.relay.heal();
    }
    let connected = elsewhere.accept();
    assert!(connected.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock));
    // To itself just as little.
    assert_eq!(r.relay.requests(Endpoint::Unknown).len(), 0);
}

#[test]
fn the_environment_names_no_proxy_and_replies_leave_no_cookie() {
    let r = Relayed::new();
    r.relay.state().page = 1;
    let record = r.world.request(&["Deploy?"]);
    for n in 0..3 {
        r.relay
            .answer(&record, &format!("r{n}"), ("choice_id", "deny"));
    }
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let proxy = format!("http://{}", elsewhere.local_addr().unwrap());
    let cursor = r.relay.cursor(1);
    let item = r.relay.answer_to(&record, "r0", ("choice_id", "deny"));
    let page = json!({ "responses": [item], "next_cursor": cursor });
    let reply = Reply::json(200, &page).with("set-cookie", "session=1; Path=/");
    r.relay.once(Endpoint::Responses, Fault::Reply(reply));
    let mut poll = r.world.command(["relay", "poll", "--json"]);
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "all_proxy",
        "ALL_PROXY",
    ] {
        poll.env(name, &proxy);
    }
    let data = Ran::from(poll.output().unwrap()).data();
    assert_eq!(
        (&data[0]["fetched"], &data[0]["applied"]),
        (&json!(3), &json!(1))
    );
    assert!(elsewhere.accept().is_err());
    // The contract of every request names cookies as a breach.
    assert!(r.relay.requests(Endpoint::Responses).len() > 3);
}

#[test]
fn a_question_stands_whatever_the_relay_does_with_it() {
    let world = Sandbox::new();
    let relay = FakeRelay::start();
    configure(&world, &table(&relay, EVERYTHING));
    paired(&world, &relay);
    relay.always(Endpoint::Envelopes, Fault::Held);
    let ask = world.start(["ask", "Deploy?", "--json"]);
    let pending = world.await_pending();
    relay.await_requests(Endpoint::Envelopes, 1);
    // It is open to all while the Relay still thinks about it.
    assert_eq!(world.get(text(&pending, "id"))["status"], "pending");
    world.json(&["answer", text(&pending, "id"), "--deny"]);
    let ran = finish(ask);
    assert_eq!(ran.code, 10, "{ran:?}");
    relay.release();
    until("the end of it", || (relay.count() > 1).then_some(()));
}
