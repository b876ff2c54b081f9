//! `sayso arc`: who may answer, where an event is applied, for how long, and what is kept of it.

use std::fs;
use std::time::Duration;

use sayso::time::Time;
use serde_json::{Value, json};

use crate::arc::{accept, ahead, answer_to, asking, created, refuse, resolved};
use crate::sandbox::{NOT_FOUND, Ran, SELF_ANSWER, Sandbox, failure, text};

#[test]
fn an_agent_does_not_answer_itself_through_events() {
    let world = Sandbox::new();
    let run = |event: &Value, args: &[&str]| -> Ran {
        let file = world.path().join("event.json");
        fs::write(&file, event.to_string()).unwrap();
        let mut command = world.command(["arc", "--json"].iter().chain(args));
        command.arg(&file).env("CLAUDECODE", "1");
        command.output().unwrap().into()
    };
    let opened = run(&asking("e1", "codex", "k", "May I?"), &[]).data();
    let answer = answer_to(&world, &opened, "a1");
    failure(&run(&answer, &[]), SELF_ANSWER);
    assert_eq!(
        world.get(text(&opened["interaction"], "id"))["status"],
        "pending"
    );
    let done = run(&answer, &["--self-answer"]).data();
    let responder = &done["interaction"]["response"]["responder"];
    assert_eq!(responder["agent_session"], "CLAUDECODE");
    // Looking it up is answering too.
    failure(&run(&answer, &[]), SELF_ANSWER);
    run(&resolved("r1", "codex", "k"), &[]).data();
}

#[test]
fn the_scope_is_that_of_the_directory_where_it_exists() {
    let world = Sandbox::new();
    let other = world.path().join("other");
    fs::create_dir_all(&other).unwrap();
    let at = |event_id: &str, cwd: &str| {
        let mut event = created(event_id, "codex", "May I?", &ahead(600));
        event["context"] = json!({ "cwd": cwd });
        event
    };
    let here = accept(&world, &created("e0", "codex", "May I?", &ahead(600)));
    let there = accept(&world, &at("e1", other.to_str().unwrap()));
    assert_ne!(text(&here, "scope"), text(&there, "scope"));
    assert!(text(&there, "scope").starts_with("other-"));
    assert_eq!(there["interaction"]["project"], "other");
    let gone = accept(&world, &at("e2", "/no/such/place"));
    assert_eq!(gone["scope"], here["scope"]);
    assert_eq!(gone["interaction"]["project"], "place");
    let named = world.run_with(
        ["arc", "--json", "--scope", "mine"],
        at("e3", other.to_str().unwrap()).to_string().as_bytes(),
    );
    assert_eq!(named.data()["scope"], "mine");
    // What was applied there is found there, wherever it comes from again.
    let again = world.run_with(
        ["arc", "--json", "--scope", "mine"],
        at("e1", other.to_str().unwrap()).to_string().as_bytes(),
    );
    assert_eq!(again.data()["scope"], there["scope"]);
}

#[test]
fn a_question_is_open_for_as_long_as_its_sender_waits_and_an_hour_at_most() {
    let world = Sandbox::new();
    let soon = ahead(5);
    let short = accept(&world, &created("e1", "codex", "May I?", &soon));
    assert_eq!(short["interaction"]["expires_at"], soon);
    let before = Time::now();
    let long = accept(
        &world,
        &created("e2", "codex", "May I?", "2099-01-01T01:00:00+01:00"),
    );
    let until = Time::parse(text(&long["interaction"], "expires_at")).unwrap();
    let hour = Duration::from_secs(3600);
    assert!(until >= before.plus(hour) && until <= Time::now().plus(hour));
}

#[test]
fn what_was_applied_is_forgotten_with_the_questions() {
    let world = Sandbox::new();
    let first = accept(&world, &asking("e1", "codex", "k", "May I?"));
    accept(&world, &resolved("r1", "codex", "k"));
    let entries = || {
        let names = fs::read_dir(world.store().join("arc")).unwrap();
        names
            .filter(|e| e.as_ref().unwrap().path().extension().is_some())
            .count()
    };
    assert_eq!(entries(), 2);
    let age = |path: std::path::PathBuf| {
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(31 * 24 * 3600);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    for entry in fs::read_dir(world.store().join("arc")).unwrap() {
        age(entry.unwrap().path());
    }
    world.run(["prune", "--dry-run"]);
    assert_eq!(entries(), 2);
    // Looked up as ever, then forgotten, which happens at most once a day.
    let event = asking("e1", "codex", "k", "May I?");
    assert_eq!(accept(&world, &event)["replayed"], true);
    assert_eq!(entries(), 0);
    // The question itself is younger: the event is still known by it.
    assert_eq!(accept(&world, &event)["replayed"], true);
    assert_eq!(entries(), 1);
    for entry in fs::read_dir(world.store().join("arc")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some() {
            age(path);
        }
    }
    assert_eq!(accept(&world, &event)["replayed"], true);
    assert_eq!(entries(), 1);
    world.run(["prune"]);
    assert_eq!(entries(), 0);

    // Its place in the keys goes with the record.
    let id = text(&first["interaction"], "id");
    let old = Time::now()
        .minus(Duration::from_secs(40 * 24 * 3600))
        .to_string();
    let mut record: Value = serde_json::from_str(&world.stored(id)).unwrap();
    record["created_at"] = old.as_str().into();
    record["updated_at"] = old.as_str().into();
    world.plant(record);
    let keys = world.scope().join("interactions/keys");
    assert_eq!(fs::read_dir(&keys).unwrap().count(), 1);
    assert_eq!(world.json(&["prune"])["count"], 1);
    assert_eq!(fs::read_dir(&keys).unwrap().count(), 0);
    refuse(&world, &resolved("r9", "codex", "k"), NOT_FOUND);
}
