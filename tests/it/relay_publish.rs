//! What goes out to a Relay, to whom, and in which words.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sayso::broker::{self, Lifetime};
use serde_json::{Value, json};

use crate::fake_relay::{Endpoint, FakeRelay, Fault, Phone};
use crate::library;
use crate::relayed::{EVERYTHING, Relayed, configure, dir, paired, table};
use crate::sandbox::{INVALID_INPUT, NOT_FOUND, NOT_PENDING, Sandbox, failure, text};

/// The members of a published question, in their order.
const MEMBERS: [&str; 15] = [
    "id",
    "key",
    "agent",
    "agent_instance",
    "project",
    "session_id",
    "kind",
    "prompt",
    "choices",
    "text_max_length",
    "status",
    "request_digest",
    "nonce",
    "created_at",
    "expires_at",
];

/// Two choices.
const AB: [&str; 4] = ["--choice", "a:A", "--choice", "b:B"];

/// The payload that a record becomes, from the specification.
fn expected(record: &Value) -> Value {
    let mut question = json!({});
    for member in MEMBERS {
        question[member] = record[member].clone();
    }
    // Both are there whatever the kind.
    if question["choices"].is_null() {
        question["choices"] = json!([]);
    }
    if question["text_max_length"].is_null() {
        question["text_max_length"] = 500.into();
    }
    for choice in question["choices"].as_array_mut().into_iter().flatten() {
        *choice =
            json!({ "id": choice["id"], "label": choice["label"], "detail": choice["detail"] });
    }
    json!({ "payload_kind": "interaction-request", "contract_version": "1", "interaction": question })
}

