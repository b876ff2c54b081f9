//! The server's life: handshakes, many calls at once, progress, cancellation, the end.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text, until};

/// What the process may take to end once its client is gone; the library alone would take 5 s. The
/// specification says 400 ms: the rest is for a machine that runs all tests at once.
const END: Duration = Duration::from_millis(1500);

fn silent(world: &Sandbox) -> Client<'_> {
    Client::silent(world, world.command(["mcp", "serve"]))
}

/// Parks `count` questions and returns their calls, in the order of their prompts.
fn park(client: &mut Client<'_>, count: usize) -> Vec<Value> {
    let calls = (0..count).map(|i| client.call("ask", &json!({ "question": format!("q{i:02}") })));
    let calls = calls.collect();
    let world = client.world;
    until("all questions", || {
        (world.json(&["list"])["count"] == json!(count)).then_some(())
    });
    calls
}

#[test]
fn every_protocol_version_is_spoken() {
    let world = Sandbox::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = silent(&world);
        let id = client.request(
            "initialize",
            &json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
        );
        let result = client.result(&id);
        assert_eq!(result["protocolVersion"], version);
        let id = client.request("tools/list", &json!({}));
        assert_eq!(client.result(&id)["tools"][0]["name"], "ask");
    }
}

#[test]
fn a_client_may_discover_instead_of_initializing() {
    let world = Sandbox::new();
    let mut client = silent(&world);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let id = client.request("server/discover", &json!({ "_meta": meta }));
    let found = client.result(&id);
    assert!(
        found["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    let id = client.request("tools/list", &json!({ "_meta": meta }));
    assert_eq!(client.result(&id)["tools"].as_array().unwrap().len(), 3);
    let id = client.request(
        "tools/call",
        &json!({ "name": "request_approval", "arguments": { "action": "go" }, "_meta": meta }),
    );
    let pending = world.await_pending();
    world.json(&["answer", text(&pending, "id"), "--allow"]);
    let result = client.result(&id);
    assert_eq!(result["resultType"], "complete");
    assert!(result.get("structuredContent").is_none() && result.get("isError").is_none());
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
}

#[test]
fn a_discovery_may_be_followed_by_an_initialization() {
    let world = Sandbox::new();
    let mut client = silent(&world);
    client.line(r#"{"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{}}"#);
    assert!(client.response(&json!("probe")).get("error").is_some());
    // What is no request means nothing before a session begins.
    client.notify("notifications/cancelled", &json!({ "requestId": "probe" }));
    client.line(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    client.response(&json!(1));
    client.line(r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"claude-code","version":"2"}},"jsonrpc":"2.0","id":0}"#);
    assert_eq!(
        client.response(&json!(0))["result"]["protocolVersion"],
        "2025-11-25"
    );
}

#[test]
fn the_agents_tools_have_no_way_to_another_place() {
    let world = Sandbox::new();
    for (options, names) in [
        (&[][..], &["ask", "request_approval", "wait_for_answer"][..]),
        (
            &["--management"],
            &[
                "ask",
                "request_approval",
                "wait_for_answer",
                "interactions_list",
                "interactions_answer",
            ],
        ),
    ] {
        let mut client = Client::start(&world, options);
        let id = client.request("tools/list", &json!({}));
        let tools = client.result(&id)["tools"].take();
        let found: Vec<&str> = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|t| text(t, "name"))
            .collect();
        assert_eq!(found, names);
        for tool in &tools.as_array().unwrap()[..3] {
            assert!(tool.get("outputSchema").is_none());
            let schema = tool["inputSchema"].to_string();
            for word in ["project_root", "repo", "scope", "decision"] {
                assert!(!schema.contains(&format!("\"{word}\"")), "{word}: {schema}");
            }
        }
    }
}

#[test]
fn unknown_tools_and_the_management_tools_cannot_be_called() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let other = world.request(&["Deploy?"]);
    for name in ["interactions_list", "interactions_answer", "nothing"] {
        let call = client.call(name, &json!({ "id": other["id"], "decision": "allow" }));
        let response = client.response(&call);
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
    assert_eq!(world.get(text(&other, "id"))["status"], "pending");
}

#[test]
fn a_bad_line_does_not_end_the_server() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    client.line("not json");
    let refused = client.message(|m| m.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32700);
    client.line("");
    client.line(r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"ask","arguments":{},"arguments":{}}}"#);
    assert!(client.response(&json!(77)).get("error").is_some());
    client.line(r#"{"jsonrpc":"2.0","id":78,"method":"no/such"}"#);
    assert_eq!(client.response(&json!(78))["error"]["code"], -32601);
    client.line(r#"[{"jsonrpc":"2.0","id":79,"method":"ping"},{"jsonrpc":"2.0","id":"80","method":"ping"}]"#);
    assert_eq!(client.response(&json!("80"))["result"], json!({}));
    assert_eq!(client.response(&json!(79))["result"], json!({}));
}

#[test]
fn many_calls_wait_at_once_with_one_watcher_and_pings_are_answered() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let calls = park(&mut client, 30);
    let ping = client.request("ping", &json!({}));
    assert_eq!(client.result(&ping), json!({}));
    let fds = fs::read_dir(format!("/proc/{}/fd", client.pid())).unwrap();
    let watchers = fds
        .filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
        .filter(|target| target.to_string_lossy().contains("inotify"))
        .count();
    assert_eq!(watchers, 1);
    let list = world.json(&["list"])["interactions"].take();
    for record in list.as_array().unwrap().iter().rev() {
        assert_eq!(record["waiting"], "yes");
        let prompt = text(record, "prompt");
        let answered = world.json(&[
            "answer",
            text(record, "id"),
            "--text",
            &prompt.to_uppercase(),
        ]);
        assert_eq!(answered["delivery_state"], "delivered");
        let call = &calls[prompt[1..].parse::<usize>().unwrap()];
        assert_eq!(client.done(call)["answer"], prompt.to_uppercase());
    }
}

