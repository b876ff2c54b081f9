//! Prompts, answers, tool inputs, digests and nonces stay out of listings, logs, events and errors.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, finish, text};
use crate::streams::Stream;

/// Stands in everything that must not be repeated.
const CANARY: &str = "kanarienvogel";

fn silent(what: &str, ran: &Ran, secrets: &[&str]) {
    for secret in secrets {
        assert!(
            !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
            "{what} tells {secret}: {ran:?}"
        );
    }
}

#[test]
fn the_nonce_is_printed_by_get_and_request_alone() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let (id, nonce) = (text(&record, "id"), text(&record, "nonce"));
    let watch = Stream::start(&world, &["watch", "--json"]);
    let snapshot = watch.line();
    assert!(snapshot.contains(id) && !snapshot.contains(nonce));
    assert_eq!(watch.line(), r#"{"type":"sync"}"#);
    watch.stop();
    let verbs: [&[&str]; 9] = [
        &["list"],
        &["list", "--all"],
        &["show", id],
        &["events"],
        &["count"],
        &["doctor"],
        &["wait", id, "--timeout", "1"],
        &["answer", id, "--allow"],
        &["cancel", id],
    ];
    for args in verbs {
        for more in [&["-vv"][..], &["--json"]] {
            silent(
                &format!("{args:?}"),
                &world.run([args, more].concat()),
                &[nonce],
            );
        }
    }
    let human = world.run(["request", "Another?"]);
    let shown = world.await_pending();
    let secret = world.get(text(&shown, "id"));
    silent("request", &human, &[text(&secret, "nonce")]);
    assert_eq!(world.get(id)["nonce"], nonce);
}

#[test]
fn the_event_log_and_the_verbose_log_hold_no_texts() {
    let world = Sandbox::new();
    let input = format!("{{\"command\":\"{CANARY}\"}}");
    let choice = format!("go:{CANARY}");
    let ask = world.start([
        "ask",
        CANARY,
        "-vv",
        "--tool",
        "Bash",
        "--input",
        &input,
        "--choice",
        &choice,
        "--choice",
        "no:No",
        "--choice-detail",
        &choice,
        "--action",
        CANARY,
        "--effect",
        "go=allow",
    ]);
    let record = world.await_pending();
    let id = text(&record, "id");
    let full: Value = world.get(id);
    let edited = format!("{{\"command\":\"{CANARY}2\"}}");
    let answered = world.respond(
        &full,
        "r",
        &[
            "--choice",
            "go",
            "--message",
            "vogelfrei",
            "--updated-input",
            &edited,
            "-vv",
        ],
    );
    assert_eq!(answered.code, 0, "{answered:?}");
    let secrets = [
        CANARY,
        "vogelfrei",
        text(&full, "request_digest"),
        text(&full, "nonce"),
    ];
    silent("respond", &answered, &secrets);
    let asked = finish(ask);
    // The one who asked is told the answer and its message, and nothing else.
    assert_eq!(asked.stdout, "go\n");
    silent(
        "ask",
        &Ran {
            stderr: asked.stderr.replace("vogelfrei", ""),
            ..asked
        },
        &secrets,
    );
    world.run(["cancel", id]);
    world.request(&["x", "--key", "k"]);
    world.request(&[CANARY, "--key", "k"]);
    let log = fs::read_to_string(world.scope().join("events.jsonl")).unwrap();
    assert!(log.lines().count() >= 6);
    for secret in secrets {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    for verb in [
        &["list", "--all", "-vv"][..],
        &["cancel", "--key", "k", "-vv"],
    ] {
        silent(
            &format!("{verb:?}"),
            &Ran {
                stdout: String::new(),
                ..world.run(verb)
            },
            &secrets,
        );
    }
}

#[test]
fn an_error_repeats_nothing_that_was_asked_or_answered() {
    let world = Sandbox::new();
    let record = world.request(&[&format!("{CANARY}?"), "--choice", "a:A", "--choice", "b:B"]);
    let id = text(&record, "id");
    let long = CANARY.repeat(200);
    let file = world.path().join("form.json");
    fs::write(
        &file,
        format!("[{{\"question\":\"{CANARY}\",\"x\":\"{CANARY}\"}}]"),
    )
    .unwrap();
    let form = file.to_str().unwrap();
    let (digest, nonce) = (text(&record, "request_digest"), text(&record, "nonce"));
    let json = format!("{{\"a\":\"{CANARY}\"");
    let twice = format!("{{\"{CANARY}\":\"a\",\"{CANARY}\":\"b\"}}");
    let respond = ["respond", id, "--response-id", "r"];
    let both = [&respond[..], &["--digest", digest, "--nonce", nonce]].concat();
    let rows: Vec<Vec<&str>> = vec![
        vec!["request", &long],
        vec!["request", "x", "--action", &long],
        vec!["request", "x", "--choice", CANARY],
        vec!["request", "x", "--choice", &long, "--choice", CANARY],
        vec!["request", "x", CANARY],
        vec!["request", "x", "--prompt", CANARY],
        vec!["request", "x", "--choice-detail", CANARY],
        vec!["request", "x", "--tool", "t", "--input", &json],
        vec!["request", "x", "--tool", "t", "--input", &twice],
        vec!["request", "x", "--kind", "form", "--questions", form],
        vec!["request", "--kind", CANARY],
        vec!["answer", id, "--choice", CANARY],
        vec!["answer", id, "--text", CANARY],
        vec!["answer", id, "--select", CANARY],
        vec!["answer", id, "--other", CANARY],
        vec!["answer", id, "--choice", "a", "--updated-input", &json],
        vec!["answer", id, "--allow", CANARY],
        vec!["answer", id, "--digest", CANARY, "--choice", "a"],
        [&both[..], &["--choice", CANARY]].concat(),
        [&both[..], &["--choice", "a", "--text", CANARY]].concat(),
        [&both[..], &["--choice", "a", "--message", &long]].concat(),
        [&both[..], &["--answers", &json]].concat(),
        [&both[..], &["--answers", &twice]].concat(),
        [&both[..], &["--text", "x", CANARY]].concat(),
        [&both[..], &["--response", &long]].concat(),
        [
            &respond[..],
            &["--digest", CANARY, "--nonce", nonce, "--choice", "a"],
        ]
        .concat(),
        [
            &respond[..],
            &["--digest", digest, "--nonce", CANARY, "--choice", "a"],
        ]
        .concat(),
        [
            &respond[..],
            &[
                "--digest", digest, "--nonce", nonce, "--nonce", CANARY, "--choice", "a",
            ],
        ]
        .concat(),
    ];
    for args in rows {
        for more in [&[][..], &["--json"], &["-vv"]] {
            let ran = world.run([&args, more].concat());
            assert!([2, 6].contains(&ran.code), "{args:?} {ran:?}");
            silent(&format!("{args:?}"), &ran, &[CANARY, nonce, digest]);
        }
    }
    world.json(&["answer", id, "--choice", "a"]);
    for args in [
        &["answer", id, "--choice", CANARY][..],
        &[&both[..], &["--choice", "b"]].concat(),
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, 4);
        silent("already answered", &ran, &[CANARY, nonce, digest]);
    }
}
