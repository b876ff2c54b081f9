//! What becomes of a question that did not go out at once.

use std::fs;
use std::time::Duration;

use sayso::time::Time;
use serde_json::{Value, json};

use crate::fake_relay::{Endpoint, Fault, Reply};
use crate::library;
use crate::relayed::{EVERYTHING, Relayed, configure, table};
use crate::sandbox::{Sandbox, finish, text, until};

/// How an entry stands: due, sent, dead.
fn stages(r: &Relayed) -> (u64, u64, usize) {
    let outbox = &r.status()["outbox"];
    let count = |name: &str| outbox[name].as_u64().unwrap();
    (
        count("due"),
        count("sent"),
        outbox["dead"].as_array().unwrap().len(),
    )
}

const DUE: (u64, u64, usize) = (1, 0, 0);
const SENT: (u64, u64, usize) = (0, 1, 0);
const DEAD: (u64, u64, usize) = (0, 0, 1);

/// How often an envelope was posted.
fn posts(r: &Relayed) -> usize {
    r.relay.requests(Endpoint::Envelopes).len()
}

/// In how many seconds the entry is tried again.
fn wait(r: &Relayed) -> f64 {
    let due = Time::parse(text(&r.entry().unwrap(), "due_at")).unwrap();
    due.since(Time::now()).as_secs_f64()
}

#[test]
fn each_reply_to_an_envelope_means_one_thing() {
    let body = |body: &str| Fault::body(body);
    let status = |status: u16, body: &str| Fault::Reply(Reply::new(status, body));
    let redirect = |status: u16| {
        let reply =
            Reply::new(status, "").with("location", "https://relay.example.org/v1/envelopes");
        Fault::Reply(reply)
    };
    let rows = [
        (body("{\"envelope_id\":\"e1\"}"), SENT),
        (
            body("{\"envelope_id\":\"e1\",\"status\":\"weird\",\"x\":null}"),
            SENT,
        ),
        (body("{\"status\":\"accepted\"}"), SENT),
        (body("{\"status\":\"duplicate\"}"), SENT),
        (status(201, "{\"envelope_id\":\"e1\"}"), SENT),
        (status(202, "{\"status\":\"accepted\"}"), SENT),
        (body("{}"), DUE),
        (body("{\"status\":\"weird\"}"), DUE),
        (body("{\"envelope_id\":7}"), DUE),
        (body("{\"envelope_id\":null}"), DUE),
        (body("[{\"envelope_id\":\"e1\"}]"), DUE),
        (body("null"), DUE),
        (body("not json"), DUE),
        (body(""), DUE),
        (status(204, ""), DUE),
        (status(299, "{}"), DUE),
        (status(408, ""), DUE),
        (status(425, ""), DUE),
        (status(429, ""), DUE),
        (status(500, "{\"envelope_id\":\"e1\"}"), DUE),
        (status(503, ""), DUE),
        (status(599, ""), DUE),
        (Fault::Lost, DUE),
        (Fault::Cut, DUE),
        (Fault::Reset, DUE),
        (Fault::Raw(b"SMTP ready\r\n\r\n".to_vec()), DUE),
        (redirect(301), DEAD),
        (redirect(302), DEAD),
        (redirect(303), DEAD),
        (redirect(307), DEAD),
        (redirect(308), DEAD),
        (status(304, ""), DEAD),
        (status(400, "{\"envelope_id\":\"e1\"}"), DEAD),
        (status(401, ""), DEAD),
        (status(403, ""), DEAD),
        (status(404, ""), DEAD),
        (status(409, "{\"status\":\"duplicate\"}"), DEAD),
        (status(413, ""), DEAD),
        (status(422, ""), DEAD),
    ];
    for (fault, stage) in rows {
        let r = Relayed::new();
        r.relay.once(Endpoint::Envelopes, fault.clone());
        let record = r.world.request(&["Deploy?"]);
        assert_eq!(stages(&r), stage, "{fault:?}");
        assert_eq!(posts(&r), 1, "{fault:?}");
        // Nothing is tried again before its time, and nothing that is sent or dead at all.
        r.world.json(&["relay", "sync"]);
        assert_eq!(posts(&r), 1, "{fault:?}");
        if stage == DUE {
            r.make_due();
            r.world.json(&["relay", "sync"]);
            assert_eq!(stages(&r), SENT, "{fault:?}");
            assert_eq!(r.relay.asked(1).payload["interaction"]["id"], record["id"]);
        }
    }
}

