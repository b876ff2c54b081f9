//! A host's own notifications, passed on.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hosts::{Hook, feed, fixture};
use crate::notice_world::{FINE, Noticed, Service};
use crate::sandbox::{Ran, finish, until};

fn payload(noticed: &Noticed) -> Value {
    json!({
        "session_id": "s", "transcript_path": "/t", "cwd": noticed.world.repo(),
        "hook_event_name": "Notification", "notification_type": "idle_prompt",
        "title": "Claude Code", "message": "Claude is waiting for your input\u{7}",
    })
}

fn notification(noticed: &Noticed, host: &str, input: &[u8]) -> Ran {
    feed(noticed.world.command(["hook", host, "notification"]), input)
}

fn quiet(ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn a_notification_is_passed_on_and_nothing_is_printed() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let program = noticed.script(
        "beep",
        "env | grep '^SAYSO_' | sort > \"$OUT/environment\"; cat > \"$OUT/stdin\"",
    );
    noticed.configure(&format!(
        "[[notify]]\ncommand = [{program:?}]\ninclude_prompt = true\nprojects = [\"SHOP\"]\n\
         [[notify]]\nntfy = {:?}\nallow_private = true\nagents = [\"claude\", \"gemini\"]\n\
         [[notify]]\nntfy = {:?}\nallow_private = true\nkinds = [\"permission\"]\n",
        service.url("/all"),
        service.url("/permissions"),
    ));
    let ran = notification(&noticed, "claude", payload(&noticed).to_string().as_bytes());
    quiet(&ran);
    assert_eq!(ran.stderr, "");
    let mut event: Value = serde_json::from_str(&noticed.written("stdin")).unwrap();
    assert!(
        event
            .as_object_mut()
            .unwrap()
            .remove("at")
            .unwrap()
            .is_string()
    );
    let expected = json!({
        "schema": "sayso.notice.v1", "type": "message", "agent": "claude", "project": "shop",
        "title": "Claude Code", "body": "Claude is waiting for your input\u{7}",
        "priority": "normal",
    });
    assert_eq!(event, expected);
    let environment = noticed.written("environment");
    assert!(environment.contains("SAYSO_EVENT=message\n") && !environment.contains("waiting"));
    let got = service.wait(1);
    assert_eq!(got[0].header("title"), Some("claude has a message (shop)"));
    assert_eq!(got[0].header("tags"), Some("message"));
    assert!(!got[0].body.contains("waiting for your input"), "{got:?}");
    noticed.idle();
    // Others send it too; what has no text is no message; no question was opened by any of it.
    quiet(&notification(&noticed, "gemini", br#"{"message":"Hello"}"#));
    quiet(&notification(&noticed, "claude", b"{}"));
    let got = service.wait(2);
    assert_eq!(got[1].header("title"), Some("gemini has a message (shop)"));
    noticed.idle();
    assert_eq!(service.got().len(), 2);
    assert!(!noticed.world.store().join("scopes").exists());
}

#[test]
fn a_burst_of_messages_ends_with_their_number() {
    let service = Service::start(FINE);
    let noticed = Noticed::new(&format!(
        "[[notify]]\nntfy = {:?}\nallow_private = true\ninclude_prompt = true\n",
        service.url("/t")
    ));
    let say = |text: &str| {
        let mut payload = payload(&noticed);
        payload["message"] = text.into();
        quiet(&notification(
            &noticed,
            "claude",
            payload.to_string().as_bytes(),
        ));
    };
    say("one");
    noticed.idle();
    let held = noticed.lock(&noticed.name());
    for text in ["two", "three", &"x".repeat(10_000)] {
        say(text);
    }
    drop(held);
    noticed.world.request(&["A question?"]);
    noticed.idle();
    let got = service.got();
    let titles: Vec<_> = got.iter().map(|got| got.header("title").unwrap()).collect();
    assert_eq!(
        titles,
        [
            "claude: Claude Code (shop)",
            "cli needs permission (shop)",
            "claude: Claude Code (shop), 2 more"
        ]
    );
    assert!(got[2].body.starts_with("xxx") && got[2].body.len() <= 4096);
}

#[test]
fn nothing_that_a_host_sends_makes_it_fail() {
    let noticed = Noticed::new("[[notify]]\ncommand = [\"true\"]\n");
    let large = format!("{{\"message\":\"{}\"}}", "x".repeat(17 << 20));
    for input in [
        &b""[..],
        b"[]",
        b"\xff\xfe",
        b"{\"message\":",
        b"{\"message\":7}",
        large.as_bytes(),
    ] {
        quiet(&notification(&noticed, "claude", input));
    }
    noticed.configure("[[notify]\n");
    let ran = notification(&noticed, "claude", b"{\"message\":\"x\"}");
    quiet(&ran);
    assert!(
        ran.stderr.starts_with("sayso: ") && ran.stderr.lines().count() == 1,
        "{ran:?}"
    );
    noticed.configure("");
    quiet(&notification(&noticed, "claude", b"{\"message\":\"x\"}"));
    assert!(!noticed.notify_dir().exists());
}

#[test]
fn an_input_that_does_not_end_is_given_up() {
    let noticed = Noticed::new("[[notify]]\ncommand = [\"true\"]\n");
    let mut hook = noticed.world.command(["hook", "claude", "notification"]);
    hook.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = hook.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"message\":").unwrap();
    until("its end", || child.try_wait().unwrap());
    assert!(start.elapsed() > Duration::from_secs(4));
    let ran = finish(child);
    quiet(&ran);
    drop(stdin);
    assert_eq!(
        fs::read_dir(noticed.world.store())
            .map(Iterator::count)
            .unwrap_or(0),
        0
    );
}

#[test]
fn a_hook_answers_as_ever_whatever_its_notifier_does() {
    let noticed = Noticed::new("");
    let program = noticed.script("beep", "cat > \"$OUT/stdin\"; exec yes");
    let config = format!("[[notify]]\ncommand = [{program:?}]\ninclude_prompt = true\n");
    let without = {
        let hook = Hook::start(
            &noticed.world,
            "claude",
            "permission-request",
            &fixture("claude-bash-PermissionRequest"),
        );
        hook.answer(&["--allow"])
    };
    noticed.configure(&config);
    let hook = Hook::start(
        &noticed.world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    let event: Value = serde_json::from_str(&noticed.written("stdin")).unwrap();
    let summary = event["summary"].as_str().unwrap();
    let input: Value = serde_json::from_slice(&fixture("claude-bash-PermissionRequest")).unwrap();
    let command = input["tool_input"]["command"].as_str().unwrap();
    assert!(summary.starts_with(&format!("Bash: {command}")), "{event}");
    // Its sender is gone while it still waits, and left no zombie.
    noticed.idle();
    let children = format!("/proc/{0}/task/{0}/children", hook.pid());
    until("no child", || {
        fs::read_to_string(&children)
            .unwrap()
            .is_empty()
            .then_some(())
    });
    let with = hook.answer(&["--allow"]);
    assert_eq!(
        (with.code, with.stdout, with.stderr),
        (0, without.stdout, without.stderr)
    );
}

#[test]
fn installing_says_where_questions_appear_unless_somebody_is_told() {
    let noticed = Noticed::new("");
    let install = ["harness", "install", "claude", "--ask", "--dry-run"];
    let told = |ran: &Ran| {
        (
            ran.stderr.contains("sayso inbox"),
            ran.stderr.contains("desktop = true"),
        )
    };
    assert_eq!(told(&noticed.world.run(install)), (true, true));
    noticed.configure("[[notify]]\ndesktop = true\n");
    assert_eq!(told(&noticed.world.run(install)), (false, false));
}
