//! Conditions that are told one way, without a question: they are told again and ended by their key.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::arc::{accept, answer_to, apply, asking, event, refuse, resolved, submitted};
use crate::notice_world::Noticed;
use crate::sandbox::{INVALID_INPUT, NOT_FOUND, Sandbox, UNAVAILABLE, text};

/// An event that tells something under a key and asks nothing.
fn telling(kind: &str, event_id: &str, sender: &str, key: &str, message: &str) -> Value {
    let request = json!({ "key": key, "kind": "blocked", "message": message });
    event(kind, event_id, sender, request)
}

fn told(event_id: &str, sender: &str, key: &str) -> Value {
    telling("request.created", event_id, sender, key, "the disk is full")
}

fn updated(event_id: &str, sender: &str, key: &str) -> Value {
    telling("request.updated", event_id, sender, key, "still full")
}

/// The files that keep what was told.
fn kept(world: &Sandbox) -> Vec<PathBuf> {
    let files = fs::read_dir(world.store().join("arc/conditions"));
    let files = files.into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_condition_is_told_again_and_ended_by_its_key() {
    let world = Sandbox::new();
    for kind in [
        "information",
        "question",
        "permission",
        "blocked",
        "failure",
        "completion",
    ] {
        let mut first = told(&format!("e-{kind}"), "codex", kind);
        first["request"]["kind"] = kind.into();
        assert_eq!(accept(&world, &first)["interaction"], Value::Null);
        for n in 0..2 {
            let mut again = updated(&format!("u{n}-{kind}"), "codex", kind);
            again["request"]["kind"] = kind.into();
            let done = accept(&world, &again);
            assert_eq!(
                (&done["interaction"], &done["replayed"], text(&done, "key")),
                (&Value::Null, &json!(false), kind)
            );
        }
        for (event_id, replayed) in [("r1", false), ("r1", true), ("r2", false)] {
            let end = resolved(&format!("{event_id}-{kind}"), "codex", kind);
            let done = accept(&world, &end);
            assert_eq!(
                (&done["interaction"], &done["replayed"]),
                (&Value::Null, &json!(replayed))
            );
        }
        // What is over is told no more, until it is there again.
        refuse(
            &world,
            &updated(&format!("u9-{kind}"), "codex", kind),
            NOT_FOUND,
        );
        accept(&world, &told(&format!("e2-{kind}"), "codex", kind));
        accept(&world, &updated(&format!("u9-{kind}"), "codex", kind));
    }
    assert_eq!(world.json(&["list", "--all", "-A"])["count"], 0);
    let said = world.run_with(
        ["arc"],
        resolved("r9", "codex", "blocked").to_string().as_bytes(),
    );
    assert_eq!(said.stdout, "request.resolved the condition is over\n");
}

#[test]
fn a_condition_without_a_given_key_has_the_one_that_its_result_names() {
    let world = Sandbox::new();
    let mut first = told("e1", "codex", "k");
    first["request"].as_object_mut().unwrap().remove("key");
    let key = text(&accept(&world, &first), "key").to_owned();
    accept(&world, &updated("u1", "codex", &key));
    accept(&world, &resolved("r1", "codex", &key));
}

#[test]
fn the_key_of_a_condition_is_its_senders_own() {
    let world = Sandbox::new();
    accept(&world, &told("e1", "a", "k"));
    for (sender, key) in [("b", "k"), ("a", "K"), ("a", "k2"), ("a ", "k3")] {
        refuse(&world, &updated("u1", sender, key), NOT_FOUND);
        refuse(&world, &resolved("r1", sender, key), NOT_FOUND);
    }
    // Nor does anybody answer what was not asked.
    refuse(
        &world,
        &submitted("x", "k", &"0".repeat(64), "n"),
        NOT_FOUND,
    );
    accept(&world, &told("e1", "b", "k"));
    accept(&world, &resolved("r1", "a", "k"));
    accept(&world, &updated("u1", "b", "k"));
    refuse(&world, &updated("u1", "a", "k"), NOT_FOUND);
    // Blanks around a sender's id make no other sender.
    accept(&world, &updated("u2", " b ", "k"));
    // Another scope has keys of its own.
    let mut elsewhere = resolved("r2", "b", "k");
    elsewhere["context"] = json!({ "cwd": "/" });
    refuse(&world, &elsewhere, NOT_FOUND);
    accept(&world, &updated("u3", "b", "k"));
}

#[test]
fn a_condition_and_a_question_under_one_key() {
    let world = Sandbox::new();
    let status = |record: &Value| world.get(text(&record["interaction"], "id"))["status"].clone();
    // The condition becomes a question: by an update or by a new request.
    let mut update = asking("u1", "codex", "one", "May I clean up?");
    update["event_type"] = "request.updated".into();
    for (key, asked) in [
        ("one", update),
        ("two", asking("e3", "codex", "two", "May I clean up?")),
    ] {
        accept(&world, &told(&format!("e-{key}"), "codex", key));
        let opened = accept(&world, &asked);
        assert_eq!(status(&opened), "pending");
        let again = accept(&world, &updated(&format!("t-{key}"), "codex", key));
        assert_eq!(again["interaction"]["id"], opened["interaction"]["id"]);
        accept(&world, &answer_to(&world, &opened, &format!("a-{key}")));
        // It is over with its answer.
        refuse(
            &world,
            &updated(&format!("l-{key}"), "codex", key),
            NOT_FOUND,
        );
        let end = accept(&world, &resolved(&format!("r-{key}"), "codex", key));
        assert_eq!(end["interaction"]["status"], "answered");
    }
    // Told while a question is open: both end at once.
    let opened = accept(&world, &asking("e4", "codex", "both", "May I?"));
    accept(&world, &told("e5", "codex", "both"));
    assert_eq!(status(&opened), "pending");
    let end = accept(&world, &resolved("r4", "codex", "both"));
    assert_eq!(end["interaction"]["status"], "cancelled");
    refuse(&world, &updated("u4", "codex", "both"), NOT_FOUND);
    // Told after the question is over: that is what ends.
    accept(&world, &told("e6", "codex", "both"));
    assert_eq!(
        accept(&world, &updated("u5", "codex", "both"))["interaction"],
        Value::Null
    );
    assert_eq!(
        accept(&world, &resolved("r5", "codex", "both"))["interaction"],
        Value::Null
    );
}

#[test]
fn ones_own_condition_goes_before_the_question_of_another() {
    let world = Sandbox::new();
    let theirs = accept(&world, &asking("e1", "other", "k", "May I?"));
    accept(&world, &told("e2", "codex", "k"));
    let again = accept(&world, &updated("u1", "codex", "k"));
    let end = accept(&world, &resolved("r1", "codex", "k"));
    assert_eq!(
        (&again["interaction"], &end["interaction"]),
        (&Value::Null, &Value::Null)
    );
    let id = text(&theirs["interaction"], "id");
    assert_eq!(world.get(id)["status"], "pending");
}

#[test]
fn an_update_sends_the_notice_again_and_an_end_sends_none() {
    let noticed = Noticed::new("");
    let program = noticed.script("note", "cat >> \"$OUT/told\"");
    noticed.configure(&format!(
        "[[notify]]\ncommand = [{program:?}]\ninclude_prompt = true\n"
    ));
    for event in [
        told("e1", "codex", "k"),
        updated("u1", "codex", "k"),
        updated("u1", "codex", "k"),
        updated("u2", "codex", "k"),
        resolved("r1", "codex", "k"),
    ] {
        accept(&noticed.world, &event);
        noticed.idle();
    }
    assert_eq!(apply(&noticed.world, &updated("u3", "codex", "k")).code, 3);
    noticed.idle();
    let told = fs::read_to_string(noticed.out().join("told")).unwrap();
    let bodies: Vec<String> = told
        .lines()
        .map(|line| text(&serde_json::from_str(line).unwrap(), "body").to_owned())
        .collect();
    assert_eq!(bodies, ["the disk is full", "still full", "still full"]);
}

#[test]
fn what_cannot_be_read_is_not_taken_for_never_told() {
    let world = Sandbox::new();
    accept(&world, &told("e1", "codex", "k"));
    let [file] = &kept(&world)[..] else {
        panic!("{:?}", kept(&world));
    };
    let whole = fs::read(file).unwrap();
    let damages: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("cut short", whole[..whole.len() / 2].to_vec()),
        ("garbage", b"\0\xff".to_vec()),
        ("too large", vec![b' '; 10_000]),
        ("newer", br#"{"schema":99,"state":"open"}"#.to_vec()),
    ];
    for (case, damaged) in damages {
        fs::write(file, damaged).unwrap();
        for event in [updated("u1", "codex", "k"), resolved("r1", "codex", "k")] {
            let error = refuse(&world, &event, UNAVAILABLE);
            assert!(
                !text(&error, "message").contains("disk is full"),
                "{case}: {error}"
            );
        }
    }
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
    refuse(&world, &updated("u1", "codex", "k"), UNAVAILABLE);
    refuse(&world, &resolved("r1", "codex", "k"), UNAVAILABLE);
    fs::remove_dir(file).unwrap();
    // Told anew, all is well, and the refused ids are free.
    fs::write(file, "{").unwrap();
    accept(&world, &told("e2", "codex", "k"));
    accept(&world, &updated("u1", "codex", "k"));
    fs::write(file, "{").unwrap();
    accept(&world, &asking("e3", "codex", "k", "May I?"));
    assert_eq!(
        accept(&world, &resolved("r1", "codex", "k"))["interaction"]["status"],
        "cancelled"
    );
}

#[test]
fn a_question_that_cannot_be_read_is_not_taken_for_none() {
    let world = Sandbox::new();
    let record = world.request(&["Go?"]);
    let id = text(&record, "id");
    let answer = submitted(
        "a1",
        id,
        text(&record, "request_digest"),
        text(&record, "nonce"),
    );
    let named = sayso::id::Id::parse(id).unwrap();
    let file = crate::library::store(&world).layout().pending_file(&named);
    let whole = fs::read(&file).unwrap();
    let missing = "ab".repeat(16);
    let never = submitted("a0", &missing, text(&record, "request_digest"), "n");
    for (damaged, code) in [(&b"{"[..], "corrupt"), (br#"{"schema":99}"#, "unavailable")] {
        fs::write(&file, damaged).unwrap();
        for event in [&answer, &resolved("r1", "codex", id)] {
            let error = apply(&world, event).error();
            assert_eq!(error["code"], code, "{error}");
        }
        refuse(&world, &never, NOT_FOUND);
    }
    fs::write(&file, whole).unwrap();
    let mut answer = answer;
    answer["response"]["choice_id"] = "allow-once".into();
    assert_eq!(accept(&world, &answer)["interaction"]["status"], "answered");
}

#[test]
fn conditions_are_kept_for_as_long_as_events_are() {
    let world = Sandbox::new();
    accept(&world, &told("e1", "codex", "old"));
    let old = kept(&world).remove(0);
    accept(&world, &told("e2", "codex", "new"));
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86400);
    fs::File::open(&old)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    world.json(&["prune", "--older-than", "30d"]);
    refuse(&world, &updated("u1", "codex", "old"), NOT_FOUND);
    accept(&world, &updated("u1", "codex", "new"));
}

#[test]
fn the_stricter_bounds_of_the_contract_hold() {
    let world = Sandbox::new();
    let mut nameless = told("e1", "codex", "k");
    nameless["sender"]["name"] = "".into();
    let error = refuse(&world, &nameless, INVALID_INPUT);
    assert!(
        text(&error, "message").contains("sender.name must be 1 to 160"),
        "{error}"
    );
    nameless["sender"]["name"] = " ".into();
    assert_eq!(accept(&world, &nameless)["title"], "codex is blocked");
    for id in ["", "a b", "ä", "a.b", "allow\n", &"a".repeat(65)] {
        let mut answer = submitted("a1", "k", &"0".repeat(64), "n");
        answer["response"]["choice_id"] = id.into();
        let error = refuse(&world, &answer, INVALID_INPUT);
        assert!(
            text(&error, "message").contains("response.choice_id"),
            "{error}"
        );
        let mut question = asking("q1", "codex", "q", "May I?");
        question["request"]["response"]["choices"][0]["id"] = id.into();
        let error = refuse(&world, &question, INVALID_INPUT);
        assert!(text(&error, "message").contains("choices[].id"), "{error}");
    }
}
