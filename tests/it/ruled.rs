//! The approval policy through the hooks: allow and deny print at once, ask opens a question, and a
//! policy that cannot be read never allows.

use serde_json::{Value, json};

use crate::hosts::feed;
use crate::sandbox::{Ran, Sandbox};

const POLICY: &str = r#"
[agents.claude.approval_policy]
auto_allow = ["git *", "cargo *"]
auto_deny = ["git push*", "rm *"]

[agents.codex.approval_policy]
auto_allow = ["git *", "cargo *"]
auto_deny = ["git push*", "rm *"]
"#;

/// The table of the specification: commands and their verdicts.
const TABLE: &[(&str, &str)] = &[
    ("git log --grep=push", "allow"),
    ("git stash push", "allow"),
    ("cargo test 2>&1 | git hash-object --stdin", "allow"),
    ("git push", "deny"),
    ("git  push", "deny"),
    ("git\tpush origin", "deny"),
    ("git -C . push", "deny"),
    ("git -c \"user.name=a b\" push", "deny"),
    ("env A=1 git push", "deny"),
    ("sudo git push", "deny"),
    ("/usr/bin/git push", "deny"),
    ("sh -lc 'git push'", "deny"),
    ("git log; rm -rf y", "deny"),
    ("git log && rm -rf y", "deny"),
    ("git log $(rm y)", "deny"),
    ("git log `rm y`", "deny"),
    ("git log & rm y", "deny"),
    ("git log\nrm -rf y", "deny"),
    ("git push\u{200b}", "deny"),
    ("(cd x; rm y)", "deny"),
    ("git log >(rm y)", "deny"),
    ("git pu\\\nsh", "deny"),
    ("git log && curl x | sh", "ask"),
    ("git status > ~/.bashrc", "ask"),
    ("cargo", "ask"),
    ("GIT PUSH", "ask"),
    ("git \"unterminated", "ask"),
    ("/tmp/evil/git log", "ask"),
    ("git $X", "ask"),
    ("git {push,}", "ask"),
    ("git pus[h]", "ask"),
    ("git $'\\x70ush'", "ask"),
    ("", "ask"),
];

fn ruled(world: &Sandbox, host: &str, event: &str, command: &str) -> Ran {
    let payload = json!({ "session_id": "s", "cwd": world.repo(), "tool_name": "Bash", "tool_input": { "command": command } });
    // What a policy does not decide is asked, and nobody answers within no time.
    let mut hook = world.command(["hook", host, event, "--timeout", "0"]);
    hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
    feed(hook, payload.to_string().as_bytes())
}

fn behavior(ran: &Ran) -> String {
    if ran.stdout.is_empty() {
        return "ask".into();
    }
    let output: Value = serde_json::from_str(&ran.stdout).unwrap();
    output["hookSpecificOutput"]["decision"]["behavior"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_table_of_verdicts_holds_through_the_hooks() {
    for host in ["claude", "codex"] {
        let world = Sandbox::new();
        std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
        for (command, verdict) in TABLE {
            let ran = ruled(&world, host, "permission-request", command);
            assert_eq!(behavior(&ran), *verdict, "{host} {command:?}: {ran:?}");
        }
        let asked = TABLE
            .iter()
            .filter(|(_, verdict)| *verdict == "ask")
            .count();
        let records = world.json(&["list", "--all", "--limit", "100"]);
        assert_eq!(records["count"], asked);
        let decided: Vec<Value> = world
            .events()
            .into_iter()
            .filter(|e| e["type"] == "policy_decided")
            .collect();
        assert_eq!(decided.len(), TABLE.len());
        for event in &decided {
            assert_eq!(event["tool"], "Bash");
            assert_eq!(event.get("summary"), None);
        }
        let log = std::fs::read_to_string(world.scope().join("events.jsonl")).unwrap();
        assert!(!log.contains("hash-object") && !log.contains(".bashrc"));
    }
}

#[test]
fn a_gate_prints_the_policys_verdict_in_its_own_words() {
    let world = Sandbox::new();
    std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
    let verdict = |command: &str| {
        let ran = ruled(&world, "claude", "pre-tool-use", command);
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        output["hookSpecificOutput"].clone()
    };
    assert_eq!(verdict("git log")["permissionDecision"], "allow");
    let denied = verdict("git push");
    assert_eq!(denied["permissionDecision"], "deny");
    let reason = denied["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("auto_deny[0]") && reason.contains("config.toml:4:"),
        "{reason}"
    );
    assert_eq!(verdict("ls")["permissionDecision"], "ask");
}

#[test]
fn a_policy_that_cannot_be_read_never_allows() {
    let world = Sandbox::new();
    std::fs::write(
        world.path().join("config.toml"),
        format!("{POLICY}\nbroken = ["),
    )
    .unwrap();
    let ran = ruled(&world, "claude", "permission-request", "git log");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("config.toml:"), "{}", ran.stderr);
    std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
    std::fs::write(
        world.repo().join(".sayso.toml"),
        "[agents.claude.approval_policy]\nauto_allow = [\"*\"]\n",
    )
    .unwrap();
    let ran = ruled(&world, "claude", "permission-request", "git log");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains(".sayso.toml:"), "{}", ran.stderr);
}

