use super::*;
use crate::cli;

fn wanted(words: &[&str]) -> (String, Wanted) {
    let mut root = cli::full_command();
    root.build();
    let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    let (word, before) = words.split_last().unwrap();
    let line = Line::read(&root, before);
    let (lead, wanted) = line.wanted(word);
    (lead.to_owned(), wanted)
}

fn values(words: &[&str]) -> Vec<String> {
    match wanted(words).1 {
        Wanted::These(these) => these.into_iter().map(|c| c.value).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn verbs_are_offered_where_a_verb_fits_and_the_hidden_one_never() {
    for words in [
        &[""][..],
        &["--json", ""],
        &["--scope", "ask", ""],
        &["-qv", "a"],
    ] {
        let verbs = values(words);
        assert!(verbs.contains(&"answer".to_owned()), "{words:?}");
        assert!(!verbs.iter().any(|v| v.starts_with('_')), "{words:?}");
    }
    assert!(!values(&["show", "3f2a", ""]).contains(&"answer".to_owned()));
}

#[test]
fn options_of_the_verb_and_global_ones_are_offered_once_but_repeatable_ones_again() {
    let left = values(&[
        "answer",
        "3f2a",
        "--allow",
        "--message",
        "no",
        "--select=1=x",
        "-",
    ]);
    for (name, there) in [
        ("--deny", true),
        ("--allow", false),
        ("--message", false),
        ("--select", true),
        ("--scope", true),
        ("--zero", false),
    ] {
        assert_eq!(left.contains(&name.to_owned()), there, "{name}");
    }
    assert!(!values(&["list", "-A", "--"]).contains(&"--all-repos".to_owned()));
    assert_eq!(values(&["ask", "--", "--"]), Vec::<String>::new());
}

#[test]
fn an_argument_wants_its_own_values() {
    let rows: &[(&[&str], Wanted)] = &[
        (&["show", ""], Wanted::From(Source::Ids)),
        (&["cancel", "3f2a", "3"], Wanted::From(Source::Ids)),
        (
            &["answer", "3f2a", "--choice", ""],
            Wanted::From(Source::Choices),
        ),
        (&["list", "--agent-id", ""], Wanted::From(Source::Agents)),
        (&["events", "--type", "i"], Wanted::From(Source::Types)),
        (&["list", "--kind", ""], Wanted::From(Source::Kinds)),
        (&["--scope", ""], Wanted::From(Source::Scopes)),
        (
            &["relay", "poll", "--provider", ""],
            Wanted::From(Source::Providers),
        ),
        (&["--repo", ""], Wanted::Directories),
        (&["ask", "--questions", ""], Wanted::Files),
        (&["ask", "--choice", "a"], Wanted::These(Vec::new())),
        (
            &["ask", "--choice", "a:b", "--effect", ""],
            Wanted::From(Source::Effects),
        ),
        (&["hook", "cl"], Wanted::From(Source::Hosts)),
        (&["hook", "claude", ""], Wanted::From(Source::HostEvents)),
        (
            &["workflow", "resume", "--id", ""],
            Wanted::From(Source::Workflows),
        ),
        (
            &["mcp", "serve", "--agent-id", ""],
            Wanted::From(Source::Agents),
        ),
        (
            &["mcp", "serve", "--agent", ""],
            Wanted::From(Source::Agents),
        ),
        (&["help", ""], Wanted::From(Source::Topics)),
    ];
    for (words, right) in rows {
        assert_eq!(wanted(words).1, *right, "{words:?}");
    }
}

#[test]
fn values_behind_an_equals_sign_keep_what_stands_before_them() {
    let (lead, wanted) = wanted(&["list", "--status=p"]);
    assert_eq!(lead, "--status=");
    let Wanted::These(these) = wanted else {
        panic!("{wanted:?}");
    };
    assert_eq!(these[0].value, "pending");
    assert_eq!(values(&["completions", "b"])[0], "bash");
}

#[test]
fn what_stands_on_the_line_is_known() {
    let mut root = cli::full_command();
    root.build();
    let words = [
        "-A",
        "answer",
        "--scope=a",
        "--scope",
        "b",
        "3f2a",
        "--select",
        "1=x",
    ];
    let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    let line = Line::read(&root, &words);
    assert_eq!((line.verb(), line.first()), ("answer", Some("3f2a")));
    assert_eq!(line.value_of("scope"), Some("b"));
    assert_eq!(line.values_of("select"), ["1=x"]);
    assert!(line.has_flag("all-repos") && !line.has_flag("json"));
}

#[test]
fn a_name_that_a_shell_would_act_on_is_not_plain() {
    for name in ["claude", "Claude Code", "a:b", "größe", "team/x", "x-1.2"] {
        assert!(is_plain(name), "{name}");
    }
    for name in [
        "",
        " a",
        "a ",
        "$(rm x)",
        "`x`",
        "a;b",
        "a|b",
        "a&b",
        "a>b",
        "a\nb",
        "a\tb",
        "'",
        "\"",
        "~x",
        "*",
        "[a]",
        "{a}",
        "a\\b",
        "#x",
        "!x",
        "\u{202e}x",
        "a\u{200b}",
    ] {
        assert!(!is_plain(name), "{name:?}");
    }
}

#[test]
fn a_value_that_does_not_show_is_not_offered() {
    for value in ["deploy", "a/b c", "部署", "gr\u{fc}n"] {
        assert!(is_plain(value), "{value}");
    }
    // Letters all of them, and blank or unseen.
    for char in ['\u{3164}', '\u{115f}', '\u{ffa0}', '\u{13441}', '\u{200b}'] {
        assert!(!is_plain(&format!("a{char}b")), "{char:?}");
    }
}
