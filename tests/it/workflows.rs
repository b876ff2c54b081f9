//! Suspended questions: nobody waits, answering resumes, and each decision is told once.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::hosts::feed;
use crate::resumable::{Resumable, TELL};
use crate::sandbox::{Ran, finish, text, until};

#[test]
fn a_suspended_question_returns_at_once_and_never_expires() {
    let r = Resumable::new("exit 0", &[]);
    let (returned, pending) = r.suspended(
        "wf-1",
        "ask",
        &json!({ "question": "Which?", "timeout_secs": 1 }),
    );
    assert_eq!(
        (
            &returned["status"],
            &returned["interaction_id"],
            &returned["workflow_id"]
        ),
        (&json!("pending"), &pending["id"], &json!("wf-1"))
    );
    assert!(text(&returned, "instruction").contains("End your turn"));
    assert_eq!(pending["suspended"], true);
    assert!(pending.get("expires_at").is_none());
    assert_eq!(pending["waiting"], "no");
    assert!(r.world.run(["list"]).stdout.contains('⏸'));
    let paused = r.paused()["workflows"][0].clone();
    for (name, value) in [
        ("workflow_id", "wf-1"),
        ("status", "paused"),
        ("question", "Which?"),
        ("agent", "bot"),
    ] {
        assert_eq!(paused[name], value);
    }
    assert_eq!(paused["interaction_id"], pending["id"]);
    let shown = r.world.run(["workflow", "list"]);
    assert!(
        shown.stdout.contains("wf-1") && shown.stdout.contains("an answer"),
        "{shown:?}"
    );
}

#[test]
fn a_suspended_prompt_of_the_host_is_denied_with_the_way_out() {
    let r = Resumable::new("exit 0", &[]);
    let call = json!({ "tool_name": "Bash", "input": { "command": "ls" } });
    let (block, pending) = r.suspended("wf-1", "request_approval", &call);
    assert_eq!(block["behavior"], "deny");
    let message = text(&block, "message");
    assert!(message.contains("End your turn") && message.contains(text(&pending, "id")));
    assert_eq!(block["result"]["status"], "pending");
    assert_eq!(pending["suspended"], true);

    let (block, _) = r.suspended("wf-2", "request_approval", &json!({ "action": "deploy" }));
    assert!(block.get("behavior").is_none());
    assert_eq!(block["result"]["workflow_id"], "wf-2");
}

