//! The spellings of the two older tools that mean verbs and options of this one.

use std::collections::BTreeSet;
use std::fs;

use crate::older::ran;
use crate::older_hook::under;
use crate::sandbox::{Sandbox, text};

#[test]
fn an_installation_writes_where_its_scope_says() {
    let (user, project) = ("home/.claude/settings.json", "shop/.claude/settings.json");
    for (args, there, elsewhere) in [
        (
            &["install-harness", "claude", "--ask", "--scope", "project"][..],
            project,
            user,
        ),
        (
            &["install-harness", "claude", "--ask", "--scope=project"],
            project,
            user,
        ),
        (
            &["--scope", "project", "install-harness", "claude", "--ask"],
            project,
            user,
        ),
        (
            &[
                "install", "harness", "claude", "--ask", "--scope", "project",
            ],
            project,
            user,
        ),
        (
            &[
                "harness", "install", "claude", "--ask", "--scope", "project",
            ],
            project,
            user,
        ),
        (
            &["harness", "install", "claude", "--ask", "--for", "project"],
            project,
            user,
        ),
        (
            &["install-harness", "claude", "--ask", "--scope", "user"],
            user,
            project,
        ),
        (&["install-harness", "claude", "--ask"], user, project),
    ] {
        let world = Sandbox::new();
        let run = || {
            let mut command = under(&world, "agentnotify");
            command.args(args);
            ran(command)
        };
        let first = run();
        assert_eq!(first.code, 0, "{args:?}: {first:?}");
        let file = world.path().join(there);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{args:?}: {first:?}"));
        assert!(text.contains("permission-request"), "{args:?}");
        assert!(!world.path().join(elsewhere).exists(), "{args:?}");
        // An entry that was written under an older name is known again.
        assert!(run().stdout.contains("nothing to change"), "{args:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    let world = Sandbox::new();
    let other = world.run(["install-harness", "claude", "--ask", "--scope", "shop"]);
    assert_eq!(other.code, 2, "{other:?}");
    assert!(!world.path().join(user).exists() && !world.path().join(project).exists());
}

#[test]
fn the_other_tools_spellings_mean_this_ones_verbs() {
    let world = Sandbox::new();
    let animus = |args: &[&str]| {
        let mut command = under(&world, "animus");
        command.args(args).current_dir(world.path().join("home"));
        ran(command)
    };
    let root = world.repo().display().to_string();
    let at = ["--project-root", root.as_str()];
    let asked = world.request(&["Deploy?", "--agent", "swe"]);
    let id = text(&asked, "id");
    for args in [
        [&at[..], &["agent", "interactions", "list", "--json"]].concat(),
        [&["agent", "interactions", "list", "--json"], &at[..]].concat(),
        [
            &["agent", "interactions", "list", "--json", "--agent", "swe"],
            &at[..],
        ]
        .concat(),
    ] {
        assert_eq!(animus(&args).data()["count"], 1, "{args:?}");
    }
    let elsewhere = [
        "--project-root",
        "/",
        "agent",
        "interactions",
        "list",
        "--json",
    ];
    assert_eq!(animus(&elsewhere).data()["count"], 0);
    let answer = ["agent", "interactions", "answer", id, "--deny", "--json"];
    let answered = animus(&[&at[..], &answer].concat()).data();
    assert_eq!(answered["status"], "answered");
    let events = animus(&[&at[..], &["daemon", "events", "--limit", "1"]].concat());
    assert_eq!(
        (events.code, events.stdout.lines().count()),
        (0, 1),
        "{events:?}"
    );
}

#[test]
fn every_option_has_the_older_spelling_too() {
    /// The spellings of an option, each for the other.
    const PAIRS: [(&str, &str); 5] = [
        ("agent", "agent-id"),
        ("session", "session-id"),
        ("workflow", "workflow-id"),
        ("task", "task-id"),
        ("device", "device-id"),
    ];
    fn look(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        for option in command.get_arguments() {
            let aliases = option.get_all_aliases().unwrap_or_default();
            let spelt: Vec<&str> = option.get_long().into_iter().chain(aliases).collect();
            for (one, other) in PAIRS {
                if spelt.contains(&one) || spelt.contains(&other) {
                    let both = spelt.contains(&one) && spelt.contains(&other);
                    assert!(both, "{path}: {spelt:?}");
                    found.insert(format!("{path} {one}"));
                }
            }
        }
        for sub in command.get_subcommands() {
            look(sub, &format!("{path} {}", sub.get_name()), found);
        }
    }
    let mut found = BTreeSet::new();
    let mut root = sayso::cli::full_command();
    root.build();
    look(&root, "sayso", &mut found);
    look(&sayso::cli::older::group(), "interactions", &mut found);
    assert!(found.len() >= 25, "{found:?}");
    assert!(found.contains("sayso hook agent") && found.contains("sayso respond device"));
}

#[test]
fn the_migration_topic_names_every_old_spelling_and_its_new_one() {
    let world = Sandbox::new();
    let help = world.run(["help", "migration"]);
    assert_eq!(help.code, 0);
    for (old, new) in [
        ("interactions request", "request TEXT"),
        ("interactions wait", "wait ID"),
        ("interactions respond", "answer ID --allow"),
        ("interactions poll-responses", "relay poll"),
        ("install-harness HOST --scope project", "--for project"),
        ("agent interactions list", "list"),
        ("daemon events", "events"),
        ("--project-root", "--repo"),
        ("ANIMUS_MCP_AGENT_ID", "SAYSO_MCP_AGENT_ID"),
        ("ANIMUS_MCP_WORKFLOW_ID", "SAYSO_MCP_WORKFLOW_ID"),
        ("animus.agent.ask", "ask"),
        ("animus.interactions.answer", "interactions_answer"),
    ] {
        let row = help
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with(old));
        let row = row.unwrap_or_else(|| panic!("no row for {old}"));
        assert!(row.contains(new), "{row}");
    }
    let overview = world.run(["help"]).stdout;
    for hidden in ["agentnotify", "animus", "project-root", "poll-responses"] {
        assert!(!overview.contains(hidden), "{hidden}");
    }
}
