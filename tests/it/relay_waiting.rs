//! A process that waits fetches the answer itself, so that none is lost where no cron is set up.

use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fake_relay::{Endpoint, FakeRelay, Fault};
use crate::hosts::{Hook, fixture};
use crate::relayed::{EVERYTHING, Relayed, configure, paired, table};
use crate::sandbox::{Sandbox, finish, text, until};

/// A process that is gone when this is, stopped or not.
struct Gone(Child);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first phone answers the `n`th question that came.
fn answer(r: &Relayed, n: usize, answer: (&str, &str)) {
    let item = r
        .relay
        .phone(0)
        .answer(&r.relay.asked(n), &format!("r{n}"), answer);
    r.relay.put(item);
}

#[test]
fn ask_is_answered_from_the_phone() {
    let r = Relayed::new();
    let ask = r.world.start(["ask", "Deploy?"]);
    answer(&r, 0, ("choice_id", "deny"));
    let ran = finish(ask);
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (10, "deny\n", ""));
    let ask = r.world.start(["ask", "Name?", "--kind", "text", "--json"]);
    answer(&r, 1, ("text", "naïf"));
    let record = finish(ask).data();
    assert_eq!(record["response"]["source"], "relay");
    assert_eq!(record["response"]["text"], "naïf");
}

#[test]
fn a_hook_is_answered_from_the_phone() {
    let r = Relayed::new();
    let input = fixture("claude-bash-PermissionRequest");
    let hook = Hook::start(&r.world, "claude", "permission-request", &input);
    let asked = r.relay.asked(0);
    let asker: Value = serde_json::from_slice(&input).unwrap();
    let command = text(&asker["tool_input"], "command");
    let prompt = text(&asked.payload["interaction"], "prompt");
    assert!(prompt.contains(command), "{prompt}");
    let allow = asked.payload["interaction"]["choices"].as_array().unwrap();
    let allow = allow
        .iter()
        .find(|c| text(c, "id").starts_with("allow"))
        .unwrap();
    answer(&r, 0, ("choice_id", text(allow, "id")));
    let ran = hook.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("\"behavior\":\"allow\""), "{ran:?}");
}

#[test]
fn a_tool_call_is_answered_from_the_phone() {
    let r = Relayed::new();
    let mut client = Client::start(&r.world, &[]);
    let calls =
        ["One?", "Two?"].map(|question| client.call("ask", &json!({ "question": question })));
    r.relay.await_requests(Endpoint::Envelopes, 2);
    for n in 0..2 {
        let asked = r.relay.asked(n);
        let text = text(&asked.payload["interaction"], "prompt").to_owned() + "!";
        answer(&r, n, ("text", &text));
    }
    let answers = calls.map(|call| client.done(&call)["answer"].clone());
    assert_eq!(answers, ["One?!", "Two?!"]);
    client.close();
}

#[test]
fn wait_fetches_the_answer_to_a_published_question() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    let wait = r
        .world
        .start(["wait", text(&record, "id"), "--timeout", "18", "--json"]);
    answer(&r, 0, ("choice_id", "deny"));
    assert_eq!(finish(wait).data()["status"], "answered");
}

#[test]
fn a_question_found_again_under_its_key_is_looked_for_too() {
    let r = Relayed::new();
    r.world.request(&["Deploy?", "--key", "k"]);
    let ask = r.world.start(["ask", "Deploy?", "--key", "k"]);
    answer(&r, 0, ("choice_id", "deny"));
    assert_eq!(finish(ask).code, 10);
    assert_eq!(r.relay.envelopes().len(), 1);
}

#[test]
fn one_process_polls_for_all_and_another_takes_over() {
    let r = Relayed::new();
    let mut asks: Vec<_> = (0..4)
        .map(|n| r.world.start(["ask", &format!("{n}?")]))
        .collect();
    r.relay.await_requests(Endpoint::Envelopes, 4);
    let looks = r.relay.await_requests(Endpoint::Responses, 3);
    // Four of them would look every second or so.
    let gaps: Vec<Duration> = looks.windows(2).map(|w| w[1].at - w[0].at).collect();
    assert!(
        gaps.iter().all(|gap| *gap > Duration::from_secs(2)),
        "{gaps:?}"
    );
    for mut ask in asks.drain(1..) {
        ask.kill().unwrap();
        ask.wait().unwrap();
    }
    let seen = r.relay.requests(Endpoint::Responses).len();
    r.relay.await_requests(Endpoint::Responses, seen + 1);
    let left = asks.pop().unwrap();
    let first = (0..4).find(|n| r.relay.asked(*n).payload["interaction"]["prompt"] == "0?");
    answer(&r, first.unwrap(), ("choice_id", "deny"));
    assert_eq!(finish(left).code, 10);
}

#[test]
fn an_answer_for_another_is_applied_on_the_way() {
    let r = Relayed::new();
    let other = r.world.request(&["Other?"]);
    let ask = r.world.start(["ask", "Mine?"]);
    r.relay.await_requests(Endpoint::Envelopes, 2);
    answer(&r, 0, ("choice_id", "deny"));
    answer(&r, 1, ("choice_id", "deny"));
    assert_eq!(finish(ask).code, 10);
    // The page may have been left behind; whoever polls next sees to it.
    r.world.run(["relay", "poll"]);
    assert_eq!(r.world.get(text(&other, "id"))["status"], "answered");
}

