//! What counts as spelling a trapdoor, and what a rule leaves closed.

use super::*;

#[test]
fn a_pattern_spells_a_trapdoor_as_a_word_or_before_its_star() {
    for (pattern, line, spelled) in [
        ("find * -exec *", "find . -exec id ;", true),
        ("find *", "find . -exec id ;", false),
        ("find *-exec*", "find . -exec id ;", false),
        ("find * -ex*", "find . -exec id ;", false),
        ("find * -execdir *", "find . -exec id ;", false),
        ("git config *", "git config a.b c", true),
        ("git *", "git config a.b c", false),
        ("git c*", "git config a.b c", false),
        ("npm run test*", "npm run testevil", true),
        ("npm *", "npm run evil", false),
        ("docker exec box *", "docker exec box id", true),
        ("docker * box *", "docker exec box id", false),
        ("python3 -c *", "python3 -c x", true),
        ("python3 *", "python3 -c x", false),
        ("go run ./cmd/*", "go run ./cmd/x", true),
        ("sort -o *", "sort -o x y", true),
        ("sort -uo *", "sort -uo x y", true),
        ("sort -o *", "sort -uo x y", true),
        ("sort -u *", "sort -uo x y", false),
        ("sort -u*", "sort -uo x y", false),
        ("sort --output=*", "sort --output=x y", true),
        ("sort --out=*", "sort --out=x y", true),
        ("sort --output *", "sort --out=x y", true),
        ("sort --out *", "sort --output=x y", false),
        (
            "git grep -O/usr/bin/less *",
            "git grep -O/usr/bin/less x",
            true,
        ),
        ("sed 1e *", "sed 1e f", true),
        ("sed *", "sed 1e f", false),
        ("cp * /tmp/*", "cp a /tmp/b", true),
        ("cp * /tmp/*", "cp a /tmp/../b", false),
        ("cp * /tmp/*", "cp a /etc/b", false),
        ("cp * /tmp/.*", "cp a /tmp/../b", false),
        ("cp *", "cp a /tmp/b", false),
        ("tee /tmp/log", "tee /tmp/log", true),
        ("sudo git *", "sudo git log", true),
        ("sudo *", "sudo git log", false),
        ("timeout * find *", "timeout 5 find . -delete", false),
        ("timeout * find * -delete", "timeout 5 find . -delete", true),
        ("/usr/bin/ssh *", "/usr/bin/ssh host", true),
        ("s*", "ssh host", false),
        ("dd if=x of=*", "dd if=x of=y", true),
        ("dd *", "dd if=x of=y", false),
        ("*", "find . -delete", false),
    ] {
        let used = used(&split(line));
        assert!(!used.is_empty(), "{line}");
        let parsed = Pattern::parse(pattern).unwrap();
        let all = used.iter().all(|trapdoor| trapdoor.is_spelled_by(&parsed));
        assert_eq!(all, spelled, "{pattern}: {line}: {used:?}");
    }
}

#[test]
fn a_reason_names_the_program_and_the_word() {
    for (line, reason) in [
        (
            "/usr/bin/find . -exec id ;",
            "find -exec runs another program; no rule names it",
        ),
        (
            "git grep -nO x",
            "git grep -O runs another program; no rule names it",
        ),
        (
            "docker exec x y",
            "docker exec runs another program; no rule names it",
        ),
        (
            "sort --out=x",
            "sort --output writes or removes files; no rule names it",
        ),
        ("ssh host", "ssh runs another program; no rule names it"),
        (
            "git lg",
            "git lg is no command of its own, so it runs another program; no rule names it",
        ),
    ] {
        let used = used(&split(line));
        assert_eq!(used[0].reason(), reason, "{line}");
    }
}

#[test]
fn a_rule_leaves_closed_what_its_text_leaves_room_for() {
    let closed = |text: &str| closed_to(&Pattern::parse(text).unwrap());
    assert_eq!(
        closed("find * -exec *"),
        [
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from"
        ]
    );
    let git_log = closed("git log *");
    assert!(git_log.contains(&"--output".to_owned()), "{git_log:?}");
    assert!(!git_log.contains(&"-c".to_owned()), "{git_log:?}");
    assert!(!git_log.contains(&"config".to_owned()), "{git_log:?}");
    let git = closed("git *");
    for name in ["-c", "--output", "config", "difftool", "run"] {
        assert!(git.contains(&name.to_owned()), "{name}: {git:?}");
    }
    for text in ["grep *", "sort x", "*", "git*"] {
        assert_eq!(closed(text), Vec::<String>::new(), "{text}");
    }
    let mut names = closed("git *");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
