//! Gates, elicitation, reconciling and suspending: Claude Code's other events.

use serde_json::{Value, json};

use crate::hosts::{Hook, feed, fixture};
use crate::sandbox::{Ran, Sandbox, until};

fn output(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{ran:?}");
    let output: Value = serde_json::from_str(&ran.stdout).unwrap();
    output["hookSpecificOutput"].clone()
}

fn gate(world: &Sandbox, flags: &[&str]) -> Value {
    output(
        &Hook::start(
            world,
            "claude",
            "pre-tool-use",
            &fixture("claude-bash-PreToolUse"),
        )
        .answer(flags),
    )
}

#[test]
fn a_gate_prints_the_decision_in_its_own_words() {
    let world = Sandbox::new();
    assert_eq!(
        gate(&world, &["--allow", "--by", "Ada"]),
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "Allowed by Ada" })
    );
    assert_eq!(
        gate(&world, &["--deny", "--message", "no"]),
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no" })
    );
    let edited = gate(
        &world,
        &["--allow", "--updated-input", r#"{"command":"true"}"#],
    );
    assert_eq!(edited["updatedInput"], json!({ "command": "true" }));
}

#[test]
fn a_gate_asks_on_every_failure() {
    let world = Sandbox::new();
    let input = fixture("claude-bash-PreToolUse");
    std::fs::write(world.path().join("bad.toml"), "agents = [").unwrap();
    let mut runs: Vec<(String, Ran)> = Vec::new();
    for bad in [&b""[..], b"{", b"[]", b"{}", b"\xff"] {
        runs.push((
            format!("{bad:?}"),
            world.run_with(["hook", "claude", "pre-tool-use"], bad),
        ));
    }
    runs.push((
        "flag".into(),
        world.run_with(["hook", "claude", "pre-tool-use", "--bogus"], &input),
    ));
    runs.push((
        "expiry".into(),
        world.run_with(["hook", "claude", "pre-tool-use", "--timeout", "1"], &input),
    ));
    for (name, value) in [
        ("SAYSO_CONFIG", world.path().join("bad.toml")),
        ("SAYSO_HOME", "relative".into()),
    ] {
        let mut command = world.command(["hook", "claude", "pre-tool-use"]);
        command.env(name, value);
        runs.push((name.into(), feed(command, &input)));
    }
    let hook = Hook::start(&world, "claude", "pre-tool-use", &input);
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    world.json(&["cancel", "-A", &id]);
    runs.push(("cancelled".into(), hook.finish()));
    let hook = Hook::start(&world, "claude", "pre-tool-use", &input);
    hook.pending();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(hook.pid() as i32),
        nix::sys::signal::Signal::SIGTERM,
    )
    .unwrap();
    runs.push(("SIGTERM".into(), hook.finish()));
    for (name, ran) in &runs {
        assert_eq!(output(ran)["permissionDecision"], "ask", "{name}");
    }
}

fn elicit(world: &Sandbox, schema: &Value, flags: &[&str]) -> Value {
    let payload = json!({ "session_id": "s", "mcp_server_name": "x", "message": "Pick", "mode": "form", "requested_schema": schema });
    output(
        &Hook::start(
            world,
            "claude",
            "elicitation",
            payload.to_string().as_bytes(),
        )
        .answer(flags),
    )
}

#[test]
fn an_elicitation_is_a_form_whose_answers_have_the_schemas_types() {
    let world = Sandbox::new();
    let schema = json!({
        "type": "object",
        "properties": {
            "colour": { "type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"] },
            "count": { "type": "integer", "title": "How many", "minimum": 1, "maximum": 9 },
            "sure": { "type": "boolean" },
            "mail": { "type": "string", "format": "email" },
            "parts": { "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] } }
        },
        "required": ["colour", "count"]
    });
    let accepted = elicit(
        &world,
        &schema,
        &[
            "--select",
            "colour=Blue",
            "--other",
            "How many=3",
            "--select",
            "sure=true",
            "--other",
            "mail=a@b.c",
            "--select",
            "parts=a,c",
        ],
    );
    assert_eq!(
        accepted,
        json!({
            "hookEventName": "Elicitation", "action": "accept",
            "content": { "colour": "blue", "count": 3, "sure": true, "mail": "a@b.c", "parts": ["a", "c"] }
        })
    );
    let declined = elicit(&world, &schema, &["--deny"]);
    assert_eq!(
        declined,
        json!({ "hookEventName": "Elicitation", "action": "decline" })
    );
}

