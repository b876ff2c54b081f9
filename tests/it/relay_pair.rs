//! Pairing this machine with a Relay: what is asked, what is kept, what is refused.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake_relay::{Endpoint, FakeRelay, Fault, Reply};
use crate::relayed::{EVERYTHING, configure, dir, paired, table};
use crate::sandbox::{INVALID_INPUT, Ran, Sandbox, failure, finish, text, until};

fn pair(world: &Sandbox, relay: &FakeRelay, more: &[&str]) -> Ran {
    finish(start(world, relay, more))
}

fn start(world: &Sandbox, relay: &FakeRelay, more: &[&str]) -> Child {
    let args = ["relay", "pair", "--url", &relay.url(), "--allow-private"];
    world.start(args.iter().chain(more))
}

fn status(world: &Sandbox) -> Value {
    world.json(&["relay", "status"])
}

fn pending() -> Reply {
    Reply::json(200, &json!({ "status": "pending" }))
}

/// Neither token is ever told.
fn silent(relay: &FakeRelay, ran: &Ran) {
    let state = relay.state();
    for secret in [&state.token, &state.poll_token] {
        let told = ran.stdout.contains(secret) || ran.stderr.contains(secret);
        assert!(!told, "{ran:?}");
    }
}

#[test]
fn a_person_approves_and_the_machine_is_paired() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    relay.state().pairing.push_back(pending());
    let ran = pair(&world, &relay, &["--name", "Desk", "--provider", "home"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    silent(&relay, &ran);
    for told in [&relay.url() as &str, "/pair?code=W899-SUX9", "W899-SUX9"] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    let asked = |endpoint| relay.requests(endpoint).len();
    assert_eq!(
        (asked(Endpoint::WellKnown), asked(Endpoint::PairSender)),
        (1, 1)
    );
    assert_eq!(
        (asked(Endpoint::PairPoll), asked(Endpoint::Installation)),
        (2, 1)
    );
    let sender = relay.requests(Endpoint::PairSender)[0].json();
    assert_eq!(
        (&sender["sender_name"], &sender["platform"]),
        (&json!("Desk"), &json!("linux"))
    );
    assert_eq!(sender["client_version"], env!("CARGO_PKG_VERSION"));
    // Disabled, and the block that is printed says the same.
    let block: toml::Table = ran.stdout.parse().unwrap();
    let relays = block["relay"].as_array().unwrap();
    assert_eq!(relays.len(), 1);
    let (id, url) = (&relays[0]["provider_id"], &relays[0]["base_url"]);
    assert_eq!(
        (id.as_str(), url.as_str()),
        (Some("home"), Some(&*relay.url()))
    );
    assert_eq!(relays[0]["enabled"].as_bool(), Some(false));
    let stands = status(&world)[0].clone();
    assert_eq!(
        (
            &stands["provider_id"],
            &stands["enabled"],
            &stands["paired"]
        ),
        (&json!("home"), &json!(false), &json!(true))
    );
    for name in ["credentials.json", "provider.json"] {
        let mode = dir(&world, "home").join(name).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(
        dir(&world, "home").metadata().unwrap().mode() & 0o777,
        0o700
    );
    let credentials: Value =
        serde_json::from_slice(&fs::read(dir(&world, "home").join("credentials.json")).unwrap())
            .unwrap();
    let state = relay.state();
    assert_eq!(
        credentials,
        json!({ "installation_id": state.installation_id, "token": state.token })
    );
    drop(state);
    world.request(&["Deploy?"]);
    assert_eq!(world.json(&["relay", "poll"]), json!([]));
    assert_eq!(relay.envelopes().len(), 0);
    // The block works as it is, once it is enabled.
    configure(
        &world,
        &ran.stdout.replace("enabled = false", "enabled = true"),
    );
    world.request(&["And now?"]);
    assert_eq!(relay.envelopes().len(), 1);
    assert_eq!(world.json(&["relay", "poll"])[0]["fetched"], 0);
}

#[test]
fn enabled_on_request_it_works_at_once() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    let ran = pair(
        &world,
        &relay,
        &["--provider", "home", "--enable", "--json"],
    );
    let data = ran.data();
    silent(&relay, &ran);
    assert_eq!(
        (&data["provider_id"], &data["enabled"]),
        (&json!("home"), &json!(true))
    );
    let record = world.request(&["Deploy?"]);
    assert_eq!(relay.envelopes().len(), 1);
    relay.answer(&record, "r1", ("choice_id", "deny"));
    assert_eq!(world.json(&["relay", "poll"])[0]["applied"], 1);
    // The machine's own name where none is given.
    let sender = relay.requests(Endpoint::PairSender)[0].json();
    assert!(!text(&sender, "sender_name").is_empty());
}

#[test]
fn pairing_again_updates_the_same_provider_and_begins_anew() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    assert_eq!(pair(&world, &relay, &["--enable", "--json"]).code, 0);
    let id = text(&status(&world)[0], "provider_id").to_owned();
    relay.put(Value::Null);
    relay.state().provider.clone_from(&id);
    assert_eq!(world.json(&["relay", "poll"])[0]["fetched"], 1);
    {
        let mut state = relay.state();
        state.installation_id = "another".into();
        state.token = "inst_another_0123456789".into();
    }
    let ran = pair(&world, &relay, &["--json"]);
    assert_eq!(ran.data()["provider_id"], id.as_str());
    let all = status(&world);
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    assert_eq!(all[0]["enabled"], true, "what was enabled stays so");
    let before = relay.requests(Endpoint::Responses).len();
    assert_eq!(world.json(&["relay", "poll"])[0]["fetched"], 1);
    let since = relay.requests(Endpoint::Responses)[before].query_value("since");
    assert_eq!(since.as_deref(), Some(""));
}

