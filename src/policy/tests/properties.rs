//! What must hold for every text.

use proptest::prelude::*;

use super::*;
use crate::policy::{command::Command, plain, scan};

/// Pieces that commands are made of; strung together they are sometimes plain and often not.
const PIECES: &[&str] = &[
    "git",
    "rm",
    "log",
    "push",
    "-x",
    "a",
    "'b c'",
    "\"d e\"",
    "''",
    " ",
    " ",
    " ",
    "\t",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "2>&1",
    ">/dev/null",
    "2>/dev/null",
    "</dev/null",
    "&>/dev/null",
    ">",
    "<",
    "$x",
    "$(",
    ")",
    "(",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    "{",
    "}",
    "*",
    "~",
    "=",
    "!",
    "é",
    "\u{200b}",
    "<<E\n",
    "\nE\n",
    "if ",
    "; then ",
    "; fi",
    "sudo ",
    "env A=1 ",
    "sh -c ",
    "xargs ",
    "2",
    "/dev/null",
    "[",
    "]",
    "-",
    "$'",
    "${",
    "case x in ",
    "f() ",
    "$((",
    "<<<",
    "&>",
    ">&",
    "2>",
    "time ",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.concat())
}

/// Words that need no quotes, which a command can be written with.
fn word() -> impl Strategy<Value = String> {
    let letters = "[a-z/.,:@%+^_-][a-z0-9/.,:@%+^!_-]{0,8}";
    letters.prop_filter("reserved", |word| read(word).is_ok())
}

/// The words of a text's commands, by the plain reader alone.
fn read(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
    let found = plain::read(text)?.commands()?;
    Ok(found.iter().map(plain::Invocation::texts).collect())
}

/// Words of constructs, which the loose reader takes for words of commands.
const KEYWORDS: &[&str] = &["if", "then", "fi", "{", "}"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    /// An allow means that each simple command matches an allowing and none a denying pattern.
    #[test]
    fn what_is_allowed_is_allowed_in_every_part(text in text()) {
        let config = config(GIT_AND_CARGO);
        let call = Call { action: Some(&text), ..Call::default() };
        let policy = Effective::new(&config, "a", &[]).unwrap();
        if decide(&policy, &call).decision == Decision::Allow {
            let commands = read(&text).unwrap();
            prop_assert!(!commands.is_empty());
            for words in commands {
                let words: Vec<_> = words.into_iter().skip_while(|word| word == "time").collect();
                if matches!(&*words[0], "true" | ":") {
                    continue;
                }
                prop_assert!(matches!(&*words[0], "git" | "cargo"), "{:?}", words);
                prop_assert!(words.len() > 1 && words[1] != "push", "{:?}", words);
            }
            let allowed = |part: &Part| part.decision == Decision::Allow;
            prop_assert!(explain(&policy, &call).iter().all(allowed));
        }
    }

    /// The two readers of plain commands and the loose one agree on what they hold.
    #[test]
    fn what_is_plain_is_read_the_same_by_all(text in text()) {
        if let Ok(commands) = Command::new(&text).plain {
            let loose: Vec<Vec<String>> = scan::scan(&text).commands.into_iter()
                .map(|command| {
                    let words = command.words.into_iter().filter(|word| !KEYWORDS.contains(&&*word.text));
                    words.map(|word| word.text).collect()
                })
                .filter(|words: &Vec<String>| !words.is_empty())
                .collect();
            let commands: Vec<Vec<String>> = commands.iter()
                .map(|command| command.texts().into_iter().filter(|word| !KEYWORDS.contains(&&**word)).collect())
                .filter(|words: &Vec<String>| !words.is_empty())
                .collect();
            prop_assert_eq!(commands, loose);
        }
    }

    /// Nothing is lost: whatever words are strung together plainly are found again.
    #[test]
    fn plain_words_are_read_back(
        commands in prop::collection::vec(prop::collection::vec(word(), 1..4), 1..4),
        quote in prop::sample::select(vec!["", "'", "\""]),
        operator in prop::sample::select(vec![";", " && ", "\n", "|", " || "]),
    ) {
        let joined: Vec<_> = commands.iter()
            .map(|words| words.iter().map(|word| format!("{quote}{word}{quote}")).collect::<Vec<_>>().join(" "))
            .collect();
        let text = joined.join(operator);
        prop_assert_eq!(read(&text), Ok(commands.clone()));
        // The grammar takes some of these words for the beginnings of patterns.
        if !text.contains(['@', '+', '!', '^', '%', ',', ':']) {
            let found = Command::new(&text).plain;
            let found = found.map(|found| found.iter().map(plain::Invocation::texts).collect());
            prop_assert_eq!(found, Ok(commands));
        }
    }

    /// A denied command stays denied, whatever is put around it.
    #[test]
    fn a_denied_command_cannot_be_hidden(
        before in prop::sample::select(vec!["", "ls;", "ls |", "ls && ", "{ ", "(", "if ", "! ", "a=$(", "ls \"$(", "sudo ",
            "A=1 ", "env -i ", "xargs ", "nice -n 3 ", "time ", ">x ", "2>&1 ", "sh -c 'ls;", "eval '", "f() { ", "ls `"]),
        command in prop::sample::select(vec!["rm x", "git push", "git -C a push", "'rm' x", "r\\m  x", "/bin/rm x", "\"git\" push"]),
        after in prop::sample::select(vec!["", " ", ";ls", "|ls", "&& ls", "\n", " >x", " 2>&1", ")", " }", "; }", "`", "\"", "'"]),
    ) {
        let open_quote = before.ends_with('\'');
        prop_assume!(!(open_quote && command.contains('\'')));
        let text = format!("{before}{command}{after}");
        let decided = of_action(&config(GIT_AND_CARGO), &text);
        // A stray quote may make it part of a word of another command, but then it is not allowed either.
        let stray = after.contains(['"', '\'', '`']);
        prop_assert!(decided == Decision::Deny || stray && decided == Decision::Ask, "{:?}", text);
    }

    /// No text makes it panic, and a stricter policy never gives a laxer verdict.
    #[test]
    fn a_further_denial_never_loosens(text in text(), denied in "[a-z*]{1,4} ?[a-z*]{0,3}") {
        for default in ["allow", "ask", "deny"] {
            let before = policy(&["git *", "rm *"], &["git push*"], default);
            let after = policy(&["git *", "rm *"], &["git push*", &denied], default);
            prop_assert!(of_bash(&after, &text) >= of_bash(&before, &text));
        }
    }
}
