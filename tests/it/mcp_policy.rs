//! The approval policy through `request_approval`: it comes before the human and leaves no record.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text};

const POLICY: &str = r#"
[agents.swe.approval_policy]
auto_allow = ["cargo *", "Bash(git log *)", "Read"]
auto_deny = ["git push*"]
default = "deny"
[agents.restricted.approval_policy]
default = "deny"
[agents.permissive.approval_policy]
default = "allow"
"#;

fn ruled(world: &Sandbox, options: &[&str], env: &str, policy: &str, arguments: &Value) -> Value {
    let config = world.path().join("config.toml");
    std::fs::write(&config, policy).unwrap();
    let mut command = world.command(["mcp", "serve"].iter().chain(options));
    command
        .env("SAYSO_CONFIG", config)
        .env("SAYSO_MCP_AGENT_ID", env);
    let mut client = Client::of(world, command);
    let call = client.call("request_approval", arguments);
    client.block(&call)
}

#[test]
fn a_verdict_decides_without_a_record() {
    let world = Sandbox::new();
    let bash =
        |command: &str| json!({ "tool_name": "Bash", "input": { "command": command, "n": 1 } });
    for (arguments, behavior, rule) in [
        (bash("cargo test"), "allow", "auto_allow[0]"),
        (bash("git log -1"), "allow", "auto_allow[1]"),
        (bash("git push --force"), "deny", "auto_deny[0]"),
        (bash("cargo test; git push"), "deny", "auto_deny[0]"),
        (bash("ls"), "deny", "default"),
        (
            json!({ "tool_name": "WebFetch", "input": { "url": "https://x" } }),
            "deny",
            "default",
        ),
        (json!({ "action": "cargo test" }), "allow", "auto_allow[0]"),
        (json!({ "action": "anything else" }), "deny", "default"),
        (
            json!({ "tool_name": "Read", "arguments": { "path": "/x" } }),
            "allow",
            "auto_allow[2]",
        ),
    ] {
        let block = ruled(&world, &[], "swe", POLICY, &arguments);
        assert_eq!(block["behavior"], behavior, "{arguments}");
        let result = &block["result"];
        assert_eq!(
            (&result["decision"], &result["source"]),
            (&json!(behavior), &json!("policy"))
        );
        assert!(
            text(result, "rule").starts_with(rule),
            "{arguments}: {block}"
        );
        if behavior == "allow" {
            let input = arguments.get("input").or(arguments.get("arguments"));
            assert_eq!(block["updatedInput"], input.cloned().unwrap_or(json!({})));
        } else {
            assert!(!text(&block, "message").is_empty());
            assert_eq!(block["message"], result["message"]);
        }
    }
    assert_eq!(world.json(&["list", "--all"])["count"], 0);
    let events = world.events();
    assert_eq!(events.len(), 9);
    assert!(events.iter().all(|e| e["type"] == "policy_decided"));
}

#[test]
fn nobody_borrows_a_laxer_policy() {
    let world = Sandbox::new();
    let claim =
        json!({ "tool_name": "Bash", "input": { "command": "ls" }, "agent_id": "permissive" });
    let by_env = ruled(&world, &[], "restricted", POLICY, &claim);
    assert_eq!(by_env["behavior"], "deny");
    let by_option = ruled(
        &world,
        &["--agent-id", "restricted"],
        "permissive",
        POLICY,
        &claim,
    );
    assert_eq!(by_option["behavior"], "deny");
    assert_eq!(ruled(&world, &[], "", POLICY, &claim)["behavior"], "allow");
}

#[test]
fn a_policy_that_cannot_be_read_denies_and_says_where() {
    let world = Sandbox::new();
    let arguments = json!({ "tool_name": "Bash", "input": { "command": "ls" } });
    let broken = "[agents.swe.approval_policy]\nauto_alow = [\"*\"]\n";
    let block = ruled(&world, &[], "swe", broken, &arguments);
    assert_eq!(
        (&block["behavior"], &block["result"]["source"]),
        (&json!("deny"), &json!("error"))
    );
    assert!(
        text(&block, "message").contains("config.toml:2:1"),
        "{block}"
    );
    // The repository's own file can only tighten.
    let loose = "[agents.swe.approval_policy]\nauto_allow = [\"*\"]\n";
    std::fs::write(world.repo().join(".sayso.toml"), loose).unwrap();
    let block = ruled(&world, &[], "swe", POLICY, &arguments);
    assert_eq!(
        (&block["behavior"], &block["result"]["source"]),
        (&json!("deny"), &json!("error"))
    );
    assert_eq!(world.json(&["list", "--all", "-A"])["count"], 0);
}

#[test]
fn questions_never_go_through_the_policy() {
    let world = Sandbox::new();
    let config = world.path().join("config.toml");
    std::fs::write(
        &config,
        "[agents.\"*\".approval_policy]\ndefault = \"deny\"\n",
    )
    .unwrap();
    let mut command = world.command(["mcp", "serve"]);
    command.env("SAYSO_CONFIG", config);
    let mut client = Client::of(&world, command);
    let (call, pending) = client.ask("ask", &json!({ "question": "q" }));
    world.json(&["answer", text(&pending, "id"), "--text", "t"]);
    client.done(&call);
    let input =
        json!({ "questions": [{ "question": "Colour?", "options": [{ "label": "Red" }] }] });
    let asks = json!({ "tool_name": "AskUserQuestion", "input": input });
    let (call, pending) = client.ask("request_approval", &asks);
    world.json(&["answer", text(&pending, "id"), "--select", "#1=Red"]);
    assert_eq!(client.block(&call)["behavior"], "allow");
}
