//! The tool `request_approval`: every row of its table, byte for byte where the specification says so.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text};

/// A host's prompt whose input only survives verbatim.
const INPUT: &str = r#"{"command":"ls \"a b\"","n":1.0,"z":null,"é":[1],"big":123456789012345678901234567890,"b":{"y":1,"a":2}}"#;

fn native(extra: &str) -> String {
    format!(r#"{{"tool_name":"Bash","input":{INPUT},"tool_use_id":"t1"{extra}}}"#)
}

fn answer(world: &Sandbox, record: &Value, flags: &[&str]) {
    let args = ["answer", text(record, "id")];
    let ran = world.run(args.iter().chain(flags));
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Asks, answers and returns the block's text.
fn decided(world: &Sandbox, client: &mut Client<'_>, arguments: &str, flags: &[&str]) -> String {
    let call = client.call_verbatim("request_approval", arguments);
    let pending = world.await_pending();
    answer(world, &pending, flags);
    client.block_text(&call)
}

#[test]
fn an_allow_brings_the_input_back_byte_for_byte() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call_verbatim("request_approval", &native(""));
    let pending = world.await_pending();
    assert_eq!(pending["kind"], "permission");
    assert_eq!(pending["agent"], "agent");
    assert_eq!(pending["prompt"], "use tool Bash");
    assert_eq!(pending["tool"]["use_id"], "t1");
    assert!(pending.get("action").is_none() && pending.get("host").is_none());
    answer(&world, &pending, &["--allow", "--by", "ada"]);
    let block = client.block_text(&call);
    let expected =
        format!(r#"{{"behavior":"allow","updatedInput":{INPUT},"tool":"request_approval","#);
    assert!(block.starts_with(&expected), "{block}");
    let block: Value = serde_json::from_str(&block).unwrap();
    assert_eq!(
        block["result"],
        json!({ "id": pending["id"], "decision": "allow", "answered_by": "ada", "source": "human" })
    );
    assert!(block.get("updatedPermissions").is_none());
}

#[test]
fn a_deny_always_has_a_message() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let said = decided(
        &world,
        &mut client,
        &native(""),
        &["--deny", "--message", "too risky"],
    );
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["behavior"], &said["message"]),
        (&json!("deny"), &json!("too risky"))
    );
    assert_eq!(said["result"]["message"], "too risky");
    assert!(said.get("updatedInput").is_none());
    let silent = decided(&world, &mut client, &native(""), &["--deny", "--by", "ada"]);
    let silent: Value = serde_json::from_str(&silent).unwrap();
    assert_eq!(silent["message"], "Denied by ada");
    assert!(silent["result"].get("message").is_none());
}