#[test]
fn a_redirect_is_named_and_told_where_it_can_be_mended() {
    let r = Relayed::new();
    let reply = Reply::new(302, "").with("location", &r.relay.url());
    r.relay.once(Endpoint::Envelopes, Fault::Reply(reply));
    let record = r.world.request(&["Deploy?"]);
    let dead = r.status()["outbox"]["dead"].clone();
    assert_eq!(
        dead,
        json!([{ "interaction_id": record["id"], "error": "relay_redirect" }])
    );
    let shown = r.world.run(["relay", "status"]);
    let id = text(&record, "id");
    for word in ["1 dead", id, "relay_redirect"] {
        assert!(shown.stdout.contains(word), "{shown:?}");
    }
    // Sending it on purpose brings it back.
    assert_eq!(r.world.json(&["publish", id])["published"], 1);
    assert_eq!(stages(&r), SENT);
}

#[test]
fn six_tries_with_growing_pauses_and_it_is_dead() {
    let r = Relayed::new();
    r.relay.always(Endpoint::Envelopes, Fault::status(500));
    r.world.request(&["Deploy?"]);
    for tries in 1..6 {
        assert_eq!(r.relay.envelopes().len(), tries);
        assert_eq!(stages(&r), DUE);
        let middle = 5.0 * f64::from(1 << (tries - 1));
        let pause = wait(&r);
        // What has passed since it was written is little, but not nothing.
        assert!(
            (middle * 0.8 - 5.0..=middle * 1.2).contains(&pause),
            "{tries}: {pause}"
        );
        r.make_due();
        r.world.json(&["relay", "sync"]);
    }
    assert_eq!((stages(&r), r.relay.envelopes().len()), (DEAD, 6));
    r.relay.heal();
    r.make_due();
    r.world.json(&["relay", "sync"]);
    assert_eq!(r.relay.envelopes().len(), 6);
}

#[test]
fn what_the_relay_asks_for_is_heeded() {
    let date = |ahead: u64| {
        let at = Time::now().plus(Duration::from_secs(ahead)).micros();
        let at = jiff::Timestamp::from_microsecond(at).unwrap();
        let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
        printer.timestamp_to_rfc9110_string(&at).unwrap()
    };
    let rows = [
        (429, "3600".to_owned(), 3570.0..=3600.0),
        (503, "1000".into(), 970.0..=1000.0),
        (500, "500".into(), 470.0..=500.0),
        (429, date(2000), 1950.0..=2000.0),
        // What cannot be understood is not there.
        (429, "soon".into(), 0.0..=6.0),
        (429, "-5".into(), 0.0..=6.0),
        // No Relay silences this machine for longer than a day.
        (429, "99999999999".into(), 0.0..=86400.0),
    ];
    for (status, value, waits) in rows {
        let r = Relayed::new();
        let reply = Reply::new(status, "").with("retry-after", &value);
        r.relay.once(Endpoint::Envelopes, Fault::Reply(reply));
        r.world.request(&["Deploy?"]);
        let pause = wait(&r);
        assert!(waits.contains(&pause), "{status} {value}: {pause}");
        assert_eq!(stages(&r), DUE);
    }
    // It holds for the devices' list just as well.
    let r = Relayed::new();
    let reply = Reply::new(429, "").with("retry-after", "3600");
    r.relay.once(Endpoint::Devices, Fault::Reply(reply));
    r.world.request(&["Deploy?"]);
    assert!(wait(&r) > 3500.0);
}

