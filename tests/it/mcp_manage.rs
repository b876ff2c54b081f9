//! The management tools: the inbox for the operator's own assistant.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text};

fn list(client: &mut Client<'_>, arguments: &Value) -> Value {
    let call = client.call("interactions_list", arguments);
    client.done(&call)
}

fn answer(client: &mut Client<'_>, record: &Value, mut arguments: Value) -> Value {
    arguments["id"] = record["id"].clone();
    let call = client.call("interactions_answer", &arguments);
    client.done(&call)
}

fn refused(client: &mut Client<'_>, record: &Value, mut arguments: Value) -> Value {
    arguments["id"] = record["id"].clone();
    let call = client.call("interactions_answer", &arguments);
    client.failed(&call)
}

#[test]
fn the_list_keeps_the_newest_oldest_first_and_no_nonce() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    assert_eq!(
        list(&mut client, &json!({})),
        json!({ "count": 0, "interactions": [] })
    );
    for (prompt, agent) in [("one?", "a"), ("two?", "b"), ("three?", "a")] {
        world.request(&[prompt, "--agent", agent]);
    }
    let prompts = |list: &Value| -> Vec<String> {
        let each = list["interactions"].as_array().unwrap().iter();
        each.map(|r| text(r, "prompt").to_owned()).collect()
    };
    let all = list(&mut client, &json!({}));
    assert_eq!(prompts(&all), ["one?", "two?", "three?"]);
    assert!(!all.to_string().contains("nonce"));
    assert_eq!(all["interactions"][0]["waiting"], "no");
    assert_eq!(
        prompts(&list(&mut client, &json!({ "limit": 2 }))),
        ["two?", "three?"]
    );
    assert_eq!(
        prompts(&list(&mut client, &json!({ "agent_id": "a" }))),
        ["one?", "three?"]
    );
    let first = all["interactions"][0].clone();
    answer(&mut client, &first, json!({ "decision": "deny" }));
    assert_eq!(list(&mut client, &json!({}))["count"], 2);
    assert_eq!(list(&mut client, &json!({ "all": true }))["count"], 3);
}

#[test]
fn an_answer_is_marked_as_given_from_inside_a_session() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    let record = world.request(&["Deploy?"]);
    let arguments =
        json!({ "decision": "allow", "message": "go", "response_id": "r1", "answered_by": "ada" });
    let done = answer(&mut client, &record, arguments.clone());
    assert_eq!(done["status"], "answered");
    assert_eq!(done["delivery_state"], "unattended");
    let response = &done["response"];
    assert_eq!(
        (&response["source"], &response["answered_by"]),
        (&json!("mcp"), &json!("ada"))
    );
    assert!(!text(&response["responder"], "agent_session").is_empty());
    assert!(done.get("nonce").is_none());
    // The same answer again is a replay; another one is refused.
    answer(&mut client, &record, arguments);
    let second = refused(
        &mut client,
        &record,
        json!({ "decision": "allow", "response_id": "r2" }),
    );
    assert_eq!(second["code"], "already_answered");
    let list = world.run(["list", "--all"]);
    assert!(list.stdout.contains("self-answered"), "{list:?}");
}

#[test]
fn every_kind_takes_its_own_answer() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    let choice = world.request(&[
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        "a:A",
        "--choice",
        "b:B",
    ]);
    let done = answer(&mut client, &choice, json!({ "choice_id": "b" }));
    assert_eq!(done["response"]["choice_id"], "b");
    let question = world.request(&["What?", "--kind", "text"]);
    let done = answer(&mut client, &question, json!({ "text": "this" }));
    assert_eq!(done["response"]["text"], "this");
    let tool = ["--tool", "Bash", "--input", r#"{"command":"ls"}"#];
    let permission = world.request(&[&["May I?"], &tool[..]].concat());
    let edited = json!({ "decision": "allow", "updated_input": { "command": "ls -l" }, "updated_permissions": [{ "type": "x" }] });
    let done = answer(&mut client, &permission, edited);
    assert_eq!(
        done["response"]["updated_input"],
        json!({ "command": "ls -l" })
    );
    assert_eq!(
        done["response"]["updated_permissions"],
        json!([{ "type": "x" }])
    );
}