#[test]
fn remembering_hands_back_local_suggestions_verbatim() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let local = r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":null}],"behavior":"allow","destination":"localSettings"}"#;
    let session = r#"{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}"#;
    let mode = r#"{"type":"setMode","mode":"acceptEdits","destination":"localSettings"}"#;
    let with = native(&format!(r#","suggestions":[{local},{session},{mode}]"#));
    let edited = [
        "--allow",
        "--remember",
        "--updated-input",
        r#"{"command": "ls", "n": 2.0}"#,
    ];
    let block = decided(&world, &mut client, &with, &edited);
    let expected = format!(
        r#"{{"behavior":"allow","updatedInput":{{"command": "ls", "n": 2.0}},"updatedPermissions":[{local}],"#
    );
    assert!(block.starts_with(&expected), "{block}");

    // Where there is nothing to remember, saying so would be a promise that nobody keeps.
    let call = client.call_verbatim(
        "request_approval",
        &native(&format!(r#","suggestions":[{session}]"#)),
    );
    let pending = world.await_pending();
    let refused = world.run([
        "answer",
        text(&pending, "id"),
        "--allow",
        "--remember",
        "--json",
    ]);
    assert_eq!(refused.error()["code"], "invalid_answer");
    answer(&world, &pending, &["--allow"]);
    assert!(client.block(&call).get("updatedPermissions").is_none());
}

#[test]
fn no_answer_is_a_deny_that_says_why() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call_verbatim("request_approval", &native(r#","timeout_secs":1"#));
    let pending = world.await_pending();
    let late = client.block(&call);
    assert_eq!(late["behavior"], "deny");
    assert_eq!(
        late["result"],
        json!({ "id": pending["id"], "decision": "deny", "source": "timeout" })
    );
    assert_eq!(world.get(text(&pending, "id"))["status"], "expired");

    let call = client.call_verbatim("request_approval", &native(""));
    let pending = world.await_pending();
    world.json(&["cancel", text(&pending, "id")]);
    let gone = client.block(&call);
    assert_eq!(
        gone["result"],
        json!({ "id": pending["id"], "decision": "deny", "source": "cancelled" })
    );
    assert_ne!(late["message"], gone["message"]);
    assert!(!text(&late, "message").is_empty() && !text(&gone, "message").is_empty());
}

#[test]
fn a_voluntary_call_gives_its_action_or_its_arguments() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call("request_approval", &json!({ "action": "drop the table" }));
    let pending = world.await_pending();
    assert_eq!(
        (&pending["prompt"], &pending["action"]),
        (&json!("drop the table"), &json!("drop the table"))
    );
    assert!(!world.run(["list"]).stdout.contains(" · "));
    answer(&world, &pending, &["--allow"]);
    let block = client.block(&call);
    assert_eq!(
        (&block["behavior"], &block["updatedInput"]),
        (&json!("allow"), &json!({}))
    );

    let arguments = json!({ "tool_name": "deploy", "arguments": { "to": "prod" }, "input": null, "action": "ship it" });
    let call = client.call("request_approval", &arguments);
    let pending = world.await_pending();
    assert_eq!(pending["prompt"], "ship it");
    assert_eq!(
        pending["tool"],
        json!({ "name": "deploy", "input": { "to": "prod" } })
    );
    answer(&world, &pending, &["--allow"]);
    assert_eq!(client.block(&call)["updatedInput"], json!({ "to": "prod" }));
}

#[test]
fn what_cannot_be_asked_is_denied() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    // A host's prompt is never an error: the host would not read it.
    for arguments in [
        r#"{"input":{"command":"ls"}}"#,
        r#"{"tool_name":" ","input":{}}"#,
        r#"{"tool_name":"Bash","input":[1]}"#,
        r#"{"tool_name":"Bash","input":"ls"}"#,
        r#"{"tool_name":"Bash","input":{"command":"ls","command":"rm"}}"#,
        r#"{"tool_name":"Bash","tool_name":"Read","input":{}}"#,
        r#"{"tool_name":5,"input":{}}"#,
        r#"{"tool_name":"Bash","input":{"command":"ls"},"arguments":{"command":"rm -rf x"}}"#,
        r#"{"tool_name":"AskUserQuestion","input":{}}"#,
        r#"{"tool_name":"AskUserQuestion","input":{"questions":[]}}"#,
        r#"{"tool_name":"AskUserQuestion","input":{"questions":[{"question":" "}]}}"#,
        "[]",
    ] {
        let call = client.call_verbatim("request_approval", arguments);
        let block = client.block(&call);
        assert_eq!(block["behavior"], "deny", "{arguments}");
        assert_eq!(
            block["result"],
            json!({ "decision": "deny", "source": "error" })
        );
        assert!(!text(&block, "message").is_empty());
    }
    let long = format!(r#"{{"tool_name":"{}","input":{{}}}}"#, "x".repeat(201));
    let call = client.call_verbatim("request_approval", &long);
    assert_eq!(client.block(&call)["behavior"], "deny");
    let deep = format!(
        r#"{{"tool_name":"Bash","input":{}{}}}"#,
        "{\"a\":".repeat(200),
        "1".to_owned() + &"}".repeat(200)
    );
    let call = client.call_verbatim("request_approval", &deep);
    assert_eq!(client.block(&call)["behavior"], "deny");
    for arguments in [
        json!({}),
        json!({ "arguments": { "a": 1 } }),
        json!({ "action": " " }),
    ] {
        let call = client.call("request_approval", &arguments);
        let result = client.result(&call);
        assert_eq!(result["isError"], true, "{arguments}");
        assert!(result.get("structuredContent").is_none());
    }
    assert_eq!(world.json(&["list", "--all", "-A"])["count"], 0);
}

fn form(extra: &str) -> String {
    format!(
        r#"{{"tool_name":"AskUserQuestion","input":{{"questions":[{{"question":"Colour?","header":"C","options":[{{"label":"Red","x":1.0}},{{"label":"Blue, dark"}}],"multiSelect":true,"own":null}},{{"question":"Size?","options":[{{"label":"S"}}]}}],"more":{{"a":1}}}}{extra}}}"#
    )
}

#[test]
fn questions_of_the_host_are_answered_in_its_own_words() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let picks = [
        "--select",
        "#1=Red",
        "--select",
        "#1=Blue, dark",
        "--message",
        "note",
    ];
    let call = client.call_verbatim("request_approval", &form(""));
    let pending = world.await_pending();
    assert_eq!(pending["kind"], "form");
    answer(&world, &pending, &picks);
    let block = client.block_text(&call);
    let questions = r#""questions":[{"question":"Colour?","header":"C","options":[{"label":"Red","x":1.0},{"label":"Blue, dark"}],"multiSelect":true,"own":null},{"question":"Size?","options":[{"label":"S"}]}],"more":{"a":1}"#;
    let expected = format!(
        r#"{{"behavior":"allow","updatedInput":{{{questions},"answers":{{"Colour?":["Red","Blue, dark"]}},"annotations":{{"Colour?":{{"notes":"note\nLeft unanswered: Size?"}}}}}},"#
    );
    assert!(block.starts_with(&expected), "{block}");
    let block: Value = serde_json::from_str(&block).unwrap();
    assert_eq!(block["result"]["unanswered"], json!(["Size?"]));

    let block = decided(&world, &mut client, &form(""), &["--text", "neither"]);
    let expected =
        format!(r#"{{"behavior":"allow","updatedInput":{{{questions},"response":"neither"}},"#);
    assert!(block.starts_with(&expected), "{block}");
}

#[test]
fn questions_of_the_host_that_get_no_answer_are_denied() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let block = decided(
        &world,
        &mut client,
        &form(""),
        &["--deny", "--message", "not now"],
    );
    let block: Value = serde_json::from_str(&block).unwrap();
    assert_eq!(
        (&block["behavior"], &block["message"]),
        (&json!("deny"), &json!("not now"))
    );
    let call = client.call_verbatim("request_approval", &form(""));
    world.json(&["cancel", text(&world.await_pending(), "id")]);
    let block = client.block(&call);
    assert_eq!(
        (&block["behavior"], &block["result"]["source"]),
        (&json!("deny"), &json!("cancelled"))
    );
    assert!(text(&block, "message").contains("best judgment"));
    let call = client.call_verbatim("request_approval", &form(r#","timeout_secs":1"#));
    let block = client.block(&call);
    assert_eq!(
        (&block["behavior"], &block["result"]["source"]),
        (&json!("deny"), &json!("timeout"))
    );
    assert!(text(&block, "message").contains("best judgment"));
}

#[test]
fn a_voluntary_call_may_wait_in_pieces() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call(
        "request_approval",
        &json!({ "action": "deploy", "wait_secs": 0 }),
    );
    let block = client.block(&call);
    assert!(block.get("behavior").is_none());
    assert_eq!(block["result"]["status"], "pending");
    let id = text(&block["result"], "interaction_id");
    let call = client.call("wait_for_answer", &json!({ "interaction_id": id }));
    world.json(&["answer", id, "--deny"]);
    assert_eq!(client.block(&call)["behavior"], "deny");
    // A host's prompt that is not decided must not go on.
    let call = client.call_verbatim("request_approval", &native(r#","wait_secs":0"#));
    let block = client.block(&call);
    assert_eq!(
        (&block["behavior"], &block["result"]["status"]),
        (&json!("deny"), &json!("pending"))
    );
}
