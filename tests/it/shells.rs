//! The shells judge the policy: what it allows runs in bash, dash and zsh what it saw, and nothing else.
//!
//! Lines come from a grammar of everything that an allow looks through and of much that it must not. Each line
//! whose verdict is `allow` is run by each shell, in a folder of files with hostile names, with stand-ins on PATH
//! that write down their arguments. `SAYSO_SHELL_LINES` sets how many lines (2,000), `SAYSO_SHELL_SEED` which.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rand::SeedableRng;
use rand::rngs::StdRng;
use sayso::config::{Config, Decision, Source};
use sayso::policy::{Call, Effective, decide, explain};

use crate::sandbox::has;

mod grammar;

const SHELLS: [&str; 3] = ["bash", "dash", "zsh"];

/// Programs that are stood in for.
const STAND_INS: &[&str] = &[
    "pa", "pb", "pd", "timeout", "nice", "ionice", "stdbuf", "time", "nohup", "xargs", "ls",
];

const POLICY: &str = r#"
[agents.a.approval_policy]
auto_allow = ["pa", "pa *", "pb", "pb *", "~/pb *", "./pa *", "echo *", "cd *"]
auto_deny = ["pd*"]
"#;

const STAND_IN: &str = r#"#!/bin/sh
printf '%s\0' "$#" "$0" "$@" >>"$SAYSO_LOG"
"#;

/// Names of files in the folder where the lines run, and below its `src`.
const NAMES: &[&str] = &[
    "-rf",
    "--output=x",
    "-e pd",
    "a b",
    "*",
    "[a]",
    "a",
    "b",
    "{}",
    "HEAD@{1}",
    "HEAD~1",
    "x=y",
    "~",
    "$x",
    "`pd`",
    "$(pd)",
    ";pd",
    "a;pd",
    "new\nline",
    "'",
    "\"",
    "\\",
    "é",
    "pd",
    "--include=-x.py",
    "-Ix",
    "#",
    "!",
    "=pd",
];

/// Where a program is; PATH leads to the stand-ins only.
fn place(program: &str) -> PathBuf {
    let dirs = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let mut places = dirs.iter().map(|dir| dir.join(program));
    places.find(|place| place.exists()).unwrap()
}

struct Site {
    dir: tempfile::TempDir,
    runs: Cell<usize>,
}

