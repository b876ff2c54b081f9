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
