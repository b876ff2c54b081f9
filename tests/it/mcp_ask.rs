//! The tool `ask`: every row of its table, its bounds, and waiting in pieces.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sandbox::{Sandbox, text, until};

fn answer(world: &Sandbox, record: &Value, flags: &[&str]) {
    let args = ["answer", text(record, "id")];
    let ran = world.run(args.iter().chain(flags));
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

fn structured() -> Value {
    json!({ "questions": [
        { "question": "Which format?", "header": "Format", "options": [{ "label": "Summary", "description": "short" }, { "label": "Full" }] },
        { "question": "Which sections?", "multiSelect": true, "options": [{ "label": "Intro" }, { "label": "Body" }, { "label": "Conclusion, final" }] },
        { "question": "Anything else?", "multi_select": false },
    ], "question": "not this one" })
}

#[test]
fn a_flat_question_takes_a_text() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({ "question": "Which colour?" }));
    assert_eq!(pending["kind"], "text");
    assert_eq!(pending["prompt"], "Which colour?");
    assert_eq!(pending["text_max_length"], 2000);
    assert_eq!(pending["agent"], "agent");
    assert_eq!(pending["waiting"], "yes");
    assert_eq!(pending["cwd"], world.repo().to_str().unwrap());
    answer(
        &world,
        &pending,
        &["--text", "teal", "--by", "ada", "--message", "of course"],
    );
    let done = client.done(&call);
    assert_eq!(
        done,
        json!({ "id": pending["id"], "answer": "teal", "answered_by": "ada", "message": "of course" })
    );
}

#[test]
fn a_flat_question_without_a_message_has_no_other_members() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({ "question": "Which?", "questions": null }));
    answer(&world, &pending, &["--text", "this"]);
    assert_eq!(keys(&client.done(&call)), ["id", "answer", "answered_by"]);
}

#[test]
fn flat_options_become_a_form_that_also_takes_free_text() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let question = json!({ "question": "Go on?", "options": ["Yes, delete", "No"] });
    for (flags, expected) in [
        (["--select", "#1=Yes, delete"], "Yes, delete"),
        (["--other", "#1=maybe"], "maybe"),
        (["--text", "perhaps"], "perhaps"),
    ] {
        let (call, pending) = client.ask("ask", &question);
        assert_eq!(pending["kind"], "form");
        assert_eq!(pending["prompt"], "Go on?");
        answer(&world, &pending, &flags);
        let done = client.done(&call);
        assert_eq!(done["answer"], expected);
        assert_eq!(keys(&done), ["id", "answer", "answered_by"]);
    }
}

#[test]
fn several_questions_come_back_in_their_order() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &structured());
    assert_eq!(pending["kind"], "form");
    assert!(pending.get("tool").is_none());
    assert_eq!(pending["questions"][1]["multi_select"], true);
    let picks = [
        "--other",
        "#3=a colophon",
        "--select",
        "#2=Intro",
        "--select",
        "#2=Conclusion, final",
        "--select",
        "Format=Summary",
    ];
    answer(&world, &pending, &picks);
    let done = client.done(&call);
    assert_eq!(
        done["answers"],
        json!({ "Which format?": "Summary", "Which sections?": ["Intro", "Conclusion, final"], "Anything else?": "a colophon" })
    );
    assert_eq!(keys(&done["answers"])[0], "Which format?");
    assert_eq!(done["unanswered"], json!([]));
    assert_eq!(
        done["answer"],
        "Which format?: Summary\nWhich sections?: Intro, Conclusion, final\nAnything else?: a colophon"
    );
    assert!(done.get("behavior").is_none() && done.get("response").is_none());
}

#[test]
fn a_null_is_as_good_as_nothing() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({
        "question": null, "options": null, "timeout_secs": null, "wait": null, "wait_secs": null,
        "agent_id": null, "workflow_id": null, "task_id": null,
        "questions": [{ "question": "A?", "header": null, "options": null, "multi_select": null },
            { "question": "B?", "options": [{ "label": "x", "description": null }], "multiSelect": null }],
    }));
    assert_eq!(
        pending["questions"],
        json!([{ "question": "A?", "multi_select": false },
            { "question": "B?", "options": [{ "label": "x" }], "multi_select": false }])
    );
    answer(&world, &pending, &["--other", "#1=t", "--select", "#2=x"]);
    assert_eq!(
        client.done(&call)["answers"],
        json!({ "A?": "t", "B?": "x" })
    );
}

#[test]
fn open_questions_and_a_response_are_told() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &structured());
    answer(
        &world,
        &pending,
        &["--select", "2=Body", "--text", "keep it short"],
    );
    let done = client.done(&call);
    assert_eq!(done["answers"], json!({ "Which sections?": "Body" }));
    assert_eq!(
        done["unanswered"],
        json!(["Which format?", "Anything else?"])
    );
    assert_eq!(done["response"], "keep it short");

    let (call, pending) = client.ask("ask", &structured());
    answer(&world, &pending, &["--text", "none of it"]);
    let done = client.done(&call);
    assert_eq!(done["answers"], json!({}));
    assert_eq!(done["answer"], "none of it");
    assert_eq!(done["unanswered"].as_array().unwrap().len(), 3);
}

#[test]
fn a_question_that_nobody_answers_is_left_to_judgment() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({ "question": "Anyone?", "timeout_secs": 1 }));
    let failed = client.failed(&call);
    assert!(text(&failed, "error").contains("best judgment"), "{failed}");
    assert_eq!(failed["timed_out"], true);
    assert_eq!(failed["interaction_id"], pending["id"]);
    let record = world.get(text(&pending, "id"));
    assert_eq!(record["status"], "expired");
    let late = world.run(["answer", text(&pending, "id"), "--text", "late", "--json"]);
    assert_eq!(late.error()["code"], "not_pending");
}

