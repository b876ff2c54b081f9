//! MCP for agents that were told of the other tool: its pins and its names; and what is said of wrong
//! arguments.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text};

fn server<'a>(world: &'a Sandbox, variables: &[(&str, &str)], options: &[&str]) -> Client<'a> {
    let mut command = world.command(["mcp", "serve"].iter().chain(options));
    command.envs(variables.iter().copied());
    Client::of(world, command)
}

#[test]
fn the_other_tools_pins_count_where_ours_are_not_set() {
    let theirs = ("ANIMUS_MCP_AGENT_ID", "swe");
    for (variables, options, agent) in [
        (&[theirs][..], &[][..], "swe"),
        (&[theirs, ("SAYSO_MCP_AGENT_ID", "")], &[], "swe"),
        (
            &[theirs, ("SAYSO_MCP_AGENT_ID", "  ")],
            &["--agent-id", " "],
            "swe",
        ),
        (&[theirs, ("SAYSO_MCP_AGENT_ID", "ours")], &[], "ours"),
        (&[theirs], &["--agent-id", "given"], "given"),
        (&[("ANIMUS_MCP_AGENT_ID", " ")], &[], "other"),
        (&[], &[], "other"),
    ] {
        for (tool, ask) in [("ask", "question"), ("request_approval", "action")] {
            let world = Sandbox::new();
            let mut client = server(&world, variables, options);
            let call = json!({ "agent_id": "other", ask: "Deploy?" });
            let (_, record) = client.ask(tool, &call);
            assert_eq!(record["agent"], agent, "{variables:?} {options:?}");
        }
    }
}

#[test]
fn the_other_tools_workflow_pin_binds_and_suspends() {
    let theirs = ("ANIMUS_MCP_WORKFLOW_ID", "wf-1");
    let ours = ("SAYSO_MCP_WORKFLOW_ID", "wf-2");
    for (variables, workflow) in [(&[theirs][..], "wf-1"), (&[theirs, ours], "wf-2")] {
        let world = Sandbox::new();
        let mut client = server(&world, variables, &[]);
        let call = client.call(
            "ask",
            &json!({ "question": "Which?", "workflow_id": "wf-9" }),
        );
        let told = client.done(&call);
        assert_eq!(told["workflow_id"], workflow);
        assert_eq!(
            world.json(&["workflow", "list"])["workflows"][0]["status"],
            "paused"
        );
    }
}

fn tools(client: &mut Client<'_>) -> Vec<Value> {
    let call = client.request("tools/list", &json!({}));
    client.result(&call)["tools"].as_array().unwrap().clone()
}

fn called(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| text(tool, "name")).collect()
}

#[test]
fn the_other_tools_names_are_offered_beside_no_others() {
    let world = Sandbox::new();
    let own = [
        "ask",
        "request_approval",
        "wait_for_answer",
        "interactions_list",
        "interactions_answer",
    ];
    let agents = ["animus.agent.ask", "animus.agent.request_approval"];
    let managed = ["animus.interactions.list", "animus.interactions.answer"];
    let refused = |client: &mut Client<'_>, tool: &str| {
        let call = client.call(tool, &json!({}));
        let response = client.response(&call);
        let told = text(&response["error"], "message").to_owned();
        assert_eq!(told, format!("unknown tool: {tool}"), "{response}");
    };
    let mut client = server(&world, &[], &["--names", "animus"]);
    assert_eq!(called(&tools(&mut client)), agents);
    own.iter()
        .chain(&managed)
        .for_each(|tool| refused(&mut client, tool));

    let mut desk = server(&world, &[], &["--names", "animus", "--management"]);
    assert_eq!(called(&tools(&mut desk)), [agents, managed].concat());
    own.iter().for_each(|tool| refused(&mut desk, tool));
    // All four answer.
    let (call, record) = client.ask(agents[0], &json!({ "question": "Which?" }));
    let listed = desk.call(managed[0], &json!({}));
    assert_eq!(desk.done(&listed)["interactions"][0]["id"], record["id"]);
    let given = json!({ "id": record["id"], "text": "this one" });
    let given = desk.call(managed[1], &given);
    assert_eq!(desk.done(&given)["status"], "answered");
    assert_eq!(client.done(&call)["answer"], "this one");
    let approval = json!({ "tool_name": "Bash", "input": { "command": "ls" } });
    let (call, record) = client.ask(agents[1], &approval);
    world.json(&["answer", text(&record, "id"), "--allow"]);
    let block = client.block(&call);
    assert_eq!(block["behavior"], "allow");
    assert_eq!(block["updatedInput"], approval["input"]);
    // Nothing sends the agent to a tool that is not there.
    let call = client.call(agents[1], &json!({ "action": "deploy", "wait_secs": 0 }));
    let told = client.block_text(&call);
    assert!(
        told.contains("pending") && !told.contains("wait_for_answer"),
        "{told}"
    );

    let mut plain = server(&world, &[], &["--management"]);
    assert_eq!(called(&tools(&mut plain)), own);
    agents.iter().for_each(|tool| refused(&mut plain, tool));
    assert_eq!(world.run(["mcp", "serve", "--names", "other"]).code, 2);
    // Their members are those of the same tools here.
    let schema = |tools: &[Value], name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.unwrap()["inputSchema"].clone()
    };
    let (theirs, ours) = (tools(&mut desk), tools(&mut plain));
    for (other, name) in [agents, managed]
        .concat()
        .into_iter()
        .zip([own[0], own[1], own[3], own[4]])
    {
        assert_eq!(schema(&theirs, other), schema(&ours, name));
    }
}