#[test]
fn pairing_again_sends_what_the_old_token_could_not() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    let options = ["--enable", "--provider", "home"];
    assert_eq!(pair(&world, &relay, &options).code, 0);
    relay.once(Endpoint::Devices, Fault::status(401));
    world.request(&["Deploy?"]);
    let dead = |n: usize| {
        let found = status(&world)[0]["outbox"]["dead"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(found, n);
    };
    dead(1);
    assert_eq!(pair(&world, &relay, &options).code, 0);
    dead(0);
    world.json(&["relay", "poll"]);
    assert_eq!(relay.envelopes().len(), 1);
    // What went out before goes out again: its answers would name the old installation.
    assert_eq!(pair(&world, &relay, &options).code, 0);
    world.json(&["relay", "poll"]);
    assert_eq!(relay.envelopes().len(), 2);
}

#[test]
fn a_name_made_from_the_host_does_not_take_a_configured_one() {
    let (world, relay) = (Sandbox::new(), FakeRelay::named("127.0.0.1"));
    let elsewhere = table(&relay, EVERYTHING).replace(&relay.url(), "https://relay.example.org");
    assert!(elsewhere.contains("relay.example.org"));
    configure(&world, &elsewhere);
    let ran = pair(&world, &relay, &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!dir(&world, "127.0.0.1").join("credentials.json").exists());
}

#[test]
fn units_carry_what_moves_the_store() {
    let world = Sandbox::new();
    let mut command = world.command(["relay", "status", "--units"]);
    command
        .env("XDG_STATE_HOME", "/my state")
        .env("XDG_CONFIG_HOME", "/etc/xdg");
    let ran = Ran::from(command.output().unwrap());
    for line in [
        "XDG_STATE_HOME='/my state' XDG_CONFIG_HOME=/etc/xdg ",
        "Environment=\"XDG_STATE_HOME=/my state\"\n",
        "Environment=XDG_CONFIG_HOME=/etc/xdg\n",
    ] {
        assert!(ran.stdout.contains(line), "{ran:?}");
    }
    let json = world.json(&["relay", "status", "--units"]);
    assert!(text(&json, "units").contains("KillMode=process"));
}