#[test]
fn a_settled_question_is_not_sent_any_more() {
    for settle in ["answer", "cancel", "expire"] {
        let r = Relayed::new();
        r.relay.once(Endpoint::Envelopes, Fault::status(500));
        let lasts = match settle {
            "expire" => Duration::from_millis(1),
            _ => Duration::from_secs(600),
        };
        let id = if settle == "expire" {
            // Its entry is that of a question which is overdue, but not yet settled.
            r.world.request(&["Deploy?"]);
            let record = library::open(&library::store(&r.world), "Late?", lasts);
            let mut entry = r.entry().unwrap();
            let first = text(&entry, "interaction_id").to_owned();
            let old = r.dir().join(format!("outbox/{}.json", text(&entry, "id")));
            for member in ["id", "interaction_id"] {
                entry[member] = text(&entry, member)
                    .replace(&first, record.id.as_str())
                    .into();
            }
            let new = r.dir().join(format!("outbox/{}.json", text(&entry, "id")));
            fs::remove_file(old).unwrap();
            fs::write(new, entry.to_string()).unwrap();
            r.world.json(&["cancel", &first]);
            record.id.to_string()
        } else {
            text(&r.world.request(&["Deploy?"]), "id").to_owned()
        };
        match settle {
            "answer" => drop(r.world.json(&["answer", &id, "--deny"])),
            "cancel" => drop(r.world.json(&["cancel", &id])),
            _ => {}
        }
        r.make_due();
        let sent = r.relay.envelopes().len();
        r.world.json(&["relay", "sync"]);
        assert_eq!(r.relay.envelopes().len(), sent, "{settle}");
        assert_eq!(r.entry(), None, "{settle}");
    }
}

#[test]
fn a_question_without_an_entry_gets_one() {
    let r = Relayed::new();
    r.world.run(["count"]);
    // As a crash between the question and its entry leaves it.
    let record = library::open(
        &library::store(&r.world),
        "Deploy?",
        Duration::from_secs(600),
    );
    r.world.json(&["relay", "poll"]);
    let envelope = &r.relay.envelopes()[0];
    assert_eq!(envelope["client_event_id"], record.id.as_str());
    // One that no route lets out stays without.
    configure(&r.world, &table(&r.relay, ""));
    library::open(
        &library::store(&r.world),
        "Secret?",
        Duration::from_secs(600),
    );
    r.world.json(&["relay", "poll"]);
    assert_eq!(r.relay.envelopes().len(), 1);
}

#[test]
fn a_waiting_process_sends_what_is_left() {
    let r = Relayed::new();
    r.world.run(["count"]);
    let left = library::open(&library::store(&r.world), "Left?", Duration::from_secs(600));
    r.relay.once(Endpoint::Envelopes, Fault::status(503));
    let ask = r.world.start(["ask", "Deploy?"]);
    // The failed one is due within 6 s, the other with the next look.
    let sent = until("both questions on the phone", || {
        let envelopes = r.relay.envelopes();
        let of = |id: &Value| {
            envelopes
                .iter()
                .filter(|e| e["client_event_id"] == *id)
                .count()
        };
        let asked = envelopes.first()?["client_event_id"].clone();
        (of(&asked) == 2 && of(&json!(left.id.as_str())) == 1).then_some(asked)
    });
    r.world.json(&["answer", sent.as_str().unwrap(), "--allow"]);
    assert_eq!(finish(ask).code, 0);
}

