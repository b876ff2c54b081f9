//! Resuming where it is hard: answers that come early, late or together, long feedback, odd scopes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::Client;
use crate::resumable::{Resumable, TELL};
use crate::sandbox::{Ran, text, until};

/// Keeps what the command was told.
const KEEP: &str = r#"{ cat; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#;

#[test]
fn an_answer_that_comes_before_the_call_returned_resumes_too() {
    let r = Resumable::new(KEEP, &[]);
    let mut server = r
        .world
        .command(["mcp", "serve", "--workflow-id", "wf-1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut says = |message: Value| writeln!(stdin, "{message}").unwrap();
    says(
        json!({ "jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } }),
    );
    // Nobody reads, and the pipe is full: no result gets out.
    for id in 0..3000 {
        says(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
    }
    says(
        json!({ "jsonrpc": "2.0", "id": "ask", "method": "tools/call", "params": {
        "name": "ask", "arguments": { "question": "q" } } }),
    );
    let pending = r.world.await_pending();
    let done = r.answer(&pending, &["--text", "early"]);
    assert_eq!(
        done["workflow_resume"],
        json!({ "workflow_id": "wf-1", "resumed": true })
    );
    assert_eq!(r.told(), "q: early\ncontinue\nend\n");
    assert_eq!(r.paused()["count"], 0);
    // The call still returns what it would have.
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut results = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let returned = results.find(|m| m["id"] == "ask").unwrap();
    let returned = &returned["result"]["structuredContent"];
    assert_eq!(
        (&returned["status"], &returned["interaction_id"]),
        (&json!("pending"), &pending["id"])
    );
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn what_is_decided_while_the_command_runs_is_told_after_it() {
    let r = Resumable::new(
        r#"{ cat; echo first; } >>"$OUT"; until [ -e "$OUT.go" ] || ! [ -e "$0" ]; do sleep 0.02; done; echo end >>"$OUT""#,
        &[],
    );
    let (_, first) = r.suspended("wf-1", "ask", &json!({ "question": "one" }));
    assert_eq!(
        r.answer(&first, &["--text", "1"])["workflow_resume"]["resumed"],
        true
    );
    until("the first command", || r.out.exists().then_some(()));
    let (_, second) = r.suspended("wf-1", "ask", &json!({ "question": "two" }));
    let done = r.answer(&second, &["--text", "2"]);
    let resume = &done["workflow_resume"];
    assert_eq!(
        (&resume["resumed"], &resume["skipped"]),
        (&json!(false), &json!(true))
    );
    assert!(text(resume, "reason").contains("still runs"), "{resume}");
    assert_eq!(r.paused()["workflows"][0]["interaction_id"], second["id"]);
    let by_hand = r.world.json(&["workflow", "resume", "--id", "wf-1"]);
    assert_eq!(by_hand["skipped"], true);
    // Another workflow is not held up by it.
    let (_, other) = r.suspended("wf-2", "ask", &json!({ "question": "other" }));
    assert_eq!(
        r.answer(&other, &["--text", "o"])["delivery_state"],
        "resumed"
    );

    fs::write(r.out.with_extension("go"), "").unwrap();
    for record in [&first, &second, &other] {
        until("the end of every command", || {
            let resume = r.world.get(text(record, "id"))["resume"].take();
            (resume["state"] == "resumed").then_some(())
        });
    }
    let told = until("the last command", || {
        let told = fs::read_to_string(&r.out).unwrap();
        (told.matches("end\n").count() == 3).then_some(told)
    });
    let (one, two) = (
        told.find("one: 1\n").unwrap(),
        told.find("two: 2\n").unwrap(),
    );
    assert!(told[one..two].contains("end\n"), "{told}");
    assert_eq!(told.matches("one: 1").count(), 1, "{told}");
    assert_eq!(r.paused()["count"], 0);
}

#[test]
fn a_command_that_fails_is_not_started_over_and_over() {
    let r = Resumable::new(
        r#"echo x >>"$OUT"; until [ -e "$OUT.go" ] || ! [ -e "$0" ]; do sleep 0.02; done; exit 3"#,
        &[],
    );
    let (_, first) = r.suspended("wf-1", "ask", &json!({ "question": "one" }));
    r.answer(&first, &["--text", "1"]);
    until("the first command", || r.out.exists().then_some(()));
    let (_, second) = r.suspended("wf-1", "ask", &json!({ "question": "two" }));
    r.answer(&second, &["--text", "2"]);
    fs::write(r.out.with_extension("go"), "").unwrap();
    // Once for the first answer, once more for the second.
    until("the failure", || {
        let second = r.world.get(text(&second, "id"))["resume"].take();
        (second["state"] == "failed").then_some(())
    });
    assert_eq!(fs::read_to_string(&r.out).unwrap(), "x\nx\n");
}

#[test]
fn long_feedback_full_of_shell_arrives_as_it_is() {
    let r = Resumable::new(
        r#"cmp - "$SAYSO_FEEDBACK_FILE" && cp "$SAYSO_FEEDBACK_FILE" "$OUT.new" && mv "$OUT.new" "$OUT""#,
        &["{session_id}"],
    );
    let shell = r#"'; $(touch pwned) `touch pwned` "é" \ & | > pwned"#;
    let padded = |n: usize, length: usize| {
        let begin = format!("{n}\n{shell}\n");
        let fill = "€".repeat(length - begin.chars().count() - 1);
        format!("{begin}{fill}.")
    };
    let questions: Vec<String> = (0..12).map(|n| padded(n, 1500)).collect();
    let form: Vec<Value> = questions.iter().map(|q| json!({ "question": q })).collect();
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "questions": form }));
    let answers: Vec<String> = (0..12).map(|n| padded(n, 2000)).collect();
    let flags: Vec<String> = answers
        .iter()
        .enumerate()
        .map(|(n, text)| format!("--other=#{}={text}", n + 1))
        .collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let done = r.answer(&pending, &flags);
    assert_eq!(done["delivery_state"], "resumed");
    let lines = questions.iter().zip(&answers);
    let lines: Vec<String> = lines.map(|(q, a)| format!("{q}: {a}\n")).collect();
    let expected = format!("{}continue\n", lines.concat());
    assert!(expected.len() > 100_000);
    let told = until("the feedback", || fs::read_to_string(&r.out).ok());
    assert!(
        told == expected,
        "{} bytes of {}",
        told.len(),
        expected.len()
    );
    assert!(!r.world.repo().join("pwned").exists());
}

#[test]
fn the_suggested_command_finds_the_paused_one_of_two_workflows_of_that_name() {
    let r = Resumable::new("exit 3", &[]);
    let elsewhere = |args: &[&str]| -> Ran {
        let mut command = r.world.command(args);
        command.env("SAYSO_SCOPE", "elsewhere");
        command.output().unwrap().into()
    };
    // Here it has gone on; there it has not.
    let (_, here) = r.suspended("wf-1", "ask", &json!({ "question": "here" }));
    r.configure("[resume]\ncommand = [\"true\"]\n");
    r.answer(&here, &["--text", "t"]);
    let mut command = r.world.command(["mcp", "serve", "--workflow-id", "wf-1"]);
    command.env("SAYSO_SCOPE", "elsewhere");
    let mut client = Client::of(&r.world, command);
    let call = client.call("ask", &json!({ "question": "there" }));
    let there = client.done(&call);
    r.configure("[resume]\ncommand = [\"false\"]\n");
    let done = elsewhere(&[
        "answer",
        text(&there, "interaction_id"),
        "--text",
        "t",
        "--json",
    ]);
    let guidance = done.data()["workflow_resume"]["guidance"].clone();
    r.configure("[resume]\ncommand = [\"true\"]\n");
    let command = guidance.as_str().unwrap().split(' ').skip(1);
    let ran = r.world.run(command.chain(["--json"]));
    assert_eq!(ran.data()["resumed"], true);
    assert_eq!(
        elsewhere(&["workflow", "list", "--json"]).data()["count"],
        0
    );
}

#[test]
fn in_a_scope_of_its_own_name_the_command_runs_where_the_asker_was() {
    let r = Resumable::new(TELL, &[]);
    let dir = r.world.path().join("somewhere");
    fs::create_dir(&dir).unwrap();
    let suspended = || {
        let mut command = r.world.command(["mcp", "serve", "--workflow-id", "wf-1"]);
        command.current_dir(&dir).env("SAYSO_SCOPE", "named");
        let mut client = Client::of(&r.world, command);
        let call = client.call("ask", &json!({ "question": "q" }));
        client.done(&call)
    };
    let answer = |asked: &Value| {
        let id = text(asked, "interaction_id");
        let args = ["answer", id, "--text", "t", "--scope", "named"];
        r.world.json(&args)["workflow_resume"].take()
    };
    assert_eq!(answer(&suspended())["resumed"], true);
    assert_eq!(r.told().lines().next().unwrap(), dir.to_str().unwrap());
    let asked = suspended();
    fs::remove_dir(&dir).unwrap();
    let failed = answer(&asked);
    assert_eq!(failed["resumed"], false);
    assert!(
        text(&failed, "error").contains("directory is gone"),
        "{failed}"
    );
}

#[test]
fn an_assistant_resumes_a_workflow_by_answering() {
    let r = Resumable::new(KEEP, &[]);
    let call = json!({ "action": "drop it" });
    let (_, pending) = r.suspended("wf-1", "request_approval", &call);
    let mut client = Client::start(&r.world, &["--management"]);
    let arguments = json!({ "id": pending["id"], "decision": "deny", "message": "no" });
    let call = client.call("interactions_answer", &arguments);
    let done = client.done(&call);
    assert_eq!(done["delivery_state"], "resumed");
    assert_eq!(
        done["workflow_resume"],
        json!({ "workflow_id": "wf-1", "resumed": true })
    );
    assert_eq!(r.told(), "Approval denied for drop it: no\ncontinue\nend\n");
}

#[test]
fn a_suspended_question_can_be_asked_after() {
    let r = Resumable::new("exit 0", &[]);
    r.configure("");
    let mut client = Client::start(&r.world, &["--workflow-id", "wf-1"]);
    let call = client.call("ask", &json!({ "question": "q" }));
    let pending = client.done(&call);
    let after = json!({ "interaction_id": pending["interaction_id"] });
    let call = client.call("wait_for_answer", &after);
    assert_eq!(client.done(&call), pending);
    let id = text(&pending, "interaction_id");
    let done = r.world.json(&["answer", id, "--text", "t"]);
    assert_eq!(done["workflow_resume"]["skipped"], true);
    assert_eq!(r.paused()["count"], 1);
    let call = client.call("wait_for_answer", &after);
    assert_eq!(client.done(&call)["answer"], "t");
    // Who has its answer is not paused any more.
    until("the delivery", || (r.paused()["count"] == 0).then_some(()));
}
