//! How a question ended cannot be edited: a record whose ending is not the one that was recorded is
//! corrupt, and never an answer.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, finish, settled_digest, text};

type Edit = fn(&mut Value);
type Row = (&'static str, Asked, Box<dyn Fn(&mut Value)>);

/// An answered question: how it was asked, how it was answered.
type Asked = (&'static [&'static str], &'static [&'static str]);

const PERMISSION: Asked = (
    &["Run?", "--tool", "Bash", "--input", r#"{"command":"ls"}"#],
    &["--choice", "deny", "--message", "not now"],
);
const EDITED: Asked = (
    &["Run?", "--tool", "Bash", "--input", r#"{"command":"ls"}"#],
    &[
        "--choice",
        "allow-once",
        "--updated-input",
        r#"{"command":"ls -l","n":1.0}"#,
    ],
);
const FORM: Asked = (
    &["Form", "--kind", "form", "--questions", "form.json"],
    &["--answers", r#"{"A?":"x"}"#, "--response", "as you like"],
);
const QUESTIONS: &str =
    r#"[{"question":"A?","options":[{"label":"x"},{"label":"y"}]},{"question":"B?"}]"#;
const TEXT: Asked = (&["Name?", "--kind", "text"], &["--text", "blue"]);

fn response(edit: fn(&mut Value)) -> impl Fn(&mut Value) {
    move |record| edit(&mut record["response"])
}

fn drop_member(record: &mut Value, name: &str) {
    record.as_object_mut().unwrap().remove(name);
}

/// Every member of an ending, changed.
fn edits() -> Vec<Row> {
    fn row(name: &'static str, asked: Asked, edit: impl Fn(&mut Value) + 'static) -> Row {
        (name, asked, Box::new(edit))
    }
    vec![
        row(
            "a deny that allows",
            PERMISSION,
            response(|r| r["choice_id"] = "allow-once".into()),
        ),
        row("an allow that denies", EDITED, |r| {
            r["response"]["choice_id"] = "deny".into();
            drop_member(&mut r["response"], "updated_input");
        }),
        row(
            "another message",
            PERMISSION,
            response(|r| r["message"] = "now".into()),
        ),
        row(
            "no message",
            PERMISSION,
            response(|r| drop_member(r, "message")),
        ),
        row(
            "a message where none was",
            TEXT,
            response(|r| r["message"] = "!".into()),
        ),
        row(
            "another input",
            EDITED,
            response(|r| r["updated_input"]["command"] = "rm x".into()),
        ),
        row(
            "an input of the same value",
            EDITED,
            response(|r| r["updated_input"]["n"] = 1.into()),
        ),
        row(
            "no input",
            EDITED,
            response(|r| drop_member(r, "updated_input")),
        ),
        row(
            "added permissions",
            EDITED,
            response(|r| r["updated_permissions"] = json!([{}])),
        ),
        row("another text", TEXT, response(|r| r["text"] = "red".into())),
        row(
            "another label",
            FORM,
            response(|r| r["answers"]["A?"] = "y".into()),
        ),
        row(
            "one answer more",
            FORM,
            response(|r| {
                r["answers"]["B?"] = "z".into();
                r["unanswered"] = json!([]);
            }),
        ),
        row(
            "no answers",
            FORM,
            response(|r| {
                drop_member(r, "answers");
                r["unanswered"] = json!(["A?", "B?"]);
            }),
        ),
        row(
            "another response",
            FORM,
            response(|r| r["response"] = "never".into()),
        ),
        row(
            "a form that was declined",
            FORM,
            response(|r| {
                for name in ["answers", "response", "unanswered"] {
                    drop_member(r, name);
                }
                r["declined"] = true.into();
            }),
        ),
        row(
            "another person",
            TEXT,
            response(|r| r["answered_by"] = "somebody".into()),
        ),
        row(
            "another user",
            TEXT,
            response(|r| r["responder"]["uid"] = 4711.into()),
        ),
        row(
            "another process",
            TEXT,
            response(|r| r["responder"]["pid"] = 1.into()),
        ),
        row(
            "a hidden self-answer",
            TEXT,
            response(|r| r["responder"]["agent_session"] = "x".into()),
        ),
        row(
            "another response id",
            TEXT,
            response(|r| r["response_id"] = "r2".into()),
        ),
        row(
            "another source",
            TEXT,
            response(|r| r["source"] = "relay".into()),
        ),
        row(
            "a device",
            TEXT,
            response(|r| r["device_id"] = "phone-1".into()),
        ),
        row("another time", TEXT, |r| {
            r["answered_at"] = "2020-01-01T00:00:00.000000Z".into();
            r["response"]["created_at"] = r["answered_at"].clone();
        }),
        row("an answer that expired", PERMISSION, |r| end(r, "expired")),
        row("an answer that was cancelled", PERMISSION, |r| {
            end(r, "cancelled");
        }),
        row("an answer that was superseded", PERMISSION, |r| {
            end(r, "superseded");
            r["superseded_by"] = "0".repeat(32).into();
        }),
        row("no digest", PERMISSION, |r| {
            drop_member(r, "settled_digest");
        }),
        row("no digest, and it allows", PERMISSION, |r| {
            r["response"]["choice_id"] = "allow-once".into();
            drop_member(r, "settled_digest");
        }),
        row("a digest that is none", PERMISSION, |r| {
            r["settled_digest"] = "".into();
        }),
        row("the question's digest", PERMISSION, |r| {
            r["settled_digest"] = r["request_digest"].clone();
        }),
        row("another id's digest", PERMISSION, |r| {
            let mut other = r.clone();
            other["id"] = "0".repeat(32).into();
            r["settled_digest"] = settled_digest(&other.to_string()).into();
        }),
    ]
}

fn end(record: &mut Value, status: &str) {
    record["status"] = status.into();
    drop_member(record, "answered_at");
    drop_member(record, "response");
}

#[test]
fn an_edited_answer_is_corrupt_and_no_answer() {
    for (name, (ask, answer), edit) in edits() {
        let world = Sandbox::new();
        fs::write(world.repo().join("form.json"), QUESTIONS).unwrap();
        let record = world.request(ask);
        let id = text(&record, "id");
        assert_eq!(world.respond(&record, "r", answer).code, 0, "{name}");
        assert_eq!(world.get(id)["status"], "answered");
        let mut edited: Value = serde_json::from_str(&world.stored(id)).unwrap();
        edit(&mut edited);
        fs::write(world.settled(id), format!("{edited}\n")).unwrap();
        is_corrupt(&world, id, name);
        // Nor is the answer, sent again, taken for accepted.
        let again = [answer, &["--json"]].concat();
        let again = world.respond(&record, "r", &again);
        assert_eq!(again.error()["code"], "corrupt", "{name}");
    }
}

/// What every reader says of a record whose ending was edited.
fn is_corrupt(world: &Sandbox, id: &str, name: &str) {
    for verb in [
        &["get", id][..],
        &["show", id],
        &["wait", id, "--exit-status"],
        &["cancel", id],
    ] {
        let error = world.error(verb);
        assert_eq!(
            (&error["code"], &error["exit_code"]),
            (&json!("corrupt"), &json!(1)),
            "{name}: {verb:?}"
        );
        assert!(text(&error, "message").contains(id), "{name}: {error}");
        let digest = world.stored(id);
        let digest: Value = serde_json::from_str(&digest).unwrap();
        let shown = digest["settled_digest"].as_str().filter(|d| !d.is_empty());
        assert!(
            shown.is_none_or(|d| !error.to_string().contains(d)),
            "{name}: {error}"
        );
    }
    let listed = world.run(["list", "--all"]);
    assert!(
        listed.code == 0 && listed.stdout.is_empty() && listed.stderr.contains(id),
        "{name}: {listed:?}"
    );
    let doctor = world.run(["doctor"]);
    assert!(
        doctor.code == 1 && doctor.stdout.contains(id),
        "{name}: {doctor:?}"
    );
}

#[test]
fn an_end_without_an_answer_cannot_be_made_an_answer() {
    let answered = |r: &mut Value| {
        r["status"] = "answered".into();
        r["answered_at"] = r["updated_at"].clone();
        r["response"] = json!({
            "response_id": "r", "choice_id": "allow-once", "source": "cli", "answered_by": "me",
            "responder": {"uid": 0, "pid": 1}, "created_at": r["updated_at"],
        });
    };
    let edits: [(&str, Edit); 4] = [
        ("answered", answered),
        ("expired", |r| r["status"] = "expired".into()),
        ("superseded", |r| {
            r["status"] = "superseded".into();
            r["superseded_by"] = "0".repeat(32).into();
        }),
        ("without a digest", |r| drop_member(r, "settled_digest")),
    ];
    for (name, edit) in edits {
        let world = Sandbox::new();
        let record = world.request(&["Deploy?"]);
        let id = text(&record, "id");
        world.json(&["cancel", id]);
        let mut edited: Value = serde_json::from_str(&world.stored(id)).unwrap();
        edit(&mut edited);
        fs::write(world.settled(id), format!("{edited}\n")).unwrap();
        is_corrupt(&world, id, name);
    }
}

/// A forged answer is put in the place where the waiting process looks.
#[test]
fn a_waiting_process_takes_no_edited_answer() {
    for digest in [false, true] {
        for waits in [false, true] {
            let world = Sandbox::new();
            let asker = world.start(["ask", "Delete everything?"]);
            let id = text(&world.await_pending(), "id").to_owned();
            let waiter = waits.then(|| world.start(["wait", &id, "--exit-status"]));
            let mut forged = world.get(&id);
            for moment in ["waiting", "delivery"] {
                drop_member(&mut forged, moment);
            }
            let now = sayso::time::Time::now().to_string();
            forged["status"] = "answered".into();
            forged["updated_at"] = now.clone().into();
            forged["answered_at"] = now.clone().into();
            forged["response"] = json!({
                "response_id": "r", "choice_id": "deny", "source": "cli", "answered_by": "me",
                "responder": {"uid": 0, "pid": 1}, "created_at": now,
            });
            if digest {
                forged["settled_digest"] = settled_digest(&forged.to_string()).into();
            }
            forged["response"]["choice_id"] = "allow-once".into();
            fs::write(world.settled(&id), format!("{forged}\n")).unwrap();
            fs::remove_file(world.pending(&id)).unwrap();
            for process in [Some(asker), waiter].into_iter().flatten() {
                let ran = finish(process);
                assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
                assert!(
                    ran.stderr.contains("corrupt") && ran.stderr.contains(&id),
                    "{ran:?}"
                );
            }
            assert!(
                !world
                    .scope()
                    .join(format!("interactions/marks/{id}.delivered"))
                    .exists()
            );
        }
    }
}

#[test]
fn what_is_written_has_the_digest_of_the_specification() {
    let world = Sandbox::new();
    fs::write(world.repo().join("form.json"), QUESTIONS).unwrap();
    let rows: [Asked; 4] = [PERMISSION, EDITED, FORM, TEXT];
    let mut ids = Vec::new();
    for (ask, answer) in rows {
        let record = world.request(ask);
        assert!(record.get("settled_digest").is_none());
        assert_eq!(world.respond(&record, "r", answer).code, 0);
        ids.push(text(&record, "id").to_owned());
    }
    let record = world.request(FORM.0);
    world.json(&[
        "answer",
        text(&record, "id"),
        "--select",
        "#1=y",
        "--other",
        "#2=\u{e9}\n\"z\"",
    ]);
    ids.push(text(&record, "id").to_owned());
    let record = world.request(&["Cancelled?"]);
    world.json(&["cancel", text(&record, "id")]);
    ids.push(text(&record, "id").to_owned());
    let record = world.request(&["Superseded?", "--key", "k"]);
    world.request(&["By this?", "--key", "k"]);
    ids.push(text(&record, "id").to_owned());
    let mut seen = std::collections::HashSet::new();
    for id in ids {
        let stored = world.stored(&id);
        let record: Value = serde_json::from_str(&stored).unwrap();
        assert_eq!(
            text(&record, "settled_digest"),
            settled_digest(&stored),
            "{stored}"
        );
        assert_eq!(world.get(&id)["settled_digest"], record["settled_digest"]);
        assert!(seen.insert(text(&record, "settled_digest").to_owned()));
    }
}
