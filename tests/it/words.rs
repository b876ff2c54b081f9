//! The table of hidden characters: fresh, right, and kept by everything that a person reads.

#[path = "../../examples/words/hidden.rs"]
mod hidden;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use sayso::words::is_hidden;
use serde_json::json;
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::notice_world::Noticed;
use crate::pty::Terminal;
use crate::sandbox::{Ran, text, until};
use crate::streams::Stream;

#[test]
fn the_table_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/words/hidden.rs");
    assert!(
        fs::read_to_string(file).unwrap() == hidden::file(),
        "src/words/hidden.rs is stale: cargo run --example words"
    );
}

/// Letters, marks, signs and spaces that are hidden all the same: default-ignorable, or blank. Spelled
/// out here, so that the table is not compared with itself.
const BLANK: &[(u32, u32)] = &[
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x1680, 0x1680),
    (0x17B4, 0x17B5),
    (0x180B, 0x180D),
    (0x180F, 0x180F),
    (0x2000, 0x200A),
    (0x205F, 0x205F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFFC, 0xFFFC),
    (0x13441, 0x13442),
    (0x16FE4, 0x16FE4),
    (0x1BC9D, 0x1BC9D),
    (0x1D159, 0x1D159),
    (0xE0100, 0xE01EF),
];

#[test]
fn an_independent_table_of_categories_agrees() {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Unassigned,
    };
    let mut assigned_since = 0;
    for char in '\0'..=char::MAX {
        let code = u32::from(char);
        let right = match get_general_category(char) {
            Control | Format | LineSeparator | ParagraphSeparator | PrivateUse => true,
            // That table is of an older Unicode: what it does not know may have been assigned since.
            Unassigned if !is_hidden(char) => {
                assigned_since += 1;
                false
            }
            Unassigned => true,
            _ => BLANK
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&code)),
        };
        assert_eq!(is_hidden(char), right, "U+{code:04X}");
    }
    assert!(assigned_since < 50_000, "{assigned_since}");
}

#[test]
fn writing_stays_readable() {
    let text = "naïve Ünïcode 部署 デプロイ 배포 שָׁלוֹם مرحبا Привет नमस्ते ไทย 👍🏽 🇳🇴 e\u{301} « oui »";
    assert!(!text.chars().any(is_hidden));
}

/// As the properties of Unicode have it, whatever the program's own table says.
fn hides(char: char) -> bool {
    static RANGES: LazyLock<Vec<(u32, u32)>> = LazyLock::new(hidden::ranges);
    let code = u32::from(char);
    RANGES
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&code))
}

/// A text that is visible at both ends and hides several characters of the table between them.
fn hiding() -> impl Strategy<Value = String> {
    let ranges = hidden::ranges();
    let char = proptest::sample::select(ranges)
        .prop_flat_map(|(first, last)| prop_oneof![Just(first), Just(last), first..=last])
        .prop_filter_map("not allowed in an argument", char::from_u32)
        .prop_filter("a label is one line", |char| {
            !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}')
        });
    let known = proptest::sample::select(vec![
        '\u{2800}', '\u{e000}', '\u{3164}', '\u{202e}', '\u{fe0f}', '\u{378}', '\u{200b}',
        '\u{2003}',
    ]);
    proptest::collection::vec(prop_oneof![3 => char, 1 => known], 6..12)
        .prop_map(|chars| format!("x{}y", String::from_iter(chars)))
}

/// Fails where a process printed a character of the table; returns what it printed.
fn clean(args: &[&str], ran: &Ran) -> String {
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    let bad = printed.chars().find(|c| hides(*c) && !"\n\t".contains(*c));
    assert_eq!(bad, None, "{args:?}: {printed:?}");
    printed
}

