//! The hooks of the other hosts: what they send, from their documentation, and what they are told.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hosts::Hook;
use crate::sandbox::{Ran, Sandbox, finish};

/// Asks through a host's hook and answers.
fn decided(host: &str, event: &str, payload: &Value, flags: &[&str]) -> (Value, String) {
    let world = Sandbox::new();
    let hook = Hook::start(&world, host, event, payload.to_string().as_bytes());
    let asked = hook.pending();
    assert_eq!(asked["host"], host);
    let ran = hook.answer(flags);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{ran:?}");
    (asked, ran.stdout.trim_end().to_owned())
}

/// What a hook prints for an input that it cannot use.
fn silent(host: &str, event: &str) -> Ran {
    let world = Sandbox::new();
    let ran = world.run_with(["hook", host, event], b"{");
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:?}");
    ran
}

#[test]
fn gemini_takes_allow_and_deny_and_is_denied_on_failure() {
    let call = json!({ "session_id": "s", "cwd": "/", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": { "command": "ls" } });
    let (asked, allowed) = decided("gemini", "before-tool", &call, &["--allow"]);
    assert_eq!(asked["tool"]["input"], json!({ "command": "ls" }));
    assert_eq!(asked["prompt"], "Gemini CLI wants to run run_shell_command");
    assert_eq!(allowed, r#"{"decision":"allow"}"#);
    let (_, denied) = decided(
        "gemini",
        "before-tool",
        &call,
        &["--deny", "--message", "no"],
    );
    assert_eq!(denied, r#"{"decision":"deny","reason":"no"}"#);
    assert_eq!(
        silent("gemini", "before-tool").stdout,
        "{\"decision\":\"deny\",\"reason\":\"sayso has no answer\"}\n"
    );
}

#[test]
fn copilot_takes_arguments_in_a_string_and_asks_on_failure() {
    let call = json!({ "sessionId": "s", "cwd": "/", "toolName": "bash", "toolArgs": "{\"command\":\"ls  -l\"}" });
    let (asked, allowed) = decided(
        "copilot",
        "pre-tool-use",
        &call,
        &["--allow", "--by", "Ada"],
    );
    assert_eq!(asked["tool"]["input"], json!({ "command": "ls  -l" }));
    assert_eq!(asked["session_id"], "s");
    assert_eq!(
        allowed,
        r#"{"permissionDecision":"allow","permissionDecisionReason":"Allowed by Ada"}"#
    );
    let (_, denied) = decided(
        "copilot",
        "pre-tool-use",
        &call,
        &["--deny", "--message", "no"],
    );
    assert_eq!(
        denied,
        r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#
    );
    let output: Value = serde_json::from_str(&silent("copilot", "pre-tool-use").stdout).unwrap();
    assert_eq!(output["permissionDecision"], "ask");
}

#[test]
fn cursor_shows_the_command_or_the_server_and_asks_on_failure() {
    let shell =
        json!({ "conversation_id": "c", "workspace_roots": ["/"], "command": "ls", "cwd": "/tmp" });
    let (asked, allowed) = decided(
        "cursor",
        "before-shell-execution",
        &shell,
        &["--allow", "--by", "Ada"],
    );
    assert_eq!(
        asked["tool"],
        json!({ "name": "Shell", "input": { "command": "ls", "cwd": "/tmp" } })
    );
    assert_eq!(asked["session_id"], "c");
    assert_eq!(
        allowed,
        r#"{"permission":"allow","user_message":"Allowed by Ada","agent_message":"Allowed by Ada"}"#
    );
    let mcp = json!({ "conversation_id": "c", "tool_name": "query", "tool_input": "{\"q\":1}", "url": "https://x" });
    let (asked, denied) = decided(
        "cursor",
        "before-mcp-execution",
        &mcp,
        &["--deny", "--message", "no"],
    );
    assert_eq!(
        asked["tool"]["input"],
        json!({ "server_url": "https://x", "arguments": { "q": 1 } })
    );
    assert_eq!(
        denied,
        r#"{"permission":"deny","user_message":"no","agent_message":"no"}"#
    );
    for event in ["before-shell-execution", "before-mcp-execution"] {
        let output: Value = serde_json::from_str(&silent("cursor", event).stdout).unwrap();
        assert_eq!(output["permission"], "ask");
    }
}

#[test]
fn opencode_and_pi_take_silence_for_their_own_prompt() {
    let request = json!({ "id": "per_1", "permission": "bash", "patterns": ["ls"], "metadata": { "command": "ls", "n": 1.0 } });
    let call = json!({ "hook_event_name": "permission.asked", "session_id": "s", "cwd": "/", "request": request });
    let (asked, allowed) = decided("opencode", "permission-ask", &call, &["--allow"]);
    assert_eq!(
        asked["tool"]["input"],
        json!({ "command": "ls", "n": 1.0, "patterns": ["ls"] })
    );
    assert_eq!(asked["tool"]["use_id"], "per_1");
    assert_eq!(allowed, r#"{"status":"allow"}"#);
    let (_, denied) = decided("opencode", "permission-ask", &call, &["--deny"]);
    assert_eq!(denied, r#"{"status":"deny"}"#);
    assert_eq!(silent("opencode", "permission-ask").stdout, "");

    let call = json!({ "session_id": "s", "cwd": "/", "tool_name": "bash", "tool_call_id": "t1", "tool_input": { "command": "ls" } });
    let (asked, allowed) = decided("pi", "tool-call", &call, &["--allow"]);
    assert_eq!(asked["tool"]["use_id"], "t1");
    assert_eq!(allowed, r#"{"block":false}"#);
    let (_, denied) = decided("pi", "tool-call", &call, &["--deny", "--message", "no"]);
    assert_eq!(denied, r#"{"block":true,"reason":"no"}"#);
    assert_eq!(silent("pi", "tool-call").stdout, "");
}

#[test]
fn an_edit_is_refused_for_a_host_that_cannot_take_it() {
    let world = Sandbox::new();
    let call = json!({ "tool_name": "bash", "tool_input": { "command": "ls" } });
    for (host, event) in [("gemini", "before-tool"), ("pi", "tool-call")] {
        let hook = Hook::start(&world, host, event, call.to_string().as_bytes());
        let id = hook.pending()["id"].as_str().unwrap().to_owned();
        let refused = world
            .run([
                "answer",
                "-A",
                &id,
                "--allow",
                "--updated-input",
                "{}",
                "--json",
            ])
            .error();
        assert_eq!(refused["code"], "invalid_answer", "{host}");
        hook.answer(&["--deny"]);
    }
}

/// Puts a program called `openclaw` where a poll finds it.
fn install_openclaw(world: &Sandbox, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let program = world.path().join("bin/openclaw");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    std::fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn start_poll(world: &Sandbox) -> Child {
    let mut command = world.command(["hook", "openclaw", "poll"]);
    let bin = world.path().join("bin");
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn an_openclaw_that_never_ends_is_waited_for_no_longer_than_its_limit() {
    let approval = json!({ "approvals": [{ "id": "a1", "kind": "exec", "summary": "ls" }] });
    // What it prints, whether it is read, and what is told.
    let rows = [
        ("sleep 600", false, "took too long"),
        (
            "trap '' TERM HUP INT; sleep 600 & wait; wait",
            false,
            "took too long",
        ),
        ("sleep 40 & exit 3", false, "exit status: 3"),
        (
            "while :; do echo 0123456789012345678901234567890123456789; done",
            false,
            "too much",
        ),
        ("printf '\\377'", false, "no text"),
        // Somebody whom it started holds its output.
        ("sleep 40 & echo \"$APPROVALS\"", true, ""),
        ("(sleep 40 &) ; echo \"$APPROVALS\"", true, ""),
    ];
    std::thread::scope(|threads| {
        for (script, opens, told) in rows {
            let approvals = approval.to_string();
            threads.spawn(move || {
                let world = Sandbox::new();
                install_openclaw(&world, &format!("APPROVALS='{approvals}'\n{script}\n"));
                let start = Instant::now();
                let ran = finish(start_poll(&world));
                assert_eq!((ran.code, &*ran.stdout), (0, ""), "{script}: {ran:?}");
                assert!(ran.stderr.contains(told), "{script}: {ran:?}");
                let open = world.json(&["list"])["count"] == 1;
                assert_eq!(open, opens, "{script}: {ran:?}");
                let limit = if opens { 10 } else { 19 };
                assert!(start.elapsed() < Duration::from_secs(limit), "{script}");
            });
        }
    });
}

#[test]
fn openclaws_approvals_become_questions_and_their_answers_are_brought_back_once() {
    let world = Sandbox::new();
    let listed = world.path().join("listed.json");
    let script = format!(
        "if [ \"$2\" = pending ]; then cat '{}'; else echo \"$@\" >> '{}/resolved'; fi\n",
        listed.display(),
        world.path().display()
    );
    install_openclaw(&world, &script);
    let pending = |expires: u64, age: u64| {
        let one = |id: &str, summary: &str| json!({ "id": id, "kind": "exec", "summary": summary, "ageMs": age, "expiresAtMs": expires });
        let list = json!({ "approvals": [one("a1", "ls"), one("a2", "rm -rf x"), { "summary": "no id" }] });
        std::fs::write(&listed, list.to_string()).unwrap();
    };
    let poll = || {
        let ran = finish(start_poll(&world));
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", "")
        );
    };
    let soon = 1000 * 4_000_000_000;
    pending(soon, 1);
    poll();
    pending(soon, 60_000);
    poll();
    let list = world.json(&["list"]);
    assert_eq!(list["count"], 2);
    let id = |summary: &str| {
        let all = list["interactions"].as_array().unwrap();
        let one = all
            .iter()
            .find(|r| r["tool"]["input"]["summary"] == summary)
            .unwrap();
        one["id"].as_str().unwrap().to_owned()
    };
    world.json(&["answer", &id("ls"), "--allow"]);
    world.json(&["answer", &id("rm -rf x"), "--deny"]);
    poll();
    poll();
    let resolved = std::fs::read_to_string(world.path().join("resolved")).unwrap();
    let mut lines: Vec<&str> = resolved.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "approvals resolve a1 allow-once",
            "approvals resolve a2 deny"
        ]
    );
}