#[test]
fn the_configuration_wins() {
    let (world, relay, other) = (Sandbox::new(), FakeRelay::start(), FakeRelay::start());
    assert_eq!(
        pair(&world, &relay, &["--provider", "home", "--enable"]).code,
        0
    );
    configure(
        &world,
        &table(&relay, &format!("enabled = false\n{EVERYTHING}")),
    );
    world.request(&["Deploy?"]);
    assert_eq!(relay.envelopes().len(), 0);
    assert_eq!(status(&world).as_array().unwrap().len(), 1);
    configure(&world, &table(&other, EVERYTHING));
    paired(&world, &other);
    // It has other phones than the one that was paired with.
    world.json(&["relay", "devices", "--accept", "phone-1"]);
    world.request(&["Deploy?"]);
    assert_eq!((relay.envelopes().len(), other.envelopes().len()), (0, 1));
}

#[test]
fn every_end_of_a_pairing_but_approval_leaves_nothing() {
    let ends = [
        json!({ "status": "denied" }),
        json!({ "status": "expired" }),
        json!({ "status": "consumed" }),
        json!({ "status": "weird" }),
        json!({}),
        Value::Null,
        json!({ "status": "approved" }),
    ];
    let mut rows: Vec<(String, Reply)> = Vec::new();
    rows.extend(
        ends.iter()
            .map(|end| (end.to_string(), Reply::json(200, end))),
    );
    rows.extend([401, 403, 404].map(|s| (s.to_string(), Reply::json(s, &json!({})))));
    for token in [
        "inst_short",
        "inst_0123456789",
        "token_0123456789abcdef",
        "inst_0123456789abc!def",
        "",
        "inst_0123456789abc def",
    ] {
        let end =
            json!({ "status": "approved", "installation_id": "i", "installation_token": token });
        rows.push((end.to_string(), Reply::json(200, &end)));
    }
    let long = format!("inst_{}", "a".repeat(508));
    for (id, token) in [
        ("", "inst_0123456789abcdef"),
        ("i", &*long),
        ("a|b", "inst_0123456789abcdef"),
        ("a\nb", "inst_0123456789abcdef"),
    ] {
        let end =
            json!({ "status": "approved", "installation_id": id, "installation_token": token });
        rows.push((end.to_string(), Reply::json(200, &end)));
    }
    for chunk in rows.chunks(8) {
        std::thread::scope(|threads| {
            for (case, reply) in chunk {
                threads.spawn(move || {
                    let (world, relay) = (Sandbox::new(), FakeRelay::start());
                    relay.state().pairing.push_back(reply.clone());
                    let ran = pair(&world, &relay, &["--provider", "home"]);
                    assert_eq!((ran.code, &*ran.stdout), (7, ""), "{case}: {ran:?}");
                    assert!(!ran.stderr.contains("inst_"), "{case}: {ran:?}");
                    silent(&relay, &ran);
                    assert_eq!(relay.requests(Endpoint::PairPoll).len(), 1, "{case}");
                    assert!(
                        !dir(&world, "home").join("credentials.json").exists(),
                        "{case}"
                    );
                    assert_eq!(status(&world), json!([]), "{case}");
                });
            }
        });
    }
}

#[test]
fn a_token_that_the_relay_does_not_accept_is_not_kept() {
    for fault in [Fault::status(401), Fault::status(500), Fault::Lost] {
        let (world, relay) = (Sandbox::new(), FakeRelay::start());
        relay.once(Endpoint::Installation, fault);
        let ran = pair(&world, &relay, &["--provider", "home"]);
        assert_eq!(ran.code, 7, "{ran:?}");
        silent(&relay, &ran);
        assert_eq!(status(&world), json!([]));
    }
}

