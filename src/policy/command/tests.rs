use super::*;

fn plain(text: &str) -> Result<Vec<Vec<String>>, Reason> {
    Command::new(text).plain
}

fn subjects(text: &str) -> Vec<String> {
    let subjects = Command::new(text).subjects.into_iter();
    subjects.map(|subject| subject.text).collect()
}

#[test]
fn plain_commands_are_taken_apart() {
    let found = plain("git  'log' -1 && cargo t\"e\"st '' 2>&1 |\n tail >/dev/null;\n\nls\n");
    let want: [&[&str]; 4] = [
        &["git", "log", "-1"],
        &["cargo", "test", ""],
        &["tail"],
        &["ls"],
    ];
    assert_eq!(found.unwrap(), want);
}

#[test]
fn quotes_take_the_meaning_from_what_they_hold() {
    for (text, words) in [
        ("ls '2'>/dev/null", ["ls", "2"]),
        ("'if' x", ["if", "x"]),
        ("ls ';'", ["ls", ";"]),
        ("ls \"#x\"", ["ls", "#x"]),
    ] {
        assert_eq!(plain(text).unwrap(), [words], "{text}");
    }
}

#[test]
fn what_is_not_plain_is_named() {
    for (text, why) in [
        ("ls $X", "an expansion"),
        (
            "ls \"$X\"",
            "an expansion or backslash between double quotes",
        ),
        ("ls *", "a file name pattern"),
        ("ls ]", "a file name pattern"),
        ("ls > x", "a redirection"),
        ("ls >/dev/nullx", "a redirection"),
        ("ls 2> x", "a redirection"),
        ("2>&1 ls", "a redirection"),
        ("ls 2>&1>/dev/null", "a redirection"),
        ("ls &", "a background job"),
        ("ls; # x", "a comment"),
        ("A=1 ls", "an assignment"),
        ("A+=1 ls", "an assignment"),
        ("if", "a reserved word"),
        ("ls | ! ls", "a reserved word"),
        ("ls ;; ls", "an operator that is not plain"),
        ("ls |& ls", "the operator |&"),
        ("; ls", "a command is missing"),
        ("ls &&", "a command is missing"),
        ("ls\n&& ls", "a command is missing"),
        ("'ls", "a quote without its end"),
        ("'l s'", "a program name that is empty or has blanks"),
        ("ls\\ x", "a backslash"),
        ("ls\u{200b}", "control or invisible characters"),
    ] {
        assert_eq!(plain(text), Err(why), "{text}");
    }
}

/// Each reader refuses by itself what the other one might let through.
#[test]
fn the_grammar_is_not_trusted_with_what_it_passes_over() {
    let parsed = |text| Parsed::new(text).map(|parsed| parsed.plain());
    let passed_over = Some(Err("text that the grammar passes over"));
    assert_eq!(parsed("git lo\\\ng"), passed_over);
    assert_eq!(parsed("git log \\\n -x"), passed_over);
    assert_eq!(parsed("ls\u{b}"), passed_over);
    assert_eq!(parsed("git\u{b}log"), passed_over);
    assert_eq!(parsed("ls; (ls)"), Some(Err("syntax that is not plain")));
    assert_eq!(parsed("ls 'x"), Some(Err("a syntax error")));
    // It takes `push` for a second target of the redirection.
    let without_push = vec![vec!["git".to_owned()]];
    assert_eq!(parsed("git 2>&1 push"), Some(Ok(without_push)));
    assert_eq!(plain("git 2>&1 push"), Err("two readings of it differ"));
}

#[test]
fn a_long_plain_command_is_still_plain() {
    let long = format!("git add {}", "file ".repeat(2_000));
    assert_eq!(plain(&long).unwrap()[0].len(), 2_002);
    let pipes = "ls | ".repeat(513) + "ls";
    assert_eq!(plain(&pipes), Err("it has too many parts"));
}

#[test]
fn what_is_peeled_is_among_the_subjects() {
    for (text, want) in [
        ("sudo -u x /bin/rm  y", "rm y"),
        ("A=1 env -i B=2 git -C . push", "git push"),
        ("ls | xargs -n 1 rm", "rm {}"),
        ("find . -exec rm {} +", "rm {}"),
        ("sh -c 'ls; rm $X'", "rm $X"),
        ("echo \"$(rm y)\"", "rm y"),
        ("timeout -k 5 10 nice git push", "git push"),
        ("case x in x) rm y;; esac", "rm y"),
        ("git 2>&1 push", "git push"),
        ("git pu\\\nsh", "git push"),
    ] {
        assert!(
            subjects(text).iter().any(|subject| subject == want),
            "{text}: {want}"
        );
    }
}

