//! Calls of tools by their names and arguments.

use super::*;

#[test]
fn patterns_with_a_tools_name() {
    let config = policy(
        &[
            "Read",
            "Bash(git log *)",
            "Edit(/srv/src/*)",
            "WebFetch(https://docs.rs/*)",
            "mcp__db__*(*\"ro\":true*)",
        ],
        &[
            "Bash(rm *)",
            "*prod*",
            "Edit(/srv/src/secret/*)",
            "WebFetch(https://evil.org/*)",
        ],
        "ask",
    );
    use Decision::{Allow, Ask, Deny};
    for (name, input, want) in [
        ("Read", json!({"file_path": "/etc/passwd"}), Allow),
        ("read", json!({"file_path": "/etc/passwd"}), Ask),
        ("Bash", json!({"command": "git log -1"}), Allow),
        ("Bash", json!({"command": "git status"}), Ask),
        ("Other", json!({"command": "git log -1"}), Ask),
        ("Bash", json!({"command": "git log -1; rm x"}), Deny),
        ("Other", json!({"command": "rm x"}), Ask),
        ("Bash", json!({"command": "git log prod"}), Deny),
        ("mcp__prod__x", json!({}), Deny),
        ("Edit", json!({"file_path": "/srv/src/a"}), Allow),
        ("Edit", json!({"file_path": "src/a"}), Allow),
        ("Edit", json!({"file_path": "/srv/src/../x"}), Ask),
        ("Edit", json!({"file_path": "/srv//src/./a"}), Allow),
        ("Edit", json!({"file_path": "/srv/src/x/../secret/a"}), Deny),
        (
            "Edit",
            json!({"file_path": "/srv/src/a", "path": "/etc/x"}),
            Ask,
        ),
        ("Edit", json!({"file_path": 5, "path": "/srv/src/a"}), Ask),
        ("Edit", json!({"file_path": "~/x"}), Ask),
        ("WebFetch", json!({"url": "https://docs.rs/x"}), Allow),
        (
            "WebFetch",
            json!({"url": "https://docs.rs/x", "query": "y"}),
            Allow,
        ),
        (
            "WebFetch",
            json!({"query": "y", "url": "https://evil.org/x"}),
            Deny,
        ),
        (
            "WebFetch",
            json!({"url": "https://docs.rs.evil.org/x"}),
            Ask,
        ),
        ("WebFetch", json!({"url": "HTTPS://Evil.org/x"}), Deny),
        (
            "mcp__db__query",
            json!({"sql": "select", "ro": true}),
            Allow,
        ),
        ("mcp__db__query", json!({"sql": "select", "ro": false}), Ask),
        ("mcp__db__query", json!({"path": "/x", "ro": true}), Ask),
    ] {
        assert_eq!(of_tool(&config, name, &input), want, "{name} {input}");
    }
}

#[test]
fn every_command_member_counts() {
    let config = config(GIT_AND_CARGO);
    for (input, want) in [
        (
            json!({"command": "git log", "cmd": "cargo test"}),
            Decision::Allow,
        ),
        (
            json!({"command": "git log", "script": "curl x"}),
            Decision::Ask,
        ),
        (
            json!({"command": "git log", "shell_command": "git push"}),
            Decision::Deny,
        ),
        (json!({"command": "git log", "cmd": 5}), Decision::Ask),
        (json!({"command": ["git", "log"]}), Decision::Ask),
        (json!({"command": ["git", "push"]}), Decision::Deny),
        (
            json!({"command": ["bash", "-lc", "git push"]}),
            Decision::Deny,
        ),
        (json!({"cmd": "git log"}), Decision::Allow),
    ] {
        assert_eq!(of_tool(&config, "exec", &input), want, "{input}");
    }
}

#[test]
fn an_action_beside_a_tool_is_looked_at_for_denying_only() {
    let config = config(GIT_AND_CARGO);
    let call = |action| Call {
        tool_name: Some("deploy"),
        action: Some(action),
        ..Call::default()
    };
    assert_eq!(decision(&config, &call("git log")), Decision::Ask);
    assert_eq!(decision(&config, &call("git push")), Decision::Deny);
    assert_eq!(decision(&config, &Call::default()), Decision::Ask);
}

#[test]
fn a_path_that_cannot_be_known_is_not_allowed_where_paths_are_denied() {
    let config = policy(&["Read"], &["Edit(/etc/*)", "Read(/etc/*)"], "allow");
    for (path, want) in [
        ("~/x", Decision::Ask),
        ("/x", Decision::Allow),
        ("x", Decision::Allow),
    ] {
        for tool in ["Edit", "Read"] {
            assert_eq!(
                of_tool(&config, tool, &json!({ "file_path": path })),
                want,
                "{tool} {path}"
            );
        }
        assert_eq!(
            of_tool(&config, "Other", &json!({ "path": path })),
            Decision::Allow
        );
    }
}

/// A file system in which `given` leads to `path`.
fn link(given: &str, path: Option<&str>) -> Resolved {
    Resolved {
        given: given.to_owned(),
        path: path.map(str::to_owned),
        caseless: false,
    }
}