#[test]
fn an_answer_resumes_with_the_feedback_and_the_ids() {
    let r = Resumable::new(
        TELL,
        &["--resume", "{session_id}", "{workflow_id}:{interaction_id}"],
    );
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "Which colour?" }));
    let id = text(&pending, "id");
    let done = r.answer(&pending, &["--text", "teal", "--message", "quick"]);
    assert_eq!(done["delivery_state"], "resumed");
    assert_eq!(
        done["workflow_resume"],
        json!({ "workflow_id": "wf-1", "resumed": true })
    );
    let cwd = r.world.repo();
    let expected = format!(
        "{}\n--resume s-1 wf-1:{id}\nwf-1 s-1 {id}\n600\nWhich colour?: teal\nquick\ncontinue\nend\n",
        cwd.display()
    );
    assert_eq!(r.told(), expected);
    assert_eq!(r.paused()["count"], 0);
    let record = until("the mark", || {
        let record = r.world.get(id);
        (record["resume"]["state"] == "resumed").then_some(record)
    });
    assert_eq!(record["resume"]["attempts"], 1);
    let resumed: Vec<Value> = r
        .world
        .events()
        .into_iter()
        .filter(|e| e["type"] == "interaction_resumed")
        .collect();
    assert_eq!(resumed.len(), 1);
    assert_eq!(
        (&resumed[0]["outcome"], &resumed[0]["workflow_id"]),
        (&json!("resumed"), &json!("wf-1"))
    );
    // A second resume of the same decision does nothing.
    let again = r.world.json(&["workflow", "resume", "--id", "wf-1"]);
    assert_eq!(
        (&again["resumed"], &again["skipped"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn the_feedback_says_what_was_decided() {
    let form = json!({ "questions": [
        { "question": "Z?", "options": [{ "label": "a" }, { "label": "b" }], "multi_select": true },
        { "question": "A?" }, { "question": "Open?" },
    ] });
    let bash = json!({ "tool_name": "Bash", "input": { "command": "ls" } });
    for (tool, arguments, flags, said) in [
        (
            "request_approval",
            json!({ "action": "drop it" }),
            &["--allow"][..],
            "Approval granted for drop it\n",
        ),
        (
            "request_approval",
            bash,
            &["--deny", "--message", "no"],
            "Approval denied for use tool Bash: no\n",
        ),
        (
            "request_approval",
            json!({ "tool_name": "deploy", "arguments": { "to": "prod" }, "action": "ship it",
                "suggestions": [{ "destination": "localSettings", "type": "addRules", "behavior": "allow", "rules": [] }] }),
            &[
                "--allow",
                "--remember",
                "--updated-input",
                r#"{"to": "canary"}"#,
            ],
            "Approval granted for ship it\nOnly with this input instead: {\"to\": \"canary\"}\nAlso allowed from now on: [{\"destination\":\"localSettings\",\"type\":\"addRules\",\"behavior\":\"allow\",\"rules\":[]}]\n",
        ),
        (
            "ask",
            form.clone(),
            &["--other", "#2=two", "--select", "#1=a,b", "--text", "free"],
            "Z?: a, b\nA?: two\nfree\n",
        ),
        (
            "ask",
            form,
            &["--deny", "--message", "why"],
            "The questions were declined: bot asks\nwhy\n",
        ),
    ] {
        let r = Resumable::new(
            r#"{ cat; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#,
            &[],
        );
        let (_, pending) = r.suspended("wf-1", tool, &arguments);
        r.answer(&pending, flags);
        assert_eq!(r.told(), format!("{said}continue\nend\n"));
    }
}

#[test]
fn the_answer_stands_whatever_becomes_of_the_resume() {
    let r = Resumable::new("exit 3", &[]);
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    let done = r.answer(&pending, &["--text", "t"]);
    assert_eq!(
        (&done["status"], &done["delivery_state"]),
        (&json!("answered"), &json!("resume_failed"))
    );
    let resume = &done["workflow_resume"];
    assert_eq!(
        (&resume["resumed"], &resume["guidance"]),
        (&json!(false), &json!("sayso workflow resume --id wf-1"))
    );
    assert!(text(resume, "error").contains('3'), "{resume}");
    let paused = r.paused()["workflows"][0].clone();
    assert_eq!(
        (&paused["question_status"], &paused["resume"]["state"]),
        (&json!("answered"), &json!("failed"))
    );
    // The guidance runs as it is, also from elsewhere, once the command works.
    let script = r.world.path().join("resume.sh");
    fs::write(
        script,
        format!("#!/bin/sh\ncat >'{0}'; echo end >>'{0}'\n", r.out.display()),
    )
    .unwrap();
    let mut elsewhere = r.world.command(
        text(resume, "guidance")
            .split(' ')
            .skip(1)
            .chain(["--json"]),
    );
    elsewhere.current_dir(r.world.path());
    let again: Ran = elsewhere.output().unwrap().into();
    assert_eq!(again.data()["resumed"], true);
    assert_eq!(r.told(), "q: t\ncontinue\nend\n");
    assert_eq!(r.paused()["count"], 0);
}

#[test]
fn what_cannot_be_started_says_so() {
    let r = Resumable::new("exit 0", &[]);
    for (config, member, said) in [
        (
            "[resume]\ncommand = [\"/does/not/exist\"]\n",
            "error",
            "cannot be started",
        ),
        (
            "[resume]\ncommand = [\"true\", \"{session}\"]\nmore = 1\n",
            "error",
            "config.toml:3",
        ),
        (
            "[resume]\ncommand = [\"./resume.sh\"]\n",
            "error",
            "absolute path",
        ),
        ("", "reason", "no resume command"),
    ] {
        let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
        r.configure(config);
        let done = r.answer(&pending, &["--text", "t"]);
        let resume = &done["workflow_resume"];
        assert_eq!(resume["resumed"], false);
        assert!(text(resume, member).contains(said), "{resume}");
        assert_eq!(resume.get("skipped").is_some(), member == "reason");
        r.configure("[resume]\ncommand = [\"true\"]\n");
        r.world.json(&["workflow", "resume", "--id", "wf-1"]);
    }
}

#[test]
fn a_resume_without_a_command_is_a_failure_that_says_what_to_configure() {
    let r = Resumable::new(TELL, &[]);
    let script = r.world.path().join("resume.sh");
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    r.configure("");
    // The answer stands; that nothing is resumed is no failure of it.
    let done = r.answer(&pending, &["--text", "t"]);
    assert_eq!(done["workflow_resume"]["skipped"], true);
    let resume = ["workflow", "resume", "--id", "wf-1"];
    for config in ["", "max_pending = 5\n"] {
        r.configure(config);
        let ran = r.world.run(resume);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        for said in [
            "no resume command",
            "config.toml",
            "hint:   [resume]",
            "hint:   command = [",
        ] {
            assert!(ran.stderr.contains(said), "{said}: {ran:?}");
        }
        let error = r.world.error(&resume);
        assert_eq!(error["code"], "config_error");
        assert!(text(&error, "message").contains("[resume]"));
        assert_eq!(r.paused()["count"], 1);
    }
    // With one it goes on, and a workflow that has gone on needs none.
    r.configure(&format!("[resume]\ncommand = [{script:?}]\n"));
    assert_eq!(r.world.run(resume).code, 0);
    assert_eq!(r.told().lines().last(), Some("end"));
    r.configure("");
    assert_eq!(r.world.json(&resume)["skipped"], true);
}

#[test]
fn an_id_that_could_be_an_option_is_never_an_argument() {
    for workflow in ["--dangerously", "a b", "x;y", "$(touch x)"] {
        let r = Resumable::new(TELL, &["{workflow_id}"]);
        let option = format!("--workflow-id={workflow}");
        let mut client = Client::start(&r.world, &[&option]);
        let call = client.call("ask", &json!({ "question": "q" }));
        client.done(&call);
        let pending = r.world.await_pending();
        let done = r.answer(&pending, &["--text", "t"]);
        let resume = &done["workflow_resume"];
        assert_eq!(resume["resumed"], false);
        assert!(text(resume, "error").contains("cannot be an argument"));
        assert!(
            text(resume, "guidance").ends_with(&format!("--id='{workflow}'")),
            "{resume}"
        );
        assert!(!r.out.exists());
        // In the environment it is harmless.
        let script = r.world.path().join("resume.sh");
        r.configure(&format!("[resume]\ncommand = [{script:?}]\n"));
        let id = format!("--id={workflow}");
        assert_eq!(r.world.json(&["workflow", "resume", &id])["resumed"], true);
        assert!(r.told().contains(workflow));
    }
}

#[test]
fn a_command_that_says_not_now_is_tried_again() {
    let r = Resumable::new(
        r#"echo x >>"$OUT"; [ "$(wc -l <"$OUT")" = 3 ] || exit 75; echo end >>"$OUT""#,
        &[],
    );
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    assert_eq!(
        r.answer(&pending, &["--text", "t"])["workflow_resume"]["resumed"],
        true
    );
    // While it is tried again nothing is paused, and resuming by hand does not start it a second time.
    assert_eq!(r.paused()["count"], 0);
    assert_eq!(
        r.world.json(&["workflow", "resume", "--id", "wf-1"])["skipped"],
        true
    );
    assert_eq!(r.told(), "x\nx\nx\nend\n");
    let resume = until("the mark", || {
        let resume = r.world.get(text(&pending, "id"))["resume"].take();
        (resume["state"] == "resumed").then_some(resume)
    });
    assert_eq!(resume["attempts"], 3);
}

#[test]
fn a_withdrawn_question_leaves_its_workflow_paused() {
    let r = Resumable::new(
        r#"{ cat; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#,
        &[],
    );
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    let waits = r
        .world
        .run(["workflow", "resume", "--id", "wf-1", "--json"]);
    assert_eq!(waits.error()["code"], "unavailable");
    let cancelled = r.world.run(["cancel", text(&pending, "id")]);
    assert!(
        cancelled.stderr.contains("sayso workflow resume --id wf-1"),
        "{cancelled:?}"
    );
    assert_eq!(r.paused()["workflows"][0]["question_status"], "cancelled");
    assert_eq!(
        r.world.json(&["workflow", "resume", "--id", "wf-1"])["resumed"],
        true
    );
    assert!(r.told().contains("withdrawn without an answer: q"));
    let unknown = r
        .world
        .run(["workflow", "resume", "--id", "wf-9", "--json"]);
    assert_eq!(unknown.error()["code"], "not_found");
}

#[test]
fn racing_answers_resume_once() {
    let r = Resumable::new(r#"echo x >>"$OUT""#, &[]);
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    let id = text(&pending, "id");
    let children: Vec<_> = (0..8)
        .map(|i| {
            r.world.start([
                "answer",
                id,
                "--text",
                &format!("t{i}"),
                "--by",
                &format!("b{i}"),
                "--json",
            ])
        })
        .collect();
    let ran: Vec<Ran> = children.into_iter().map(finish).collect();
    let (won, lost): (Vec<&Ran>, Vec<&Ran>) = ran.iter().partition(|r| r.code == 0);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|r| r.error()["code"] == "already_answered"));
    let record = r.world.get(id);
    let winner = &record["response"];
    assert_eq!(text(winner, "text")[1..], text(winner, "answered_by")[1..]);
    assert_eq!(won[0].data()["response"], *winner);
    until("the resume", || {
        (r.world.get(id)["resume"]["state"] == "resumed").then_some(())
    });
    assert_eq!(fs::read_to_string(&r.out).unwrap(), "x\n");
}

#[test]
fn a_workflow_that_runs_is_not_resumed_beside_itself() {
    let r = Resumable::new(
        r#"echo x >>"$OUT"; until [ -e "$OUT.go" ] || ! [ -e "$0" ]; do sleep 0.02; done; echo end >>"$OUT""#,
        &[],
    );
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "question": "q" }));
    assert_eq!(
        r.answer(&pending, &["--text", "t"])["workflow_resume"]["resumed"],
        true
    );
    assert_eq!(r.paused()["count"], 0);
    let again = r.world.json(&["workflow", "resume", "--id", "wf-1"]);
    assert_eq!(
        (&again["resumed"], &again["skipped"]),
        (&json!(false), &json!(true))
    );
    fs::write(r.out.with_extension("go"), "").unwrap();
    assert_eq!(r.told(), "x\nend\n");
}

