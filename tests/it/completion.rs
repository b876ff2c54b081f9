//! What the shells offer: the hidden verb, and bash driven as it drives its completion functions.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, binary, has};

/// `sayso __complete` for words of which the last is being typed, as `value` and `description`.
fn complete(world: &Sandbox, words: &[&str]) -> Vec<(String, String)> {
    let (word, before) = words.split_last().unwrap();
    let word = format!("--word={word}");
    let args = ["__complete", &word, "--"];
    let ran = world.run(args.into_iter().chain(before.iter().copied()));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
    let pair = |line: &str| {
        let (value, about) = line.split_once('\t').unwrap();
        (value.to_owned(), about.to_owned())
    };
    ran.stdout.lines().map(pair).collect()
}

fn values(world: &Sandbox, words: &[&str]) -> Vec<String> {
    let found = complete(world, words);
    found.into_iter().map(|(value, _)| value).collect()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

#[test]
fn ids_are_those_of_pending_questions_with_what_they_ask_beside_them() {
    let world = Sandbox::new();
    let first = world.request(&["Deploy to production?", "--agent", "swe"]);
    let second = world.request(&["Colour?", "--kind", "text"]);
    let done = world.request(&["Old?"]);
    assert_eq!(world.run(["answer", id(&done), "--allow"]).code, 0);
    for verb in ["show", "answer", "wait", "get", "cancel", "respond"] {
        let found = complete(&world, &[verb, ""]);
        let right = [
            (id(&second).to_owned(), "cli: Colour?".to_owned()),
            (
                id(&first).to_owned(),
                "swe: Deploy to production?".to_owned(),
            ),
        ];
        assert_eq!(found, right, "{verb}");
    }
    let head = &id(&first)[..6];
    assert_eq!(values(&world, &["show", head]), [id(&first)]);
    assert_eq!(
        values(&world, &["interactions", "show", head]),
        [id(&first)]
    );
    assert_eq!(values(&world, &["--scope", "nowhere", "show", ""]), [""; 0]);
}

#[test]
fn no_nonce_and_no_digest_is_ever_offered() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?", "--key", "k"]);
    let id = id(&record);
    let lines: &[&[&str]] = &[
        &["show", ""],
        &["respond", id, "--nonce", ""],
        &["respond", id, "--digest", ""],
        &["respond", id, "--choice", ""],
        &["answer", id, "--digest="],
        &["cancel", "--key", ""],
    ];
    for words in lines {
        let all = format!("{:?}", complete(&world, words));
        for secret in ["nonce", "request_digest"] {
            assert!(!all.contains(record[secret].as_str().unwrap()), "{words:?}");
        }
    }
    assert_eq!(values(&world, &["cancel", "--key", ""]), ["k"]);
}

#[test]
fn choices_and_labels_are_those_of_the_question_on_the_line() {
    let world = Sandbox::new();
    let one = world.request(&["A?"]);
    let args = [
        "B?",
        "--choice",
        "red:Red",
        "--choice",
        "blue:Blue",
        "--kind",
    ];
    let two = world.request(&[&args[..], &["single-choice"]].concat());
    assert_eq!(
        values(&world, &["answer", id(&one), "--choice", ""]),
        ["allow-once", "deny"]
    );
    let found = complete(&world, &["respond", &id(&two)[..8], "--choice=b"]);
    assert_eq!(found, [("--choice=blue".to_owned(), "Blue".to_owned())]);
    let mut every = values(&world, &["answer", "--choice", ""]);
    every.sort();
    assert_eq!(every, ["allow-once", "blue", "deny", "red"]);

    let form = r#"[{"header":"Size","question":"How big?","options":[{"label":"S"},{"label":"Very large"},{"label":"$(rm x)"}]}]"#;
    let asked = world.run_with(
        [
            "request",
            "F",
            "--kind",
            "form",
            "--questions",
            "-",
            "--json",
        ],
        form.as_bytes(),
    );
    let form = asked.data();
    let found = complete(&world, &["answer", id(&form), "--select", ""]);
    let right = [("1=S", "How big?"), ("1=Very large", "How big?")];
    assert_eq!(found, right.map(|(v, a)| (v.to_owned(), a.to_owned())));
}

#[test]
fn names_come_from_the_store_and_the_configuration() {
    let world = Sandbox::new();
    world.request(&[
        "A?",
        "--agent",
        "Claude Code",
        "--project",
        "p1",
        "--session",
        "s:1",
    ]);
    let config = world.path().join("home/.config/sayso");
    std::fs::create_dir_all(&config).unwrap();
    let table = "[agents.swe.approval_policy]\ndefault = \"ask\"\n[agents.\"*\".approval_policy]\n";
    std::fs::write(config.join("config.toml"), table).unwrap();
    assert_eq!(
        values(&world, &["list", "--agent", ""]),
        ["swe", "Claude Code"]
    );
    assert_eq!(values(&world, &["list", "--project", ""]), ["p1"]);
    assert_eq!(values(&world, &["cancel", "--session", "s"]), ["s:1"]);
    let scope = world.scope();
    let scope = scope.file_name().unwrap().to_str().unwrap();
    let root = world.repo().to_str().unwrap().to_owned();
    assert_eq!(complete(&world, &["--scope", "sh"])[0].0, scope);
    assert!(root.ends_with("shop") && scope.starts_with("shop-"));
    assert_eq!(
        values(&world, &["hook", "c"]),
        ["claude", "codex", "copilot", "cursor"]
    );
    assert_eq!(values(&world, &["hook", "her"]), [""; 0]);
    assert_eq!(
        complete(&world, &["harness", "install", "her"]),
        [("hermes".to_owned(), "Hermes".to_owned())]
    );
    assert_eq!(
        values(&world, &["harness", ""]),
        ["install", "uninstall", "status"]
    );
    assert_eq!(
        values(&world, &["harness", "status", "pi", "--for", ""]),
        ["user", "project"]
    );
    assert_eq!(values(&world, &["install-harness", "cl"]), ["claude"]);
    assert_eq!(
        values(&world, &["hook", "codex", "p"]),
        ["permission-request"]
    );
    assert!(values(&world, &["help", "e"]).contains(&"exit-codes".to_owned()));
    assert_eq!(
        values(&world, &["events", "--type", "interaction_a"]),
        ["interaction_answered"]
    );
    assert_eq!(
        values(&world, &["list", "--kind", ""]),
        ["permission", "single-choice", "text", "form"]
    );
    assert_eq!(complete(&world, &["ask", "--questions", ""])[0].1, "files");
    assert_eq!(complete(&world, &["--repo", ""])[0].1, "directories");
}

