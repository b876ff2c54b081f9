//! What is committed beside the program is what the program says, and every example is accepted by it.

#[path = "../../examples/assets/man.rs"]
mod man;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sayso::cli;
use sayso::cmd::completions::SCRIPTS;
use sayso::cmd::help::TOPICS;

use crate::sandbox::Sandbox;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn verbs() -> impl Iterator<Item = &'static str> {
    cli::VERBS.iter().copied().filter(|v| !v.starts_with('_'))
}

#[test]
fn the_manual_pages_are_fresh() {
    let pages = man::pages().unwrap();
    for (name, page) in &pages {
        assert!(
            read(Path::new("man").join(name)) == *page,
            "man/{name} is stale: cargo run --example assets"
        );
    }
    assert_eq!(
        fs::read_dir(root().join("man")).unwrap().count(),
        pages.len(),
        "a page without a verb: cargo run --example assets"
    );
}

#[test]
fn a_manual_page_says_how_the_verb_ends_and_what_it_reads() {
    for verb in verbs() {
        let page = read(format!("man/sayso-{verb}.1"));
        for section in ["EXIT STATUS", "ENVIRONMENT", "EXAMPLE", "SEE ALSO"] {
            assert!(
                page.contains(&format!(".SH \"{section}\""))
                    || page.contains(&format!(".SH {section}\n")),
                "{verb}: {section}"
            );
        }
        let status = page.split("EXIT STATUS").nth(1).unwrap();
        assert!(
            status.lines().any(|line| line.starts_with("  0 ")),
            "{verb}"
        );
    }
}

#[test]
fn completions_prints_the_committed_script_of_each_shell() {
    let world = Sandbox::new();
    let mut committed: Vec<String> = fs::read_dir(root().join("completions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for (shell, file) in [
        ("bash", "sayso.bash"),
        ("zsh", "_sayso"),
        ("fish", "sayso.fish"),
        ("powershell", "sayso.ps1"),
        ("elvish", "sayso.elv"),
    ] {
        let ran = world.run(["completions", shell]);
        assert_eq!(
            (ran.code, ran.stdout),
            (0, read(Path::new("completions").join(file)))
        );
        committed.retain(|name| name != file);
    }
    assert_eq!(committed, Vec::<String>::new());
    assert_eq!(SCRIPTS.len(), 5);
    assert_eq!(world.run(["completions", "tcsh"]).code, 2);
}

#[test]
fn help_on_every_verb_ends_with_an_example_of_it() {
    let world = Sandbox::new();
    for verb in verbs() {
        for args in [["help", verb], [verb, "--help"], [verb, "-h"]] {
            let ran = world.run(args);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
            let mut last = ran.stdout.trim_end().lines().rev();
            let example = last.next().unwrap();
            assert!(
                example.starts_with(&format!("  sayso {verb}")),
                "{args:?}: {example}"
            );
            assert_eq!(last.next(), Some("Example:"), "{args:?}");
        }
    }
}

#[test]
fn help_prints_every_topic_and_refuses_what_is_none() {
    let world = Sandbox::new();
    let overview = world.run(["help"]);
    for (topic, text) in TOPICS {
        let ran = world.run(["help", topic]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, text), "{topic}");
        assert!(
            text.len() > 400 && overview.stdout.contains(topic),
            "{topic}"
        );
        assert!(cli::verb_command(topic).is_none(), "{topic} is a verb");
        for line in text.lines() {
            assert!(
                line.chars().count() <= 100 && line.trim_end() == line,
                "{topic}: {line}"
            );
        }
    }
    assert_eq!(world.run(["help", "nonsense"]).code, 2);
    assert!(!overview.stdout.contains("__complete"));
}

#[test]
fn the_table_of_exit_codes_holds_every_code_there_is() {
    use sayso::cmd::exit::Exit;
    use sayso::error::Code;
    let codes = [
        Code::InvalidInput,
        Code::InvalidAnswer,
        Code::ConfigError,
        Code::NotFound,
        Code::AlreadyAnswered,
        Code::NotPending,
        Code::DigestMismatch,
        Code::NonceMismatch,
        Code::Unavailable,
        Code::SelfAnswer,
    ];
    let table = TOPICS
        .iter()
        .find(|(name, _)| *name == "exit-codes")
        .unwrap()
        .1;
    let row = |code: u8| {
        let mut rows = table
            .split("\n  ")
            .filter(|row| row.starts_with(&format!("{code} ")));
        rows.next()
            .unwrap_or_else(|| panic!("no row for {code}"))
            .to_owned()
    };
    for code in codes {
        let (start, all) = (row(code.exit()), table.replace("\n       ", " "));
        assert!(
            !start.is_empty() && all.contains(code.name()),
            "{}",
            code.name()
        );
    }
    for exit in [
        Exit::Done,
        Exit::Found,
        Exit::Denied,
        Exit::Unanswered,
        Exit::Undecided,
        Exit::TimedOut,
        Exit::Interrupted(2),
        Exit::Interrupted(15),
    ] {
        row(exit.code());
    }
}

