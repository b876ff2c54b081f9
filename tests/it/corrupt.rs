//! Records that cannot be trusted: each is named, none is taken for an answer, and nothing else suffers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, finish, text, until};

/// What a test does to a record's file, or puts in its place.
type Damage = Box<dyn Fn(&Path, &str)>;
/// A change of one member.
type Edit = fn(&mut Value);

fn damages() -> Vec<(&'static str, Damage)> {
    fn edit(name: &'static str, edit: Edit) -> (&'static str, Damage) {
        let damage = move |path: &Path, stored: &str| {
            let mut record: Value = serde_json::from_str(stored).unwrap();
            edit(&mut record);
            fs::write(path, record.to_string()).unwrap();
        };
        (name, Box::new(damage))
    }
    fn instead(name: &'static str, put: fn(&Path, &str)) -> (&'static str, Damage) {
        let damage = move |path: &Path, stored: &str| {
            fs::remove_file(path).unwrap();
            put(path, stored);
        };
        (name, Box::new(damage))
    }
    vec![
        instead("empty", |path, _| fs::write(path, "").unwrap()),
        instead("torn", |path, stored| {
            fs::write(path, &stored[..stored.len() / 2]).unwrap();
        }),
        instead("giant", |path, stored| {
            fs::write(
                path,
                stored.replacen('{', &format!("{{{}", " ".repeat(5 << 20)), 1),
            )
            .unwrap();
        }),
        instead("binary", |path, _| {
            fs::write(path, [0xff, 0x00, 0xfe]).unwrap();
        }),
        instead("other JSON", |path, _| fs::write(path, "[null]").unwrap()),
        instead("trailing text", |path, stored| {
            fs::write(path, format!("{stored}{{}}")).unwrap();
        }),
        instead("a directory", |path, _| fs::create_dir(path).unwrap()),
        instead("a FIFO", |path, _| {
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        }),
        instead("a link", |path, stored| {
            let target = path.with_extension("target");
            fs::write(&target, stored).unwrap();
            symlink(target, path).unwrap();
        }),
        instead("a dangling link", |path, _| {
            symlink("/nowhere", path).unwrap();
        }),
        edit("a changed prompt", |r| r["prompt"] = "Harmless?".into()),
        edit("a changed label", |r| {
            r["choices"][1]["label"] = "Proceed".into();
        }),
        edit("a changed effect", |r| {
            r["choices"][1]["effect"] = "allow".into();
        }),
        edit("a changed input", |r| {
            r["tool"]["input"]["command"] = "ls".into();
        }),
        edit("a changed agent", |r| r["agent"] = "other".into()),
        edit("a changed kind", |r| r["kind"] = "single_choice".into()),
        edit("a missing choice", |r| {
            drop(r["choices"].as_array_mut().unwrap().pop());
        }),
        edit("a changed digest", |r| {
            r["request_digest"] = "0".repeat(64).into();
        }),
        edit("a missing nonce", |r| {
            drop(r.as_object_mut().unwrap().remove("nonce"));
        }),
        edit("a changed id", |r| r["id"] = "0".repeat(32).into()),
        edit("no deadline", |r| {
            drop(r.as_object_mut().unwrap().remove("expires_at"));
        }),
        edit("schema 0", |r| r["schema"] = 0.into()),
        edit("an unknown member", |r| r["surprise"] = true.into()),
        edit("another status", |r| r["status"] = "answered".into()),
        edit("a status of no kind", |r| r["status"] = "done".into()),
        edit("a bad time", |r| r["created_at"] = "yesterday".into()),
    ]
}

const TOOL: [&str; 5] = [
    "Run?",
    "--tool",
    "Bash",
    "--input",
    "{\"command\":\"rm -rf /\"}",
];

#[test]
fn a_damaged_question_is_named_and_never_answered() {
    for (name, damage) in damages() {
        let world = Sandbox::new();
        let good = world.request(&["Good?"]);
        let bad = world.request(&TOOL);
        let id = text(&bad, "id");
        damage(&world.pending(id), &world.stored(id));
        let listed = world.run(["list"]);
        assert_eq!(listed.code, 0, "{name}: {listed:?}");
        assert!(
            listed.stdout.contains("Good?") && listed.stderr.contains(id),
            "{name}: {listed:?}"
        );
        assert_eq!(world.json(&["count"])["count"], 1, "{name}");
        let doctor = world.run(["doctor"]);
        assert!(
            doctor.code == 1 && doctor.stdout.contains(id),
            "{name}: {doctor:?}"
        );
        for verb in [
            &["show", id][..],
            &["get", id],
            &["wait", id],
            &["answer", id, "--allow"],
            &["cancel", id],
        ] {
            let error = world.error(verb);
            assert_eq!(
                (&error["code"], &error["exit_code"]),
                (&json!("corrupt"), &json!(1)),
                "{name}: {verb:?}"
            );
            assert!(text(&error, "message").contains(id), "{name}: {error}");
        }
        let respond = world.respond(&bad, "r", &["--choice", "allow-once", "--json"]);
        assert_eq!(respond.error()["code"], "corrupt", "{name}");
        assert!(!world.settled(id).exists(), "{name}");
        // Nothing else suffers.
        world.json(&["answer", text(&good, "id"), "--allow"]);
        assert_eq!(world.request(&["Another?"])["status"], "pending");
    }
}

