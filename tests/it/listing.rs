//! Listings, their filters and columns, and how an id or its prefix names a question.

use serde_json::Value;

use crate::sandbox::{INVALID_INPUT, NOT_FOUND, Ran, Sandbox, failure, finish, text};

/// The columns of each line, split at two blanks or more.
fn table(output: &str) -> Vec<Vec<&str>> {
    output
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|c| !c.is_empty())
                .collect()
        })
        .collect()
}

fn wide(world: &Sandbox, args: &[&str]) -> Ran {
    let mut command = world.command(args);
    command.env("COLUMNS", "120").output().unwrap().into()
}

/// The same question under an id of ours.
fn copy(world: &Sandbox, record: &Value, id: &str) -> Value {
    let mut copy = record.clone();
    copy["id"] = id.into();
    world.plant(copy)
}

fn prompts(list: &Value) -> Vec<&str> {
    list["interactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| text(r, "prompt"))
        .collect()
}

#[test]
fn a_listing_has_its_columns_oldest_first() {
    let world = Sandbox::new();
    let empty = world.run(["list"]);
    assert_eq!(
        (empty.code, empty.stdout.as_str(), empty.stderr.as_str()),
        (0, "", "no pending questions\n")
    );
    assert_eq!(world.run(["list", "--all"]).stderr, "no questions\n");
    let first = world.request(&["First?", "--agent", "claude", "--ttl", "3600"]);
    let ask = world.start(["ask", "Second?", "--kind", "text"]);
    crate::sandbox::until("two", || {
        (world.json(&["list"])["count"] == 2).then_some(())
    });
    let listed = wide(&world, &["list"]);
    let rows = table(&listed.stdout);
    assert_eq!(
        rows[0],
        ["ID", "AGE", "LEFT", "AGENT", "KIND", "WAITS", "SUMMARY"]
    );
    assert_eq!(
        rows[1][2..],
        ["59m", "claude", "permission", "no", "First?"]
    );
    assert_eq!(rows[2][3..], ["cli", "text", "yes", "Second?"]);
    assert!(text(&first, "id").starts_with(rows[1][0]) && rows[1][0].len() >= 4);
    assert_eq!(world.run(["show", rows[1][0]]).code, 0);
    world.json(&["answer", rows[1][0], "--allow"]);
    let all = wide(&world, &["list", "--all"]);
    let rows = table(&all.stdout);
    assert_eq!(rows[0][6..], ["STATUS", "SUMMARY"]);
    assert_eq!(
        rows[1][2..],
        ["-", "claude", "permission", "-", "answered", "First?"]
    );
    let json = world.json(&["list", "--all"]);
    assert_eq!(prompts(&json), ["First?", "Second?"]);
    assert_eq!(json["interactions"][1]["waiting"], "yes");
    assert_eq!(json["interactions"][0].get("waiting"), None);
    let every = table(&wide(&world, &["list", "-A"]).stdout)
        .remove(0)
        .join(" ");
    assert!(every.ends_with("PROJECT SUMMARY"), "{every}");
    world.json(&["cancel", text(&json["interactions"][1], "id")]);
    assert_eq!(finish(ask).code, 11);
}

#[test]
fn filters_match_exactly_and_the_limit_keeps_the_newest() {
    let world = Sandbox::new();
    world.request(&[
        "A?",
        "--agent",
        "one",
        "--project",
        "p",
        "--session",
        "s",
        "--workflow",
        "w",
        "--task",
        "t",
    ]);
    world.request(&["B?", "--agent", "two", "--kind", "text"]);
    let c = world.request(&["C?", "--agent", "one"]);
    world.json(&["answer", text(&c, "id"), "--deny"]);
    let d = world.request(&["D?"]);
    world.json(&["cancel", text(&d, "id")]);
    let rows: [(&[&str], &[&str]); 19] = [
        (&[], &["A?", "B?"]),
        (&["--pending"], &["A?", "B?"]),
        (&["--all"], &["A?", "B?", "C?", "D?"]),
        (&["--agent", "one"], &["A?"]),
        (&["--agent", "one", "--all"], &["A?", "C?"]),
        (&["--agent", "on"], &[]),
        (&["--project", "p"], &["A?"]),
        (&["--project", "shop"], &["B?"]),
        (&["--session", "s"], &["A?"]),
        (&["--workflow", "w"], &["A?"]),
        (&["--task", "t"], &["A?"]),
        (&["--task", ""], &[]),
        (&["--kind", "text"], &["B?"]),
        (&["--kind", "permission", "--status", "answered"], &["C?"]),
        (&["--status", "cancelled"], &["D?"]),
        (&["--status", "pending"], &["A?", "B?"]),
        (&["--limit", "1"], &["B?"]),
        (&["--all", "--limit", "2"], &["C?", "D?"]),
        (&["--limit", "0"], &[]),
    ];
    for (args, expected) in rows {
        let list = world.json(&[&["list"], args].concat());
        assert_eq!(prompts(&list), expected, "{args:?}");
        assert_eq!(list["count"], expected.len(), "{args:?}");
    }
    for _ in 0..52 {
        let record = world.request(&["many?"]);
        copy(
            &world,
            &record,
            &format!("{}{}", &text(&record, "id")[..16], "f".repeat(16)),
        );
    }
    assert_eq!(world.json(&["list"])["count"], 106);
    assert_eq!(world.json(&["list", "--all"])["count"], 50);
}

#[test]
fn a_prefix_is_resolved_within_the_scope_and_ambiguity_lists_the_candidates() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy to prod?", "--session", "s1", "--project", "p"]);
    let one = copy(&world, &record, &format!("abcd{}", "1".repeat(28)));
    let two = copy(&world, &record, &format!("abcd{}", "2".repeat(28)));
    assert_eq!(world.json(&["show", "abcd1"])["id"], one["id"]);
    assert_eq!(world.json(&["show", "ABCD1"])["id"], one["id"]);
    assert_eq!(world.json(&["answer", "abcd2", "--allow"])["id"], two["id"]);
    // What settled still counts: an id that is printed keeps its meaning.
    let error = failure(
        &world.run(["answer", "abcd", "--allow", "--json"]),
        INVALID_INPUT,
    );
    let candidates = error["details"]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2);
    assert!(
        candidates
            .iter()
            .all(|c| c["project"] == "p" && c["session_id"] == "s1")
    );
    let human = world.run(["show", "abcd"]);
    assert_eq!(human.code, 2);
    for part in [text(&one, "id"), text(&two, "id"), "p s1 Deploy to prod?"] {
        assert!(human.stderr.contains(part), "{human:?}");
    }
    for short in ["abc", "a", ""] {
        failure(&world.run(["show", short, "--json"]), INVALID_INPUT);
    }
    // Verbs of the asking side take no prefix.
    for verb in ["get", "wait", "cancel"] {
        failure(&world.run([verb, "abcd1", "--json"]), INVALID_INPUT);
    }
}