fn outbox(world: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(dir(world, "home").join("outbox"));
    let entries = entries.into_iter().flatten().map(|e| e.unwrap());
    entries
        .map(|e| e.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_question_goes_out_once_before_the_verb_returns() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?", "--key", "k"]);
    assert_eq!(r.relay.envelopes().len(), 1);
    let id = text(&record, "id");
    let outbox_id = format!("interaction:{id}:home");
    assert_eq!(outbox(&r.world), [format!("{outbox_id}.json")]);
    let request = &r.relay.requests(Endpoint::Envelopes)[0];
    assert_eq!(request.header("idempotency-key"), Some(&*outbox_id));
    // An entry holds ids only.
    let entry = std::fs::read_to_string(r.dir().join(format!("outbox/{outbox_id}.json"))).unwrap();
    let state = r.relay.state();
    let secrets = [
        "Deploy",
        text(&record, "nonce"),
        text(&record, "request_digest"),
        &state.token,
    ];
    assert!(secrets.iter().all(|s| !entry.contains(s)), "{entry}");
    drop(state);
    // Asked again under its key, polled, synced: it is out already.
    assert_eq!(r.world.request(&["Deploy?", "--key", "k"])["reused"], true);
    for verb in ["poll", "sync", "poll"] {
        r.world.json(&["relay", verb]);
    }
    assert_eq!(r.relay.envelopes().len(), 1);
    assert_eq!(outbox(&r.world).len(), 1);
    let published: Vec<Value> = r
        .world
        .events()
        .into_iter()
        .filter(|e| e["type"] == "relay_published")
        .collect();
    assert_eq!(published.len(), 1, "{published:?}");
    assert_eq!(published[0]["interaction_id"], id);
    // Once it is settled its entry is dropped.
    r.world.json(&["answer", id, "--allow"]);
    r.world.json(&["relay", "sync"]);
    assert_eq!(outbox(&r.world), [""; 0]);
    assert_eq!(r.relay.envelopes().len(), 1);
}

#[test]
fn routes_decide_what_goes_out() {
    let on = "enabled = true\ninclude_message = true";
    let route = |more: &str| format!("[[relay.route]]\n{on}\n{more}\n");
    let permission = &["Q?"][..];
    let choice = &[&["Q?", "--kind", "single-choice"][..], &AB].concat()[..];
    let free = &["Q?", "--kind", "text"][..];
    let codex = &["Q?", "--agent", "Codex", "--project", "Été"][..];
    let rows: Vec<(String, &[&str], bool)> = vec![
        (String::new(), permission, false),
        ("[[relay.route]]\n".into(), permission, false),
        (
            "[[relay.route]]\nenabled = true\n".into(),
            permission,
            false,
        ),
        (
            "[[relay.route]]\ninclude_message = true\n".into(),
            permission,
            false,
        ),
        (route(""), permission, true),
        (route(""), choice, true),
        (route(""), free, true),
        (route("kinds = [\"permission\"]"), permission, true),
        (route("kinds = [\"permission\"]"), choice, false),
        (route("kinds = [\"permission\"]"), free, false),
        (route("kinds = [\"input\"]"), permission, false),
        (route("kinds = [\"input\"]"), choice, true),
        (route("kinds = [\"input\"]"), free, true),
        (
            route("kinds = [\"input\", \"permission\"]"),
            permission,
            true,
        ),
        (route("projects = [\"SHOP\"]"), permission, true),
        (route("projects = [\"sho\"]"), permission, false),
        (route("projects = [\"a\", \"shop\"]"), permission, true),
        (
            route("projects = [\"ÉTÉ\"]\nagents = [\"cODEX\"]"),
            codex,
            true,
        ),
        (
            route("projects = [\"other\"]\nagents = [\"codex\"]"),
            codex,
            false,
        ),
        (route("agents = [\"codex\"]"), permission, false),
        (route("agents = [\"code*\"]"), codex, false),
        (route("min_priority = \"high\""), permission, true),
        (route("min_priority = \"high\""), choice, true),
        (route("min_priority = \"high\""), free, false),
        (route("min_priority = \"normal\""), free, true),
        (
            format!("{}{}", route("kinds = [\"input\"]"), route("")),
            permission,
            true,
        ),
        (format!("{}{}", route(""), route("")), permission, true),
        (format!("enabled = false\n{}", route("")), permission, false),
    ];
    for (routes, request, goes) in rows {
        let r = Relayed::routed(&routes);
        let record = r.world.request(request);
        assert_eq!(record["status"], "pending");
        assert_eq!(r.relay.envelopes().len(), usize::from(goes), "{routes}");
        assert_eq!(outbox(&r.world).len(), usize::from(goes), "{routes}");
        // What no route lets out is not so much as mentioned.
        assert!(goes || r.relay.count() == 0, "{routes}");
    }
}

#[test]
fn the_payload_is_the_question_and_nothing_else() {
    let r = Relayed::new();
    let detail = ["--choice-detail", "b:all of it"];
    let everything = [
        "--key",
        "k",
        "--session",
        "s",
        "--agent",
        "bot",
        "--agent-instance",
        "i",
        "--turn",
        "t",
        "--workflow",
        "w",
        "--task",
        "x",
        "--native-request",
        "n",
    ];
    let rows: [&[&str]; 5] = [
        &["Deploy? ✓ é\nüber"],
        &[&["Deploy?"][..], &everything].concat(),
        &[&["Which?", "--kind", "single-choice"][..], &AB, &detail].concat(),
        &["Name?", "--kind", "text", "--text-max", "7", "--ttl", "30"],
        &["Name?", "--kind", "text"],
    ];
    for (n, request) in rows.iter().enumerate() {
        let id = text(&r.world.request(request), "id").to_owned();
        let record = r.world.get(&id);
        let asked = r.relay.asked(n);
        assert_eq!(asked.payload, expected(&record));
        let members: Vec<&String> = asked.payload["interaction"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(members, MEMBERS);
        let envelope = &r.relay.envelopes()[n];
        assert_eq!(envelope["expires_at"], record["expires_at"]);
    }
    let nulls = r.relay.asked(0).payload["interaction"].clone();
    for absent in ["key", "agent_instance", "session_id"] {
        assert_eq!(nulls.get(absent), Some(&Value::Null), "{absent}");
    }
}

#[test]
fn a_card_has_choices_and_the_bound_of_a_text_whatever_its_kind() {
    let r = Relayed::new();
    let rows: [(&[&str], usize, u64); 4] = [
        (&["Deploy?"], 2, 500),
        (
            &[&["Which?", "--kind", "single-choice"][..], &AB].concat(),
            2,
            500,
        ),
        (&["Name?", "--kind", "text"], 0, 500),
        (&["Name?", "--kind", "text", "--text-max", "7"], 0, 7),
    ];
    for (n, (request, choices, longest)) in rows.into_iter().enumerate() {
        r.world.request(request);
        let question = r.relay.asked(n).payload["interaction"].clone();
        let listed = question["choices"].as_array().map(Vec::len);
        assert_eq!(listed, Some(choices), "{question}");
        assert_eq!(question["text_max_length"], longest, "{question}");
    }
}

#[test]
fn a_tool_call_is_shown_with_its_whole_input() {
    let r = Relayed::new();
    let input = "{\"command\":\"ls \\u202e -la \u{202e}\\u001b\",\"n\":1.0,\"z\":null}";
    let record = r
        .world
        .request(&["Run it?", "--tool", "Bash", "--input", input]);
    let asked = r.relay.asked(0);
    let question = &asked.payload["interaction"];
    let prompt = text(question, "prompt");
    assert!(prompt.starts_with("Run it?\n\n"), "{prompt}");
    let safe = "{\"command\":\"ls \\u202e -la \\u{202e}\\u001b\",\"n\":1.0,\"z\":null}";
    assert!(prompt.ends_with(safe), "{prompt}");
    assert_eq!(question["request_digest"], record["request_digest"]);
    // The answer is to the record, not to the words that were published.
    let item = r
        .relay
        .phone(0)
        .answer(&asked, "r1", ("choice_id", "allow-once"));
    r.relay.put(item);
    assert_eq!(r.polled()["applied"], 1);
}

#[test]
fn an_input_that_does_not_fit_is_never_cut() {
    let r = Relayed::new();
    let input = |length: usize| json!({ "command": "x".repeat(length) }).to_string();
    let file = r.world.path().join("input.json");
    let from = format!("@{}", file.display());
    let ask = |prompt: &str, input: &str| {
        std::fs::write(&file, input).unwrap();
        r.world
            .request(&[prompt, "--tool", "Bash", "--input", &from]);
    };
    ask("Run Bash?", &input(1900));
    let shown = r.relay.asked(0).payload;
    let room = 2000 - text(&shown["interaction"], "prompt").chars().count();
    ask("Run Bash?", &input(1900 + room));
    ask("Run Bash?", &input(1900 + room + 1));
    ask(&"p".repeat(2000), "{}");
    ask("Run Bash?", &input(500_000));
    let full = r.relay.asked(1).payload;
    assert_eq!(text(&full["interaction"], "prompt").chars().count(), 2000);
    for n in 2..5 {
        notice(&r.relay.asked(n).payload);
    }
    // What is escaped counts as it is shown.
    let prompt = "p".repeat(1950);
    ask(
        &prompt,
        "{\"c\":\"\u{200b}\u{200b}\u{200b}\u{200b}\u{200b}\u{200b}\"}",
    );
    notice(&r.relay.asked(5).payload);
}

/// A notice holds nothing of the question but who asks.
fn notice(payload: &Value) {
    let names: Vec<&String> = payload.as_object().unwrap().keys().collect();
    assert_eq!(names, ["title", "body", "level"]);
    assert_eq!(payload["body"], "answer at the terminal");
    assert_eq!(payload["level"], "info");
    let title = text(payload, "title");
    assert!(title.contains("cli") && title.len() < 100, "{title}");
}

#[test]
fn a_form_goes_out_as_a_notice() {
    let r = Relayed::new();
    let file = r.world.path().join("form.json");
    std::fs::write(
        &file,
        r#"[{"question":"Which?","options":[{"label":"A"}]}]"#,
    )
    .unwrap();
    let record = r.world.request(&[
        "Secret plan",
        "--kind",
        "form",
        "--questions",
        file.to_str().unwrap(),
    ]);
    let asked = r.relay.asked(0);
    notice(&asked.payload);
    let envelope = &r.relay.envelopes()[0];
    assert_eq!(envelope["client_event_id"], record["id"]);
    // A notice is sent once, too.
    r.world.json(&["relay", "sync"]);
    assert_eq!(r.relay.envelopes().len(), 1);
}

/// Prompt and choices of the card that a question becomes, as `prompt | label | label`.
fn card(r: &Relayed, n: usize, request: &[&str]) -> String {
    r.world.request(request);
    let payload = r.relay.asked(n).payload;
    let question = &payload["interaction"];
    let choices = question["choices"].as_array().into_iter().flatten();
    let labels = choices.map(|c| text(c, "label").to_owned());
    let prompt = text(question, "prompt").to_owned();
    [prompt]
        .into_iter()
        .chain(labels)
        .collect::<Vec<_>>()
        .join(" | ")
}

#[test]
fn a_card_shows_all_of_what_would_be_allowed() {
    let r = Relayed::new();
    let swapped = [
        "--choice",
        "no:Deny",
        "--choice",
        "yes:Approve",
        "--effect",
        "no=allow",
        "--effect",
        "yes=deny",
    ];
    let named = ["--choice", "allow:Ship it", "--choice", "deny:Don't allow"];
    let input = r#"{"file_path":"/etc/passwd"}"#;
    let read = "Let me Read. I never use Write.";
    let rows: [(Vec<&str>, &str); 6] = [
        (
            [&["Deploy?"][..], &swapped].concat(),
            "Deploy? | Deny (allows) | Approve (denies)",
        ),
        (
            [&["Deploy?"][..], &named].concat(),
            "Deploy? | Ship it (allows) | Don't allow (denies)",
        ),
        (
            vec![read, "--tool", "Write", "--input", input],
            "Let me Read. I never use Write.\n\nWrite: {\"file_path\":\"/etc/passwd\"} | Allow once | Deny",
        ),
        (
            vec!["do not rm", "--action", "rm"],
            "do not rm\n\nrm | Allow once | Deny",
        ),
        (
            vec![
                "Run?\n\nBash: ls",
                "--tool",
                "Ba\u{202e}sh",
                "--input",
                "null",
            ],
            "Run?\\u{a}\\u{a}Bash: ls\n\nBa\\u{202e}sh: no command supplied | Allow once | Deny",
        ),
        (
            vec!["a\u{202e}b\u{200b}\u{1b}[2J"],
            "a\\u{202e}b\\u{200b}\\u{1b}[2J | Allow once | Deny",
        ),
    ];
    for (n, (request, expected)) in rows.iter().enumerate() {
        assert_eq!(card(&r, n, request), *expected);
    }
}

#[test]
fn a_permission_whose_details_do_not_fit_is_no_card() {
    let r = Relayed::new();
    for n in 2..=10 {
        r.relay.pair(Phone::new(&format!("phone-{n}")));
    }
    let choices: Vec<String> = (0..12).map(|n| format!("allow-{n}:Allow {n}")).collect();
    let details: Vec<String> = (0..12)
        .map(|n| format!("allow-{n}:{}", "d".repeat(500)))
        .collect();
    let mut args = vec!["Which?"];
    for (choice, detail) in choices.iter().zip(&details) {
        args.extend(["--choice", choice, "--choice-detail", detail]);
    }
    r.world.request(&args);
    notice(&r.relay.asked(0).payload);
}

#[test]
fn an_envelope_keeps_to_64_kib() {
    let r = Relayed::new();
    for n in 2..=10 {
        r.relay.pair(Phone::new(&format!("phone-{n}")));
    }
    let ask = |label: &str, detail: &str| {
        let mut args = vec!["Which?".to_owned(), "--kind".into(), "single-choice".into()];
        for n in 0..12 {
            args.extend(["--choice".into(), format!("c{n}:{label}{n}")]);
            args.extend(["--choice-detail".into(), format!("c{n}:{detail}")]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        r.world.request(&args);
    };
    ask("label", "short");
    ask("label", &"d".repeat(500));
    ask(&"🚀".repeat(190), &"d".repeat(500));
    let details =
        |n: usize| r.relay.asked(n).payload["interaction"]["choices"][0]["detail"].clone();
    assert_eq!(details(0), "short");
    assert_eq!(details(1), Value::Null, "details are left out first");
    notice(&r.relay.asked(2).payload);
    // Every phone reads the same.
    let envelope = &r.relay.envelopes()[1];
    assert_eq!(envelope["recipients"].as_array().unwrap().len(), 10);
    let first = r.relay.phone(0).read(envelope);
    assert!((1..10).all(|n| r.relay.phone(n).read(envelope) == first));
}

#[test]
fn devices_that_cannot_be_sealed_for_are_skipped() {
    let r = Relayed::new();
    let good: Vec<Phone> = (0..12).map(|n| Phone::new(&format!("good-{n}"))).collect();
    let key = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let device =
        |public_key: Value| json!({ "device_id": "bad", "key_id": "k", "public_key": public_key });
    let mut order_8 = [0; 32];
    order_8.copy_from_slice(&[
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ]);
    let mut one = [0; 32];
    one[0] = 1;
    let mut minus_one = [0xff; 32];
    (minus_one[0], minus_one[31]) = (0xec, 0x7f);
    let mut revoked = Phone::new("revoked").listed();
    revoked["revoked_at"] = "2026-08-30T00:00:00Z".into();
    let mut nameless = Phone::new("").listed();
    nameless["key_id"] = "k".into();
    let bad = vec![
        Value::Null,
        json!("phone"),
        json!([]),
        json!({}),
        json!({ "device_id": "bad", "key_id": "k" }),
        device(Value::Null),
        device(json!(7)),
        device(json!("")),
        device(json!("not base64!")),
        device(json!(key(&[7; 31]))),
        device(json!(key(&[7; 33]))),
        device(json!(key(&[0; 32]))),
        device(json!(key(&one))),
        device(json!(key(&minus_one))),
        device(json!(key(&order_8))),
        revoked,
        nameless,
    ];
    {
        let mut state = r.relay.state();
        state.devices = bad.clone();
    }
    for phone in &good {
        r.relay.pair(phone.clone());
    }
    // An absent revocation may also be written as null, and what is unknown is passed over.
    r.relay.state().devices[17]["revoked_at"] = Value::Null;
    r.relay.state().devices[18]["model"] = json!({ "name": "x" });
    r.world.request(&["Deploy?"]);
    let envelope = &r.relay.envelopes()[0];
    let recipients = envelope["recipients"].as_array().unwrap();
    let names: Vec<&str> = recipients.iter().map(|r| text(r, "device_id")).collect();
    let first: Vec<&str> = good.iter().map(|p| &*p.device_id).take(10).collect();
    assert_eq!(names, first);

    r.relay.state().devices = bad;
    let record = r.world.request(&["And now?"]);
    assert_eq!(r.relay.envelopes().len(), 1, "nothing is posted");
    let ran = r.world.run(["publish", text(&record, "id")]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("no_devices_paired"), "{ran:?}");
    assert_eq!(r.relay.envelopes().len(), 1);
    let published = r.world.json(&["publish", text(&record, "id")]);
    assert_eq!(published["published"], 0);
    r.relay.state().devices = vec![];
    let ran = r.world.run(["publish", text(&record, "id")]);
    assert!(ran.stderr.contains("no_devices_paired"), "{ran:?}");
    assert_eq!(r.relay.envelopes().len(), 1);
}

#[test]
fn a_list_of_devices_that_cannot_be_had_posts_nothing() {
    let r = Relayed::new();
    for fault in [
        Fault::status(404),
        Fault::status(500),
        Fault::status(401),
        Fault::body("not json"),
        Fault::body("null"),
        Fault::body("{\"devices\":null}"),
        Fault::body("{\"devices\":{}}"),
        Fault::Lost,
        Fault::Cut,
    ] {
        r.relay.once(Endpoint::Devices, fault);
        r.world.request(&["Deploy?"]);
    }
    assert_eq!(r.relay.envelopes().len(), 0);
    assert_eq!(r.relay.requests(Endpoint::Devices).len(), 9);
}

#[test]
fn no_two_seals_are_alike() {
    let r = Relayed::new();
    r.relay.pair(Phone::new("phone-2"));
    let record = r.world.request(&["Deploy?"]);
    r.world.json(&["publish", text(&record, "id")]);
    let mut parts = Vec::new();
    for envelope in r.relay.envelopes() {
        for recipient in envelope["recipients"].as_array().unwrap() {
            let bytes = URL_SAFE_NO_PAD
                .decode(text(recipient, "ciphertext"))
                .unwrap();
            parts.extend([
                bytes[..24].to_vec(),
                bytes[24..56].to_vec(),
                bytes[56..].to_vec(),
            ]);
        }
    }
    assert_eq!(parts.len(), 12);
    parts.sort();
    parts.dedup();
    assert_eq!(parts.len(), 12);
}

#[test]
fn publish_sends_again_on_purpose() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    let id = text(&record, "id");
    for count in 2..4 {
        let data = r.world.json(&["publish", id]);
        assert_eq!(
            (&data["published"], r.relay.envelopes().len()),
            (&json!(1), count)
        );
        assert_eq!(r.relay.asked(count - 1).payload, r.relay.asked(0).payload);
    }
    let human = r.world.run(["publish", id]);
    assert_eq!(
        (human.code, human.stdout.contains('1')),
        (0, true),
        "{human:?}"
    );
    assert_eq!(outbox(&r.world).len(), 1);
    // Whatever becomes of sending it again: a question that is out is not sent by itself.
    r.relay.once(Endpoint::Envelopes, Fault::status(500));
    let data = r.world.json(&["publish", id]);
    assert_eq!(data["published"], 0);
    let sent = r.relay.envelopes().len();
    r.world.json(&["relay", "sync"]);
    assert_eq!(r.relay.envelopes().len(), sent);
    for fault in [Fault::status(404), Fault::Reset, Fault::body("{}")] {
        r.relay.once(Endpoint::Envelopes, fault);
        let ran = r.world.run(["publish", id]);
        assert_eq!(
            (ran.code, ran.stderr.contains("home")),
            (0, true),
            "{ran:?}"
        );
    }
    r.world.json(&["answer", id, "--allow"]);
    let sent = r.relay.count();
    failure(&r.world.run(["publish", id, "--json"]), NOT_PENDING);
    failure(
        &r.world.run(["publish", &"ab".repeat(16), "--json"]),
        NOT_FOUND,
    );
    assert_eq!(r.relay.count(), sent);
}

#[test]
fn publish_where_nothing_goes_out() {
    let r = Relayed::routed(
        "[[relay.route]]\nenabled = true\ninclude_message = true\nkinds = [\"input\"]\n",
    );
    let record = r.world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let ran = r.world.run(["publish", id]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("route"), "{ran:?}");
    assert_eq!(r.world.json(&["publish", id])["published"], 0);
    // Disabled or absent: nobody to publish to.
    configure(
        &r.world,
        &table(&r.relay, &format!("enabled = false\n{EVERYTHING}")),
    );
    failure(&r.world.run(["publish", id, "--json"]), INVALID_INPUT);
    configure(&r.world, "");
    let error = failure(&r.world.run(["publish", id, "--json"]), INVALID_INPUT);
    assert!(text(&error, "message").contains("Relay"), "{error}");
    assert_eq!(r.relay.count(), 0);
}

#[test]
fn suspended_questions_go_out_for_a_day() {
    let r = Relayed::new();
    r.world.run(["count"]);
    let store = library::store(&r.world);
    let mut question = library::question("Go on?", None);
    question.suspended = true;
    let created = broker::open(&store, question, Lifetime::Unbounded, 100).unwrap();
    assert!(created.record.expires_at.is_none());
    let sent = r.world.json(&["publish", created.record.id.as_str()]);
    assert_eq!(sent["published"], 1);
    let (asked, envelope) = (r.relay.asked(0), &r.relay.envelopes()[0]);
    let deadline = text(&asked.payload["interaction"], "expires_at");
    assert_eq!(envelope["expires_at"], deadline);
    let at = sayso::time::Time::parse(deadline).unwrap();
    let ahead = at.since(sayso::time::Time::now()).as_secs();
    assert!((24 * 3600 - 60..=24 * 3600).contains(&ahead), "{deadline}");
}

#[test]
fn each_provider_gets_its_own_envelope_and_fails_for_itself() {
    let world = Sandbox::new();
    let (home, work, down) = (
        FakeRelay::named("home"),
        FakeRelay::named("wo.rk-2"),
        FakeRelay::named("down"),
    );
    down.always(Endpoint::Devices, Fault::Reset);
    let all: String = [&home, &work, &down].map(|r| table(r, EVERYTHING)).concat();
    configure(&world, &all);
    for relay in [&home, &work, &down] {
        paired(&world, relay);
    }
    let record = world.request(&["Deploy?"]);
    assert_eq!((home.envelopes().len(), work.envelopes().len()), (1, 1));
    assert_eq!(home.asked(0).payload, work.asked(0).payload);
    assert_ne!(home.asked(0).sender_id, work.asked(0).sender_id);
    assert!(down.envelopes().is_empty());
    let data = world.json(&["publish", text(&record, "id")]);
    assert_eq!(data["published"], 2, "{data}");
    assert_eq!((home.envelopes().len(), work.envelopes().len()), (2, 2));
}
