use super::*;

fn plain(text: &str) -> Result<Vec<Vec<String>>, Reason> {
    let invocations = Command::new(text).plain?;
    Ok(invocations.iter().map(Invocation::texts).collect())
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
fn words_that_are_known_beforehand() {
    for (text, words) in [
        (
            "git diff HEAD~1 HEAD^",
            &["git", "diff", "HEAD~1", "HEAD^"][..],
        ),
        (
            "git log main..HEAD@{1} stash@{0} {}",
            &["git", "log", "main..HEAD@{1}", "stash@{0}", "{}"],
        ),
        (
            r#"rg "fn \w+" "^x$" "\$5" "a\"b" "$|""#,
            &["rg", r"fn \w+", "^x$", "$5", "a\"b", "$|"],
        ),
        ("a \"b\\\nc\"", &["a", "bc"]),
        (r"find . \( -x \) \;", &["find", ".", "(", "-x", ")", ";"]),
        (
            "ls src/*.rs ./[ab]?.py --include=*.py ~/x ~",
            &["ls", "src/*.rs", "./[ab]?.py", "--include=*.py", "~/x", "~"],
        ),
        ("echo \"exit: $?\" $? $#", &["echo", "exit: $?", "$?", "$#"]),
        (
            "cargo build \\\n  --release \\\n-v",
            &["cargo", "build", "--release", "-v"],
        ),
        ("CI=1 B='x y' ls", &["CI=1", "B=x y", "ls"]),
        ("[ -d x ]", &["[", "-d", "x", "]"]),
        ("time ls", &["time", "ls"]),
    ] {
        assert_eq!(
            plain(text).as_deref(),
            Ok(&[words.iter().map(ToString::to_string).collect()][..]),
            "{text}"
        );
    }
}

#[test]
fn constructs_are_looked_through() {
    for (text, commands) in [
        ("(a; b) | c", &["a", "b", "c"][..]),
        ("{ a; b\n} 2>/dev/null && c", &["a", "b", "c"]),
        (
            "if a; then b; elif c; then d\nelse e; fi | f",
            &["a", "b", "c", "d", "e", "f"],
        ),
        ("for f in 1 2; do a \"$f\"; done; b", &["a 1", "a 2", "b"]),
        (
            "for f in 1 2\ndo\n for g in x; do a ${f}$g; done\ndone",
            &["a 1x", "a 2x"],
        ),
        (
            "for f in 'a b'; do c \"d/$f\" \"$f\"/*.x; done",
            &["c d/a b a b/*.x"],
        ),
    ] {
        let found = plain(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let found: Vec<_> = found.iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, commands, "{text}");
    }
}

#[test]
fn what_is_not_plain_is_named() {
    for (text, why) in [
        ("ls $X", "an expansion"),
        ("ls \"$X\"", "an expansion"),
        (
            "ls *",
            "a file name pattern that could become an option; ./ in front of it would do",
        ),
        ("ls ]x", "a file name pattern"),
        ("ls src/*.rs$X", "an expansion"),
        ("ls ~user", "somebody's home directory"),
        ("ls a=~", "a home directory"),
        ("ls {a,b}", "braces"),
        ("ls {1..3}", "braces"),
        ("ls }", "braces"),
        ("=ls", "a word that begins with ="),
        ("./l* x", "a pattern or braces in a program's name"),
        ("ls \"$?x\"", "an expansion"),
        ("ls $#a", "an expansion"),
        ("ls \"$=x\"", "an expansion"),
        ("while a; do b; done", "a reserved word"),
        ("(( 1 ))", "arithmetic"),
        (
            "[[ a ]]",
            "a file name pattern that could become an option; ./ in front of it would do",
        ),
        (
            "for path in a; do ls; done",
            "a loop over a variable that may mean something to the shell",
        ),
        (
            "for F in a; do ls; done",
            "a loop over a variable that may mean something to the shell",
        ),
        (
            "for f in a; do read f; ls \"$f\"; done",
            "a loop whose variable a command may change",
        ),
        (
            "for f in 'a b'; do ls $f; done",
            "a loop's variable that the shell would split; \" around it would do",
        ),
        ("for f in a; do ls \"$f:h\" ; done", "an expansion"),
        ("for f in a; do ls; done; ls \"$f\"", "an expansion"),
        (
            "for f in a; do $f x; done",
            "a program that an expansion names, or none",
        ),
        (
            "if a; then b; fi c",
            "something behind the end of a command",
        ),
        (
            "{ a; } always { b; }",
            "something behind the end of a command",
        ),
        (
            "for f in a; do for f in b; do ls; done; ls \"$f\"; done",
            "a loop that changes the variable of the loop around it",
        ),
        ("for f in a <x; do ls; done", "a redirection"),
        ("for f in a<->; do ls; done", "a redirection"),
        ("for f in >(ls); do ls; done", "a redirection"),
        ("time", "time of nothing"),
        ("time -p ls", "a reserved word"),
        ("A=1", "an assignment"),
        ("A=src/*.rs ls", "an assignment"),
        ("ls > x", "a redirection"),
        ("ls >/dev/nullx", "a redirection"),
        ("ls 2> x", "a redirection"),
        ("2>&1 ls", "a redirection"),
        ("ls 2>&1>/dev/null", "a redirection"),
        ("ls &", "a background job"),
        ("ls; # x", "a comment"),
        ("A+=1 ls", "an assignment"),
        ("fi", "a reserved word"),
        ("ls | ! ls", "a reserved word"),
        ("ls ;; ls", "an operator that is not plain"),
        ("ls |& ls", "the operator |&"),
        ("; ls", "a command is missing"),
        ("ls &&", "a command is missing"),
        ("ls\n&& ls", "a command is missing"),
        ("'ls", "a quote without its end"),
        ("'l s'", "a program name that is empty or has blanks"),
        ("ls\\\nx", "a line that goes on within a word"),
        ("ls\\ x", "a program name that is empty or has blanks"),
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
    assert_eq!(
        parsed("ls; f() { ls; }"),
        Some(Err("syntax that is not plain"))
    );
    assert_eq!(parsed("ls 'x"), Some(Err("a syntax error")));
    // It takes `push` for a second target of the redirection.
    let without_push = std::iter::once(0..3).collect();
    assert_eq!(parsed("git 2>&1 push"), Some(Ok(vec![without_push])));
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
