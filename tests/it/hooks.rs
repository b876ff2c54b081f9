//! Recorded inputs of real hosts in, exact outputs out; and silence on everything that goes wrong.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::hosts::{Hook, fixture};
use crate::sandbox::{Sandbox, finish, until};

const ALLOW: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;

#[test]
fn an_allow_is_exactly_an_allow() {
    for (host, name) in [
        ("claude", "claude-bash-PermissionRequest"),
        ("claude", "claude-write-PermissionRequest"),
        ("claude", "claude-python-PermissionRequest"),
        ("codex", "codex-bash-PermissionRequest"),
        ("codex", "codex-patch-PermissionRequest"),
    ] {
        let world = Sandbox::new();
        let ran =
            Hook::start(&world, host, "permission-request", &fixture(name)).answer(&["--allow"]);
        assert_eq!((ran.code, ran.stdout), (0, format!("{ALLOW}\n")), "{name}");
    }
}

#[test]
fn a_deny_carries_the_message_word_for_word_or_names_who_denied() {
    for (host, name) in [
        ("claude", "claude-bash-PermissionRequest"),
        ("codex", "codex-bash-PermissionRequest"),
    ] {
        let world = Sandbox::new();
        let message = "no \"way\" \\ é\u{202e}\n$(x)";
        let hook = Hook::start(&world, host, "permission-request", &fixture(name));
        let ran = hook.answer(&["--deny", "--message", message]);
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        let decision = json!({ "behavior": "deny", "message": message });
        assert_eq!(output["hookSpecificOutput"]["decision"], decision);
        assert_eq!(ran.stdout.lines().count(), 1);

        let hook = Hook::start(&world, host, "permission-request", &fixture(name));
        let ran = hook.answer(&["--deny", "--by", "Ada"]);
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            output["hookSpecificOutput"]["decision"]["message"],
            "Denied by Ada"
        );
    }
}