#[test]
fn decisions_that_were_not_told_are_told_with_the_next() {
    let r = Resumable::new(
        r#"[ -e "$OUT.ok" ] || exit 1; { cat; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#,
        &[],
    );
    let (_, first) = r.suspended("wf-1", "ask", &json!({ "question": "first" }));
    assert_eq!(
        r.answer(&first, &["--text", "1"])["delivery_state"],
        "resume_failed"
    );
    let (_, second) = r.suspended("wf-1", "ask", &json!({ "question": "second" }));
    fs::write(r.out.with_extension("ok"), "").unwrap();
    assert_eq!(
        r.answer(&second, &["--text", "2"])["delivery_state"],
        "resumed"
    );
    assert_eq!(r.told(), "first: 1\nsecond: 2\ncontinue\nend\n");
    assert_eq!(r.paused()["count"], 0);
}

#[test]
fn a_host_that_comes_back_for_its_answer_is_not_paused() {
    let r = Resumable::new("exit 0", &[]);
    r.configure("");
    let payload = json!({
        "session_id": "s-1", "cwd": r.world.repo(), "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "t-1",
    });
    let gate = || {
        let mut hook = r
            .world
            .command(["hook", "claude", "pre-tool-use", "--suspend"]);
        hook.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
        feed(hook, payload.to_string().as_bytes()).stdout
    };
    assert!(gate().contains("defer"));
    let pending = r.world.await_pending();
    let done = r.answer(&pending, &["--allow"]);
    assert_eq!(done["workflow_resume"]["skipped"], true);
    assert_eq!(r.paused()["workflows"][0]["workflow_id"], "s-1");
    assert!(gate().contains("allow"));
    assert_eq!(r.paused()["count"], 0);
}