#[test]
fn a_path_is_allowed_only_where_it_seems_to_be_and_where_it_is() {
    let config = policy(
        &["Edit(/srv/src/*)", "Read(*)"],
        &["Edit(/srv/src/secret/*)", "Read(/etc/*)"],
        "ask",
    );
    use Decision::{Allow, Ask, Deny};
    for member in ["file_path", "path", "notebook_path"] {
        for (given, path, want) in [
            ("src/a", Some("/srv/src/a"), Allow),
            ("src/lnk/x", Some("/etc/x"), Ask),
            ("/srv/src/lnk/x", Some("/etc/x"), Ask),
            ("out/lnk/x", Some("/srv/src/x"), Ask),
            ("src/lnk/../a", Some("/etc/a"), Ask),
            ("src/lnk/x", Some("/srv/src/secret/x"), Deny),
            ("src/secret/x", Some("/tmp/x"), Deny),
            ("src/secret/x", None, Deny),
            ("src/a", None, Ask),
            ("src/a", Some("/srv/src/a\u{202e}"), Ask),
        ] {
            let found = of_tool_at(
                &config,
                "Edit",
                &json!({ member: given }),
                &[link(given, path)],
            );
            assert_eq!(found, want, "{member} {given} {path:?}");
        }
    }
    // Each of several has to be in its place.
    let two = json!({ "file_path": "src/a", "path": "src/lnk" });
    assert_eq!(
        of_tool_at(&config, "Edit", &two, &[link("src/lnk", Some("/etc"))]),
        Ask
    );
    assert_eq!(of_tool_at(&config, "Edit", &two, &[]), Allow);
    let read = json!({ "path": "src/lnk" });
    assert_eq!(
        of_tool_at(&config, "Read", &read, &[link("src/lnk", Some("/etc/x"))]),
        Deny
    );
    assert_eq!(
        of_tool_at(&config, "Read", &read, &[link("src/lnk", Some("/var/x"))]),
        Allow
    );
    assert_eq!(
        of_tool_at(&config, "Read", &read, &[link("src/lnk", None)]),
        Ask
    );
}

#[test]
fn a_path_that_nobody_resolved_is_not_allowed() {
    let config = policy(&["Edit(/srv/*)"], &[], "ask");
    let input = json!({ "file_path": "/srv/a" });
    let call = Call {
        tool_name: Some("Edit"),
        input: Some(&input),
        ..Call::default()
    };
    let policy = Effective::new(&config, "a", &[]).unwrap();
    let verdict = decide(&policy, &call);
    assert_eq!(verdict.decision, Decision::Ask);
    assert_eq!(
        verdict.reason.as_deref(),
        Some("the file system does not say where a path leads")
    );
}

#[test]
fn where_case_does_not_count_a_deny_does_not_regard_it_and_an_allow_does() {
    let config = policy(&["Edit(/srv/src/*)"], &["Edit(/srv/src/Secret/*)"], "ask");
    for (given, caseless, want) in [
        ("src/secret/x", false, Decision::Allow),
        ("src/secret/x", true, Decision::Deny),
        ("src/SECRET/x", true, Decision::Deny),
        ("src/Secret/x", false, Decision::Deny),
        ("src/a", true, Decision::Allow),
        ("SRC/a", true, Decision::Ask),
    ] {
        let place = Resolved {
            caseless,
            ..link(given, Some(&format!("/srv/{given}")))
        };
        let found = of_tool_at(&config, "Edit", &json!({ "file_path": given }), &[place]);
        assert_eq!(found, want, "{given} {caseless}");
    }
}

#[test]
fn an_odd_address_is_not_allowed_by_a_tools_name_where_addresses_are_denied() {
    let config = policy(
        &["WebFetch", "Get(https://*.example.com/*)"],
        &["WebFetch(https://evil.org/*)"],
        "ask",
    );
    use Decision::{Allow, Ask, Deny};
    for (tool, url, want) in [
        ("WebFetch", "https://docs.rs/x", Allow),
        ("WebFetch", "https://docs.rs\\@good.org/", Ask),
        ("WebFetch", "https://docs.rs\\@evil.org/", Deny),
        ("WebFetch", "http://127.1/", Ask),
        ("WebFetch", "evil.org/x", Deny),
        ("Get", "https://a.example.com/x", Allow),
        ("Get", "https://evil.com/?x=.example.com/", Ask),
        ("Get", "https://evil.com/#.example.com/x", Ask),
    ] {
        assert_eq!(
            of_tool(&config, tool, &json!({ "url": url })),
            want,
            "{tool} {url}"
        );
    }
    // Whatever member the address stands in.
    let query = json!({ "query": "https://evil.com/?x=.example.com/" });
    assert_eq!(of_tool(&config, "Get", &query), Ask);
}

#[test]
fn a_pattern_of_file_names_must_not_lead_out_of_its_folder() {
    let config = policy(&["Glob(/srv/src*)", "Grep(/srv/src*)"], &[], "ask");
    use Decision::{Allow, Ask};
    for (tool, input, want) in [
        (
            "Glob",
            json!({"path": "/srv/src", "pattern": "**/*.rs"}),
            Allow,
        ),
        (
            "Glob",
            json!({"path": "/srv/src", "pattern": "../../etc/*"}),
            Ask,
        ),
        (
            "Glob",
            json!({"path": "/srv/src", "pattern": "a/../../x"}),
            Ask,
        ),
        (
            "Glob",
            json!({"path": "/srv/src", "pattern": "/etc/*"}),
            Ask,
        ),
        (
            "Glob",
            json!({"path": "/srv/src", "pattern": "~/.ssh/*"}),
            Ask,
        ),
        ("Glob", json!({"pattern": "/srv/src/**"}), Allow),
        ("Glob", json!({"pattern": "/srv/src/../../etc/*"}), Ask),
        (
            "Grep",
            json!({"path": "/srv/src", "pattern": "/api/../x"}),
            Allow,
        ),
    ] {
        assert_eq!(of_tool(&config, tool, &input), want, "{tool} {input}");
    }
}