#[test]
fn a_hostile_name_is_not_offered_and_a_hostile_prompt_is_harmless() {
    let world = Sandbox::new();
    let evil = "\u{1b}[2J\u{202e}evil\tx\ny";
    world.request(&[evil, "--agent", "$(touch pwned)"]);
    world.request(&["B?", "--agent", "a`id`"]);
    assert_eq!(values(&world, &["list", "--agent", ""]), [""; 0]);
    for (value, about) in complete(&world, &["show", ""]) {
        assert!(
            value.len() == 32 && !about.contains(char::is_control),
            "{about:?}"
        );
        assert!(!about.contains('\u{202e}'), "{about:?}");
    }
}

#[test]
fn a_broken_store_or_configuration_offers_nothing_and_says_nothing() {
    let world = Sandbox::new();
    world.request(&["A?"]);
    let ran: Ran = world
        .command(["__complete", "--word=", "--", "list", "--agent"])
        .env("SAYSO_CONFIG", "/nonexistent")
        .output()
        .unwrap()
        .into();
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "cli\tA?\n", "")
    );
    std::fs::write(
        world
            .scope()
            .join("interactions/pending/0123456789abcdef0123456789abcdef.json"),
        "{",
    )
    .unwrap();
    assert_eq!(complete(&world, &["show", ""]).len(), 1);
    let nowhere: Ran = world
        .command(["__complete", "--word=", "--", "show"])
        .env("SAYSO_HOME", "relative")
        .output()
        .unwrap()
        .into();
    assert_eq!((nowhere.stdout.as_str(), nowhere.code), ("", 2));
}

/// What bash's completion function offers for a line, of which bash has made `pieces`.
fn bash(world: &Sandbox, line: &str, pieces: &[&str]) -> Vec<String> {
    let script = r#"
        source <(sayso completions bash)
        complete -p sayso >/dev/null || exit 9
        COMP_LINE=$1 COMP_POINT=${#1}; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _sayso || exit 8
        ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}""#;
    let mut command = std::process::Command::new("bash");
    world.dress(&mut command);
    let binaries = std::path::Path::new(binary())
        .parent()
        .unwrap()
        .display()
        .to_string();
    let args = ["--norc", "-c", script, "bash", line].into_iter();
    command
        .env("PATH", format!("{binaries}:/usr/bin:/bin"))
        .args(args.chain(pieces.iter().copied()));
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_puts_words_together_that_it_split_at_colons_and_equals_signs() {
    if !has("bash", "completion in bash") {
        return;
    }
    let world = Sandbox::new();
    let record = world.request(&["A?", "--agent", "team:swe", "--project", "My shop"]);
    world.request(&["B?", "--agent", "team:qa"]);
    let id = id(&record);
    let show = format!("sayso show {}", &id[..5]);
    let select = format!("sayso answer {id} --choice ");
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("sayso ans", &["sayso", "ans"], &["answer"]),
        (&show, &["sayso", "show", &id[..5]], &[id]),
        (
            &select,
            &["sayso", "answer", id, "--choice", ""],
            &["allow-once", "deny"],
        ),
        (
            "sayso list --agent team:",
            &["sayso", "list", "--agent", "team", ":"],
            &["qa", "swe"],
        ),
        (
            "sayso list --agent team:s",
            &["sayso", "list", "--agent", "team", ":", "s"],
            &["swe"],
        ),
        (
            "sayso list --agent=team:s",
            &["sayso", "list", "--agent", "=", "team", ":", "s"],
            &["swe"],
        ),
        (
            "sayso list --status=",
            &["sayso", "list", "--status", "="],
            &["pending", "answered", "expired", "cancelled", "superseded"],
        ),
        (
            "sayso list --project My",
            &["sayso", "list", "--project", "My"],
            &["My\\ shop"],
        ),
        (
            "sayso list --project My\\ s",
            &["sayso", "list", "--project", "My\\ s"],
            &["My\\ shop"],
        ),
        (
            "sayso list --project \"My s",
            &["sayso", "list", "--project", "\"My s"],
            &["My shop"],
        ),
        (
            "sayso ask --choice a:b --choice c:d --effect c=",
            &[
                "sayso", "ask", "--choice", "a", ":", "b", "--choice", "c", ":", "d", "--effect",
                "c", "=",
            ],
            &["allow", "deny"],
        ),
        ("sayso --repo .gi", &["sayso", "--repo", ".gi"], &[".git"]),
    ];
    for (line, pieces, right) in rows {
        assert_eq!(bash(&world, line, pieces), *right, "{line}");
    }
}
