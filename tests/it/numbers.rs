//! Keys for more than nine options, own text and notes at the key line, and the rows of a long line.

use std::time::Duration;

use serde_json::{Value, json};

use crate::pty::Terminal;
use crate::sandbox::{Ran, Sandbox, finish, text};

const KEYS: &str = "q quit > ";
const SECOND: &str = "_ second digit > ";

/// A question of so many choices; their ids are c1, c2, ….
fn choices(world: &Sandbox, count: usize) -> Value {
    let given = (1..=count).map(|n| format!("--choice=c{n}:L{n}"));
    let args: Vec<String> = ["Which?".into(), "--kind=single-choice".into()]
        .into_iter()
        .chain(given)
        .collect();
    world.request(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn form(world: &Sandbox, questions: &Value) -> Value {
    let args = ["request", "Form", "--kind", "form", "--questions", "-"];
    let args = args.into_iter().chain(["--json"]);
    world
        .run_with(args, questions.to_string().as_bytes())
        .data()
}

fn options(count: usize) -> Value {
    (1..=count)
        .map(|n| json!({ "label": format!("L{n}") }))
        .collect()
}

fn chosen(world: &Sandbox, record: &Value) -> Value {
    world.get(text(record, "id"))["response"]["choice_id"].clone()
}

fn open(world: &Sandbox, record: &Value) -> Terminal {
    let terminal = Terminal::start(world, 100, "xterm", &["answer", text(record, "id")]);
    terminal.expect(KEYS);
    terminal
}

#[test]
fn up_to_nine_options_have_one_digit_and_more_have_two() {
    let world = Sandbox::new();
    for (count, first, last, keys) in [
        (2, "  1 c1  L1", "  2 c2  L2", "1-2 choice"),
        (9, "  1 c1  L1", "  9 c9  L9", "1-9 choice"),
        (10, "  01 c1  L1", "  10 c10  L10", "01-10 choice"),
        (12, "  01 c1  L1", "  12 c12  L12", "01-12 choice"),
    ] {
        let record = choices(&world, count);
        let shown = world.run(["show", text(&record, "id")]).stdout;
        assert!(shown.contains(first) && shown.contains(last), "{shown}");
        let mut terminal = open(&world, &record);
        assert!(terminal.screen().contains(keys), "{}", terminal.screen());
        terminal.keys("q");
        terminal.finish();
        world.json(&["cancel", text(&record, "id")]);
    }
    let record = form(
        &world,
        &json!([{ "question": "A?", "options": options(50) }, { "question": "B?", "options": options(9) }]),
    );
    let shown = world.run(["show", text(&record, "id")]).stdout;
    for line in ["    01 L1\n", "    50 L50\n", "    1 L1\n", "    9 L9\n"] {
        assert!(shown.contains(line), "{line:?}: {shown}");
    }
}

#[test]
fn two_digits_pick_whether_they_come_apart_or_together() {
    let world = Sandbox::new();
    for (keys, picked) in [
        (&["0", "1"][..], "c1"),
        (&["1", "2"], "c12"),
        (&["1", "1"], "c11"),
        (&["09"], "c9"),
        (&["10"], "c10"),
        (&["11"], "c11"),
    ] {
        let record = choices(&world, 12);
        let mut terminal = open(&world, &record);
        for (at, key) in keys.iter().enumerate() {
            if at > 0 {
                terminal.expect(SECOND);
            }
            terminal.keys(key);
        }
        assert_eq!(terminal.finish().code, 0);
        assert_eq!(chosen(&world, &record), picked, "{keys:?}");
    }
}

#[test]
fn a_digit_alone_answers_nothing_and_no_other_key_makes_a_number_of_it() {
    let world = Sandbox::new();
    let record = choices(&world, 12);
    let id = text(&record, "id");
    let mut terminal = open(&world, &record);
    let mut asked = 1;
    let mut seconds = 0;
    for second in ["\r", "a", "s", "q", "x", "\u{1b}[A", "12", "ab"] {
        terminal.keys("1");
        seconds += 1;
        terminal.expect_times(SECOND, seconds);
        terminal.keys(second);
        asked += 1;
        terminal.expect_times(KEYS, asked);
        assert_eq!(world.get(id)["status"], "pending", "{second:?}");
    }
    for none in ["00", "13", "99"] {
        terminal.keys(none);
        asked += 1;
        terminal.expect_times(KEYS, asked);
        assert_eq!(world.get(id)["status"], "pending", "{none}");
    }
    terminal.expect_times("there is no such choice", 3);
    for paste in ["123", "1a", "a1"] {
        terminal.keys(paste);
        asked += 1;
        terminal.expect_times(KEYS, asked);
        assert_eq!(world.get(id)["status"], "pending", "{paste}");
    }
    // A digit that was left standing makes no number with a later one.
    terminal.keys("1");
    terminal.expect_times(SECOND, seconds + 1);
    terminal.expect_times(KEYS, asked + 1);
    terminal.keys("2");
    terminal.expect_times(SECOND, seconds + 2);
    assert_eq!(world.get(id)["status"], "pending");
    terminal.keys("\r");
    terminal.expect_times(KEYS, asked + 2);
    terminal.keys("q");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(world.get(id)["status"], "pending");
}

#[test]
fn a_held_digit_is_no_number() {
    let world = Sandbox::new();
    let record = choices(&world, 12);
    let mut terminal = open(&world, &record);
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        terminal.keys("1");
        std::thread::park_timeout(Duration::from_millis(33));
    }
    terminal.expect("a third key came at once");
    terminal.expect_times(KEYS, 2);
    assert_eq!(world.get(text(&record, "id"))["status"], "pending");
    terminal.keys("q");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(world.get(text(&record, "id"))["status"], "pending");
}

#[test]
fn a_first_digit_does_not_count_for_the_question_that_takes_the_place() {
    let world = Sandbox::new();
    let mut terminal = Terminal::start(&world, 100, "xterm", &["inbox"]);
    terminal.expect("waiting for the next question");
    let first = choices(&world, 12);
    terminal.expect(KEYS);
    terminal.keys("1");
    terminal.expect(SECOND);
    let second = choices(&world, 12);
    world.json(&["answer", text(&first, "id"), "--choice", "c5"]);
    terminal.expect("answered elsewhere");
    terminal.keys("2");
    terminal.expect_times(KEYS, 2);
    assert_eq!(world.get(text(&second, "id"))["status"], "pending");
    assert_eq!(chosen(&world, &first), "c5");
    terminal.keys("12");
    terminal.expect("answered 12 ".trim_end_matches("12 "));
    terminal.expect_times("waiting for the next question", 2);
    terminal.keys("q");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(chosen(&world, &second), "c12");
}

#[test]
fn a_dumb_terminal_takes_both_digits_on_one_line() {
    let world = Sandbox::new();
    let record = choices(&world, 12);
    let id = text(&record, "id");
    let mut terminal = Terminal::start(&world, 100, "dumb", &["answer", id]);
    terminal.expect(KEYS);
    terminal.keys("1\r");
    terminal.expect("no number: it has two digits here");
    terminal.expect_times(KEYS, 2);
    terminal.keys("2\r");
    terminal.expect_times(KEYS, 3);
    assert_eq!(world.get(id)["status"], "pending");
    terminal.keys("11\r");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(chosen(&world, &record), "c11");
}

#[test]
fn a_form_takes_own_text_beside_labels_and_a_note_to_each_question() {
    let world = Sandbox::new();
    let record = form(
        &world,
        &json!([
            { "question": "Many?", "options": options(11), "multi_select": true },
            { "question": "One?", "options": options(2) },
            { "question": "Text?" },
        ]),
    );
    let mut terminal = Terminal::start(&world, 100, "xterm", &["answer", text(&record, "id")]);
    let mut asked = 1;
    let mut press = |terminal: &mut Terminal, key: &str, line: Option<&str>, then: &str| {
        terminal.expect_times("a submit", asked);
        terminal.keys(key);
        if let Some(line) = line {
            terminal.expect_times(" > ", asked);
            let label = if key == "o" { "other text: " } else { "note: " };
            terminal.expect_times(label, 1 + usize::from(line == "second\r"));
            terminal.keys(line);
        }
        asked += 1;
        terminal.expect_times("a submit", asked);
        assert!(
            terminal.screen().contains(then),
            "{then}: {}",
            terminal.screen()
        );
    };
    press(&mut terminal, "02", None, "Many?: L2");
    press(&mut terminal, "11", None, "Many?: L2, L11");
    press(&mut terminal, "o", Some("mine\r"), "Many?: L2, L11, mine");
    press(&mut terminal, "03", None, "Many?: L2, L11, L3, mine");
    press(&mut terminal, "02", None, "Many?: L11, L3, mine");
    press(&mut terminal, "n", Some("first note\r"), "L3, mine +note");
    press(&mut terminal, "j", None, "▸#2 One?: –");
    press(&mut terminal, "n", Some("second\r"), "One?: – +note");
    let alone = "#2 has a note, but no answer beside it";
    press(&mut terminal, "a", None, alone);
    press(&mut terminal, "2", None, "One?: L2 +note");
    press(&mut terminal, "k", None, "▸#2 One?: L2 +note");
    terminal.keys("a");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(
        world.get(text(&record, "id"))["response"]["answers"],
        json!({
            "Many?": { "labels": ["L11", "L3"], "other": "mine", "note": "first note" },
            "One?": { "label": "L2", "note": "second" },
        })
    );
}

#[test]
fn a_pick_and_own_text_replace_each_other_where_one_answer_is_taken() {
    let world = Sandbox::new();
    let record = form(
        &world,
        &json!([{ "question": "One?", "options": options(2) }]),
    );
    let mut terminal = Terminal::start(&world, 100, "xterm", &["answer", text(&record, "id")]);
    terminal.expect_times("a submit", 1);
    terminal.keys("1");
    terminal.expect("One?: L1");
    terminal.expect_times("a submit", 2);
    terminal.keys("o");
    terminal.expect("other text: ");
    terminal.keys("mine\r");
    terminal.expect("One?: mine");
    terminal.expect_times("a submit", 3);
    terminal.keys("2");
    terminal.expect("One?: L2");
    terminal.expect_times("a submit", 4);
    terminal.keys("a");
    assert_eq!(terminal.finish().code, 0);
    assert_eq!(
        world.get(text(&record, "id"))["response"]["answers"],
        json!({ "One?": "L2" })
    );
}

#[test]
fn what_is_said_of_a_form_is_never_broken_by_a_narrow_terminal() {
    let world = Sandbox::new();
    let hostile = "0123456789012│ fake ┆ fake and on and on and on";
    let record = form(
        &world,
        &json!([
            { "question": "One?", "header": hostile, "options": options(12) },
            { "question": format!("{hostile}?") },
            { "question": "And another one?" },
            { "question": "And yet another one?" },
        ]),
    );
    for columns in [20, 80] {
        let mut terminal =
            Terminal::start(&world, columns, "xterm", &["answer", text(&record, "id")]);
        terminal.expect(KEYS);
        terminal.keys("o");
        terminal.expect("other text: ");
        terminal.keys(&format!("{hostile}\r"));
        terminal.expect_times(KEYS, 2);
        terminal.keys("q");
        let screen = terminal.finish().stdout;
        let said = |from: &str| {
            screen
                .rfind(from)
                .map(|at| screen[at..].to_owned())
                .unwrap()
        };
        let said = said(" #1 ");
        let fits = |line: &str| line.trim_end_matches('\r').chars().count() <= columns.into();
        assert!(
            said.lines().count() > 3 && said.contains("a submit"),
            "{said}"
        );
        assert!(said.lines().all(fits) && !said.contains("\\u{"), "{said}");
        assert!(!said.lines().any(|line| line.starts_with(['│', '┆', '⋮'])));
    }
}

/// The rows of what is shown under a gutter, without indentation and colours.
fn rows(shown: &str) -> Vec<String> {
    let bare = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\r"]
        .iter()
        .fold(shown.to_owned(), |text, code| text.replace(code, ""));
    bare.lines().map(|l| l.trim_start().to_owned()).collect()
}

#[test]
fn a_wrapped_line_and_a_line_break_have_gutters_of_their_own_everywhere() {
    let world = Sandbox::new();
    let prompt = "one two three four five\n┆ fake\n│ fake\n⋮ 9 blank lines";
    let expected = [
        "│ one two three ",
        "┆ four five",
        "│ ┆ fake",
        "│ │ fake",
        "│ ⋮ 9 blank lines",
    ];
    let narrow = |args: &[&str]| -> Ran {
        let mut command = world.command(args);
        command.env("COLUMNS", "20").output().unwrap().into()
    };
    let has = |shown: &str, expected: &[&str], place: &str| {
        let rows = rows(shown);
        let found = rows.windows(expected.len()).any(|w| w == expected);
        assert!(found, "{place}: {rows:#?}");
    };
    let record = world.request(&[prompt, "--kind", "text"]);
    let id = text(&record, "id");
    has(&narrow(&["show", id]).stdout, &expected, "show");
    for args in [&["inbox"][..], &["answer", id]] {
        let mut terminal = Terminal::start(&world, 20, "xterm", args);
        terminal.expect(KEYS);
        has(&terminal.screen(), &expected, args[0]);
        terminal.keys("q");
        terminal.finish();
    }
    world.json(&[
        "answer",
        id,
        "--text",
        "five six seven eight\nnine",
        "--message",
        "ten eleven twelve more",
    ]);
    let shown = narrow(&["show", id]).stdout;
    has(
        &shown,
        &["│ five six seven ", "┆ eight", "│ nine"],
        "an answer",
    );
    has(&shown, &["│ ten eleven twelve ", "┆ more"], "a message");
    let mut ask = Terminal::start(&world, 20, "xterm", &["ask", prompt]);
    ask.expect(KEYS);
    has(&ask.screen(), &expected, "ask in place");
    ask.keys("d");
    ask.expect("message (Enter for none): ");
    ask.keys("\r");
    assert_eq!(ask.finish().code, 10);
    let questions = json!([{ "question": "one two three four five\nsix", "options": [
        { "label": "a label that is longer", "description": "and what it means, at length" }] }]);
    let record = form(&world, &questions);
    let shown = narrow(&["show", text(&record, "id")]).stdout;
    has(
        &shown,
        &["│ one two three ", "┆ four five", "│ six"],
        "a form's question",
    );
    has(
        &shown,
        &[
            "│ a label ",
            "┆ that is ",
            "┆ longer",
            "│ and what it ",
            "┆ means, at ",
        ],
        "an option",
    );
}

#[test]
fn what_cannot_be_undone_is_marked_whatever_the_tool_is_called() {
    let world = Sandbox::new();
    let mark = "! cannot be undone: git push, rm";
    let command = "git push -f && rm -r x";
    let show = |args: &[&str]| {
        let record = world.request(args);
        let shown = world.run(["show", text(&record, "id")]).stdout;
        world.json(&["cancel", text(&record, "id")]);
        shown
    };
    for tool in [
        "Bash",
        "bash",
        "exec_command",
        "run_shell_command",
        "mcp__x__run",
        "Other",
    ] {
        for member in ["command", "cmd", "script", "shell_command"] {
            let input = json!({ member: command, "n": 1 }).to_string();
            let shown = show(&["Run?", "--tool", tool, "--input", &input]);
            assert_eq!(shown.matches(mark).count(), 1, "{tool} {member}: {shown}");
        }
    }
    let list = json!({ "command": ["bash", "-lc", command] }).to_string();
    assert!(show(&["Run?", "--tool", "shell", "--input", &list]).contains(mark));
    assert!(show(&["Run?", "--action", command]).contains(mark));
    let input = json!({ "command": "ls" }).to_string();
    assert!(!show(&["Run?", "--tool", "Bash", "--input", &input]).contains("cannot be undone"));
    assert!(!show(&["rm -r x", "--action", "tidy up"]).contains("cannot be undone"));
    // A call without a command is an odd one, whichever shell it is for.
    for tool in ["Bash", "shell", "exec_command", "run_in_terminal"] {
        assert!(show(&["Run?", "--tool", tool, "--input", "{}"]).contains("no command supplied"));
    }
    // An imitation stands under the gutter, where no mark does.
    let imitation = format!("ls\n{mark}");
    let shown = show(&[&imitation]);
    assert!(shown.contains(&format!("│ {mark}")) && !shown.lines().any(|l| l == mark));
    let ask = world.start(["ask", "Run?", "--action", command, "--no-prompt"]);
    let record = world.await_pending();
    let mut terminal = open(&world, &record);
    assert!(terminal.screen().contains(mark));
    terminal.keys("a");
    assert_eq!(finish(ask).code, 0);
    assert_eq!(terminal.finish().code, 0);
}
