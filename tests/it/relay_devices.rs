//! A Relay names devices; which of them get questions and may answer, the user says.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use crate::fake_relay::{Asked, Endpoint, FakeRelay, Fault, Phone};
use crate::relayed::{EVERYTHING, Relayed, configure, dir, paired, table};
use crate::sandbox::{INVALID_INPUT, Ran, Sandbox, failure, finish, text};

/// Whom the last envelope is for.
fn recipients(relay: &FakeRelay) -> Vec<String> {
    let envelopes = relay.envelopes();
    let last = envelopes.last().expect("an envelope");
    let all = last["recipients"].as_array().unwrap();
    all.iter()
        .map(|r| text(r, "device_id").to_owned())
        .collect()
}

/// The devices as `relay status` knows them: id and state.
fn states(world: &Sandbox) -> Vec<(String, String)> {
    let status = world.json(&["relay", "status"]);
    let devices = status[0]["devices"].as_array().cloned().unwrap_or_default();
    let of = |d: &Value, name: &str| text(d, name).to_owned();
    devices
        .iter()
        .map(|d| (of(d, "device_id"), of(d, "state")))
        .collect()
}

fn are(world: &Sandbox, expected: &[(&str, &str)]) {
    let owned = |(id, state): &(&str, &str)| ((*id).to_owned(), (*state).to_owned());
    let expected: Vec<_> = expected.iter().map(owned).collect();
    assert_eq!(states(world), expected);
}

/// The answer of a phone to a record, with its very nonce.
fn answer_of(r: &Relayed, phone: &Phone, record: &Value, response_id: &str) -> Value {
    let asked = Asked::of_record(record, &r.relay.state().installation_id);
    phone.answer(&asked, response_id, ("choice_id", "allow-once"))
}

/// A Relay that names a second phone after the first question went out.
fn joined() -> (Relayed, Phone) {
    let r = Relayed::new();
    r.world.request(&["First?"]);
    let phone = Phone::new("rogue");
    r.relay.pair(phone.clone());
    (r, phone)
}

fn pair(world: &Sandbox, relay: &FakeRelay, more: &[&str]) -> Ran {
    let args = [
        "relay",
        "pair",
        "--url",
        &relay.url(),
        "--allow-private",
        "--provider",
        "home",
    ];
    world.run(args.iter().chain(more))
}