#[test]
fn progress_is_told_at_once_and_rises_until_the_result() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let tokens = [json!(0), json!("a")];
    let call = |client: &mut Client<'_>, token: &Value| {
        let arguments = json!({ "question": token.to_string() });
        let params =
            json!({ "name": "ask", "arguments": arguments, "_meta": { "progressToken": token } });
        client.request("tools/call", &params)
    };
    let calls: Vec<Value> = tokens.iter().map(|t| call(&mut client, t)).collect();
    let told = |client: &mut Client<'_>, token: &Value| {
        let fits = |m: &Value| {
            m["method"] == "notifications/progress" && m["params"]["progressToken"] == *token
        };
        client.message(fits)["params"]["progress"].as_f64().unwrap()
    };
    let first: Vec<f64> = tokens.iter().map(|t| told(&mut client, t)).collect();
    let second: Vec<f64> = tokens.iter().map(|t| told(&mut client, t)).collect();
    assert!(first[0] < second[0] && first[1] < second[1]);
    for record in world.json(&["list"])["interactions"].as_array().unwrap() {
        world.json(&["answer", text(record, "id"), "--text", "t"]);
    }
    for call in &calls {
        client.done(call);
    }
    // Nothing more is told of them, and nothing at all without a token.
    let (call, pending) = client.ask("ask", &json!({ "question": "q" }));
    world.json(&["answer", text(&pending, "id"), "--text", "t"]);
    assert_eq!(client.message(|_| true)["id"], call);
}

#[test]
fn a_cancelled_call_withdraws_its_question_and_no_other() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let calls = park(&mut client, 2);
    client.notify(
        "notifications/cancelled",
        &json!({ "requestId": calls[0], "reason": "no more" }),
    );
    client.notify("notifications/cancelled", &json!({ "requestId": 4711 }));
    let left = until("the withdrawal", || {
        let list = world.json(&["list"]);
        (list["count"] == 1).then(|| list["interactions"][0].clone())
    });
    assert_eq!(left["prompt"], "q01");
    world.json(&["answer", text(&left, "id"), "--text", "t"]);
    client.done(&calls[1]);
    // Neither the cancelled call nor a finished one gets a response.
    client.notify("notifications/cancelled", &json!({ "requestId": calls[1] }));
    let ping = client.request("ping", &json!({}));
    assert_eq!(client.message(|_| true)["id"], ping);
    let all = world.json(&["list", "--all"]);
    let cancelled = |r: &&Value| r["status"] == "cancelled";
    assert_eq!(
        all["interactions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(cancelled)
            .count(),
        1
    );
}

#[test]
fn everything_is_withdrawn_when_the_client_goes() {
    let world = Sandbox::new();
    for end in ["", "TERM", "INT", "HUP"] {
        let mut client = Client::start(&world, &[]);
        park(&mut client, 5);
        let (code, took) = if end.is_empty() {
            client.close()
        } else {
            client.signal(end)
        };
        let expected = match end {
            "TERM" => 143,
            "INT" => 130,
            "HUP" => 129,
            _ => 0,
        };
        assert_eq!(code, expected);
        assert!(took < END, "{end}: {took:?}");
        assert_eq!(world.json(&["list"])["count"], 0);
    }
    let all = world.json(&["list", "--all"])["interactions"].take();
    assert_eq!(all.as_array().unwrap().len(), 20);
    assert!(
        all.as_array()
            .unwrap()
            .iter()
            .all(|r| r["status"] == "cancelled")
    );
    // One transition: the five withdrawals of a server share their time.
    let times: std::collections::HashSet<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|r| text(r, "updated_at"))
        .collect();
    assert_eq!(times.len(), 4);
}

