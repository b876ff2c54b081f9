//! Whose policy holds, and what a repository adds to it.

use super::*;

#[test]
fn an_agents_own_table_is_its_whole_policy() {
    let config = config(
        r#"
[agents.swe.approval_policy]
auto_allow = ["ls"]
[agents."*".approval_policy]
auto_deny = ["ls"]
[agents.empty]
"#,
    );
    for (agent, want) in [
        ("swe", Decision::Allow),
        ("SWE", Decision::Allow),
        ("other", Decision::Deny),
        ("empty", Decision::Deny),
    ] {
        let policy = Effective::new(&config, agent, &[]).unwrap();
        let call = Call {
            action: Some("ls"),
            ..Call::default()
        };
        assert_eq!(decide(&policy, &call).decision, want, "{agent}");
    }
    let none = Config::default();
    assert_eq!(of_action(&none, "ls"), Decision::Ask);
    assert!(
        Effective::new(&none, "a", &[])
            .unwrap()
            .default()
            .1
            .is_none()
    );
}

#[test]
fn a_name_that_fits_two_tables_is_an_error() {
    let config = config("[agents.AB.approval_policy]\n[agents.ab.approval_policy]");
    assert!(Effective::new(&config, "AB", &[]).is_ok());
    assert!(Effective::new(&config, "ab", &[]).is_ok());
    let error = Effective::new(&config, "Ab", &[]).unwrap_err();
    assert!(error.message.starts_with("/c.toml:"), "{error}");
}

#[test]
fn an_entry_that_is_no_pattern_is_an_error_with_its_position() {
    for bad in ["a\\b", &"x".repeat(513), "Bash(git\\ *)"] {
        let config = policy(&[], &["ok", bad], "ask");
        let error = Effective::new(&config, "a", &[]).expect_err(bad);
        let place = error.message.starts_with("/c.toml:3:20: auto_deny: ");
        assert!(place, "{error}");
    }
}

fn repo_file(text: &str) -> crate::error::Result<RepoFile> {
    RepoFile::parse(source("/r/.sayso.toml", text))
}

#[test]
fn a_repository_can_only_tighten() {
    use Decision::{Allow, Ask, Deny};
    for (user, repo, want) in [
        ("allow", "ask", Ask),
        ("allow", "deny", Deny),
        ("ask", "ask", Ask),
        ("ask", "deny", Deny),
        ("deny", "ask", Deny),
    ] {
        let config = policy(&["git *"], &[], user);
        let text =
            format!("[agents.A.approval_policy]\nauto_deny = [\"git x*\"]\ndefault = {repo:?}");
        let files = [repo_file(&text).unwrap()];
        let policy = Effective::new(&config, "a", &files).unwrap();
        let decided = |action| {
            let call = Call {
                action: Some(action),
                ..Call::default()
            };
            decide(&policy, &call)
        };
        assert_eq!(decided("ls").decision, want, "{user} {repo}");
        assert_eq!(decided("git log").decision, Allow);
        let denied = decided("git xx");
        assert_eq!(denied.decision, Deny);
        assert_eq!(
            denied.rule.unwrap().place.to_string(),
            "/r/.sayso.toml:2:14"
        );
        let tables: Vec<_> = policy.tables().map(|(name, _)| name).collect();
        assert_eq!(tables, ["a", "A"]);
    }
    // Without a table of the user's the default is `ask`, which `ask` leaves and `deny` tightens.
    for (repo, want) in [("ask", Ask), ("deny", Deny)] {
        let files = [repo_file(&format!(
            "[agents.\"*\".approval_policy]\ndefault = {repo:?}"
        ))
        .unwrap()];
        let config = Config::default();
        let policy = Effective::new(&config, "a", &files).unwrap();
        assert_eq!(policy.default().0, want);
    }
}

#[test]
fn a_repository_file_that_would_loosen_is_an_error() {
    for text in [
        "[agents.a.approval_policy]\nauto_allow = [\"rm *\"]",
        "[agents.a.approval_policy]\ndefault = \"allow\"",
        "[agents.b.approval_policy]\nauto_allow = []",
        "[agents.a]\nother = 1",
        "max_pending = 1",
        "[resume]\ncommand = [\"x\"]",
        "[[notify]]\ndesktop = true",
        "nonsense",
    ] {
        let error = repo_file(text).expect_err(text);
        assert!(error.message.starts_with("/r/.sayso.toml:"), "{error}");
        assert!(error.hint.is_some());
    }
    assert!(repo_file("").is_ok());
}