/// Words of the parser and of the language it is written in.
const INSIDE: [&str; 10] = [
    "invalid type",
    ", expected",
    "serde",
    "boolean `",
    "integer `",
    "i64",
    "u64",
    "usize",
    "struct",
    "sequence",
];

/// The text of a call's one block: what the agent is told.
fn told(client: &mut Client<'_>, tool: &str, arguments: &Value) -> String {
    let call = client.call(tool, arguments);
    let result = client.result(&call);
    text(&result["content"][0], "text").to_owned()
}

#[test]
fn a_wrong_argument_is_named_with_what_it_may_be() {
    let world = Sandbox::new();
    let open = world.request(&["Deploy?"]);
    let mut client = server(&world, &[], &["--management"]);
    let base = |tool: &str| match tool {
        "ask" => json!({ "question": "Which?" }),
        "request_approval" => json!({ "action": "deploy", "tool_name": "Bash" }),
        "wait_for_answer" => json!({ "interaction_id": open["id"] }),
        "interactions_list" => json!({}),
        _ => json!({ "id": open["id"] }),
    };
    let values = [
        json!(true),
        json!(7),
        json!("x"),
        json!(["x"]),
        json!({ "x": 1 }),
    ];
    let is = |kind: &str, value: &Value| match kind {
        "boolean" => value.is_boolean(),
        "number" | "integer" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let mut rows = Vec::new();
    for tool in tools(&mut client) {
        for (member, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let kind = text(schema, "type");
            for value in values.iter().filter(|value| !is(kind, value)) {
                rows.push((
                    text(&tool, "name").to_owned(),
                    member.clone(),
                    value.clone(),
                ));
            }
        }
    }
    assert!(rows.len() > 130, "{}", rows.len());
    // Inside a member that has the right type itself.
    for (tool, member, value) in [
        ("ask", "options", json!([1])),
        ("ask", "options", json!([{ "label": "x" }])),
        ("ask", "questions", json!([1])),
        ("ask", "questions", json!([{ "header": "x" }])),
        ("ask", "questions", json!([{ "question": 1 }])),
        (
            "ask",
            "questions",
            json!([{ "question": "x", "header": 1 }]),
        ),
        (
            "ask",
            "questions",
            json!([{ "question": "x", "multi_select": "x" }]),
        ),
        (
            "ask",
            "questions",
            json!([{ "question": "x", "options": "x" }]),
        ),
        (
            "ask",
            "questions",
            json!([{ "question": "x", "options": [{ "label": 1 }] }]),
        ),
        ("interactions_list", "limit", json!(-1)),
        ("interactions_list", "limit", json!(1.5)),
        ("interactions_answer", "answers", json!({ "x": 1 })),
        ("interactions_answer", "decision", json!("maybe")),
    ] {
        rows.push((tool.to_owned(), member.to_owned(), value));
    }
    for (tool, member, value) in rows {
        let mut arguments = base(&tool);
        arguments[&member] = value;
        let told = told(&mut client, &tool, &arguments);
        let inside = INSIDE.iter().find(|word| told.contains(**word));
        assert_eq!(inside, None, "{tool} {arguments}: {told}");
        let said: Value = serde_json::from_str(&told).unwrap();
        let said = said["error"].as_str().or(said["message"].as_str());
        let said = said.unwrap_or_else(|| panic!("{tool} {arguments}: {told}"));
        let named = [" must be ", " is "]
            .iter()
            .any(|is| said.starts_with(&format!("{member}{is}")));
        assert!(named, "{tool} {arguments}: {said}");
    }
    for value in [json!(true), json!(7)] {
        for tool in ["ask", "request_approval"] {
            let mut arguments = base(tool);
            arguments["wait"] = value.clone();
            let told = told(&mut client, tool, &arguments);
            assert!(told.contains("wait is `block` or `suspend`"), "{told}");
        }
    }
    // Nothing of it was asked or answered.
    let list = world.json(&["list", "--all"]);
    assert_eq!(
        (&list["count"], &list["interactions"][0]["status"]),
        (&json!(1), &json!("pending"))
    );
}