#[test]
fn a_device_that_is_named_later_gets_nothing_and_answers_nothing_until_it_is_accepted() {
    let (r, rogue) = joined();
    let record = r.world.request(&["Deploy?"]);
    assert_eq!(recipients(&r.relay), ["phone-1"]);
    are(&r.world, &[("phone-1", "accepted"), ("rogue", "new")]);
    // It is announced, by its fingerprint and never by its whole key.
    let key = text(&rogue.listed(), "public_key").to_owned();
    let listed = r.world.json(&["relay", "devices"]);
    assert_eq!(listed[0]["not_accepted"], 1);
    let fingerprint = text(&listed[0]["devices"][1], "fingerprint").to_owned();
    assert_eq!(fingerprint.len(), 32);
    for args in [&["relay", "status"][..], &["relay", "devices"], &["doctor"]] {
        let ran = r.world.run(args);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            told.contains("relay devices") && !told.contains(&key),
            "{ran:?}"
        );
        assert_eq!(ran.code, i32::from(args == ["doctor"]), "{ran:?}");
        assert!(
            args == ["doctor"] || told.contains(&format!("new rogue (fingerprint {fingerprint})"))
        );
    }
    // What it answers is dropped, even with the right nonce, and nothing waits behind it.
    r.relay.put(answer_of(&r, &rogue, &record, "r1"));
    let polled = r.polled();
    assert_eq!(
        (&polled["fetched"], &polled["applied"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(polled["answers"][0]["note"], "device not accepted");
    assert_eq!(r.cursor(), r.relay.cursor(1));
    assert_eq!(r.world.get(text(&record, "id"))["status"], "pending");
    // Publishing on purpose does not reach it either.
    r.world.json(&["publish", text(&record, "id")]);
    assert_eq!(recipients(&r.relay), ["phone-1"]);

    let accepted = r.world.json(&["relay", "devices", "--accept", "rogue"]);
    assert_eq!(
        accepted,
        json!({
            "provider_id": "home", "device_id": "rogue",
            "fingerprint": fingerprint, "state": "accepted",
        })
    );
    are(&r.world, &[("phone-1", "accepted"), ("rogue", "accepted")]);
    assert_eq!(r.world.run(["doctor"]).code, 0);
    r.world.json(&["publish", text(&record, "id")]);
    assert_eq!(recipients(&r.relay), ["phone-1", "rogue"]);
    assert!(
        rogue
            .read(r.relay.envelopes().last().unwrap())
            .unwrap()
            .is_ok()
    );
    r.relay.put(answer_of(&r, &rogue, &record, "r2"));
    assert_eq!(r.polled()["applied"], 1);
    let again = r
        .world
        .json(&["relay", "devices", "--accept", &fingerprint]);
    assert_eq!(again, accepted);
}

#[test]
fn a_device_whose_key_changed_waits_too() {
    let r = Relayed::new();
    r.world.request(&["First?"]);
    let other = Phone::new("phone-1");
    let old = r.relay.replace(0, other.clone());
    let record = r.world.request(&["Deploy?"]);
    assert_eq!(
        r.relay.envelopes().len(),
        1,
        "nothing is sealed for the new key"
    );
    are(&r.world, &[("phone-1", "accepted"), ("phone-1", "changed")]);
    let ran = r.world.run(["publish", text(&record, "id")]);
    assert!(ran.stderr.contains("no_devices_accepted"), "{ran:?}");
    assert!(
        ran.stderr.contains("hint: ") && ran.stderr.contains("--accept"),
        "{ran:?}"
    );
    assert_eq!(r.world.run(["doctor"]).code, 1);
    r.world.json(&["relay", "devices", "--accept", "phone-1"]);
    are(&r.world, &[("phone-1", "accepted")]);
    r.world.json(&["publish", text(&record, "id")]);
    let envelope = r.relay.envelopes()[1].clone();
    assert!(other.read(&envelope).unwrap().is_ok());
    assert!(old.read(&envelope).unwrap().is_err());
    // The old key, named again, is the one that is new now.
    r.relay.replace(0, old);
    r.world.json(&["relay", "devices"]);
    are(&r.world, &[("phone-1", "accepted"), ("phone-1", "changed")]);
}

#[test]
fn where_no_device_is_accepted_questions_wait_and_go_out_once_one_is() {
    let world = Sandbox::new();
    let relay = FakeRelay::start();
    let phone = relay.phone(0);
    relay.state().devices.clear();
    let ran = pair(&world, &relay, &["--enable"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("no device is there yet"), "{ran:?}");
    assert!(
        ran.stderr.contains("sayso relay devices --accept"),
        "{ran:?}"
    );
    let told = |args: &[&str], what: &str| {
        let ran = world.run(args);
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(what),
            "{what}: {ran:?}"
        );
    };
    told(&["relay", "status"], "sayso relay devices --accept");
    told(&["doctor"], "no_devices_accepted");
    let first = world.request(&["Deploy?"]);
    told(&["publish", text(&first, "id")], "no_devices_paired");
    relay.state().devices.push(phone.listed());
    told(&["publish", text(&first, "id")], "no_devices_accepted");
    assert_eq!(relay.envelopes().len(), 0);
    told(&["relay", "status"], "no_devices_accepted");
    // One that was tried in vain for the last time as well.
    let entry = fs::read_dir(dir(&world, "home").join("outbox"))
        .unwrap()
        .next()
        .unwrap();
    let path = entry.unwrap().path();
    let mut entry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    entry["stage"] = "dead".into();
    fs::write(&path, entry.to_string()).unwrap();
    world.request(&["And this?"]);
    world.json(&["relay", "devices", "--accept", "phone-1"]);
    world.json(&["relay", "poll"]);
    assert_eq!(relay.envelopes().len(), 2);
}

#[test]
fn a_phone_that_was_just_paired_is_accepted_without_a_question_in_between() {
    let (r, _) = joined();
    r.world.json(&["relay", "devices", "--accept", "rogue"]);
    are(&r.world, &[("phone-1", "accepted"), ("rogue", "accepted")]);
    for verb in ["--accept", "--remove"] {
        let ran = r.world.run(["relay", "devices", verb, "nobody", "--json"]);
        failure(&ran, INVALID_INPUT);
    }
    let ran = r
        .world
        .run(["relay", "devices", "--accept", "a", "--remove", "b"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    failure(
        &r.world
            .run(["relay", "devices", "--provider", "other", "--json"]),
        INVALID_INPUT,
    );
    // Where it cannot be asked, that is the reason.
    r.relay.always(Endpoint::Devices, Fault::status(500));
    let ran = r.world.run(["relay", "devices", "--accept", "nobody"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    let ran = r.world.run(["relay", "devices"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(
        ran.stdout.contains("home: accepted rogue"),
        "what is known is told: {ran:?}"
    );
    assert!(ran.stderr.contains("error: home: "), "{ran:?}");
}

#[test]
fn a_removed_device_gets_nothing_whatever_the_relay_says() {
    for accept_new in [false, true] {
        let (r, rogue) = joined();
        let option = format!("accept_new_devices = {accept_new}\n{EVERYTHING}");
        configure(&r.world, &table(&r.relay, &option));
        r.world.json(&["relay", "devices", "--accept", "rogue"]);
        let record = r.world.request(&["Deploy?"]);
        assert_eq!(recipients(&r.relay), ["phone-1", "rogue"]);
        let removed = r.world.json(&["relay", "devices", "--remove", "rogue"]);
        assert_eq!(removed["state"], "removed");
        r.relay.put(answer_of(&r, &rogue, &record, "r1"));
        assert_eq!(r.polled()["answers"][0]["note"], "device not accepted");
        // With another key neither.
        r.relay.state().devices[1] = Phone::new("rogue").listed();
        r.world.request(&["And this?"]);
        assert_eq!(recipients(&r.relay), ["phone-1"]);
        are(&r.world, &[("phone-1", "accepted"), ("rogue", "removed")]);
        assert_eq!(r.world.run(["doctor"]).code, 0);
    }
}

#[test]
fn a_revoked_device_is_never_used() {
    let r = Relayed::new();
    r.relay.pair(Phone::new("phone-2"));
    let record = r.world.request(&["First?"]);
    assert_eq!(recipients(&r.relay), ["phone-1", "phone-2"]);
    r.relay.state().devices[1]["revoked_at"] = "2026-08-30T00:00:00Z".into();
    r.world.request(&["Deploy?"]);
    assert_eq!(recipients(&r.relay), ["phone-1"]);
    r.relay.put(answer_of(&r, &r.relay.phone(1), &record, "r1"));
    assert_eq!(r.polled()["answers"][0]["note"], "device not accepted");
    // A Relay that takes it back names a new device.
    r.relay.state().devices[1]["revoked_at"] = Value::Null;
    r.world.request(&["And this?"]);
    assert_eq!(recipients(&r.relay), ["phone-1"]);
    are(&r.world, &[("phone-1", "accepted"), ("phone-2", "new")]);
}

#[test]
fn new_devices_are_accepted_where_the_configuration_says_so() {
    let (r, rogue) = joined();
    configure(
        &r.world,
        &table(
            &r.relay,
            &format!("accept_new_devices = true\n{EVERYTHING}"),
        ),
    );
    let record = r.world.request(&["Deploy?"]);
    assert_eq!(recipients(&r.relay), ["phone-1", "rogue"]);
    r.relay.put(answer_of(&r, &rogue, &record, "r1"));
    assert_eq!(r.polled()["applied"], 1);
    // What was accepted so stays accepted without it.
    configure(&r.world, &table(&r.relay, EVERYTHING));
    r.world.request(&["And this?"]);
    assert_eq!(recipients(&r.relay), ["phone-1", "rogue"]);
    r.relay.pair(Phone::new("later"));
    r.world.request(&["And that?"]);
    assert_eq!(recipients(&r.relay), ["phone-1", "rogue"]);
}

#[test]
fn a_machine_that_was_paired_before_devices_were_kept_believes_the_first_list() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    let file = r.dir().join("devices.json");
    // As an older sayso leaves it: a question is out, and nothing is known of devices.
    fs::remove_file(&file).unwrap();
    let ran = r.world.run(["relay", "status"]);
    assert!(
        ran.stdout.contains("devices: the Relay was not asked yet"),
        "{ran:?}"
    );
    r.relay.put(answer_of(&r, &r.relay.phone(0), &record, "r1"));
    // Where that list cannot be had, the answer is not lost.
    for fault in [Fault::status(500), Fault::body("{}"), Fault::Lost] {
        r.relay.once(Endpoint::Devices, fault);
        let ran = r.world.run(["relay", "poll"]);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(!file.exists());
    }
    assert_eq!(r.polled()["applied"], 1);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    are(&r.world, &[("phone-1", "accepted")]);
    r.relay.pair(Phone::new("rogue"));
    r.world.request(&["And this?"]);
    assert_eq!(recipients(&r.relay), ["phone-1"]);
}

#[test]
fn pairing_keeps_the_devices_that_are_named_then() {
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    relay.pair(Phone::new("hos\u{202e}tile"));
    let ran = pair(&world, &relay, &["--enable"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for told in [
        "accepted phone-1",
        "accepted hos\\u{202e}tile",
        "are all of them yours?",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    }
    let file = dir(&world, "home").join("devices.json");
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    // Again, with the same Relay: what it named meanwhile is not accepted by that.
    relay.pair(Phone::new("rogue"));
    world.json(&["relay", "devices", "--remove", "hos\u{202e}tile"]);
    let data = pair(&world, &relay, &["--json"]).data();
    let states: Vec<&str> = data["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| text(d, "state"))
        .collect();
    assert_eq!(states, ["removed", "accepted", "new"], "{data}");
    world.request(&["Deploy?"]);
    assert_eq!(recipients(&relay), ["phone-1"]);
    // With another Relay it begins anew.
    let other = FakeRelay::start();
    assert_eq!(pair(&world, &other, &[]).code, 0);
    are(&world, &[("phone-1", "accepted")]);
    // A list that cannot be had is one of none.
    let (world, relay) = (Sandbox::new(), FakeRelay::start());
    relay.once(Endpoint::Devices, Fault::status(500));
    assert_eq!(pair(&world, &relay, &["--enable"]).code, 0);
    world.request(&["Deploy?"]);
    assert_eq!(relay.envelopes().len(), 0);
    are(&world, &[("phone-1", "new")]);
}

#[test]
fn a_list_that_cannot_be_read_accepts_nobody_and_loses_nothing() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    let file = r.dir().join("devices.json");
    let whole = fs::read(&file).unwrap();
    r.relay.put(answer_of(&r, &r.relay.phone(0), &record, "r1"));
    let damages: [&[u8]; 6] = [
        b"",
        &whole[..whole.len() / 2],
        b"[]",
        b"{\"schema\":1,\"devices\":[{\"device_id\":7}],\"unlisted\":0}",
        b"{\"schema\":99}",
        &[b' '; 300 << 10],
    ];
    for damaged in damages {
        let case = String::from_utf8_lossy(&damaged[..damaged.len().min(60)]).into_owned();
        fs::write(&file, damaged).unwrap();
        let ran = r.world.run(["relay", "poll"]);
        assert_eq!(ran.code, 7, "{case}: {ran:?}");
        assert!(ran.stderr.contains("devices.json"), "{case}: {ran:?}");
        let ran = r.world.run(["publish", text(&record, "id")]);
        assert!(ran.stderr.contains("unavailable"), "{case}: {ran:?}");
        for verb in ["--accept", "--remove"] {
            let ran = r.world.run(["relay", "devices", verb, "phone-1"]);
            assert_eq!(ran.code, 7, "{case}: {ran:?}");
        }
        assert!(
            r.world
                .run(["relay", "status"])
                .stdout
                .contains("devices.json"),
            "{case}"
        );
        assert_eq!(r.world.run(["doctor"]).code, 1, "{case}");
        assert_eq!(fs::read(&file).unwrap(), damaged, "{case}");
    }
    assert_eq!(r.relay.envelopes().len(), 1);
    // Whole again, the answer is there.
    fs::write(&file, &whole).unwrap();
    assert_eq!(r.polled()["applied"], 1);
    // Pairing again writes a list on which nobody is accepted.
    fs::write(&file, "{").unwrap();
    assert_eq!(pair(&r.world, &r.relay, &[]).code, 0);
    are(&r.world, &[("phone-1", "new")]);
}

#[test]
fn a_process_that_waits_takes_no_answer_of_a_device_that_is_not_accepted() {
    let (r, rogue) = joined();
    let ask = r.world.start(["ask", "Deploy?"]);
    let asked = r.relay.asked(1);
    let record = r.world.get(text(&asked.payload["interaction"], "id"));
    let mut forged = answer_of(&r, &rogue, &record, "r1");
    r.relay.put(forged.clone());
    forged["choice_id"] = "deny".into();
    forged["device_id"] = "phone-1".into();
    forged["response_id"] = "r2".into();
    r.relay.put(forged);
    let ran = finish(ask);
    assert_eq!((ran.code, &*ran.stdout), (10, "deny\n"), "{ran:?}");
}

#[test]
fn an_answer_that_names_no_device_counts_by_its_nonce() {
    let (r, rogue) = joined();
    let record = r.world.request(&["Deploy?"]);
    let mut item = answer_of(&r, &rogue, &record, "r1");
    item.as_object_mut().unwrap().remove("device_id");
    item["nonce"] = "guessed".into();
    r.relay.put(item.clone());
    assert!(text(&r.polled()["answers"][0], "note").contains("nonce_mismatch"));
    item["nonce"] = record["nonce"].clone();
    item["response_id"] = "r2".into();
    r.relay.put(item);
    assert_eq!(r.polled()["applied"], 1);
}

#[test]
fn of_several_relays_the_one_that_is_meant() {
    let world = Sandbox::new();
    let (one, two) = (FakeRelay::named("one"), FakeRelay::named("two"));
    configure(
        &world,
        &[table(&one, EVERYTHING), table(&two, EVERYTHING)].concat(),
    );
    for relay in [&one, &two] {
        paired(&world, relay);
    }
    world.json(&["relay", "devices"]);
    one.pair(Phone::new("tab"));
    two.pair(Phone::new("tab"));
    two.pair(Phone::new("pad"));
    world.json(&["relay", "devices"]);
    assert_eq!(
        world.json(&["relay", "devices", "--accept", "pad"])["provider_id"],
        "two"
    );
    let error = failure(
        &world.run(["relay", "devices", "--accept", "tab", "--json"]),
        INVALID_INPUT,
    );
    assert!(
        text(&error, "message").contains("several Relays"),
        "{error}"
    );
    world.json(&["relay", "devices", "--accept", "tab", "--provider", "one"]);
    world.request(&["Deploy?"]);
    assert_eq!(
        (recipients(&one), recipients(&two)),
        (
            vec!["phone-1".to_owned(), "tab".to_owned()],
            vec!["phone-1".to_owned(), "pad".to_owned()],
        )
    );
}