#[test]
fn what_is_only_written_is_no_subject() {
    for (text, written) in [
        ("git commit -m 'rm y'", "rm y"),
        ("ls; # rm y", "rm y"),
        ("cat > x <<'E'\nrm y\nE\nls", "rm y"),
        ("cat <<E\nrm y\nE", "rm y"),
        ("echo ';' rm y", "rm y"),
        ("xargs -0 grep rm", "rm {}"),
        ("sudo -n ls rm y", "rm y"),
        ("bash x.sh 'rm y'", "rm y"),
        ("bash --norc 'rm y'", "rm y"),
        ("echo 'rm y' | bash x.sh", "rm y"),
    ] {
        assert!(
            !subjects(text).iter().any(|subject| subject == written),
            "{text}"
        );
    }
}

#[test]
fn expansions_leave_holes() {
    let command = Command::new("git $X \"a$Y\" ${Z} *");
    let shape = command.subjects[0].shape.as_deref();
    assert_eq!(shape, Some("git \0 a\0 \0 \0"));
    assert_eq!(command.subjects[0].part, Some(0));
}

#[test]
fn what_was_not_looked_through_leaves_a_doubt() {
    for text in [
        "git log 'x",
        "git log $(x",
        "cat <<E\nx",
        "if",
        &"x ".repeat(40_000),
        &"sudo ".repeat(100),
        &format!("echo $(ls) {}", "x".repeat(5_000)),
        "eval eval eval eval eval eval eval eval eval eval rm x",
        "(( 1 << 2 ))\nls",
        "sudo -1 -2 -3 -4 -5 -6 -7 -8 -9 x",
    ] {
        assert!(Command::new(text).doubt.is_some(), "{text}");
    }
    for text in [
        "git log",
        "if x; then y; fi",
        "cat <<E\nx\nE",
        "sudo -Q x",
        "a | b | sh",
        "f() { x; }",
    ] {
        assert_eq!(Command::new(text).doubt, None, "{text}");
    }
}

#[test]
fn equal_commands_are_one_part() {
    let command = Command::new("ls; ls;  ls | rm x");
    let parts: Vec<_> = command.parts.iter().map(|part| &*part.text).collect();
    assert_eq!(parts, ["ls", "rm x"]);
}

/// Also where the grammar is of no help.
#[test]
fn the_scanner_follows_quotes_by_itself() {
    for (text, want) in [
        ("ls ${x:-'}'}; rm y", "rm y"),
        ("ls \"${x:-'}\"; rm y", "rm y"),
        ("ls \"a'\"; rm y '", "rm y "),
        ("ls $'\\''; rm y", "rm y"),
        ("ls <(x)# ; rm y", "rm y"),
        ("ls <(x)y", "ls <(x)y"),
        ("cat <<-E\n\tE\nrm y", "rm y"),
        ("ls `echo \\`rm y\\``", "echo `rm y`"),
    ] {
        let found = scan::scan(text);
        let commands = found.commands.iter();
        let mut texts: Vec<String> = commands
            .map(|command| {
                command
                    .words
                    .iter()
                    .map(|word| &*word.text)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        texts.extend(found.scripts);
        assert!(texts.iter().any(|text| text == want), "{text}: {texts:?}");
    }
}

/// Also where the scanner is of no help.
#[test]
fn the_grammar_finds_commands_by_itself() {
    for (text, want) in [
        ("git 2>&1 push", "git push"),
        ("git <<E push\nE", "git push"),
        ("ls $(case x in x) rm y;; esac)", "rm y"),
        ("(( 1 << 2 ))\nrm y", "rm y"),
        ("f() { rm y; }", "rm y"),
        ("export A=1 B", "export A=1 B"),
    ] {
        let commands = Parsed::new(text).unwrap().commands();
        let mut texts = commands.iter().map(|words| {
            words
                .iter()
                .map(|word| &*word.text)
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert!(texts.any(|text| text == want), "{text}");
    }
}
