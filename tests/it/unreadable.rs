//! Entries of the store's indexes and marks that cannot be read are named, and nothing is decided as if
//! they were not there.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::arc::{apply, resolved, submitted};
use crate::resumable::{Resumable, TELL};
use crate::sandbox::{NOT_FOUND, NOT_PENDING, Sandbox, UNAVAILABLE, failure, text};

/// What stands where a file should be, and cannot be read by anybody.
fn block(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir(path).unwrap();
}

fn only_file(dir: &Path) -> PathBuf {
    let mut entries = fs::read_dir(dir).unwrap();
    let path = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    path
}

#[test]
fn an_unreadable_entry_of_the_keys_is_not_taken_for_none() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?", "--key", "k", "--agent", "codex"]);
    let id = text(&record, "id");
    world.json(&["cancel", id]);
    let entry = only_file(&world.scope().join("interactions/keys"));
    let late = |event_id: &str| {
        let proofs = [text(&record, "request_digest"), text(&record, "nonce")];
        apply(&world, &submitted(event_id, "k", proofs[0], proofs[1]))
    };
    failure(&late("e1"), NOT_PENDING);
    let kept = fs::read(&entry).unwrap();
    block(&entry);
    let error = failure(&late("e2"), UNAVAILABLE);
    assert!(
        text(&error, "message").contains(entry.to_str().unwrap()),
        "{error}"
    );
    // Whoever looks for their own question under it, too.
    let error = failure(&apply(&world, &resolved("e3", "codex", "k")), UNAVAILABLE);
    assert!(
        text(&error, "message").contains(entry.to_str().unwrap()),
        "{error}"
    );
    fs::remove_dir(&entry).unwrap();
    // One that a power cut left empty is passed over with a warning.
    fs::write(&entry, "").unwrap();
    let ran = late("e4");
    failure(&ran, NOT_FOUND);
    assert!(ran.stderr.contains(entry.to_str().unwrap()), "{ran:?}");
    // As is a question that is corrupt: it is named.
    fs::write(&entry, kept).unwrap();
    block(&world.settled(id));
    let ran = late("e5");
    failure(&ran, NOT_FOUND);
    assert!(ran.stderr.contains(id), "{ran:?}");
    // An answer that names the question by its id is told why.
    let proofs = [text(&record, "request_digest"), text(&record, "nonce")];
    let by_id = apply(&world, &submitted("e6", id, proofs[0], proofs[1]));
    assert_eq!(by_id.error()["code"], "corrupt", "{by_id:?}");
}

#[test]
fn a_corrupt_question_is_named_where_its_key_may_be_the_one_that_is_asked_under() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?", "--key", "k"]);
    let id = text(&record, "id");
    fs::write(world.pending(id), "{").unwrap();
    let ran = world.run(["request", "Deploy?", "--key", "k"]);
    assert!(ran.code == 0 && ran.stderr.contains(id), "{ran:?}");
}

#[test]
fn prune_names_what_it_leaves() {
    let world = Sandbox::new();
    let [damaged, newer] = ["One?", "Two?"].map(|prompt| {
        let id = text(&world.request(&[prompt]), "id").to_owned();
        world.json(&["cancel", &id]);
        id
    });
    fs::write(world.settled(&damaged), "{").unwrap();
    let stored = world.stored(&newer);
    fs::write(
        world.settled(&newer),
        stored.replacen("\"schema\":1", "\"schema\":7", 1),
    )
    .unwrap();
    let ran = world.run(["prune", "--older-than", "0s"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "0 removed\n"),
        "{ran:?}"
    );
    for id in [&damaged, &newer] {
        let line = ran.stderr.lines().find(|line| line.contains(id.as_str()));
        assert!(line.unwrap().contains("not pruned"), "{ran:?}");
    }
}

#[test]
fn a_mark_that_cannot_be_read_is_named_and_resumes_nothing() {
    let damages: [fn(&Path); 3] = [
        block,
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, r#"{"state":"sleeping","at":"x"}"#).unwrap(),
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        let r = Resumable::new(TELL, &[]);
        let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q?" }));
        let id = text(&pending, "id");
        r.suspended("wf-2", "ask", &json!({ "question": "other?" }));
        let other = r.world.json(&["list", "--workflow", "wf-2"])["interactions"][0].clone();
        let marks = r.world.scope().join("interactions/marks");
        let mark = marks.join(format!("{id}.resume.json"));
        damage(&mark);
        let shown = mark.to_str().unwrap();
        let list = r.world.run(["workflow", "list"]);
        assert!(
            list.code == 0 && list.stderr.contains(shown) && list.stdout.contains("wf-2"),
            "{n}: {list:?}"
        );
        for verb in [&["show", id, "--json"][..], &["get", id]] {
            let ran = r.world.run(verb);
            assert!(ran.code == 0 && ran.stderr.contains(shown), "{n}: {ran:?}");
        }
        // The answer stands; that nothing went on is said.
        let done = r.answer(&pending, &["--text", "yes"]);
        assert_eq!(done["workflow_resume"]["resumed"], false, "{n}: {done}");
        assert!(
            text(&done["workflow_resume"], "error").contains(shown),
            "{n}: {done}"
        );
        let resumed = r.world.run(["workflow", "resume", "--id", "wf-1"]);
        assert!(
            [1, 7].contains(&resumed.code) && resumed.stderr.contains(shown),
            "{n}: {resumed:?}"
        );
        assert!(!r.out.exists(), "{n}");
        // No other workflow suffers.
        let done = r.answer(&other, &["--text", "go"]);
        assert_eq!(done["workflow_resume"]["resumed"], true, "{n}: {done}");
    }
}
