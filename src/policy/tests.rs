use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;
use crate::config::{Config, Source};

mod effective;
mod everyday;
mod hostile;
mod properties;
mod speed;
mod tools;

/// The policy of the table in the manual and of the compound commands.
const GIT_AND_CARGO: &str = r#"
[agents.a.approval_policy]
auto_allow = ["git *", "cargo *"]
auto_deny = ["git push*", "rm *"]
default = "ask"
"#;

fn source(path: &str, text: &str) -> Source {
    Source {
        path: PathBuf::from(path),
        text: text.to_owned(),
    }
}

fn config(text: &str) -> Config {
    Config::parse(source("/c.toml", text)).unwrap()
}

/// A policy for agent `a` of the three lists.
fn policy(allow: &[&str], deny: &[&str], default: &str) -> Config {
    let [allow, deny] = [allow, deny].map(|list| toml::Value::from(list.to_vec()));
    config(&format!(
        "[agents.a.approval_policy]\nauto_allow = {allow}\nauto_deny = {deny}\ndefault = {default:?}"
    ))
}

fn decision(config: &Config, call: &Call) -> Decision {
    decide(&Effective::new(config, "a", &[]).unwrap(), call).decision
}

fn of_action(config: &Config, action: &str) -> Decision {
    let call = Call {
        action: Some(action),
        ..Call::default()
    };
    decision(config, &call)
}

fn of_tool(config: &Config, name: &str, input: &Value) -> Decision {
    of_tool_at(config, name, input, &[])
}

/// A call of a tool in a file system whose only links are these, and whose other paths are as they seem.
fn of_tool_at(config: &Config, name: &str, input: &Value, links: &[Resolved]) -> Decision {
    let cwd = Path::new("/srv");
    let call = Call {
        tool_name: Some(name),
        input: Some(input),
        cwd: Some(cwd),
        ..Call::default()
    };
    let plain = call.paths().into_iter().map(|given| Resolved {
        given: given.to_owned(),
        path: super::call::normal_path(given, Some(cwd)),
        caseless: false,
    });
    let resolved: Vec<_> = links.iter().cloned().chain(plain).collect();
    let call = Call {
        resolved: &resolved,
        ..call
    };
    decision(config, &call)
}

fn of_bash(config: &Config, command: &str) -> Decision {
    of_tool(config, "Bash", &json!({ "command": command }))
}

/// That commands are decided so both as an action and as the input of a tool.
#[track_caller]
fn check(config: &Config, want: Decision, commands: &[&str]) {
    let wrong: Vec<_> = commands
        .iter()
        .map(|command| {
            (
                command,
                of_action(config, command),
                of_bash(config, command),
            )
        })
        .filter(|(_, action, tool)| *action != want || *tool != want)
        .collect();
    assert!(wrong.is_empty(), "not {want:?}: {wrong:#?}");
}

#[test]
fn the_table_of_the_manual() {
    let config = config(GIT_AND_CARGO);
    check(
        &config,
        Decision::Allow,
        &[
            "git log --grep=push",
            "git stash push",
            "cargo test 2>&1 | git hash-object --stdin",
        ],
    );
    check(
        &config,
        Decision::Deny,
        &[
            "git push",
            "git  push",
            "git\tpush origin",
            "git -C . push",
            "git -c \"user.name=a b\" push",
            "env A=1 git push",
            "sudo git push",
            "/usr/bin/git push",
            "sh -lc 'git push'",
            "git log; rm -rf y",
            "git log && rm -rf y",
            "git log $(rm y)",
            "git log `rm y`",
            "git log & rm y",
            "git log\nrm -rf y",
            "git push\u{200b}",
            "(cd x; rm y)",
            "git log >(rm y)",
            "git pu\\\nsh",
        ],
    );
    check(
        &config,
        Decision::Ask,
        &[
            "git log && curl x | sh",
            "git status > ~/.bashrc",
            "cargo",
            "GIT PUSH",
            "git \"unterminated",
            "/tmp/evil/git log",
            "git $X",
            "git {push,}",
            "git pus[h]",
            "git $'\\x70ush'",
            "",
        ],
    );
    let pager = policy(&["git log*"], &["git push*", "rm *"], "ask");
    check(&pager, Decision::Ask, &["git -c core.pager='!x' log"]);
}

#[test]
fn compound_commands_under_a_glob_policy() {
    let config = config(GIT_AND_CARGO);
    check(
        &config,
        Decision::Deny,
        &[
            "cargo build;rm -rf y",
            "git log\nrm -rf y",
            "git log $(rm y)",
            "git log & rm y",
            "git  push",
            "git\tpush origin",
            "git -C . push",
            "git -c \"user.name=a b\" push",
            "env A=1 git push",
            "sh -lc 'git push'",
            " git push",
            "git push\u{200b}",
        ],
    );
    check(
        &config,
        Decision::Ask,
        &[
            "git log && curl x|sh",
            "git status > ~/.bashrc",
            "GIT PUSH",
            "cargo",
        ],
    );
    check(
        &config,
        Decision::Allow,
        &["git stash push", "git log --grep=push"],
    );
}

