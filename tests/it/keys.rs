//! Asking again under a key: the same question is found, another one takes its place.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, finish, text};

#[test]
fn the_same_question_under_a_key_is_reused_as_it_is() {
    let world = Sandbox::new();
    let first = world.request(&[
        "Deploy?",
        "--key",
        "k",
        "--session",
        "s1",
        "--agent-instance",
        "i1",
    ]);
    assert_eq!(first["reused"], false);
    fs::create_dir(world.repo().join("deep")).unwrap();
    let mut elsewhere = world.command([
        "request",
        "Deploy?",
        "--key",
        "k",
        "--session",
        "s2",
        "--agent-instance",
        "i2",
        "--ttl",
        "3600",
        "--json",
    ]);
    let again = crate::sandbox::Ran::from(
        elsewhere
            .current_dir(world.repo().join("deep"))
            .output()
            .unwrap(),
    )
    .data();
    assert_eq!(again["reused"], true);
    for member in [
        "id",
        "nonce",
        "request_digest",
        "created_at",
        "expires_at",
        "session_id",
        "cwd",
    ] {
        assert_eq!(again[member], first[member], "{member}");
    }
    let types: Vec<Value> = world.events().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(types, ["interaction_created"]);
}

#[test]
fn another_question_under_a_key_supersedes_and_wakes_the_waiter() {
    let world = Sandbox::new();
    let base = ["--choice", "allow:Yes", "--choice", "deny:No", "--key", "k"];
    let ask = |prompt: &str, more: &[&str]| {
        let args: Vec<&str> = [prompt].iter().chain(&base).chain(more).copied().collect();
        world.request(&args)
    };
    let first = ask("Deploy?", &[]);
    let waiter = world.start(["wait", text(&first, "id"), "--json"]);
    crate::sandbox::until("a lease", || {
        (world.get(text(&first, "id"))["waiting"] == "yes").then_some(())
    });
    let second = ask("Wipe the database?", &[]);
    let woken = finish(waiter).data();
    assert_eq!(
        (&woken["status"], &woken["superseded_by"]),
        (&json!("superseded"), &second["id"])
    );
    // The same ids with another label, detail, effect, tool or action are other questions too.
    let mut last = second;
    for more in [
        ["--choice-detail", "allow:now"],
        ["--effect", "allow=deny"],
        ["--tool", "Bash"],
        ["--action", "push"],
        ["--workflow", "w"],
        ["--task", "t"],
        ["--project", "p"],
    ] {
        let next = ask("Wipe the database?", &more);
        assert_eq!(next["reused"], false, "{more:?}");
        assert_eq!(
            world.get(text(&last, "id"))["superseded_by"],
            next["id"],
            "{more:?}"
        );
        last = next;
    }
    let refused = world
        .respond(&first, "r", &["--choice", "allow", "--json"])
        .error();
    assert_eq!(
        (&refused["code"], &refused["http_status"]),
        (&json!("not_pending"), &json!(400))
    );
    assert!(text(&refused, "message").contains("superseded"));
    assert_eq!(
        refused["details"]["superseded_by"],
        world.get(text(&first, "id"))["superseded_by"]
    );
    assert_eq!(world.json(&["list"])["interactions"][0]["id"], last["id"]);
}

#[test]
fn a_key_is_the_agents_own_and_terminal_records_are_never_reused() {
    let world = Sandbox::new();
    let one = world.request(&["Deploy?", "--key", "k", "--agent", "one"]);
    let two = world.request(&["Deploy?", "--key", "k", "--agent", "two"]);
    assert_ne!(one["id"], two["id"]);
    assert_eq!(world.json(&["list"])["count"], 2);
    world.json(&["answer", text(&one, "id"), "--allow"]);
    let again = world.request(&["Deploy?", "--key", "k", "--agent", "one"]);
    assert!(again["reused"] == false && again["id"] != one["id"]);
    world.json(&["cancel", text(&two, "id")]);
    let again = world.request(&["Deploy?", "--key", "k", "--agent", "two"]);
    assert!(again["reused"] == false && again["id"] != two["id"]);
    // One whose deadline has passed is not reused, although nobody swept it.
    let mut overdue = again.clone();
    overdue["id"] = "0".repeat(32).into();
    overdue["key"] = "dead".into();
    overdue["created_at"] = "2020-01-01T00:00:00.000000Z".into();
    overdue["updated_at"] = overdue["created_at"].clone();
    overdue["expires_at"] = "2020-01-01T00:10:00.000000Z".into();
    world.plant(overdue);
    let new = world.request(&["Deploy?", "--key", "dead", "--agent", "two"]);
    assert!(new["reused"] == false && new["id"] != "0".repeat(32));
    assert_eq!(world.get(&"0".repeat(32))["status"], "expired");
}

#[test]
fn several_pending_under_one_key_are_reduced_to_the_newest() {
    let world = Sandbox::new();
    let real = world.request(&["Deploy?", "--key", "k"]);
    let mut older = real.clone();
    older["id"] = "0".repeat(32).into();
    older["created_at"] = "2020-01-01T00:00:00.000000Z".into();
    older["updated_at"] = older["created_at"].clone();
    world.plant(older);
    assert_eq!(world.json(&["list"])["count"], 2);
    let again = world.request(&["Deploy?", "--key", "k"]);
    assert_eq!(
        (&again["id"], &again["reused"]),
        (&real["id"], &json!(true))
    );
    assert_eq!(world.get(&"0".repeat(32))["superseded_by"], real["id"]);
}

#[test]
fn two_hundred_requests_at_once_are_two_hundred_questions() {
    let world = Sandbox::new();
    let burst = |args: &[&str]| -> Vec<Value> {
        std::thread::scope(|scope| {
            let run = || (0..10).map(|_| world.request(args)).collect::<Vec<_>>();
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(run)).collect();
            threads
                .into_iter()
                .flat_map(|t| t.join().unwrap())
                .collect()
        })
    };
    let records = burst(&["Deploy?"]);
    for member in ["id", "nonce", "request_digest"] {
        let distinct: HashSet<&str> = records.iter().map(|r| text(r, member)).collect();
        assert_eq!(distinct.len(), 200, "{member}");
    }
    assert_eq!(world.json(&["list"])["count"], 200);
    let seqs: Vec<u64> = world
        .events()
        .iter()
        .map(|e| e["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=200).collect::<Vec<_>>());
    for nameless in [
        vec!["answer", "--allow"],
        vec!["respond", "--response-id", "r", "--choice", "allow-once"],
        vec!["answer"],
    ] {
        assert_eq!(world.error(&nameless)["exit_code"], 2);
    }
    let shared = burst(&["Deploy?", "--key", "k"]);
    let ids: HashSet<&str> = shared.iter().map(|r| text(r, "id")).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(shared.iter().filter(|r| r["reused"] == true).count(), 199);
    assert_eq!(world.json(&["list"])["count"], 201);
}
