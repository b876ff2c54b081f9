//! `policy init`, `add` and `remove`: the operator's own file, changed in place.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::pty::Terminal;
use crate::sandbox::{Ran, SELF_ANSWER, Sandbox, failure};

const MINE: &str = "# mine\nmax_pending = 5 # few\n\n[agents.claude.approval_policy]\nauto_allow = [\n  'git log *', # history\n  # a test\n  \"cargo *\" # all\n]\n\n[resume] # last\ncommand = [\"true\"]\n";

fn file(world: &Sandbox) -> PathBuf {
    world.path().join("home/.config/sayso/config.toml")
}

fn write(world: &Sandbox, text: &str) {
    fs::create_dir_all(file(world).parent().unwrap()).unwrap();
    fs::write(file(world), text).unwrap();
}

fn read(world: &Sandbox) -> String {
    fs::read_to_string(file(world)).unwrap()
}

fn policy(world: &Sandbox, args: &[&str]) -> Ran {
    world.run(["policy"].iter().chain(args))
}

/// What becomes of a command of the agent.
fn verdict(world: &Sandbox, agent: &str, command: &str) -> i32 {
    policy(world, &["check", "--agent", agent, "--action", command]).code
}

#[test]
fn a_rule_comes_and_goes_and_nothing_else_changes() {
    let world = Sandbox::new();
    write(&world, MINE);
    fs::set_permissions(file(&world), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(verdict(&world, "claude", "make test"), 12);
    let ran = policy(&world, &["add", "allow", "make *", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let added = MINE.replace("\"cargo *\" # all\n", "\"cargo *\", # all\n  \"make *\"\n");
    assert_eq!(read(&world), added);
    let mode = fs::metadata(file(&world)).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
    let name = file(&world).display().to_string();
    let diff = format!(
        "--- {name}\n+++ {name}\n@@ -5,7 +5,8 @@\n auto_allow = [\n   'git log *', # history\n   # a test\n-  \"cargo *\" # all\n+  \"cargo *\", # all\n+  \"make *\"\n ]\n \n [resume] # last\n"
    );
    assert_eq!(ran.stdout, diff);
    assert!(
        ran.stderr.contains("added: auto_allow of 'claude'"),
        "{ran:?}"
    );
    assert_eq!(verdict(&world, "claude", "make test"), 0);

    let ran = policy(&world, &["remove", "allow", "git log *", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        read(&world),
        added.replace("  'git log *', # history\n", "")
    );

    let ran = policy(&world, &["add", "deny", "make *", "--yes"]);
    assert!(
        ran.stderr
            .contains("\"make *\" is covered by \"make *\" in auto_deny"),
        "{ran:?}"
    );
    assert_eq!(verdict(&world, "claude", "make test"), 10);
    let left: Vec<_> = fs::read_dir(file(&world).parent().unwrap())
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_is_there_already_or_not_there_is_said_and_changes_nothing() {
    let world = Sandbox::new();
    write(&world, MINE);
    let ran = policy(&world, &["add", "allow", "cargo *"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("nothing to change: auto_allow of 'claude' has it already"),
        "{ran:?}"
    );
    let data = policy(&world, &["add", "allow", "cargo *", "--json"]).data();
    assert_eq!(
        (&data["changed"], &data["diff"]),
        (&json!(false), &json!(""))
    );
    for args in [
        ["remove", "deny", "cargo *", "--yes"],
        ["remove", "allow", "cargo", "--yes"],
        ["remove", "allow", "cargo **", "--yes"],
    ] {
        let ran = policy(&world, &args);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.stderr.contains("of 'claude' has no \""), "{ran:?}");
    }
    assert_eq!(read(&world), MINE);
}

#[test]
fn only_what_was_confirmed_is_written() {
    let world = Sandbox::new();
    write(&world, MINE);
    let ran = policy(&world, &["add", "allow", "make *"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stdout.contains("+  \"make *\"") && ran.stderr.contains("needs --yes"),
        "{ran:?}"
    );
    let ran = policy(&world, &["add", "allow", "make *", "--dry-run"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("+  \"make *\"") && ran.stderr.contains("nothing was written"),
        "{ran:?}"
    );
    assert_eq!(read(&world), MINE);
    for (keys, code) in [("n\n", 2), ("\n", 2), ("yy\n", 2), ("y\n", 0)] {
        assert_eq!(read(&world), MINE);
        let mut terminal =
            Terminal::start(&world, 100, "xterm", &["policy", "add", "allow", "make *"]);
        terminal.expect("write it? [y/N] ");
        terminal.keys(keys);
        let ran = terminal.finish();
        assert_eq!(ran.code, code, "{keys:?} {ran:?}");
    }
    assert!(read(&world).contains("\"make *\""));
}

#[test]
fn an_agent_must_not_change_the_policy() {
    let world = Sandbox::new();
    write(&world, MINE);
    for name in [
        "CLAUDECODE",
        "CODEX_SANDBOX",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "CURSOR_AGENT",
        "SAYSO_AGENT",
    ] {
        for args in [
            &["add", "allow", "make *", "--yes"][..],
            &["add", "deny", "make *", "--yes"],
            &["remove", "allow", "cargo *", "--yes"],
            &["init"],
        ] {
            let args = ["policy"].iter().chain(args).chain(&["--json"]);
            let mut command = world.command(args);
            let ran: Ran = command.env(name, "claude").output().unwrap().into();
            failure(&ran, SELF_ANSWER);
        }
    }
    assert_eq!(read(&world), MINE);
}

#[test]
fn what_is_broken_is_refused_and_stays_as_it_is() {
    for (text, code) in [
        ("max_pending = ", 2),
        ("[policy]\n", 2),
        ("[agents.claude.approval_policy]\nauto_allow = \"x\"\n", 2),
        ("[agents.claude.approval_policy]\nauto_deny = ['\\x']\n", 2),
        (
            "[agents.claude.approval_policy]\n[agents.Claude.approval_policy]\n",
            2,
        ),
    ] {
        let world = Sandbox::new();
        write(&world, text);
        let ran = policy(
            &world,
            &["add", "allow", "make *", "--yes", "--agent", "CLAUDE"],
        );
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, ""),
            "{text}: {ran:?}"
        );
        assert_eq!(read(&world), text);
    }
    let world = Sandbox::new();
    let long = "x".repeat(513);
    for pattern in ["\\", "a\\b", &long] {
        let ran = policy(&world, &["add", "allow", pattern, "--yes"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("is no pattern"), "{ran:?}");
    }
    assert!(!file(&world).exists());
    // One that does not parse can be taken out.
    write(
        &world,
        "[agents.a.approval_policy]\nauto_deny = ['\\x', 'y']\n",
    );
    assert_eq!(policy(&world, &["remove", "deny", "\\x", "--yes"]).code, 0);
    assert_eq!(
        read(&world),
        "[agents.a.approval_policy]\nauto_deny = ['y']\n"
    );
}

#[test]
fn a_new_table_of_an_agent_keeps_what_held_for_it() {
    let world = Sandbox::new();
    let ran = policy(&world, &["add", "deny", "rm *", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        read(&world),
        "[agents.\"*\".approval_policy]\nauto_deny = [\"rm *\"]\n"
    );
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(file(&world)), 0o600);
    assert_eq!(verdict(&world, "claude", "rm x"), 10);
    let there = policy(
        &world,
        &["add", "deny", "rm *", "--yes", "--agent", "claude"],
    );
    assert!(
        there.stderr.contains("auto_deny of '*' has it already"),
        "{there:?}"
    );
    let elsewhere = policy(
        &world,
        &["remove", "deny", "rm *", "--yes", "--agent", "claude"],
    );
    assert_eq!(elsewhere.code, 3);
    assert!(elsewhere.stderr.contains("--agent '*'"), "{elsewhere:?}");
    assert_eq!(
        policy(
            &world,
            &["add", "allow", "ls *", "--yes", "--agent", "claude"]
        )
        .code,
        0
    );
    assert_eq!(verdict(&world, "claude", "rm x"), 10);
    assert_eq!(verdict(&world, "claude", "ls x"), 0);
    assert_eq!(verdict(&world, "codex", "ls x"), 12);
    // Case does not make another agent, and of two somebody has to say which.
    assert_eq!(
        policy(
            &world,
            &["add", "allow", "wc *", "--yes", "--agent", "CLAUDE"]
        )
        .code,
        0
    );
    assert_eq!(read(&world).matches("[agents.").count(), 2);
    let whose = policy(&world, &["add", "allow", "cat *", "--yes"]);
    assert_eq!(whose.code, 2);
    assert!(
        whose
            .stderr
            .contains("several agents have a policy: *, claude"),
        "{whose:?}"
    );
}

#[test]
fn a_link_goes_on_pointing_where_it_points() {
    let world = Sandbox::new();
    write(&world, "");
    let real = world.path().join("dotfiles.toml");
    fs::write(&real, MINE).unwrap();
    fs::remove_file(file(&world)).unwrap();
    symlink(&real, file(&world)).unwrap();
    assert_eq!(policy(&world, &["add", "allow", "make *", "--yes"]).code, 0);
    assert_eq!(fs::read_link(file(&world)).unwrap(), real);
    assert!(fs::read_to_string(&real).unwrap().contains("\"make *\""));
    // One to nowhere is no configuration that could be changed, or made.
    fs::remove_file(&real).unwrap();
    for args in [&["add", "allow", "make *", "--yes"][..], &["init"]] {
        assert_eq!(policy(&world, args).code, 2);
    }
    assert!(!real.exists());
}

#[test]
fn the_starter_file_is_sound_and_only_reads() {
    let world = Sandbox::new();
    let shown = policy(&world, &["init", "--agent", "claude", "--dry-run"]);
    assert_eq!(shown.code, 0);
    assert!(!file(&world).exists());
    let ran = policy(&world, &["init", "--agent", "claude"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains(&file(&world).display().to_string()),
        "{ran:?}"
    );
    assert_eq!(read(&world), shown.stdout);
    let lint = policy(&world, &["lint"]);
    assert_eq!(lint.code, 0, "{lint:?}");
    for command in [
        "ls",
        "ls -la src",
        "cat a | wc -l",
        "grep -rn x src",
        "pwd",
        "cat a b | grep x",
    ] {
        assert_eq!(verdict(&world, "claude", command), 0, "{command}");
    }
    for command in [
        "git status",
        "git log",
        "cargo test",
        "make",
        "npm test",
        "find . -delete",
        "sort -o x y",
        "sed -i s/a/b/ x",
        "tar xf x",
        "rg --pre x y",
        "tee x",
        "cat x > y",
        "echo x > ~/.bashrc",
        "cat x | sh",
        "ls; rm x",
        "ls $(rm x)",
        "xargs rm",
        "env",
        "./ls",
        "man ls",
        "python3 -c x",
    ] {
        assert_ne!(verdict(&world, "claude", command), 0, "{command}");
    }
    for command in [
        "cat ~/.ssh/id_rsa",
        "cat /home/me/.aws/credentials",
        "cat /proc/1/environ",
    ] {
        assert_eq!(verdict(&world, "claude", command), 10, "{command}");
    }
    // Every rule is explained.
    let text = read(&world);
    let rules = text.lines().filter(|line| line.starts_with("  \""));
    let allowing = rules.take_while(|line| !line.contains(".ssh"));
    assert!(allowing.clone().count() > 10);
    assert!(allowing.clone().all(|line| line.contains(" # ")), "{text}");

    let again = policy(&world, &["init", "--agent", "claude"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(read(&world), text);
    assert_eq!(
        policy(&world, &["add", "allow", "git log *", "--yes"]).code,
        0
    );
    assert_eq!(
        policy(&world, &["remove", "allow", "git log *", "--yes"]).code,
        0
    );
    assert_eq!(read(&world), text);
}

#[test]
fn the_named_file_is_the_one_that_is_written() {
    let world = Sandbox::new();
    let named = world.path().join("deep/er/own.toml");
    let run = |args: &[&str]| -> Value {
        let args = ["policy"].iter().chain(args).chain(&["--json"]);
        let mut command = world.command(args);
        let ran: Ran = command.env("SAYSO_CONFIG", &named).output().unwrap().into();
        ran.data()
    };
    let data = run(&["init", "--agent", "a \"b\""]);
    assert_eq!(data["file"], json!(named));
    let data = run(&[
        "add",
        "allow",
        "say \"x\" \\\\*",
        "--yes",
        "--agent",
        "A \"B\"",
    ]);
    assert_eq!(data["changed"], true);
    assert!(
        data["diff"]
            .as_str()
            .unwrap()
            .contains("+  'say \"x\" \\\\*',"),
        "{data}"
    );
    let data = run(&["remove", "allow", "say \"x\" \\\\*", "--yes", "--dry-run"]);
    assert_eq!(
        (&data["changed"], &data["dry_run"]),
        (&json!(true), &json!(true))
    );
    assert!(!file(&world).exists());
}

#[test]
fn a_configuration_that_nobody_knows_the_name_of_says_where_the_policy_lives() {
    let world = Sandbox::new();
    for text in [
        "[policy]\nallow = []\n",
        "[approval_policy]\nauto_allow = []\n",
    ] {
        write(&world, text);
        let ran = policy(&world, &["lint"]);
        assert_eq!(ran.code, 2);
        for part in [
            "config.toml:1:2: unknown field",
            "[agents.claude.approval_policy]\n",
            "auto_allow = [\"cargo *\"]\n",
        ] {
            assert!(ran.stderr.contains(part), "{part}: {ran:?}");
        }
    }
    fs::remove_file(file(&world)).unwrap();
    for (text, meant) in [
        ("[policy]\n", "auto_deny = [\"git push*\"]\n"),
        (
            "[agents.a.approval_policy]\nauto_denny = []\n",
            "did you mean `auto_deny`?",
        ),
        (
            "[agents.a.approval_policy]\nauto_allow = []\n",
            "can only tighten",
        ),
    ] {
        fs::write(world.repo().join(".sayso.toml"), text).unwrap();
        let ran = policy(&world, &["lint"]);
        assert_eq!(ran.code, 2);
        assert!(
            ran.stderr.contains(meant) && ran.stderr.contains("can only tighten"),
            "{text}: {ran:?}"
        );
    }
}