#[test]
fn only_a_relay_is_paired_with() {
    let told = |service: &str, api: Value| json!({ "service": service, "api_versions": api });
    for body in [
        Fault::body(told("agentnotify-relay", json!(["v2"])).to_string()),
        Fault::body(told("agentnotify-relay", json!([])).to_string()),
        Fault::body(told("agentnotify-relay", json!("v10")).to_string()),
        Fault::body(told("agentnotify-relay", Value::Null).to_string()),
        Fault::body(told("another", json!(["v1"])).to_string()),
        Fault::body("<html>"),
        Fault::body("null"),
        Fault::status(404),
        Fault::Reply(Reply::new(302, "").with("location", "/v1/devices")),
        Fault::Lost,
    ] {
        let (world, relay) = (Sandbox::new(), FakeRelay::start());
        let case = format!("{body:?}");
        relay.once(Endpoint::WellKnown, body);
        let ran = pair(&world, &relay, &[]);
        assert_eq!(ran.code, 7, "{case}: {ran:?}");
        assert_eq!(relay.count(), 1, "{case}");
    }
}

#[test]
fn an_offer_is_checked_before_it_is_shown() {
    let with = |member: &str, value: Value| {
        let relay = FakeRelay::start();
        relay.state().offer[member] = value;
        relay
    };
    let elsewhere = |path: &str| json!(format!("http://127.0.0.1:1{path}"));
    let mut relays = vec![
        with("verification_uri", elsewhere("/pair")),
        with(
            "verification_uri_complete",
            elsewhere("/pair?code=W899-SUX9"),
        ),
        with("verification_uri", json!("https://evil.example/pair")),
        with("verification_uri", json!("javascript:alert(1)")),
        with("verification_uri", json!("/pair")),
        with("verification_uri", Value::Null),
        with("user_code", Value::Null),
        with("pairing_id", Value::Null),
        with("pairing_id", json!("../installation")),
        with("pairing_id", json!("a/b?c")),
        with("pairing_id", json!("")),
        with("poll_token", Value::Null),
        with("poll_token", json!("a\r\nx: y")),
    ];
    // One that only looks as if it were of the same origin.
    let alike: [fn(String) -> String; 4] = [
        |url| format!("{url}@evil.example/pair"),
        |url| format!("{url}.evil.example/pair"),
        |url| format!("{url}1/pair"),
        |url| url.replace("http", "https") + "/pair",
    ];
    for alike in alike {
        let relay = FakeRelay::start();
        let evil = alike(relay.url());
        relay.state().offer["verification_uri"] = json!(evil);
        relays.push(relay);
    }
    for relay in relays {
        let world = Sandbox::new();
        let case = relay.state().offer.clone();
        let ran = pair(&world, &relay, &[]);
        assert_eq!(ran.code, 7, "{case}: {ran:?}");
        assert!(
            !ran.stderr.contains("evil") && !ran.stderr.contains("open "),
            "{ran:?}"
        );
        assert_eq!(relay.requests(Endpoint::PairPoll).len(), 0, "{case}");
    }
    for status in [200, 400, 429, 500] {
        let (world, relay) = (Sandbox::new(), FakeRelay::start());
        let offer = relay.state().offer.clone();
        relay.once(
            Endpoint::PairSender,
            Fault::Reply(Reply::json(status, &offer)),
        );
        assert_eq!(pair(&world, &relay, &[]).code, 7, "{status}");
    }
}

#[test]
fn four_failures_in_a_row_are_borne_and_a_fifth_is_not() {
    let run = |failures: usize| {
        let (world, relay) = (Sandbox::new(), FakeRelay::start());
        for n in 0..failures {
            let fault = [Fault::Lost, Fault::Reset, Fault::Cut, Fault::HalfClosed][n % 4].clone();
            relay.once(Endpoint::PairPoll, fault);
        }
        let ran = pair(&world, &relay, &["--provider", "home"]);
        silent(&relay, &ran);
        (ran.code, relay.requests(Endpoint::PairPoll).len())
    };
    std::thread::scope(|threads| {
        let borne = threads.spawn(|| run(4));
        let fatal = threads.spawn(|| run(9));
        assert_eq!(borne.join().unwrap(), (0, 5));
        assert_eq!(fatal.join().unwrap(), (7, 5));
    });
}