#[test]
fn the_record_holds_the_call_verbatim_and_who_asked() {
    let world = Sandbox::new();
    let input = r#"{"command":"ls  \"a b\"", "n":1.0,"z":null,"é":[1],"big":123456789012345678901234567890}"#;
    let payload = format!(
        r#"{{"session_id":"s1","prompt_id":"p1","cwd":"{}","tool_name":"Bash","tool_input":{input},"agent_id":"a7","agent_type":"Explore"}}"#,
        world.repo().display()
    );
    let hook = Hook::start(&world, "claude", "permission-request", payload.as_bytes());
    let listed = hook.pending();
    let raw = world.run(["get", listed["id"].as_str().unwrap()]).stdout;
    assert!(raw.contains(&format!(r#""input":{input}"#)), "{raw}");
    assert_eq!(listed["host"], "claude");
    assert_eq!(listed["agent"], "claude");
    assert_eq!(listed["prompt"], "Claude Code wants to run Bash");
    assert_eq!(listed["session_id"], "s1");
    assert_eq!(listed["turn_id"], "p1");
    assert_eq!(listed["agent_instance"], "Explore a7");
    assert_eq!(listed["project"], "shop");
    let ran = hook.answer(&["--allow"]);
    assert_eq!(ran.stdout, format!("{ALLOW}\n"));
}

#[test]
fn an_edited_input_and_remembered_rules_go_back_to_claude_verbatim() {
    let world = Sandbox::new();
    let rules = [
        r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":null}],"behavior":"allow","destination":"localSettings"}"#,
        r#"{"type":"setMode","mode":"acceptEdits","destination":"localSettings"}"#,
        r#"{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}"#,
    ];
    let payload = format!(
        r#"{{"tool_name":"Bash","tool_input":{{"command":"ls"}},"permission_suggestions":[{}]}}"#,
        rules.join(",")
    );
    let hook = Hook::start(&world, "claude", "permission-request", payload.as_bytes());
    let ran = hook.answer(&[
        "--allow",
        "--remember",
        "--updated-input",
        r#"{"command":"ls -l","x":1.0}"#,
    ]);
    let expected = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedInput":{{"command":"ls -l","x":1.0}},"updatedPermissions":[{}]}}}}}}"#,
        rules[0]
    );
    assert_eq!(ran.stdout, format!("{expected}\n"));
}

#[test]
fn codex_cannot_take_edits_and_the_operator_is_told_before() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "codex",
        "permission-request",
        &fixture("codex-bash-PermissionRequest"),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    for flags in [&["--updated-input", "{}"][..], &["--remember"]] {
        let mut args = vec!["answer", &id, "--allow", "--json"];
        args.extend(flags);
        let refused = world.run(args).error();
        assert_eq!(refused["code"], "invalid_answer");
        assert!(
            refused["message"].as_str().unwrap().contains("cannot take"),
            "{refused}"
        );
    }
    assert_eq!(hook.answer(&["--allow"]).stdout, format!("{ALLOW}\n"));
}

#[test]
fn a_question_tool_is_answered_with_its_questions_untouched() {
    let world = Sandbox::new();
    let payload = fixture("claude-askuserquestion-PermissionRequest");
    let given: Value = serde_json::from_slice(&payload).unwrap();
    let start = || Hook::start(&world, "claude", "permission-request", &payload);
    let decision = |ran: &crate::sandbox::Ran| -> Value {
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        output["hookSpecificOutput"]["decision"].clone()
    };
    let all = start().answer(&[
        "--select",
        "Colour=blue",
        "--select",
        "Which sections do you want?=Conclusion, final",
        "--select",
        "2=Intro",
    ]);
    let input = decision(&all)["updatedInput"].clone();
    assert_eq!(input["questions"], given["tool_input"]["questions"]);
    assert_eq!(
        input["answers"],
        json!({ "Which colour should we use?": "Blue", "Which sections do you want?": ["Conclusion, final", "Intro"] })
    );
    assert_eq!(input.get("response"), None);
    assert_eq!(input.get("annotations"), None);

    let some = decision(&start().answer(&["--other", "1=Mauve", "--text", "soon"]));
    assert_eq!(some["behavior"], "allow");
    assert_eq!(
        some["updatedInput"]["answers"],
        json!({ "Which colour should we use?": "Mauve" })
    );
    assert_eq!(
        some["updatedInput"]["annotations"],
        json!({ "Which colour should we use?": { "notes": "soon\nLeft unanswered: Which sections do you want?" } })
    );

    let note = decision(&start().answer(&["--text", "neither"]));
    assert_eq!(note["updatedInput"]["response"], "neither");
    assert_eq!(note["updatedInput"].get("answers"), None);

    let declined = decision(&start().answer(&["--deny", "--message", "later"]));
    assert_eq!(declined, json!({ "behavior": "deny", "message": "later" }));
}

#[test]
fn a_plan_is_allowed_with_its_own_input() {
    let world = Sandbox::new();
    let payload = br#"{"tool_name":"ExitPlanMode","tool_input":{"plan":"1. x","n":1.0}}"#;
    let ran = Hook::start(&world, "claude", "permission-request", payload).answer(&["--allow"]);
    assert!(
        ran.stdout
            .contains(r#""updatedInput":{"plan":"1. x","n":1.0}"#),
        "{}",
        ran.stdout
    );
}

#[test]
fn whatever_is_malformed_prints_nothing_and_exits_0() {
    let world = Sandbox::new();
    let long = format!(
        r#"{{"tool_name":"Bash","tool_input":{{"command":"{}"}}}}"#,
        "x".repeat(1 << 20)
    );
    let questions = r#"{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"a"},{"question":"a"}]}}"#;
    let inputs: Vec<&[u8]> = vec![
        b"",
        b"{",
        b"[]",
        b"null",
        b"\"x\"",
        b"{}",
        b"not json",
        b"\xff\xfe",
        b"{\"tool_name\":7}",
        b"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\",\"command\":\"rm\"}}",
        b"{\"tool_name\":\"AskUserQuestion\"}",
        b"{\"tool_name\":\"AskUserQuestion\",\"tool_input\":{\"questions\":[]}}",
        questions.as_bytes(),
        long.as_bytes(),
    ];
    for host in ["claude", "codex"] {
        for input in &inputs {
            // Codex has no question tool: to it that is a tool like any other.
            if host == "codex" && input.windows(15).any(|w| w == b"AskUserQuestion") {
                continue;
            }
            let ran = world.run_with(["hook", host, "permission-request"], input);
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (0, ""),
                "{host} {:?}",
                String::from_utf8_lossy(&input[..input.len().min(80)])
            );
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
    for args in [
        &["hook", "claude", "no-such-event"][..],
        &["hook", "nohost", "permission-request"],
        &["hook", "claude"],
        &["hook", "claude", "permission-request", "--bogus"],
        &["hook", "claude", "permission-request", "--timeout", "x"],
    ] {
        let ran = world.run_with(
            args.iter().copied(),
            &fixture("claude-bash-PermissionRequest"),
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {}", ran.stderr);
    }
    assert!(
        world.json(&["list", "--all"])["interactions"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_store_or_configuration_that_fails_prints_nothing() {
    let world = Sandbox::new();
    let input = fixture("claude-bash-PermissionRequest");
    std::fs::write(world.path().join("blocked"), "").unwrap();
    std::fs::write(world.path().join("bad.toml"), "agents = [").unwrap();
    for (name, value) in [
        ("SAYSO_HOME", world.path().join("blocked/store")),
        ("SAYSO_HOME", "relative".into()),
        ("SAYSO_CONFIG", world.path().join("bad.toml")),
        ("SAYSO_CONFIG", world.path().join("missing.toml")),
        ("SAYSO_SCOPE", "../x".into()),
    ] {
        let mut command = world.command(["hook", "claude", "permission-request"]);
        command.env(name, &value);
        let ran = crate::hosts::feed(command, &input);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{name} {value:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {}", ran.stderr);
    }
}

#[test]
fn no_answer_in_time_expires_the_question_and_prints_nothing() {
    let world = Sandbox::new();
    let input = fixture("codex-bash-PermissionRequest");
    let ran = world.run_with(
        ["hook", "codex", "permission-request", "--timeout", "1"],
        &input,
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let all = world.json(&["list", "--all", "-A"]);
    assert_eq!(all["interactions"][0]["status"], "expired");
}

#[test]
fn a_cancelled_question_prints_nothing() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    world.json(&["cancel", "-A", &id]);
    let ran = hook.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
}

#[test]
fn signals_and_a_closed_output_withdraw_the_question() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let world = Sandbox::new();
        let hook = Hook::start(
            &world,
            "claude",
            "permission-request",
            &fixture("claude-bash-PermissionRequest"),
        );
        let id = hook.pending()["id"].as_str().unwrap().to_owned();
        kill(Pid::from_raw(hook.pid() as i32), signal).unwrap();
        let ran = hook.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{signal}");
        assert_eq!(world.json(&["show", "-A", &id])["status"], "cancelled");
        let late = world
            .run(["answer", "-A", &id, "--allow", "--json"])
            .error();
        assert_eq!(late["code"], "not_pending");
    }
    let world = Sandbox::new();
    let mut hook = Hook::start(
        &world,
        "codex",
        "permission-request",
        &fixture("codex-bash-PermissionRequest"),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    hook.close_output();
    until("the question to be withdrawn", || {
        (world.json(&["show", "-A", &id])["status"] == "cancelled").then_some(())
    });
    assert_eq!(hook.finish().code, 0);
}

#[test]
fn after_sigkill_everyone_sees_that_nobody_waits() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    hook.kill();
    assert_eq!(world.json(&["show", "-A", &id])["waiting"], "no");
    assert_eq!(
        world.json(&["answer", "-A", &id, "--allow"])["delivery_state"],
        "unattended"
    );
}

#[test]
fn equal_calls_are_questions_of_their_own() {
    let world = Sandbox::new();
    let input = fixture("claude-bash-PermissionRequest");
    let first = Hook::start(&world, "claude", "permission-request", &input);
    let second = Hook::start(&world, "claude", "permission-request", &input);
    let ids = until("two questions", || {
        let list = world.json(&["list", "-A"]);
        let ids: Vec<String> = list["interactions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["id"].as_str().unwrap().to_owned())
            .collect();
        (ids.len() == 2).then_some(ids)
    });
    world.json(&["answer", "-A", &ids[0], "--allow"]);
    world.json(&["answer", "-A", &ids[1], "--deny"]);
    let outputs = [first.finish().stdout, second.finish().stdout];
    assert_eq!(
        outputs.iter().filter(|o| o.contains("\"allow\"")).count(),
        1,
        "{outputs:?}"
    );
    assert_eq!(
        outputs.iter().filter(|o| o.contains("\"deny\"")).count(),
        1,
        "{outputs:?}"
    );
}

#[test]
fn a_long_command_is_stored_and_shown_whole() {
    let world = Sandbox::new();
    let command: String = (0..5000).map(|i| format!("echo {i};")).collect();
    let payload = json!({ "tool_name": "Bash", "tool_input": { "command": command } }).to_string();
    let hook = Hook::start(&world, "claude", "permission-request", payload.as_bytes());
    let record = hook.pending();
    assert_eq!(record["tool"]["input"]["command"], command.as_str());
    let shown = world
        .run(["show", "-A", record["id"].as_str().unwrap()])
        .stdout;
    let text: String = shown
        .lines()
        .map(str::trim_start)
        .filter_map(|l| l.strip_prefix("│ ").or(l.strip_prefix("┆ ")))
        .collect();
    assert!(text.replace(' ', "").contains(&command.replace(' ', "")));
    hook.answer(&["--deny"]);
}

#[test]
fn the_scope_is_that_of_the_payloads_directory() {
    let world = Sandbox::new();
    let payload =
        json!({ "cwd": world.repo(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let mut command = world.command(["hook", "claude", "permission-request"]);
    command.current_dir("/").stdin(Stdio::piped());
    let hook = Hook::of(&world, command, payload.to_string().as_bytes());
    let asked = hook.pending()["id"].clone();
    assert_eq!(world.json(&["list"])["interactions"][0]["id"], asked);
    hook.answer(&["--allow"]);
}

#[test]
fn codex_output_has_no_member_that_it_refuses() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["hookSpecificOutput"],
        "properties": { "hookSpecificOutput": {
            "type": "object", "additionalProperties": false, "required": ["hookEventName", "decision"],
            "properties": {
                "hookEventName": { "const": "PermissionRequest" },
                "decision": {
                    "type": "object", "additionalProperties": false, "required": ["behavior"],
                    "properties": { "behavior": { "enum": ["allow", "deny"] }, "message": { "type": "string", "minLength": 1 } }
                }
            }
        } }
    });
    let validator = jsonschema::validator_for(&schema).unwrap();
    for answer in [
        &["--allow"][..],
        &["--allow", "--message", "go"],
        &["--deny"],
        &["--deny", "--message", "x"],
    ] {
        let world = Sandbox::new();
        let ran = Hook::start(
            &world,
            "codex",
            "permission-request",
            &fixture("codex-bash-PermissionRequest"),
        )
        .answer(answer);
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(validator.is_valid(&output), "{}", ran.stdout);
    }
    assert!(!validator.is_valid(&json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow", "updatedInput": {} } } })));
}

#[test]
fn a_finished_hook_leaves_nothing_running() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    let answered = world.json(&["answer", "-A", &id, "--allow"]);
    assert_eq!(answered["delivery_state"], "delivered");
    assert_eq!(hook.finish().code, 0);
    let waiting = world.start(["wait", "-A", &id]);
    assert_eq!(finish(waiting).stdout, "answered\n");
}

#[test]
fn a_signal_that_the_parent_ignores_stays_ignored() {
    let world = Sandbox::new();
    let mut command = std::process::Command::new("sh");
    world.dress(&mut command);
    command.args([
        "-c",
        "trap '' HUP; exec \"$0\" ask Deploy?",
        crate::sandbox::binary(),
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ask = command.spawn().unwrap();
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    let pid = nix::unistd::Pid::from_raw(ask.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGHUP).unwrap();
    world.json(&["answer", &id, "--allow"]);
    assert_eq!(finish(ask).code, 0);
}

#[test]
fn an_ask_whose_parent_is_gone_is_withdrawn() {
    let world = Sandbox::new();
    let mut command = std::process::Command::new("sh");
    world.dress(&mut command);
    let script = "\"$0\" ask Deploy? > answer & echo started; read line";
    command.args(["-c", script, crate::sandbox::binary()]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut shell = command.spawn().unwrap();
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    shell.kill().unwrap();
    shell.wait().unwrap();
    until("the question to be withdrawn", || {
        (world.get(&id)["status"] == "cancelled").then_some(())
    });
}