#[test]
fn a_repositorys_file_tightens() {
    let world = Sandbox::new();
    std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
    std::fs::write(
        world.repo().join(".sayso.toml"),
        "[agents.claude.approval_policy]\nauto_deny = [\"cargo publish*\"]\n",
    )
    .unwrap();
    assert_eq!(
        behavior(&ruled(
            &world,
            "claude",
            "permission-request",
            "cargo publish"
        )),
        "deny"
    );
    assert_eq!(
        behavior(&ruled(&world, "claude", "permission-request", "cargo test")),
        "allow"
    );
}

#[test]
fn an_allow_that_leaves_no_event_is_not_given_and_a_deny_is() {
    let world = Sandbox::new();
    std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
    ruled(&world, "claude", "permission-request", "git log");
    let log = world.scope().join("events.jsonl");
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    assert_eq!(
        behavior(&ruled(&world, "claude", "permission-request", "git log")),
        "ask"
    );
    assert_eq!(
        behavior(&ruled(&world, "claude", "permission-request", "git push")),
        "deny"
    );
}

#[test]
fn a_payload_cannot_choose_whose_policy_counts() {
    let world = Sandbox::new();
    let open = "[agents.open.approval_policy]\ndefault = \"allow\"\n[agents.claude.approval_policy]\ndefault = \"deny\"\n";
    std::fs::write(world.path().join("config.toml"), open).unwrap();
    let payload = json!({ "agent": "open", "agent_id": "open", "agent_type": "open", "cwd": world.repo(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let mut hook = world.command(["hook", "claude", "permission-request", "--timeout", "0"]);
    hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
    assert_eq!(
        behavior(&feed(hook, payload.to_string().as_bytes())),
        "deny"
    );
}

#[test]
fn a_blank_agent_is_none() {
    let world = Sandbox::new();
    let policy = "[agents.claude.approval_policy]\ndefault = \"deny\"\n[agents.\"*\".approval_policy]\ndefault = \"allow\"\n";
    std::fs::write(world.path().join("config.toml"), policy).unwrap();
    let payload =
        json!({ "cwd": world.repo(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for agent in ["", "  "] {
        let mut hook = world.command([
            "hook",
            "claude",
            "permission-request",
            "--timeout",
            "0",
            "--agent",
            agent,
        ]);
        hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
        assert_eq!(
            behavior(&feed(hook, payload.to_string().as_bytes())),
            "deny"
        );
    }
}

#[test]
fn a_repositorys_file_counts_where_the_payloads_directory_is_absent_or_gone() {
    let world = Sandbox::new();
    std::fs::write(
        world.path().join("config.toml"),
        "[agents.\"*\".approval_policy]\ndefault = \"allow\"\n",
    )
    .unwrap();
    std::fs::write(
        world.repo().join(".sayso.toml"),
        "[agents.\"*\".approval_policy]\ndefault = \"deny\"\n",
    )
    .unwrap();
    for cwd in [
        Value::Null,
        json!("/no/such/directory"),
        json!("."),
        json!(""),
    ] {
        let payload = json!({ "cwd": cwd, "tool_name": "x", "tool_input": {} });
        let mut hook = world.command(["hook", "gemini", "before-tool", "--timeout", "0"]);
        hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
        let ran = feed(hook, payload.to_string().as_bytes());
        assert!(ran.stdout.contains("\"deny\""), "{cwd}: {ran:?}");
    }
    let mut hook = world.command(["hook", "claude", "permission-request", "--timeout", "0"]);
    hook.env("SAYSO_CONFIG", world.path().join("config.toml"))
        .env("CLAUDE_PROJECT_DIR", "/no/such/directory");
    let ran = feed(hook, br#"{"tool_name":"x","tool_input":{}}"#);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
}

#[test]
fn long_and_deep_commands_do_not_keep_a_gate_from_its_word() {
    let world = Sandbox::new();
    let policy = "[agents.claude.approval_policy]\nauto_deny = [\"rm *\"]\ndefault = \"allow\"\n";
    std::fs::write(world.path().join("config.toml"), policy).unwrap();
    for command in [
        "ls;".repeat(20_000) + "rm x",
        "$(".repeat(3000),
        "\"$(".repeat(4000),
        "a|".repeat(20_000),
    ] {
        let ran = ruled(&world, "claude", "pre-tool-use", &command);
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        let decision = output["hookSpecificOutput"]["permissionDecision"]
            .as_str()
            .unwrap();
        assert_ne!(decision, "allow", "{} characters", command.len());
    }
}

#[test]
fn a_submodules_own_file_tightens() {
    let world = Sandbox::new();
    std::fs::write(world.path().join("config.toml"), POLICY).unwrap();
    let git_dir = world.repo().join(".git/modules/sub");
    let sub = world.repo().join("sub");
    for dir in [&git_dir.join("objects"), &git_dir.join("refs"), &sub] {
        std::fs::create_dir_all(dir).unwrap();
    }
    std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
    std::fs::write(
        sub.join(".sayso.toml"),
        "[agents.claude.approval_policy]\nauto_deny = [\"git log*\"]\n",
    )
    .unwrap();
    let payload =
        json!({ "cwd": sub, "tool_name": "Bash", "tool_input": { "command": "git log" } });
    let mut hook = world.command(["hook", "claude", "permission-request", "--timeout", "0"]);
    hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
    assert_eq!(
        behavior(&feed(hook, payload.to_string().as_bytes())),
        "deny"
    );
    assert_eq!(
        behavior(&ruled(&world, "claude", "permission-request", "git log")),
        "allow"
    );
}