#[test]
fn only_questions_that_were_asked_suspended_resume_anything() {
    let r = Resumable::new(r#"echo x >>"$OUT""#, &[]);
    let (_, sibling) = r.suspended("wf-1", "ask", &json!({ "question": "paused" }));
    // A label in a blocking call, the wish of a call to a server without a workflow, and a pinned call
    // that wants to wait.
    for (options, arguments, warns) in [
        (
            &[][..],
            json!({ "question": "q", "workflow_id": "wf-1" }),
            false,
        ),
        (
            &[],
            json!({ "question": "q", "workflow_id": "wf-1", "wait": "suspend" }),
            true,
        ),
        (&[], json!({ "question": "q", "wait": "dance" }), true),
        (
            &["--workflow-id", "wf-1"],
            json!({ "question": "q", "wait": "block" }),
            false,
        ),
    ] {
        let mut client = Client::start(&r.world, options);
        let call = client.call("ask", &arguments);
        let pending = until("the question", || {
            let list = r.world.json(&["list"])["interactions"].take();
            list.as_array()
                .unwrap()
                .iter()
                .find(|r| r["prompt"] == "q")
                .cloned()
        });
        assert!(pending.get("suspended").is_none());
        let done = r.answer(&pending, &["--text", "t"]);
        assert_eq!(done["delivery_state"], "delivered");
        assert!(done.get("workflow_resume").is_none());
        assert_eq!(client.done(&call).get("warning").is_some(), warns);
    }
    assert!(!r.out.exists());
    assert_eq!(r.paused()["workflows"][0]["interaction_id"], sibling["id"]);
}

#[test]
fn the_command_runs_in_the_scopes_root_when_the_asker_was_elsewhere() {
    let r = Resumable::new(TELL, &[]);
    let outside = r.world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let mut command = r.world.command(["mcp", "serve", "--workflow-id", "wf-1"]);
    command
        .current_dir(&outside)
        .env("SAYSO_REPO", r.world.repo());
    let mut client = Client::of(&r.world, command);
    let call = client.call("ask", &json!({ "question": "q" }));
    client.done(&call);
    let pending = r.world.await_pending();
    assert_eq!(pending["cwd"], outside.to_str().unwrap());
    r.answer(&pending, &["--text", "t"]);
    let told = r.told();
    assert_eq!(
        told.lines().next().unwrap(),
        r.world.repo().to_str().unwrap()
    );
}