#[test]
fn a_damaged_entry_harms_no_other() {
    let r = Relayed::new();
    r.relay.once(Endpoint::Envelopes, Fault::status(500));
    let record = r.world.request(&["Deploy?"]);
    r.make_due();
    let outbox = r.dir().join("outbox");
    for (name, content) in [
        ("interaction:x:home.json", "{"),
        ("interaction:y:home.json", ""),
        ("interaction:z:home.json", "[]"),
        ("interaction:../../x:home", "{}"),
        ("notes.txt", "hello"),
    ] {
        let _ = fs::write(outbox.join(name.replace('/', "%")), content);
    }
    // One that names another place than its own.
    let own = format!("interaction:{}:home.json", text(&record, "id"));
    let own = fs::read_to_string(outbox.join(own)).unwrap();
    let mut foreign: Value = serde_json::from_str(&own).unwrap();
    foreign["id"] = "interaction:other:home".into();
    fs::write(outbox.join("interaction:w:home.json"), foreign.to_string()).unwrap();
    fs::create_dir(outbox.join("interaction:d:home.json")).unwrap();
    let ran = r.world.run(["relay", "sync"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(r.relay.envelopes().len(), 2);
    assert_eq!(r.status()["outbox"]["sent"], 1);
}

#[test]
fn an_outbox_that_cannot_be_written_fails_no_request() {
    let r = Relayed::new();
    fs::write(r.dir().join("outbox"), "in the way").unwrap();
    let record = r.world.request(&["Deploy?"]);
    assert_eq!(record["status"], "pending");
    let ask = r.world.start(["ask", "And now?"]);
    let id = until("the question", || {
        let list = r.world.json(&["list"]);
        let all = list["interactions"].as_array().unwrap();
        Some(text(all.get(1)?, "id").to_owned())
    });
    r.world.json(&["answer", &id, "--allow"]);
    assert_eq!(finish(ask).code, 0);
    // Nor does an address that cannot be used, or a directory that belongs to nobody's Relay.
    let world = Sandbox::new();
    configure(
        &world,
        &format!(
            "[[relay]]\nprovider_id = \"home\"\nbase_url = \"http://relay.example.org\"\n{EVERYTHING}"
        ),
    );
    world.request(&["Deploy?"]);
    crate::relayed::write_private(
        &world,
        "home",
        "credentials.json",
        "{\"installation_id\":\"i\",\"token\":\"inst_0123456789abcdef\"}",
    );
    world.request(&["Deploy?"]);
}

#[test]
fn the_doctor_asks_the_relay_only_when_told_to() {
    let r = Relayed::new();
    let findings = |ran: &crate::sandbox::Ran| {
        let all = ran.stdout.lines().chain(ran.stderr.lines());
        all.filter(|l| l.contains("home"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let offline = r.world.run(["doctor"]);
    assert!(findings(&offline).contains("paired"), "{offline:?}");
    assert_eq!(r.relay.count(), 0);
    let online = r.world.run(["doctor", "--online"]);
    assert!(findings(&online).contains("reached"), "{online:?}");
    assert_eq!(r.relay.requests(Endpoint::Installation).len(), 1);
    r.relay.once(Endpoint::Installation, Fault::status(401));
    let rejected = r.world.run(["doctor", "--online"]);
    assert_eq!(rejected.code, 1);
    assert!(findings(&rejected).contains("token"), "{rejected:?}");
    // A question that could not be sent is something to find, offline, too.
    r.relay.once(Endpoint::Envelopes, Fault::status(404));
    r.world.request(&["Deploy?"]);
    let dead = r.world.run(["doctor"]);
    assert_eq!(dead.code, 1);
    assert!(findings(&dead).contains("could not be sent"), "{dead:?}");
}

#[test]
fn a_poll_says_what_it_could_not_send() {
    let r = Relayed::new();
    r.relay.once(Endpoint::Envelopes, Fault::status(429));
    r.world.request(&["Deploy?"]);
    let path = r.dir().join("outbox");
    let entry = std::fs::read_dir(&path)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&entry).unwrap();
    let mut stored: Value = serde_json::from_str(&text).unwrap();
    stored["due_at"] = "2020-01-01T00:00:00.000000Z".into();
    std::fs::write(&entry, stored.to_string()).unwrap();
    r.relay.once(Endpoint::Envelopes, Fault::status(500));
    let ran = r.world.run(["relay", "poll"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout
            .starts_with("home: 1 due and not sent: relay_500\n"),
        "{ran:?}"
    );
    assert_eq!(r.world.run(["relay", "poll", "--quiet"]).stdout, "");
}
