use std::path::PathBuf;

use super::*;
use crate::policy::REPO_FILE_NAME;

fn config(text: &str) -> Config {
    Config::parse(Source {
        path: PathBuf::from("/c.toml"),
        text: text.to_owned(),
    })
    .unwrap()
}

/// What is found about a policy of the two lists, as `LEVEL LINE MESSAGE`, but for closed trapdoors.
fn found(allow: &[&str], deny: &[&str]) -> Vec<String> {
    let mut all = all_found(allow, deny);
    all.retain(|finding| !finding.contains(" does not open "));
    all
}

fn all_found(allow: &[&str], deny: &[&str]) -> Vec<String> {
    let [allow, deny] = [allow, deny].map(|list| toml::Value::from(list.to_vec()));
    let config = config(&format!(
        "[agents.a.approval_policy]\nauto_allow = {allow}\nauto_deny = {deny}"
    ));
    let findings = lint(&config);
    findings
        .iter()
        .map(|finding| {
            format!(
                "{:?} {} {}",
                finding.level, finding.place.line, finding.message
            )
        })
        .collect()
}

#[test]
fn a_sound_policy_has_no_findings() {
    let allow = [
        "git log *",
        "git log",
        "Read",
        "Bash(cargo test*)",
        "WebFetch(https://docs.rs/*)",
    ];
    assert_eq!(
        found(&allow, &["git push*", "*prod*", "Edit(/etc/*)"]),
        [""; 0]
    );
}

#[test]
fn each_oddity_is_found() {
    for (allow, deny, want) in [
        (
            &["cargo *"][..],
            &[][..],
            "Note 2 \"cargo *\" does not match `cargo` without an argument",
        ),
        (
            &[],
            &["rm *"],
            "Note 3 \"rm *\" does not match `rm` without an argument",
        ),
        (
            &["cargo*"],
            &[],
            "Warning 2 \"cargo*\" also matches other programs, such as `cargo-x`",
        ),
        (
            &["*"],
            &[],
            "Warning 2 \"*\" allows every tool and every plain command",
        ),
        (
            &["Bash"],
            &[],
            "Warning 2 \"Bash\" allows every command of the tool Bash",
        ),
        (
            &["git push x"],
            &["git p*"],
            "Warning 2 \"git push x\" is covered by \"git p*\" in auto_deny",
        ),
        (
            &["Bash(git log)"],
            &["Ba*"],
            "Warning 2 \"Bash(git log)\" is covered by \"Ba*\" in auto_deny",
        ),
        (
            &["Read(/a/b)"],
            &["Read(/a/*)"],
            "Warning 2 \"Read(/a/b)\" is covered by \"Read(/a/*)\" in auto_deny",
        ),
        (&[""], &[], "Warning 2 \"\" can never match: it is empty"),
        (
            &["git  log"],
            &[],
            "Warning 2 \"git  log\" can never match: blanks are collapsed to one space",
        ),
        (
            &["git log "],
            &[],
            "Warning 2 \"git log \" can never match: commands have no blanks at their ends",
        ),
        (
            &["git log && x"],
            &[],
            "Warning 2 \"git log && x\" can never match: each simple command is matched by itself",
        ),
        (
            &["git log > x"],
            &[],
            "Warning 2 \"git log > x\" can never match: redirections are not part of a command",
        ),
        (
            &["A=1 git log"],
            &[],
            "Warning 2 \"A=1 git log\" can never match: a command with an assignment in front is never allowed",
        ),
        (
            &["Bash(git log:*)"],
            &[],
            "Warning 2 \"Bash(git log:*)\" can never match: `:*` is not special here, write a blank and `*`",
        ),
        (
            &["Read(src/*)"],
            &[],
            "Warning 2 \"Read(src/*)\" can never match: paths are absolute",
        ),
        (
            &[],
            &["Edit(~/x)"],
            "Warning 3 \"Edit(~/x)\" can never match: paths are absolute",
        ),
        (
            &["ok", "a\\b"],
            &[],
            "Error 2 auto_allow: a backslash in a pattern must be written \\\\",
        ),
    ] {
        assert_eq!(found(allow, deny), [want]);
    }
    let hidden = found(&["git\u{200b} log"], &[]);
    assert!(hidden[0].contains("invisible"), "{hidden:?}");
}