#[test]
fn a_withdrawn_and_a_declined_question_are_cancelled() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({ "question": "Still?" }));
    world.json(&["cancel", text(&pending, "id")]);
    let failed = client.failed(&call);
    assert_eq!(failed["cancelled"], true);
    assert_eq!(failed["interaction_id"], pending["id"]);

    let (call, pending) = client.ask("ask", &structured());
    answer(
        &world,
        &pending,
        &["--deny", "--message", "too many questions"],
    );
    let failed = client.failed(&call);
    assert_eq!(failed["cancelled"], true);
    assert!(text(&failed, "error").contains("too many questions"));
}

#[test]
fn what_cannot_be_asked_says_what_is_needed() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let long = "x".repeat(2001);
    for (arguments, said) in [
        (json!({}), "give 'question'"),
        (json!({ "question": " \n" }), "give 'question'"),
        (json!({ "questions": [] }), "empty"),
        (json!({ "questions": [], "question": "q" }), "empty"),
        (json!({ "questions": [{ "question": " " }] }), "required"),
        (
            json!({ "questions": [{ "question": "a" }, { "question": "a " }] }),
            "unique",
        ),
        (json!({ "questions": "a" }), "questions is an array of"),
        (
            json!({ "questions": [{ "question": "a", "options": ["x"] }] }),
            "options?: [{label, description?}]",
        ),
        (json!({ "question": "q", "options": ["a", "a"] }), "unique"),
        (
            json!({ "question": "q", "options": "a" }),
            "array of strings",
        ),
        (json!({ "question": 5 }), "string"),
        (json!({ "question": long }), "2000"),
        (
            json!({ "question": "q", "timeout_secs": "soon" }),
            "seconds",
        ),
    ] {
        let call = client.call("ask", &arguments);
        let failed = client.failed(&call);
        assert!(
            text(&failed, "error").contains(said),
            "{arguments}: {failed}"
        );
    }
    assert_eq!(world.json(&["list", "--all", "-A"])["count"], 0);
}

#[test]
fn the_deadline_is_the_calls_own() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--timeout", "120"]);
    for (timeout, seconds) in [(json!(null), 120), (json!(99_999), 3600), (json!(5.0), 5)] {
        let arguments = json!({ "question": "How long?", "timeout_secs": timeout });
        let (call, pending) = client.ask("ask", &arguments);
        let at = |name| sayso::time::Time::parse(text(&pending, name)).unwrap();
        let span = at("expires_at").since(at("created_at"));
        assert_eq!(span.as_secs(), seconds);
        answer(&world, &pending, &["--text", "enough"]);
        client.done(&call);
    }
}

#[test]
fn a_call_that_cannot_be_long_waits_in_pieces() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call("ask", &json!({ "question": "Later?", "wait_secs": 0 }));
    let pending = client.done(&call);
    assert_eq!(keys(&pending), ["status", "interaction_id"]);
    assert_eq!(pending["status"], "pending");
    let id = text(&pending, "interaction_id");
    // The question stays open, and the server's lease on it.
    assert_eq!(world.get(id)["waiting"], "yes");
    let call = client.call(
        "wait_for_answer",
        &json!({ "interaction_id": id, "wait_secs": 0.1 }),
    );
    assert_eq!(client.done(&call), pending);
    let waiting = client.call("wait_for_answer", &json!({ "interaction_id": id }));
    let answered = world.json(&["answer", id, "--text", "now"]);
    assert_eq!(answered["delivery_state"], "delivered");
    let done = client.done(&waiting);
    assert_eq!((&done["id"], &done["answer"]), (&json!(id), &json!("now")));
    // A reply that was lost can be had again.
    let again = client.call("wait_for_answer", &json!({ "interaction_id": id }));
    assert_eq!(client.done(&again), done);
}

#[test]
fn an_answer_between_two_waits_is_not_lost() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let call = client.call("ask", &json!({ "question": "Later?", "wait_secs": 0 }));
    let pending = client.done(&call);
    let id = text(&pending, "interaction_id");
    assert_eq!(
        world.json(&["answer", id, "--text", "early"])["delivery_state"],
        "waiting"
    );
    let call = client.call("wait_for_answer", &json!({ "interaction_id": id }));
    assert_eq!(client.done(&call)["answer"], "early");
    until("the delivery", || world.get(id).get("delivery").cloned());
}

#[test]
fn only_own_questions_can_be_waited_for() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let other = world.request(&["Mine?"]);
    for id in [
        json!(other["id"]),
        json!("x"),
        json!(null),
        json!("0".repeat(32)),
    ] {
        let call = client.call("wait_for_answer", &json!({ "interaction_id": id }));
        client.failed(&call);
    }
}

#[test]
fn a_store_that_cannot_be_written_is_told() {
    let world = Sandbox::new();
    std::fs::write(world.store(), "not a directory").unwrap();
    let mut client = Client::start(&world, &[]);
    let call = client.call("ask", &json!({ "question": "q" }));
    assert_eq!(client.failed(&call)["code"], "unavailable");
    let call = client.call(
        "request_approval",
        &json!({ "tool_name": "Bash", "input": { "command": "ls" } }),
    );
    let block = client.block(&call);
    assert_eq!(
        (&block["behavior"], &block["result"]["source"]),
        (&json!("deny"), &json!("error"))
    );
}