/// Each verb of a person, over a question that hides something in every member.
fn every_surface(text_of: &str, noticed: &Noticed, path: &str) {
    let world = &noticed.world;
    let escape = format!("x{}", text_of.chars().nth(1).unwrap().escape_unicode());
    let shows = |args: &[&str]| {
        let printed = clean(args, &world.run(args));
        assert!(printed.contains(&escape), "{args:?}: {printed}");
    };
    let form = json!([{"question": text_of, "header": text_of, "options": [{"label": text_of, "description": text_of}]}]);
    let file = world.path().join("form.json");
    fs::write(&file, form.to_string()).unwrap();
    let input = json!({ "command": text_of, text_of: [text_of] }).to_string();
    let choice = format!("go:{text_of}");
    let watch = Stream::start(world, &["watch"]);
    let common = [
        "--agent",
        text_of,
        "--project",
        text_of,
        "--session",
        text_of,
    ];
    let kinds: [&[&str]; 3] = [
        &[
            "--tool", text_of, "--input", &input, "--choice", &choice, "--choice", "no:No",
            "--effect", "go=allow", "--effect", "no=deny",
        ],
        &["--kind", "text"],
        &["--kind", "form", "--questions", file.to_str().unwrap()],
    ];
    let mut ids = Vec::new();
    for kind in kinds {
        let args = [&["request", text_of, "--json"][..], &common, kind].concat();
        let ran: Ran = world
            .command(&args)
            .env("PATH", path)
            .output()
            .unwrap()
            .into();
        ids.push(text(&ran.data(), "id").to_owned());
        let told = watch.line();
        assert!(
            !told.chars().any(hides) && told.contains(&escape),
            "{told:?}"
        );
    }
    watch.stop();
    let bubble = until("a bubble", || {
        fs::read_to_string(noticed.out().join("desktop")).ok()
    });
    assert!(
        !bubble.chars().any(|c| hides(c) && c != '\n') && bubble.contains(&escape),
        "{bubble:?}"
    );
    shows(&["list"]);
    shows(&["events"]);
    for id in &ids {
        shows(&["show", id]);
        shows(&["__complete", "--word=", "--", "show"]);
        clean(
            &[],
            &world.run(["__complete", "--word=", "--", "answer", id, "--choice"]),
        );
        clean(
            &[],
            &world.run(["__complete", "--word=", "--", "answer", id, "--select"]),
        );
    }
    let mut inbox = Terminal::start(world, 80, "xterm", &["inbox", "--color", "never"]);
    inbox.expect(&escape);
    inbox.expect("q quit > ");
    inbox.keys("q");
    let screen = inbox.finish().stdout;
    assert!(
        !screen.chars().any(|c| hides(c) && !"\r\n\t".contains(c)),
        "{screen:?}"
    );
    let answers: [&[&str]; 3] = [
        &["--choice", "go"],
        &["--text", text_of],
        &["--other", &format!("#1={text_of}")],
    ];
    for (id, answer) in ids.iter().zip(answers) {
        let args = [
            &["answer", id],
            answer,
            &["--message", text_of, "--by", text_of],
        ]
        .concat();
        clean(&args, &world.run(&args));
        clean(&args, &world.run(&args));
        shows(&["show", id]);
    }
    shows(&["list", "--all"]);
    for args in [
        &[
            "policy", "check", "--agent", text_of, "--tool", text_of, "--input", &input,
        ][..],
        &["policy", "check", "--", text_of],
        &["policy", "show", "--agent", text_of],
        &["policy", "lint"],
        &["doctor"],
        &["show", text_of],
        &["list", "--status", text_of],
        &["list", "--scope", text_of],
        &["list", "--repo", text_of],
        &["request", "x", "--choice", text_of],
        &["request", "x", "--tool", "t", "--input", text_of],
        &["events", "--since", text_of],
        &["hook", text_of, "x"],
        &["harness", "status", text_of],
        &["workflow", "resume", "--id", text_of],
        &["help", text_of],
        &[text_of],
    ] {
        clean(args, &world.run(args));
    }
}

#[test]
fn nothing_that_a_person_reads_holds_a_hidden_character() {
    let config = Config {
        cases: 6,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(&hiding(), |text_of| {
        let noticed = Noticed::new("");
        let rule = serde_json::to_string(&text_of).unwrap();
        noticed.configure(&format!(
            "[[notify]]\ndesktop = true\ninclude_prompt = true\n[agents.a.approval_policy]\nauto_allow = [{rule}]\n"
        ));
        let program = noticed.script("notify-send", "printf '%s\\n' \"$@\" >> \"$OUT/desktop\"");
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        every_surface(&text_of, &noticed, &path);
        noticed.idle();
        Ok(())
    });
    ran.unwrap();
}
