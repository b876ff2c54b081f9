//! The key line, as an operator uses it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::hosts::{Hook, fixture};
use crate::pty::Terminal;
use crate::sandbox::{Sandbox, finish, until};

const KEYS: &str = "q quit > ";

fn inbox(world: &Sandbox) -> Terminal {
    let terminal = Terminal::start(world, 100, "xterm", &["inbox"]);
    terminal.expect("waiting for the next question");
    terminal
}

#[test]
fn one_key_allows_and_the_asker_goes_on() {
    let world = Sandbox::new();
    let mut inbox = inbox(&world);
    let ask = world.start(["ask", "Deploy?"]);
    inbox.expect("│ Deploy?");
    inbox.expect(KEYS);
    inbox.keys("a");
    assert_eq!(finish(ask).code, 0);
    inbox.expect("delivered: the waiting process took it");
    inbox.expect_times("waiting for the next question", 2);
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn enter_alone_and_unknown_keys_and_arrows_answer_nothing() {
    let world = Sandbox::new();
    let id = world.request(&["Deploy?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    inbox.keys("\r");
    inbox.expect_times(KEYS, 2);
    inbox.keys("\u{1b}[A");
    inbox.keys("z");
    // The two may come at once, or one after the other; neither answers.
    inbox.expect_times(KEYS, 3);
    inbox.keys("aa");
    inbox.expect_times(KEYS, 4);
    inbox.expect("several keys at once count as none");
    assert_eq!(world.get(&id)["status"], "pending");
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
    assert_eq!(world.get(&id)["status"], "pending");
}

#[test]
fn a_denial_takes_a_message() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "Deploy?"]);
    world.await_pending();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["answer"]);
    inbox.expect(KEYS);
    inbox.keys("d");
    inbox.expect("message (Enter for none): ");
    inbox.keys("not on a Friday\r");
    let asked = finish(ask);
    assert_eq!((asked.code, asked.stdout.as_str()), (10, "deny\n"));
    assert!(asked.stderr.contains("not on a Friday"));
    inbox.expect("no more pending questions");
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn what_was_typed_before_a_question_was_printed_does_not_answer_it() {
    let world = Sandbox::new();
    let mut inbox = inbox(&world);
    let pid = Pid::from_raw(inbox.pid() as i32);
    kill(pid, Signal::SIGSTOP).unwrap();
    inbox.keys("a");
    let id = world.request(&["Deploy?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    kill(pid, Signal::SIGCONT).unwrap();
    inbox.expect(KEYS);
    inbox.keys("s");
    inbox.expect("1 skipped");
    assert_eq!(world.get(&id)["status"], "pending");
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn a_question_settled_elsewhere_says_so_at_once_and_takes_no_key() {
    let world = Sandbox::new();
    let id = world.request(&["Deploy?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    world.json(&["answer", &id, "--deny", "--by", "Ada"]);
    inbox.expect("answered elsewhere by Ada");
    inbox.expect("waiting for the next question");
    inbox.keys("a");
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
    assert_eq!(world.get(&id)["response"]["choice_id"], "deny");
}

#[test]
fn ask_answers_in_place_and_restores_the_terminal() {
    let world = Sandbox::new();
    let mut ask = Terminal::start(&world, 100, "xterm", &["ask", "Deploy?"]);
    ask.expect(KEYS);
    ask.expect_keys();
    ask.keys("a");
    until("the terminal to be restored", || {
        ask.is_sane().then_some(())
    });
    let ran = ask.finish();
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.ends_with("allow-once\r\n"), "{}", ran.stdout);
    let record = &world.json(&["list", "--all"])["interactions"][0];
    assert!(
        record["response"]["responder"]["tty"]
            .as_str()
            .unwrap()
            .starts_with("/dev/")
    );
}

#[test]
fn ask_in_place_ends_when_it_is_answered_elsewhere() {
    let world = Sandbox::new();
    let ask = Terminal::start(&world, 100, "xterm", &["ask", "Deploy?"]);
    ask.expect(KEYS);
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        world.json(&["answer", &id, "--allow"])["delivery_state"],
        "delivered"
    );
    until("the terminal to be restored", || {
        ask.is_sane().then_some(())
    });
    assert_eq!(ask.finish().code, 0);
}

#[test]
fn ctrl_c_withdraws_an_ask_and_leaves_an_inbox_alone() {
    let world = Sandbox::new();
    let mut ask = Terminal::start(&world, 100, "xterm", &["ask", "Deploy?"]);
    ask.expect(KEYS);
    ask.expect_keys();
    ask.keys("\u{3}");
    until("the terminal to be restored", || {
        ask.is_sane().then_some(())
    });
    assert_eq!(ask.finish().code, 130);
    assert_eq!(
        world.json(&["list", "--all"])["interactions"][0]["status"],
        "cancelled"
    );

    let id = world.request(&["Again?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    inbox.expect_keys();
    inbox.keys("\u{3}");
    until("the terminal to be restored", || {
        inbox.is_sane().then_some(())
    });
    assert_eq!(inbox.finish().code, 130);
    assert_eq!(world.get(&id)["status"], "pending");
}

#[test]
fn ask_inside_an_agents_session_offers_no_keys() {
    let world = Sandbox::new();
    let ask = Terminal::dressed(&world, 100, "xterm", &["ask", "Deploy?"], |command| {
        command.env("CLAUDECODE", "1");
    });
    let id = world.await_pending()["id"].as_str().unwrap().to_owned();
    world.json(&["answer", &id, "--allow"]);
    let ran = ask.finish();
    assert_eq!(ran.code, 0);
    assert!(!ran.stdout.contains("allow  d deny"), "{}", ran.stdout);
}

#[test]
fn a_form_is_filled_with_keys() {
    let world = Sandbox::new();
    let input = fixture("claude-askuserquestion-PermissionRequest");
    let hook = Hook::start(&world, "claude", "permission-request", &input);
    hook.pending();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["answer", "-A"]);
    inbox.expect_times("a submit", 1);
    inbox.keys("a");
    inbox.expect("nothing is answered yet");
    inbox.expect_times("a submit", 2);
    inbox.keys("2");
    inbox.expect("#1 Colour: Blue");
    inbox.expect_times("a submit", 3);
    for (times, key) in [(4, "1"), (5, "3"), (6, "1"), (7, "2")] {
        inbox.keys(key);
        inbox.expect_times("a submit", times);
    }
    inbox.keys("t");
    inbox.expect("response: ");
    inbox.keys("short\r");
    inbox.expect_times("a submit", 8);
    inbox.keys("a");
    let output: serde_json::Value = serde_json::from_str(&hook.finish().stdout).unwrap();
    let input = &output["hookSpecificOutput"]["decision"]["updatedInput"];
    assert_eq!(
        input["answers"],
        json!({ "Which colour should we use?": "Blue", "Which sections do you want?": ["Conclusion, final", "Body"] })
    );
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn an_edited_input_is_shown_and_needs_a_key_of_its_own() {
    let world = Sandbox::new();
    let hook = Hook::start(
        &world,
        "claude",
        "permission-request",
        &fixture("claude-bash-PermissionRequest"),
    );
    hook.pending();
    let editor = world.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i s/proof/other/ \"$1\"\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut inbox = Terminal::dressed(&world, 100, "xterm", &["answer", "-A"], |command| {
        command.env("EDITOR", &editor);
    });
    inbox.expect(KEYS);
    inbox.keys("e");
    inbox.expect("a allow edited");
    assert!(inbox.screen().contains("other.txt"));
    inbox.keys("a");
    let output: serde_json::Value = serde_json::from_str(&hook.finish().stdout).unwrap();
    let edited = &output["hookSpecificOutput"]["decision"]["updatedInput"]["command"];
    assert_eq!(edited, "touch /tmp/kit/w/other.txt");
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn a_dumb_terminal_needs_enter() {
    let world = Sandbox::new();
    let mut ask = Terminal::start(&world, 100, "dumb", &["ask", "Deploy?"]);
    ask.expect(KEYS);
    assert!(ask.is_sane());
    ask.keys("\r");
    ask.expect_times(KEYS, 2);
    ask.keys("a\r");
    assert_eq!(ask.finish().code, 0);
}

#[test]
fn withdraw_skip_and_choices_by_number() {
    let world = Sandbox::new();
    let args = [
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        "x:Ex",
        "--choice",
        "y:Why",
    ];
    let first = world.request(&args)["id"].as_str().unwrap().to_owned();
    let second = world.request(&["Second?", "--kind", "text"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let third = world.request(&["Third?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["answer"]);
    inbox.expect_times(KEYS, 1);
    inbox.keys("7");
    inbox.expect("there is no such choice");
    inbox.expect_times(KEYS, 2);
    inbox.keys("2");
    inbox.expect_times(KEYS, 3);
    inbox.keys("t");
    inbox.expect("text: ");
    inbox.keys("  hello\r");
    inbox.expect_times(KEYS, 4);
    inbox.keys("x");
    inbox.expect("cancelled");
    assert_eq!(inbox.finish().code, 0);
    assert_eq!(world.get(&first)["response"]["choice_id"], "y");
    assert_eq!(world.get(&second)["response"]["text"], "hello");
    assert_eq!(world.get(&third)["status"], "cancelled");
}

#[test]
fn a_vanished_terminal_ends_the_inbox_and_keeps_the_question() {
    let world = Sandbox::new();
    let id = world.request(&["Deploy?"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let inbox = Terminal::start(&world, 100, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    kill(Pid::from_raw(inbox.pid() as i32), Signal::SIGHUP).unwrap();
    assert_eq!(inbox.finish().code, 129);
    assert_eq!(world.get(&id)["status"], "pending");
}

#[test]
fn hostile_text_in_twenty_columns_stays_text() {
    let world = Sandbox::new();
    let prompt = "\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\r\u{8}\u{7f}\u{9b}31m\u{202e}\nlast line; rm -rf ~/work";
    world.request(&[prompt, "--agent", "\u{1b}[31mroot", "--project", "a\u{7}b"]);
    let mut inbox = Terminal::start(&world, 20, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    inbox.keys("q");
    let screen = inbox.finish().stdout;
    let foreign = screen
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[2m", "")
        .replace("\u{1b}[0m", "")
        .replace("\u{1b}[31m", "")
        .replace("\u{1b}[32m", "")
        .replace("\u{1b}[33m", "");
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\r') || c == '\u{202e}';
    assert!(!foreign.contains(bad), "{foreign:?}");
    assert!(screen.contains("~/work"));
}

#[test]
fn a_key_for_one_question_does_not_answer_the_one_that_takes_its_place() {
    let world = Sandbox::new();
    let first = world.request(&["List?", "--key", "k"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut inbox = Terminal::start(&world, 100, "xterm", &["inbox"]);
    inbox.expect(KEYS);
    let second = world.request(&["Remove?", "--key", "k"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    inbox.expect("│ Remove?");
    inbox.keys("a");
    inbox.expect_times(KEYS, 2);
    assert_eq!(world.get(&first)["status"], "superseded");
    assert_eq!(world.get(&second)["status"], "pending");
    inbox.keys("a");
    inbox.expect("allowed");
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
}

#[test]
fn a_held_key_answers_one_question() {
    let world = Sandbox::new();
    for prompt in ["One?", "Two?", "Three?"] {
        world.request(&[prompt]);
    }
    let mut inbox = Terminal::start(&world, 100, "xterm", &["answer"]);
    inbox.expect(KEYS);
    // As a keyboard repeats: until the next question stands there, and a while on.
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_secs(1) {
        inbox.keys("a");
        std::thread::park_timeout(std::time::Duration::from_millis(33));
    }
    inbox.expect_times(KEYS, 2);
    assert_eq!(world.json(&["list"])["count"], 2);
    inbox.keys("q");
    assert_eq!(inbox.finish().code, 0);
}