#[test]
fn every_bad_entry_is_found_in_the_files_order() {
    let levels: Vec<_> = found(&["\\a", "x", "\\b"], &["\\c"]);
    assert_eq!(levels.len(), 3);
    assert!(levels.iter().all(|finding| finding.starts_with("Error")));
    assert!(levels[2].starts_with("Error 3"));
}

#[test]
fn names_that_differ_in_case_only_are_found() {
    let config = config("[agents.ab]\n[agents.aB]\n[agents.c]");
    let findings = lint(&config);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].message, "agents aB and ab differ only in case");
}

#[test]
fn a_repositorys_file_is_looked_at_too() {
    let file = RepoFile::parse(Source {
        path: PathBuf::from(REPO_FILE_NAME),
        text: "[agents.a.approval_policy]\nauto_deny = [\"rm *\", \"\\\\x\"]".to_owned(),
    });
    let file = file.unwrap();
    let levels: Vec<_> = lint_repo_file(&file)
        .iter()
        .map(|finding| finding.level)
        .collect();
    assert_eq!(levels, [Level::Note, Level::Error]);
}

#[test]
fn a_spec_that_only_looks_like_an_address_is_found() {
    const WHOLE: &str = "is no address and matched on the whole text";
    for (allow, want) in [
        ("WebFetch(*docs.rs*)", WHOLE),
        ("WebFetch(https://docs.rs*)", WHOLE),
        ("WebFetch(https://docs.rs)", WHOLE),
        ("WebFetch(http*://docs.rs/*)", WHOLE),
        ("WebFetch(domain:docs.rs)", WHOLE),
        ("mcp__x__*(*://docs.rs/*)", WHOLE),
        (
            "WebFetch(https://docs.*/*)",
            "leaves the end of the host open",
        ),
        (
            "WebFetch(https://api-*.x.org/*)",
            "can never match: `*` in a host",
        ),
        (
            "WebFetch(https://u@x.org/*)",
            "can never match: an address is allowed by",
        ),
        (
            "WebFetch(file:///srv/*)",
            "can never match: its host is empty",
        ),
        (
            "WebFetch(https://x.org/../*)",
            "can never match: paths of addresses",
        ),
        ("Edit(/srv/../x)", "can never match: paths hold no"),
        ("Edit(/srv//x)", "can never match: paths hold no"),
    ] {
        let found = found(&[allow], &[]);
        assert!(
            found.len() == 1 && found[0].starts_with("Warning 2 "),
            "{allow}: {found:?}"
        );
        assert!(found[0].contains(want), "{allow}: {found:?}");
    }
    let allow = [
        "WebFetch(https://*.x.org:8443/a/*)",
        "WebFetch(http://localhost:*/*)",
        "WebFetch(*)",
    ];
    assert_eq!(found(&allow, &["WebFetch(https://x.org/*)"]), [""; 0]);
    let denied = |deny| found(&[], &[deny]).concat();
    assert!(denied("WebFetch(*x.org*)").starts_with("Note 3 "));
    assert!(denied("WebFetch(https://x-*.org/*)").contains("is matched on the whole text only"));
}

#[test]
fn an_allow_names_the_trapdoors_that_it_does_not_open() {
    let closed = |allow: &str| {
        let mut all = all_found(&[allow], &["find *"]);
        all.retain(|finding| finding.contains(" does not open "));
        all
    };
    assert_eq!(
        closed("sort -o *"),
        [
            "Note 2 \"sort -o *\" does not open --output --compress-program -T --temporary-directory \
            --files0-from: commands that use one are asked"
        ]
    );
    let git = closed("Bash(git *)");
    assert!(
        git[0].contains("-c --config-env") && git[0].contains(" more: "),
        "{git:?}"
    );
    for allow in ["grep *", "Read", "sort x", "*"] {
        assert_eq!(closed(allow), [""; 0], "{allow}");
    }
}