#[test]
fn more_calls_than_reach_the_disk_together_are_withdrawn_too() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    park(&mut client, 70);
    assert_eq!(client.close().0, 0);
    let all = world.json(&["list", "--all", "--limit", "100"])["interactions"].take();
    let ended = |r: &&Value| r["status"] == "cancelled" && r["updated_at"] == all[0]["updated_at"];
    assert_eq!(all.as_array().unwrap().iter().filter(ended).count(), 70);
    let noted = |e: &&Value| e["type"] == "interaction_cancelled";
    assert_eq!(world.events().iter().filter(noted).count(), 70);
}

#[test]
fn a_killed_server_leaves_questions_for_which_nobody_waits() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    park(&mut client, 1);
    client.signal("KILL");
    let pending = world.await_pending();
    assert_eq!(pending["waiting"], "no");
    let answered = world.json(&["answer", text(&pending, "id"), "--text", "t"]);
    assert_eq!(answered["delivery_state"], "unattended");
}

#[test]
fn a_server_whose_parent_is_gone_withdraws_its_questions() {
    let world = Sandbox::new();
    // The shell ends although both ends of its pipes stay open.
    let mut shell = std::process::Command::new("/bin/sh");
    world.dress(&mut shell);
    let script = "exec 3<&0; \"$0\" mcp serve <&3 & until [ -e gone ]; do sleep 0.02; done";
    shell.args(["-c", script, crate::sandbox::binary()]);
    let mut client = Client::of(&world, shell);
    client.call("ask", &json!({ "question": "q" }));
    let pending = world.await_pending();
    fs::write(world.repo().join("gone"), "").unwrap();
    until("the withdrawal", || {
        (world.get(text(&pending, "id"))["status"] == "cancelled").then_some(())
    });
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let world = Sandbox::new();
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n",
    );
    let ran = world.run_with(["mcp", "serve"], input.as_bytes());
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{ran:?}");
    let ran = world.run_with(["mcp", "serve"], b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
}

#[test]
fn pins_hold_whatever_a_call_says() {
    let world = Sandbox::new();
    let says = json!({ "question": "q", "agent_id": "permissive", "workflow_id": "other", "task_id": "other", "wait": "block" });
    let asked = |command: std::process::Command| {
        let mut client = Client::of(&world, command);
        let (call, pending) = client.ask("ask", &says);
        world.json(&["answer", text(&pending, "id"), "--text", "t"]);
        client.done(&call);
        pending
    };
    let free = asked(world.command(["mcp", "serve"]));
    assert_eq!(
        (&free["agent"], &free["workflow_id"], &free["task_id"]),
        (&json!("permissive"), &json!("other"), &json!("other"))
    );
    let pins = [
        "mcp",
        "serve",
        "--agent-id",
        "strict",
        "--workflow-id",
        "wf-1",
        "--session-id",
        "s-1",
        "--task-id",
        "t-1",
    ];
    let pinned = asked(world.command(pins));
    for (name, value) in [
        ("agent", "strict"),
        ("workflow_id", "wf-1"),
        ("session_id", "s-1"),
        ("task_id", "t-1"),
    ] {
        assert_eq!(pinned[name], value);
    }
    let by_env = |args: &[&str]| {
        let mut command = world.command(args);
        command
            .env("SAYSO_MCP_AGENT_ID", "env")
            .env("SAYSO_MCP_WORKFLOW_ID", "wf-env");
        asked(command)
    };
    let env = by_env(&["mcp", "serve", "--agent-id", " "]);
    assert_eq!(
        (&env["agent"], &env["workflow_id"]),
        (&json!("env"), &json!("wf-env"))
    );
    assert_eq!(
        by_env(&["mcp", "serve", "--agent-id", "cli"])["agent"],
        "cli"
    );
    let mut blank = world.command(["mcp", "serve"]);
    blank.env("SAYSO_MCP_AGENT_ID", " ");
    assert_eq!(asked(blank)["agent"], "permissive");
    // Each attempt left an event that names the pinned agent only.
    let noted: Vec<Value> = world
        .events()
        .into_iter()
        .filter(|e| e["type"] == "identity_pinned")
        .collect();
    let agents: Vec<&str> = noted.iter().map(|e| text(e, "agent")).collect();
    assert_eq!(agents, ["strict", "env", "cli"]);
    assert!(noted.iter().all(|e| !e.to_string().contains("permissive")));
}