#[test]
fn a_form_takes_answers_and_a_flat_question_a_text() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    let flat = json!({ "question": "Go on?", "options": ["Yes", "No"] });
    for (given, expected) in [
        ("Yes", json!("Yes")),
        ("maybe", json!({ "other": "maybe" })),
    ] {
        let (call, pending) = client.ask("ask", &flat);
        let done = answer(&mut client, &pending, json!({ "text": given }));
        assert_eq!(done["response"]["answers"], json!({ "Go on?": expected }));
        assert_eq!(client.done(&call)["answer"], given);
    }
    let form = json!({ "questions": [{ "question": "A?", "options": [{ "label": "x" }, { "label": "y" }], "multi_select": true }, { "question": "B?" }] });
    let (call, pending) = client.ask("ask", &form);
    for arguments in [
        json!({ "text": "flat" }),
        json!({ "text": "flat", "response": "r" }),
        json!({ "answers": { "Nope?": "x" } }),
        json!({ "answers": { "A?": "z" } }),
        json!({ "answers": { "A?": ["x", "x"] } }),
        json!({ "decision": "allow" }),
        json!({ "decision": "deny", "response": "r" }),
    ] {
        refused(&mut client, &pending, arguments);
    }
    let arguments = json!({ "answers": { "A?": ["x", "y"] }, "response": "r", "digest": pending["request_digest"] });
    answer(&mut client, &pending, arguments);
    let done = client.done(&call);
    assert_eq!(
        (&done["answers"], &done["response"]),
        (&json!({ "A?": ["x", "y"] }), &json!("r"))
    );
    let (call, pending) = client.ask("ask", &form);
    answer(
        &mut client,
        &pending,
        json!({ "decision": "deny", "message": "no" }),
    );
    client.failed(&call);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    let tool = ["--tool", "Bash", "--input", r#"{"command":"ls"}"#];
    let permission = world.request(&[&["May I?"], &tool[..]].concat());
    for arguments in [
        json!({}),
        json!({ "decision": "maybe" }),
        json!({ "decision": "allow", "choice_id": "deny" }),
        json!({ "decision": "deny", "updated_input": { "command": "x" } }),
        json!({ "decision": "deny", "updated_permissions": [] }),
        json!({ "decision": "allow", "updated_input": [] }),
        json!({ "decision": "allow", "updated_input": 5 }),
        json!({ "decision": "allow", "remember": true }),
        json!({ "decision": "allow", "remember": true, "updated_permissions": [] }),
        json!({ "decision": "allow", "digest": "0".repeat(64) }),
        json!({ "choice_id": "allow" }),
        json!({ "text": "yes" }),
        json!({ "answers": { "May I?": "yes" } }),
        json!({ "decision": "allow", "response": "r" }),
        json!({ "decision": "allow", "updatedInput": { "command": "true" } }),
        json!({ "decision": "allow", "nonce": "n" }),
    ] {
        let error = refused(&mut client, &permission, arguments.clone());
        assert!(!text(&error, "code").is_empty(), "{arguments}");
    }
    let question = world.request(&["What?", "--kind", "text"]);
    for arguments in [
        json!({ "text": "t", "updated_input": {} }),
        json!({ "text": "t", "updated_permissions": [] }),
        json!({ "text": "t", "remember": true }),
        json!({ "text": "t", "response": "r" }),
        json!({ "decision": "allow" }),
    ] {
        refused(&mut client, &question, arguments);
    }
    for id in ["0".repeat(32), "abc".into(), "../../etc".into()] {
        let call = client.call(
            "interactions_answer",
            &json!({ "id": id, "decision": "allow" }),
        );
        client.failed(&call);
    }
    assert_eq!(world.json(&["list"])["count"], 2);
}

#[test]
fn another_place_is_named_by_a_directory() {
    let world = Sandbox::new();
    let other = world.path().join("other/.git");
    for part in ["objects", "refs"] {
        std::fs::create_dir_all(other.join(part)).unwrap();
    }
    std::fs::write(other.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let root = world.path().join("other");
    let there = world.request(&["There?", "--repo", root.to_str().unwrap()]);
    let mut client = Client::start(&world, &["--management"]);
    assert_eq!(list(&mut client, &json!({}))["count"], 0);
    let found = list(&mut client, &json!({ "project_root": root }));
    assert_eq!(found["interactions"][0]["id"], there["id"]);
    for wrong in [
        json!({ "project_root": root.join("nowhere") }),
        json!({ "project_root": world.path().join("file") }),
        json!({ "project": root }),
        json!({ "limit": -1 }),
        json!({ "all": "yes" }),
    ] {
        std::fs::write(world.path().join("file"), "").unwrap();
        let call = client.call("interactions_list", &wrong);
        client.failed(&call);
    }
    refused(&mut client, &there, json!({ "decision": "allow" }));
    let done = answer(
        &mut client,
        &there,
        json!({ "decision": "allow", "project_root": root }),
    );
    assert_eq!(done["status"], "answered");
}