#[test]
fn every_variable_that_is_read_is_documented() {
    let table = TOPICS
        .iter()
        .find(|(name, _)| *name == "environment")
        .unwrap()
        .1;
    let mut found = 0;
    for file in crate::tidy::sources("src") {
        let text = fs::read_to_string(&file).unwrap();
        for quoted in text.split('"').skip(1).step_by(2) {
            let ours = quoted.len() > 6
                && quoted.starts_with("SAYSO_")
                && quoted.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            if ours {
                found += 1;
                assert!(table.contains(quoted), "{quoted} in {}", file.display());
            }
        }
    }
    assert!(found >= 6, "{found}");
}

#[test]
fn every_example_of_the_help_and_the_readme_is_accepted() {
    let mut examples = 0;
    let mut check = |from: &str, text: &str| {
        for words in commands(text) {
            let args: Vec<OsString> = words.iter().map(OsString::from).collect();
            let parsed = cli::full_command().try_get_matches_from(cli::modernise(args));
            assert!(parsed.is_ok(), "{from}: {words:?}: {}", parsed.unwrap_err());
            examples += 1;
        }
    };
    for verb in verbs() {
        let command = cli::verb_command(verb).unwrap();
        let after = command.get_after_help().unwrap().to_string();
        check(verb, after.trim_start_matches("Example:"));
    }
    for (topic, text) in TOPICS {
        let indented = text
            .lines()
            .filter(|line| line.starts_with("  {\"") || line.starts_with("    \""));
        check(topic, &indented.collect::<Vec<_>>().join("\n"));
    }
    for (index, block) in read("README.md").split("```").enumerate() {
        if index % 2 == 1 {
            check("README.md", block.split_once('\n').unwrap().1);
        }
    }
    assert!(examples >= 40, "{examples}");
}

/// The `sayso …` commands of a text that is shell script or JSON with commands in it, as words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        for (at, _) in line.match_indices("sayso ") {
            let before = line[..at].trim_end();
            let starts = matches!(before, "" | "$")
                || [
                    "&&",
                    "||",
                    "|",
                    ";",
                    "$(",
                    "if",
                    "!",
                    "then",
                    "do",
                    "=\"$(",
                    "\"command\":\"",
                    "-- ",
                    "<(",
                ]
                .iter()
                .any(|sign| before.ends_with(sign));
            // A crontab line has five fields and the command.
            let cron =
                line.starts_with(|c: char| c.is_ascii_digit()) && before.split(' ').count() == 5;
            if starts || cron {
                found.push(words(&line[at..]));
            }
        }
        if let Some((_, rest)) = line.split_once("cargo run --release -q -- ") {
            found.push([vec!["sayso".to_owned()], words(rest)].concat());
        }
    }
    found
}

/// The words of a simple command, as a shell would split them.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let quoted = word.get_or_insert_default();
                quoted.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' if chars.peek().is_none_or(|c| matches!(c, ',' | '}')) && word.is_some() => break,
            '"' => {
                let quoted = word.get_or_insert_default();
                quoted.extend(chars.by_ref().take_while(|c| *c != '"'));
            }
            ' ' => words.extend(word.take()),
            ';' | '|' | '&' | ')' | '>' | '<' => break,
            '#' if word.is_none() => break,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn what_is_left_out_and_what_is_not_synced_is_said() {
    let readme = read("README.md");
    let (_, left_out) = readme.split_once("\n## Left out on purpose\n").unwrap();
    let section = left_out.split("\n## ").next().unwrap();
    for word in ["daemon", "*Phones.*", "*Pages.*", "database", "Windows"] {
        assert!(section.contains(word), "{word}");
    }
    let ran = Sandbox::new().run(["help", "files"]);
    let (_, unsynced) = ran.stdout.split_once("events.jsonl is\nnot").unwrap();
    assert!(unsynced.contains("power cut") && unsynced.contains("sayso list --json"));
}