#[test]
fn a_denied_command_is_denied_under_a_lax_default() {
    let config = policy(&[], &["git push*", "rm *"], "allow");
    assert_eq!(
        of_bash(&config, "git push --force origin main"),
        Decision::Deny
    );
    assert_eq!(of_bash(&config, "git push -f"), Decision::Deny);
    assert_eq!(of_bash(&config, "ls -la"), Decision::Allow);
    assert_eq!(of_bash(&config, "sudo rm -rf /"), Decision::Deny);
    assert_eq!(of_bash(&config, "cd x && rm -rf y"), Decision::Deny);
    assert_eq!(of_bash(&config, "rm  -rf y"), Decision::Deny);
    assert_eq!(of_bash(&config, "ls | xargs rm"), Decision::Deny);
    // `rm *` needs an argument.
    assert_eq!(of_bash(&config, "rm"), Decision::Allow);
}

#[test]
fn what_could_be_denied_is_not_allowed_by_default_or_by_the_tools_name() {
    let lax = policy(&[], &["git push*"], "allow");
    let by_name = policy(&["Bash"], &["git push*"], "ask");
    for config in [&lax, &by_name] {
        for doubtful in [
            "git $X",
            "git {push,}",
            "git pus[h]",
            "git $'\\x70ush'",
            "$(which git) push",
            "$X",
            "eval \"$X\"",
            "sh -c \"$X\"",
            "git \"unterminated",
            "~/bin/x push",
            "ls $(case y in y) 'g'\\it push |& ls;; esac)",
            "case y in y) ls;; es\\\nac",
        ] {
            assert_eq!(of_bash(config, doubtful), Decision::Ask, "{doubtful}");
        }
        for clear in [
            "git log $X",
            "ls ~ *.txt",
            "echo $(date) > x",
            "for f in *; do wc $f; done",
        ] {
            assert_eq!(of_bash(config, clear), Decision::Allow, "{clear}");
        }
    }
}

#[test]
fn a_bare_allow_of_the_tool_allows_whatever_it_runs() {
    let config = policy(&["Bash"], &[], "ask");
    for command in [
        "git log && curl x | sh",
        "x > ~/.bashrc",
        "git \"unterminated",
        "$X",
    ] {
        assert_eq!(of_bash(&config, command), Decision::Allow, "{command}");
    }
    for (input, why) in [
        (json!({"command": ""}), "empty"),
        (json!({"command": " \n"}), "blank"),
        (json!({}), "missing"),
        (json!({"command": null}), "null"),
        (json!({"command": ["ls"]}), "no text"),
        (json!({"command": "ls\u{202e}"}), "invisible"),
        (json!({"command": "ls\r"}), "control"),
        (json!({"command": "ls", "cmd": 1}), "one of two is no text"),
    ] {
        assert_eq!(of_tool(&config, "Bash", &input), Decision::Ask, "{why}");
        let lax = policy(&["Bash"], &[], "allow");
        assert_eq!(of_tool(&lax, "Bash", &input), Decision::Ask, "{why}");
        let strict = policy(&["Bash"], &[], "deny");
        assert_eq!(of_tool(&strict, "Bash", &input), Decision::Deny, "{why}");
    }
}

#[test]
fn a_blank_in_an_allowing_pattern_stands_between_words() {
    let config = policy(&["git log -1", "git  x", "git y *"], &[], "ask");
    check(
        &config,
        Decision::Allow,
        &["git log -1", "git  log  '-1'", "git y 'a b'", "git y ''"],
    );
    check(
        &config,
        Decision::Ask,
        &["git 'log -1'", "git '' x", "git 'y a'", "git y"],
    );
}

#[test]
fn the_whole_text_is_matched_for_denying() {
    let config = policy(&["*"], &["* && y*", "*>*secret*"], "ask");
    check(
        &config,
        Decision::Deny,
        &["x && y", "x \\\n&& y", "x > a/secret"],
    );
    check(&config, Decision::Allow, &["x; y"]);
}

#[test]
fn what_follows_a_closed_descriptor_is_an_argument() {
    let config = policy(&[], &["xd b*"], "allow");
    let denied = ["xd 2>&-b", "xd 2>& -b", "xd <&-b", ">&-xd b", "xd >&- b"];
    check(&config, Decision::Deny, &denied);
}

#[test]
fn the_rule_that_decided_is_named() {
    let config = config(GIT_AND_CARGO);
    let policy = Effective::new(&config, "a", &[]).unwrap();
    let call = |action| Call {
        action: Some(action),
        ..Call::default()
    };
    let verdict = |action| decide(&policy, &call(action));
    let named = |verdict: &Verdict| verdict.rule.unwrap().to_string();
    let several = "cargo test; rm x | git push";
    assert_eq!(
        named(&verdict(several)),
        r#"auto_deny[0] "git push*" (/c.toml:4:14)"#
    );
    for same in ["ls; git push; rm x", "rm x; git push"] {
        assert_eq!(named(&verdict(same)), named(&verdict(several)), "{same}");
    }
    let parts = explain(&policy, &call(several));
    let parts: Vec<_> = parts
        .iter()
        .map(|part| (&*part.text, part.decision, part.rule.unwrap().position()))
        .collect();
    assert_eq!(
        parts,
        [
            ("cargo test", Decision::Allow, "auto_allow[1]".to_owned()),
            ("rm x", Decision::Deny, "auto_deny[1]".to_owned()),
            ("git push", Decision::Deny, "auto_deny[0]".to_owned()),
        ]
    );
    assert_eq!(
        named(&verdict("cargo test")),
        r#"auto_allow[1] "cargo *" (/c.toml:3:24)"#
    );
    let asked = verdict("git log > x");
    assert_eq!(named(&asked), r#"default "ask" (/c.toml:5:11)"#);
    assert_eq!(asked.reason.as_deref(), Some("a redirection"));
}