#[test]
fn the_ids_of_a_listing_are_unique_among_all_pending_ones() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?", "--agent", "one"]);
    let mut other = record.clone();
    other["agent"] = "two".into();
    copy(&world, &record, &format!("abcdef{}", "1".repeat(26)));
    copy(&world, &other, &format!("abcdef{}", "2".repeat(26)));
    let id = |args: &[&str]| {
        let listed = wide(&world, args);
        table(&listed.stdout).last().unwrap()[0].to_owned()
    };
    assert_eq!(id(&["list", "--agent", "two"]), "abcdef2");
    assert_eq!(world.run(["show", &id(&["list", "--limit", "1"])]).code, 0);
}

#[test]
fn an_id_of_another_scope_is_not_found_with_a_hint_that_names_it() {
    let world = Sandbox::new();
    let record = world.json(&["request", "Deploy?", "--scope", "other"]);
    let id = text(&record, "id");
    let all = ["show", "get", "cancel", "wait"].map(|verb| vec![verb, id]);
    let answer = vec!["answer", id, "--allow"];
    for args in all.into_iter().chain([answer]) {
        let human = world.run(&args);
        assert_eq!((human.code, human.stdout.as_str()), (3, ""), "{args:?}");
        assert!(human.stderr.contains("--scope other"), "{human:?}");
        failure(&world.run(args.iter().chain(&["--json"])), NOT_FOUND);
    }
    assert_eq!(world.json(&["show", &id[..6], "-A"])["id"], id);
    assert_eq!(world.json(&["get", id, "--scope", "other"])["id"], id);
    assert_eq!(world.json(&["list"])["count"], 0);
    let everywhere = world.json(&["list", "-A"]);
    assert_eq!(everywhere["interactions"][0]["scope"], "other");
    let mut outside = world.command(["list"]);
    let listed = Ran::from(
        outside
            .current_dir(world.path().join("tmp"))
            .output()
            .unwrap(),
    );
    assert!(listed.stdout.contains("Deploy?"), "{listed:?}");
    assert!(listed.stderr.contains("every scope"), "{listed:?}");
    let env = Ran::from(
        world
            .command(["count"])
            .env("SAYSO_SCOPE", "other")
            .output()
            .unwrap(),
    );
    assert_eq!(env.stdout, "1\n");
}