#[test]
fn a_damaged_answer_is_never_taken_for_one() {
    let more: [(&str, Edit); 8] = [
        ("no response", |r| {
            drop(r.as_object_mut().unwrap().remove("response"));
        }),
        ("a choice that was not offered", |r| {
            r["response"]["choice_id"] = "sudo".into();
        }),
        ("two answers", |r| r["response"]["text"] = "x".into()),
        ("no answer", |r| {
            drop(r["response"].as_object_mut().unwrap().remove("choice_id"));
        }),
        ("a pending status", |r| r["status"] = "pending".into()),
        ("an expired status", |r| r["status"] = "expired".into()),
        ("an input that is none", |r| {
            r["response"]["updated_input"] = json!(5);
        }),
        ("a source that is none", |r| {
            r["response"]["source"] = "a b".into();
        }),
    ];
    let edits = more.map(|(name, edit)| {
        let damage = move |path: &Path, stored: &str| {
            let mut record: Value = serde_json::from_str(stored).unwrap();
            edit(&mut record);
            fs::write(path, record.to_string()).unwrap();
        };
        (name, Box::new(damage) as Damage)
    });
    // A settled record needs no deadline to be wrong about.
    for (name, damage) in damages()
        .into_iter()
        .chain(edits)
        .filter(|(name, _)| *name != "another status")
    {
        let world = Sandbox::new();
        let record = world.request(&TOOL);
        let id = text(&record, "id");
        world.json(&["answer", id, "--allow"]);
        damage(&world.settled(id), &world.stored(id));
        let wait = world.run(["wait", id, "--exit-status"]);
        assert_eq!(
            (wait.code, wait.stdout.as_str()),
            (1, ""),
            "{name}: {wait:?}"
        );
        assert_eq!(world.error(&["get", id])["code"], "corrupt", "{name}");
        let listed = world.run(["list", "--all"]);
        assert!(
            listed.code == 0 && listed.stderr.contains(id),
            "{name}: {listed:?}"
        );
        assert!(!listed.stdout.contains("answered"), "{name}: {listed:?}");
        assert_eq!(
            world
                .respond(&record, "r", &["--choice", "deny", "--json"])
                .error()["code"],
            "corrupt",
            "{name}"
        );
    }
}

#[test]
fn what_a_newer_version_wrote_is_shown_but_never_changed() {
    let world = Sandbox::new();
    let mut record = world.request(&["From the future?"]);
    let old = text(&record, "id").to_owned();
    world.json(&["cancel", &old]);
    record["id"] = "a".repeat(32).into();
    record["schema"] = 3.into();
    record["novelty"] = json!({"x": [1]});
    let record = world.plant(record);
    let id = text(&record, "id");
    let before = world.stored(id);
    let listed: Ran = world
        .command(["list"])
        .env("COLUMNS", "160")
        .output()
        .unwrap()
        .into();
    assert!(
        listed.stdout.contains("From the future?") && listed.stdout.contains("schema 3"),
        "{listed:?}"
    );
    assert!(world.run(["show", id]).stdout.contains("From the future?"));
    assert_eq!(world.json(&["show", id])["schema"], 3);
    let json = world.json(&["list"]);
    assert_eq!(
        (&json["count"], &json["interactions"][0]["id"]),
        (&json!(1), &record["id"])
    );
    for verb in [
        &["answer", id, "--allow"][..],
        &["cancel", id],
        &["wait", id],
    ] {
        let error = world.error(verb);
        assert_eq!(error["code"], "unavailable", "{verb:?}");
        assert!(text(&error, "message").contains("newer"));
    }
    world.run(["prune", "--older-than", "0s"]);
    world.json(&["request", "Another?"]);
    assert_eq!(world.stored(id), before);
}

#[test]
fn another_question_in_the_place_of_the_one_that_was_asked_is_no_answer() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "Delete everything?"]);
    let mut forged = until("the question", || {
        let id = text(&world.await_pending(), "id").to_owned();
        Some(world.get(&id))
    });
    let id = text(&forged, "id").to_owned();
    let now = sayso::time::Time::now().to_string();
    forged["prompt"] = "Delete nothing?".into();
    forged["status"] = "answered".into();
    forged["updated_at"] = now.clone().into();
    forged["answered_at"] = now.clone().into();
    forged["response"] = json!({
        "response_id": "r", "choice_id": "allow-once", "source": "cli", "answered_by": "me",
        "responder": {"uid": 0, "pid": 1}, "created_at": now,
    });
    // Well formed in itself: only its digest is another one.
    world.plant(forged);
    fs::remove_file(world.pending(&id)).unwrap();
    let ran = finish(ask);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(
        ran.stderr.contains("not the question that was asked"),
        "{ran:?}"
    );
}

#[test]
fn names_that_are_no_records_are_ignored() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let dir = world.scope().join("interactions/pending");
    let stored = world.stored(text(&record, "id"));
    for name in [
        "x.json",
        "A0000000000000000000000000000000.json",
        &format!("{}.json.tmp", "0".repeat(32)),
        ".hidden",
        &"0".repeat(32),
    ] {
        fs::write(dir.join(name), &stored).unwrap();
    }
    let listed = world.run(["list"]);
    assert_eq!(
        (listed.stdout.lines().count(), listed.stderr.as_str()),
        (2, "")
    );
}