#[test]
fn an_elicitations_answer_is_checked_when_it_is_given() {
    let world = Sandbox::new();
    let schema = json!({ "type": "object", "properties": {
        "n": { "type": "integer", "minimum": 1, "maximum": 9 }, "t": { "type": "string", "minLength": 2 }
    }, "required": ["n"] });
    let payload = json!({ "mcp_server_name": "x", "message": "Pick", "mode": "form", "requested_schema": schema });
    let hook = Hook::start(
        &world,
        "claude",
        "elicitation",
        payload.to_string().as_bytes(),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    for bad in [
        &["--other", "n=x"][..],
        &["--other", "n=1.5"],
        &["--other", "n=0"],
        &["--other", "n=10"],
        &["--other", "t=xx"],
        &["--other", "n=1", "--other", "t=x"],
        &["--other", "n=1", "--text", "beside"],
    ] {
        let mut args = vec!["answer", "-A", &id, "--json"];
        args.extend(bad);
        assert_eq!(world.run(args).error()["code"], "invalid_answer", "{bad:?}");
    }
    assert_eq!(
        output(&hook.answer(&["--other", "n=9"]))["content"],
        json!({ "n": 9 })
    );
}

#[test]
fn an_elicitation_that_cannot_be_asked_prints_nothing() {
    let world = Sandbox::new();
    for payload in [
        json!({ "mcp_server_name": "x", "message": "go", "mode": "url", "url": "https://x" }),
        json!({ "mcp_server_name": "x", "message": "go", "mode": "form", "requested_schema": { "type": "object", "properties": { "o": { "type": "object" } } } }),
        json!({ "mcp_server_name": "x", "message": "go", "mode": "form", "requested_schema": { "type": "object", "properties": { "o": { "type": "string", "pattern": "^x" } } } }),
        json!({ "mcp_server_name": "x", "message": "", "mode": "form", "requested_schema": { "properties": { "o": { "type": "string" } } } }),
    ] {
        let ran = world.run_with(
            ["hook", "claude", "elicitation"],
            payload.to_string().as_bytes(),
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{payload}");
    }
}

#[test]
fn the_recorded_elicitation_is_answered() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "claude",
        "elicitation",
        &fixture("claude-Elicitation"),
    );
    assert_eq!(hook.pending()["prompt"], "Pick a colour");
    assert_eq!(
        output(&hook.answer(&["--select", "colour=blue"]))["content"],
        json!({ "colour": "blue" })
    );
}

fn tell(world: &Sandbox, event: &str, payload: &Value) {
    let ran = world.run_with(["hook", "claude", event], payload.to_string().as_bytes());
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", ""),
        "{event}"
    );
}

fn call(session: &str, command: &str) -> Value {
    json!({ "session_id": session, "tool_name": "Bash", "tool_input": { "command": command } })
}

fn with(mut payload: Value, name: &str, value: Value) -> Value {
    payload.as_object_mut().unwrap().insert(name.into(), value);
    payload
}

#[test]
fn what_the_host_decided_itself_is_withdrawn() {
    for event in [
        "post-tool-use",
        "post-tool-use-failure",
        "permission-denied",
    ] {
        let world = Sandbox::new();
        let asked = call("s", "ls");
        let hook = Hook::start(
            &world,
            "claude",
            "permission-request",
            asked.to_string().as_bytes(),
        );
        let id = hook.pending()["id"].as_str().unwrap().to_owned();
        for other in [
            call("other", "ls"),
            call("s", "rm"),
            with(call("s", "ls"), "tool_name", json!("Write")),
        ] {
            tell(&world, event, &other);
        }
        assert_eq!(
            world.json(&["show", "-A", &id])["status"],
            "pending",
            "{event}"
        );
        tell(&world, event, &asked);
        assert_eq!(hook.finish().stdout, "");
        assert_eq!(
            world.json(&["show", "-A", &id])["status"],
            "cancelled",
            "{event}"
        );
        let cancelled = world.events().pop().unwrap();
        assert_eq!(cancelled["by"], "answered at the host");
    }
}

#[test]
fn a_call_that_started_before_the_question_was_asked_did_not_decide_it() {
    let world = Sandbox::new();
    let asked = call("s", "ls");
    let hook = Hook::start(
        &world,
        "claude",
        "permission-request",
        asked.to_string().as_bytes(),
    );
    let id = hook.pending()["id"].as_str().unwrap().to_owned();
    tell(
        &world,
        "post-tool-use",
        &with(asked.clone(), "duration_ms", json!(3_600_000)),
    );
    assert_eq!(world.json(&["show", "-A", &id])["status"], "pending");
    tell(
        &world,
        "post-tool-use",
        &with(asked, "duration_ms", json!(0)),
    );
    assert_eq!(hook.finish().stdout, "");
}