impl Site {
    fn new() -> Self {
        let site = Self {
            dir: tempfile::tempdir().unwrap(),
            runs: Cell::new(0),
        };
        for dir in [
            "bin",
            "home",
            "folder/src",
            "folder/-o",
            "folder/--include=",
        ] {
            fs::create_dir_all(site.path(dir)).unwrap();
        }
        let programs = STAND_INS.iter().map(|name| site.path("bin").join(name));
        for program in programs.chain([site.path("home/pb"), site.path("folder/pa")]) {
            fs::write(&program, STAND_IN).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in NAMES {
            for dir in ["folder", "folder/src", "folder/-o", "home"] {
                fs::write(site.path(dir).join(name), "").unwrap();
            }
        }
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// What a shell ran of a line: programs and arguments.
    fn run(&self, shell: &str, line: &str) -> Vec<Vec<String>> {
        // dash takes `&>` for a background job, which may write after the shell has ended.
        let number = self.runs.get();
        self.runs.set(number + 1);
        let log = self.path(&format!("log{number}"));
        fs::write(&log, "").unwrap();
        Command::new(place(shell))
            .args(["-c", line])
            .env_clear()
            .env(
                "PATH",
                format!("{}:/nonexistent", self.path("bin").display()),
            )
            .env("HOME", self.path("home"))
            .env("SAYSO_LOG", &log)
            .current_dir(self.path("folder"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let bin = format!("{}/", self.path("bin").display());
        let log = fs::read(&log).unwrap();
        let mut fields = log
            .split(|b| *b == 0)
            .map(|field| String::from_utf8_lossy(field).into_owned());
        let mut ran = vec![];
        while let Some(count) = fields.next().filter(|count| !count.is_empty()) {
            let mut words: Vec<_> = fields
                .by_ref()
                .take(count.parse::<usize>().unwrap() + 1)
                .collect();
            words[0] = words[0].strip_prefix(&bin).unwrap_or(&words[0]).to_owned();
            ran.push(words);
        }
        ran
    }

    /// Everything in the folder.
    fn files(&self) -> Vec<Vec<u8>> {
        let mut found = vec![];
        for dir in ["folder", "folder/src", "home"] {
            let entries = fs::read_dir(self.path(dir)).unwrap();
            found
                .extend(entries.map(|entry| entry.unwrap().path().as_os_str().as_bytes().to_vec()));
        }
        found.sort();
        found
    }
}

/// A word as the policy saw it, and whether it says that the shell puts something of its own in it.
type Seen = (String, bool);

fn verdict(config: &Config, line: &str) -> (Decision, Vec<Vec<Seen>>) {
    let policy = Effective::new(config, "a", &[]).unwrap();
    let call = Call {
        action: Some(line),
        ..Call::default()
    };
    let decision = decide(&policy, &call).decision;
    let parts = explain(&policy, &call);
    let parts = parts
        .into_iter()
        .map(|part| part.words.into_iter().zip(part.expands).collect());
    (decision, parts.collect())
}

/// Whether what ran is what was seen. A pattern stands for one word or several.
fn is(ran: &[String], seen: &[Seen], home: &str) -> bool {
    // Up to where it fits what was seen so far.
    let mut ends = BTreeSet::from([0]);
    for (word, expands) in seen {
        let at_home = word
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let at_home = at_home
            .filter(|_| *expands)
            .map(|rest| format!("{home}{rest}"));
        // Where another part of the word expands, the tilde may have been quoted.
        let literal = at_home.is_none() || word.contains(['*', '?', '[', '$']);
        let forms: Vec<_> = at_home
            .into_iter()
            .chain(literal.then(|| word.clone()))
            .collect();
        let mut next = BTreeSet::new();
        for (end, form) in ends
            .iter()
            .flat_map(|end| forms.iter().map(move |form| (*end, form)))
        {
            let Some(first) = ran.get(end) else {
                continue;
            };
            if first == form || *expands && digits_fit(first, form) {
                next.insert(end + 1);
            }
            if *expands && form.contains(['*', '?', '[']) {
                let fixed = form.split(['*', '?', '[']).next().unwrap();
                let names = ran[end..].iter().take_while(|name| name.starts_with(fixed));
                next.extend((1..=names.count()).map(|count| end + count));
            }
        }
        ends = next;
    }
    ends.contains(&ran.len())
}

/// Whether the text is the word with digits for `$?` and `$#`.
fn digits_fit(text: &str, word: &str) -> bool {
    let holes = word.replace("$?", "\0").replace("$#", "\0");
    let mut rest = text;
    for (index, piece) in holes.split('\0').enumerate() {
        if index > 0 {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        match rest.strip_prefix(piece) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.is_empty()
}

/// Assignments in front and the reserved word `time` reach no program.
fn without_front(seen: &[Seen]) -> Vec<&[Seen]> {
    let is_assignment = |(word, _): &&Seen| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let at = seen.iter().take_while(is_assignment).count();
    let command = &seen[at..];
    match command {
        [(time, _), inner @ ..] if time == "time" => vec![command, inner],
        _ => vec![command],
    }
}

#[test]
fn an_allow_runs_what_the_policy_saw() {
    if !SHELLS
        .iter()
        .all(|shell| has(shell, "an_allow_runs_what_the_policy_saw"))
    {
        return;
    }
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().unwrap())
    };
    let lines = number("SAYSO_SHELL_LINES", 2_000);
    let seed = number("SAYSO_SHELL_SEED", 11);
    let mut random = StdRng::seed_from_u64(seed);
    let lines: Vec<String> = (0..lines).map(|_| grammar::line(&mut random)).collect();
    let halves = lines.chunks(lines.len().div_ceil(2));
    let allowed: Vec<usize> = std::thread::scope(|scope| {
        let judges: Vec<_> = halves.map(|half| scope.spawn(|| judge(half))).collect();
        judges
            .into_iter()
            .map(|judge| judge.join().unwrap())
            .collect()
    });
    let allowed: usize = allowed.iter().sum();
    println!(
        "{allowed} of {} lines were allowed, seed {seed}",
        lines.len()
    );
    assert!(
        allowed * 4 > lines.len(),
        "only {allowed} lines were allowed"
    );
}

/// Runs the lines that are allowed; how many they were.
fn judge(lines: &[String]) -> usize {
    let source = Source {
        path: PathBuf::from("c.toml"),
        text: POLICY.to_owned(),
    };
    let config = Config::parse(source).unwrap();
    let site = Site::new();
    let home = site.path("home").display().to_string();
    let files = site.files();
    let mut allowed = 0;
    for line in lines {
        let (decision, seen) = verdict(&config, line);
        if decision != Decision::Allow {
            continue;
        }
        allowed += 1;
        for shell in SHELLS {
            for ran in site.run(shell, line) {
                let known = seen
                    .iter()
                    .flat_map(|part| without_front(part))
                    .any(|part| is(&ran, part, &home));
                assert!(
                    known,
                    "{shell} ran {ran:?} of {line:?}, where the policy saw {seen:?}"
                );
            }
        }
        assert_eq!(site.files(), files, "a file came or went with {line:?}");
    }
    allowed
}

/// The judge itself can say no.
#[test]
fn the_judge_of_shells_sees_a_difference() {
    let seen = |words: &[(&str, bool)]| {
        words
            .iter()
            .map(|(word, expands)| ((*word).to_owned(), *expands))
            .collect::<Vec<_>>()
    };
    let ran = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (words, part, want) in [
        (&["pa", "x"][..], &[("pa", false), ("x", false)][..], true),
        (&["pa", "x", "y"], &[("pa", false), ("x", false)], false),
        (&["pa", "y"], &[("pa", false), ("x", false)], false),
        (
            &["pa", "src/a", "src/b"],
            &[("pa", false), ("src/*", true)],
            true,
        ),
        (
            &["pa", "src/a", "-b"],
            &[("pa", false), ("src/*", true)],
            false,
        ),
        (&["pa"], &[("pa", false), ("src/*", true)], false),
        (&["pa", "e 10"], &[("pa", false), ("e $?", true)], true),
        (&["pa", "e x"], &[("pa", false), ("e $?", true)], false),
        (&["pa", "/h/x"], &[("pa", false), ("~/x", true)], true),
        (&["pa", "/h/x"], &[("pa", false), ("~/x", false)], false),
    ] {
        assert_eq!(
            is(&ran(words), &seen(part), "/h"),
            want,
            "{words:?} {part:?}"
        );
    }
    let site = Site::new();
    if has("bash", "the_judge_of_shells_sees_a_difference") {
        assert_eq!(
            site.run("bash", "A=1 pa 'x y'; ~/pb"),
            [
                ran(&["pa", "x y"]),
                ran(&[&site.path("home/pb").display().to_string()])
            ]
        );
    }
}