#[test]
fn an_answer_at_the_terminal_ends_the_wait_in_the_middle_of_a_poll() {
    let r = Relayed::new();
    r.relay.always(Endpoint::Responses, Fault::Held);
    let ask = r.world.start(["ask", "Deploy?"]);
    r.relay.await_requests(Endpoint::Responses, 1);
    let pending = r.world.await_pending();
    answer(&r, 0, ("choice_id", "allow-once"));
    r.world.json(&["answer", text(&pending, "id"), "--deny"]);
    assert_eq!(finish(ask).code, 10);
    r.relay.release();
    r.relay.heal();
    // The phone was later, and is told of nothing else.
    let polled = until("the refused answer", || {
        let polled = r.polled();
        (polled["fetched"] == 1).then_some(polled)
    });
    assert_eq!(polled["applied"], 0);
    assert!(
        text(&polled["answers"][0], "note").contains("already_answered"),
        "{polled}"
    );
}

#[test]
fn a_withdrawn_question_is_not_sent_again() {
    let r = Relayed::new();
    r.relay.once(Endpoint::Envelopes, Fault::status(500));
    let ran = r.world.run(["ask", "Deploy?", "--timeout", "1"]);
    assert_eq!(ran.code, 124);
    r.make_due();
    r.world.json(&["relay", "sync"]);
    assert_eq!((r.relay.envelopes().len(), r.entry()), (1, None));
}

#[test]
fn a_failing_relay_is_looked_at_less_and_less() {
    let r = Relayed::new();
    r.relay.always(Endpoint::Responses, Fault::status(500));
    let _ask = Gone(r.world.start(["ask", "Deploy?"]));
    r.relay.await_requests(Endpoint::Responses, 2);
    let looks = r.relay.await_requests(Endpoint::Responses, 3);
    let gaps: Vec<Duration> = looks.windows(2).map(|w| w[1].at - w[0].at).collect();
    // 5 s and 10 s, each up to a fifth more or less.
    assert!(gaps[0] >= Duration::from_millis(3900), "{gaps:?}");
    assert!(gaps[1] >= Duration::from_millis(7900), "{gaps:?}");
}

#[test]
fn an_answer_that_an_agents_process_fetches_is_still_the_phones() {
    let r = Relayed::new();
    let mut ask = r.world.command(["ask", "Deploy?", "--json"]);
    ask.env("CLAUDECODE", "1")
        .stdout(std::process::Stdio::piped());
    let ask = ask.spawn().unwrap();
    answer(&r, 0, ("choice_id", "allow-once"));
    let record = finish(ask).data();
    let response = &record["response"];
    assert_eq!(
        (&response["source"], &response["answered_by"]),
        (&json!("relay"), &json!("phone-1"))
    );
    assert!(
        response["responder"].get("agent_session").is_none(),
        "{record}"
    );
}

#[test]
fn a_server_that_ends_has_sent_what_it_suspended() {
    let r = Relayed::new();
    let options = [
        "--workflow-id",
        "wf",
        "--session-id",
        "s",
        "--agent-id",
        "bot",
    ];
    let mut client = Client::start(&r.world, &options);
    let call = client.call("ask", &json!({ "question": "Which?", "wait": "suspend" }));
    client.done(&call);
    // The agent was told to end its turn, and its host ends the server with it.
    client.close();
    assert_eq!(r.relay.envelopes().len(), 1);
}

#[test]
fn whoever_polls_polls_the_providers_of_all_waiters() {
    let world = Sandbox::new();
    let (one, two) = (FakeRelay::named("one"), FakeRelay::named("two"));
    let only = |agent: &str| format!("{EVERYTHING}agents = [\"{agent}\"]\n");
    configure(
        &world,
        &[table(&one, &only("a")), table(&two, &only("b"))].concat(),
    );
    paired(&world, &one);
    paired(&world, &two);
    let _first = Gone(world.start(["ask", "First?", "--agent", "a"]));
    // It polls by now, and goes on to.
    one.await_requests(Endpoint::Responses, 1);
    let second = world.start(["ask", "Second?", "--agent", "b"]);
    let item = two
        .phone(0)
        .answer(&two.asked(0), "r1", ("choice_id", "deny"));
    two.put(item);
    assert_eq!(finish(second).code, 10);
}

#[test]
fn a_stopped_poller_keeps_nobody_from_polling() {
    let r = Relayed::new();
    let first = Gone(r.world.start(["ask", "First?"]));
    // Between two looks: in the midst of one it would hold the provider's lock as well.
    until("the first look", || {
        let looked = r.dir().join("cursor.json").exists();
        let lock = std::fs::File::open(r.dir().join("lock")).ok()?;
        (looked && lock.try_lock().is_ok()).then_some(())
    });
    let pid = nix::unistd::Pid::from_raw(i32::try_from(first.0.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    let second = r.world.start(["ask", "Second?"]);
    answer(&r, 1, ("choice_id", "deny"));
    // It takes ten seconds of silence to tell a stopped process from a slow one.
    let before = r.relay.requests(Endpoint::Responses).len();
    r.relay.await_requests(Endpoint::Responses, before + 1);
    assert_eq!(finish(second).code, 10);
}