#[test]
fn the_end_of_a_turn_spares_sub_agents_and_the_end_of_a_session_does_not() {
    for event in ["stop", "user-prompt-submit"] {
        let world = Sandbox::new();
        let sub = with(call("s", "ls"), "agent_id", json!("a1"));
        let sub = Hook::start(
            &world,
            "claude",
            "permission-request",
            sub.to_string().as_bytes(),
        );
        sub.pending();
        let own = Hook::start(
            &world,
            "claude",
            "permission-request",
            call("s", "ls").to_string().as_bytes(),
        );
        until("two questions", || {
            (world.json(&["list", "-A"])["count"] == 2).then_some(())
        });
        tell(&world, event, &json!({ "session_id": "s" }));
        assert_eq!(own.finish().stdout, "");
        assert_eq!(world.json(&["list", "-A"])["count"], 1, "{event}");
        tell(&world, "session-end", &json!({ "session_id": "s" }));
        assert_eq!(sub.finish().stdout, "");
        assert_eq!(world.json(&["list", "-A"])["count"], 0);
    }
}

#[test]
fn a_suspended_call_defers_until_it_is_answered_and_then_replays_the_answer() {
    let world = Sandbox::new();
    let input = fixture("claude-bash-PreToolUse");
    let run = |input: &[u8]| {
        let mut command = world.command(["hook", "claude", "pre-tool-use", "--suspend"]);
        command.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
        output(&feed(command, input))["permissionDecision"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(run(&input), "defer");
    assert_eq!(run(&input), "defer");
    let list = world.json(&["list", "-A"]);
    assert_eq!(list["count"], 1);
    let record = &list["interactions"][0];
    assert_eq!(record["suspended"], true);
    assert_eq!(record.get("expires_at"), None);
    assert_eq!(record["workflow_id"], record["session_id"]);
    let expected = {
        use sha2::{Digest, Sha256};
        let text = format!(
            "defer\n{}\n{}",
            record["session_id"].as_str().unwrap(),
            record["tool"]["use_id"].as_str().unwrap()
        );
        let hash = Sha256::digest(text);
        hash[..16]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    assert_eq!(record["id"], expected);
    // The host fires these when it is suspended; they must leave the question alone.
    tell(
        &world,
        "session-end",
        &json!({ "session_id": record["session_id"] }),
    );
    tell(
        &world,
        "stop",
        &json!({ "session_id": record["session_id"] }),
    );
    world.json(&["answer", "-A", &expected, "--allow"]);
    let other: Value = serde_json::from_slice(&input).unwrap();
    let other = with(other, "tool_input", json!({ "command": "rm -rf /" }));
    assert_eq!(run(other.to_string().as_bytes()), "ask");
    assert_eq!(run(&input), "allow");
}

#[test]
fn an_attended_suspend_waits_like_any_gate() {
    let world = Sandbox::new();
    let command = world.command(["hook", "claude", "pre-tool-use", "--suspend"]);
    let hook = Hook::of(&world, command, &fixture("claude-bash-PreToolUse"));
    assert_eq!(
        output(&hook.answer(&["--deny"]))["permissionDecision"],
        "deny"
    );
}

#[test]
fn a_gate_whose_input_does_not_end_asks_on_a_signal_and_when_its_time_is_up() {
    let world = Sandbox::new();
    let open = |timeout: &str| {
        let mut command = world.command(["hook", "claude", "pre-tool-use", "--timeout", timeout]);
        command.stdin(std::process::Stdio::piped());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let mut waiting = open("1");
    let held = waiting.stdin.take();
    assert_eq!(
        output(&crate::sandbox::finish(waiting))["permissionDecision"],
        "ask"
    );
    drop(held);
    let mut waiting = open("600");
    let held = waiting.stdin.take();
    let pid = nix::unistd::Pid::from_raw(waiting.id() as i32);
    until("the signals to be caught", || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status
            .lines()
            .find_map(|l| l.strip_prefix("SigCgt:"))
            .unwrap();
        (u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 == 1).then_some(())
    });
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(
        output(&crate::sandbox::finish(waiting))["permissionDecision"],
        "ask"
    );
    drop(held);
}