#[test]
fn slow_down_adds_five_seconds() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    let slow = json!({ "error": { "code": "slow_down", "retry_after_ms": 6000 } });
    relay.state().pairing.push_back(Reply::json(429, &slow));
    let ran = pair(&world, &relay, &["--provider", "home"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let looks = relay.requests(Endpoint::PairPoll);
    let gap = looks[1].at - looks[0].at;
    assert!(gap > Duration::from_millis(5900), "{gap:?}");
}

#[test]
fn the_pause_is_bounded_whatever_the_relay_says() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    for _ in 0..2 {
        relay.state().pairing.push_back(pending());
    }
    relay.state().offer["interval"] = json!(0);
    let start = Instant::now();
    assert_eq!(pair(&world, &relay, &[]).code, 0);
    // Three looks with a second before each of them.
    assert!(start.elapsed() > Duration::from_millis(2900));
}

#[test]
fn an_interrupted_pairing_leaves_nothing() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    relay.always(Endpoint::PairPoll, Fault::body("{\"status\":\"pending\"}"));
    let child = start(&world, &relay, &["--provider", "home"]);
    relay.await_requests(Endpoint::PairPoll, 1);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(finish(child).code, 130);
    assert_eq!(status(&world), json!([]));
    until("no more looks", || {
        (relay.requests(Endpoint::PairPoll).len() < 3).then_some(())
    });
}

#[test]
fn addresses_that_cannot_be_used_are_refused_before_a_request() {
    let world = Sandbox::new();
    let refused = |url: &str, more: &[&str]| {
        let args = [&["relay", "pair", "--json", "--url", url][..], more].concat();
        let error = failure(&world.run(args), INVALID_INPUT);
        assert!(!error.to_string().contains("secret"), "{error}");
    };
    let private = &["--allow-private"][..];
    for url in [
        "http://relay.example.com",
        "https://user:secret@relay.example.com",
        "https://secret@relay.example.com",
        "https://relay.example.com/?x=secret",
        "https://relay.example.com/#secret",
        "https://169.254.169.254",
        "https://[fe80::1]",
        "https://0.0.0.0",
        "https://[::]",
        "https://192.0.2.1",
        "https://224.0.0.1",
        "https://255.255.255.255",
        "https://[::ffff:169.254.169.254]",
        "https://[64:ff9b::a9fe:a9fe]",
        "https://[2002:a9fe:a9fe::1]",
        "https://relay.example.com/v1/envelopes",
        "https://relay.example.com/envelopes",
        "https://relay.example.com/a%2e%2e/b",
        "https://relay.example.com/a/../b",
        "https://relay.example.com//a",
        "ftp://relay.example.com",
        "relay.example.com",
        "https://",
        "",
        "http://10.0.0.8",
    ] {
        refused(url, &[]);
        refused(url, private);
    }
    for url in [
        "https://127.0.0.1",
        "https://[::1]",
        "http://localhost:4000",
        "https://10.0.0.8:8443/relay",
        "https://[::ffff:127.0.0.1]",
        "https://100.64.0.1",
        "https://[fd00::1]",
        "https://localhost",
    ] {
        refused(url, &[]);
    }
    // Spellings that only a resolver understands are refused by what they resolve to.
    for url in ["https://2130706433", "https://0x7f000001", "https://127.1"] {
        let ran = world.run(["relay", "pair", "--url", url]);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(ran.stderr.contains("is not used"), "{ran:?}");
    }
    refused(
        &format!("https://relay.example.com/{}", "a".repeat(2048)),
        &[],
    );
}

#[test]
fn a_base_with_a_path_is_used_as_it_is() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    relay.state().prefix = "/my.relay_1".into();
    assert_eq!(
        pair(&world, &relay, &["--provider", "home", "--enable"]).code,
        0
    );
    let record = world.request(&["Deploy?"]);
    relay.answer(&record, "r1", ("choice_id", "deny"));
    assert_eq!(world.json(&["relay", "poll"])[0]["applied"], 1);
    // A slash at its end is the same address.
    let lone = FakeRelay::start();
    let url = format!("{}/", lone.url());
    let ran = world.run(["relay", "pair", "--allow-private", "--url", &url]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
