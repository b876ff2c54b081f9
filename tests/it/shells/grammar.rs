//! Random lines: a grammar of what an allow looks through, pieces that it must not, and small damage.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// Words that every shell takes for the same.
const KNOWN: &[&str] = &[
    "a",
    "-x",
    "'b c'",
    "\"d e\"",
    "''",
    "\"\"",
    "HEAD~1",
    "HEAD^",
    "HEAD@{1}",
    "stash@{0}",
    "{}",
    "a{b}c",
    "x=y",
    "--o=z",
    "src/*.rs",
    "src/*",
    "./*",
    "./?",
    "src/[ab]*",
    "--include=*.py",
    "-o/*",
    "~",
    "~/x",
    "~/*",
    "a~",
    "\"fn \\w+\"",
    "\"^x$\"",
    "\"a$|b\"",
    "\"\\$5\"",
    "\"a\\\"b\"",
    "\"\\`x\\`\"",
    "\"\\\\\"",
    "\\(",
    "\\;",
    "\\*",
    "a\\ b",
    "\\'",
    "\\#",
    "a#b",
    "a!b",
    "'$x `pd`'",
    "\"exit: $?\"",
    "$?",
    "$#",
    "\"$#\"",
    "@",
    "%x",
    "+y",
    ":",
    ",",
    "a]",
    "'*'",
    "\"*\"",
    "\"~\"",
    "é",
    "'a'\"b\"c",
    "--",
    "-",
    "a:b",
    "src/**/x",
    "\"x\\\ny\"",
    "'x\ny'",
    "\"$)\"",
    "\"$/\"",
    "\"a$ b\"",
    "src/[[:alpha:]]",
    "'{a,b}'",
    "\"{a,b}\"",
    "\\{a,b\\}",
    "a'b'*",
    "\"src/\"*",
    "src/'a b'",
    "./=x",
    "a=b",
    "^x",
    "!",
    "x!",
    "\"!\"",
    "\"\\!\"",
    "\"a\\nb\"",
    "1",
    "2",
];

/// Words that some shell makes something else of.
const OTHER: &[&str] = &[
    "*",
    "*.rs",
    "?",
    "[a]",
    "$x",
    "${x}",
    "\"$x\"",
    "$(pd)",
    "`pd`",
    "{a,b}",
    "{1..3}",
    "~root",
    "~+",
    "=pa",
    "a=~",
    "x:~/y",
    "$'a'",
    "$\"a\"",
    "\"$=x\"",
    "\"$[1]\"",
    "\"$?x\"",
    "$#a",
    "\"$#a\"",
    "$$",
    "$!",
    "$-",
    "$@",
    "\"$@\"",
    "$*",
    "${#}",
    "$((1))",
    "<(pd)",
    "#x",
    "}",
    "{",
    "a}",
    "{a",
    "src/*(N)",
    "-*",
    "-o*",
    "$_",
    "$0",
    "src/{a,b}",
    "a\\\nb",
    "\\",
    "'",
    "\"",
    "src/*$x",
    "~/$x",
    "\"${x:-a}\"",
    "$?[1]",
    "\"$?[1]\"",
    "\"$?:h\"",
    "\"$+x\"",
    "\"$^x\"",
    "\"$~x\"",
    "{a}b,{c}",
    "{}{,}",
    "src/<->",
    "a^b",
    "**",
    "a~*",
    "$PATH",
];

/// Words behind a loop's head that use its variable.
const VARIABLE: &[&str] = &[
    "\"$f\"",
    "$f",
    "${f}",
    "\"${f}.x\"",
    "$f.x",
    "\"a $f\"",
    "-$f",
    "\"$f\"/*",
    "$f/*.rs",
    "'$f'",
    "\\$f",
    "\"$f$f\"",
    "\"$f:h\"",
    "$f[1]",
    "\"$f[1]\"",
    "\"${f}[1]\"",
    "$ff",
    "\"$f-x\"",
    "${f%x}",
    "${#f}",
    "~/$f",
    "\"\\$f\"",
    "x=$f",
    "$f$f",
    "{$f}",
];

const PROGRAMS: &[&str] = &[
    "pa", "pa", "pa", "pb", "'pa'", "p\"a\"", "\\pa", "./pa", "~/pb", "echo", "pd", "p*", "$p",
    "p{a,}", "./p?", "pc", "time", "[", "=",
];

const JOINERS: &[&str] = &[
    "; ",
    ";",
    " && ",
    " || ",
    " | ",
    "|",
    "\n",
    " &&\n",
    "\n\n",
    " \\\n && ",
    ";\n",
    "&& ",
    " & ",
    "|& ",
    " ;; ",
];

const REDIRECTIONS: &[&str] = &[
    " 2>&1",
    " >/dev/null",
    " 2>/dev/null",
    " &>/dev/null",
    " </dev/null",
    ">/dev/null",
    " > /dev/null",
    " > out",
    " 2>err",
    " >&2",
    " <in",
    " 1>/dev/null",
    " >>out",
    " <<<x",
    " >/dev/nullx",
];

/// One of several.
fn pick<'a>(random: &mut StdRng, some: &[&'a str]) -> &'a str {
    some.choose(random).unwrap()
}

/// Whether something with this chance in a hundred happens.
fn chance(random: &mut StdRng, percent: u32) -> bool {
    random.random_range(0..100) < percent
}

/// Mostly one of the first, now and then one of the last.
fn mostly<'a>(random: &mut StdRng, usual: &[&'a str], odd: &[&'a str]) -> &'a str {
    let list = match chance(random, 96) {
        true => usual,
        false => odd,
    };
    pick(random, list)
}

/// A line.
pub(crate) fn line(random: &mut StdRng) -> String {
    let mut text = list(random, 2, false);
    if chance(random, 20) {
        damage(random, &mut text);
    }
    text.retain(|c| c != '\0');
    text
}

fn list(random: &mut StdRng, depth: u32, looped: bool) -> String {
    let mut text = statement(random, depth, looped);
    while chance(random, 25) {
        text += mostly(random, &JOINERS[..12], &JOINERS[12..]);
        text += &statement(random, depth, looped);
    }
    text
}

fn statement(random: &mut StdRng, depth: u32, looped: bool) -> String {
    if depth == 0 || chance(random, 50) {
        return simple(random, looped);
    }
    let depth = depth - 1;
    let inner = list(random, depth, looped);
    let other = list(random, depth, looped);
    let text = match random.random_range(0..9) {
        0 => format!("({inner})"),
        1 => format!("{{ {inner}; }}"),
        2 => format!("if {inner}; then {other}; fi"),
        3 => format!(
            "if {}; then {inner}\nelse {other}\nfi",
            condition(random, looped)
        ),
        4 => format!(
            "if {inner}\nthen {other}\nelif {}; then {inner}; fi",
            condition(random, looped)
        ),
        5 | 6 => return for_loop(random, depth),
        7 => format!("{} && {inner}", condition(random, looped)),
        _ => format!("( {inner}; {other} )"),
    };
    match chance(random, 15) {
        true => text + mostly(random, &REDIRECTIONS[..7], &REDIRECTIONS[7..]),
        false => text,
    }
}

fn for_loop(random: &mut StdRng, depth: u32) -> String {
    let words: Vec<_> = (0..random.random_range(1..3))
        .map(|_| mostly(random, KNOWN, OTHER))
        .collect();
    let name = mostly(random, &["f", "f", "ff"], &["path", "status", "F", "f "]);
    let (before, behind) = match chance(random, 50) {
        true => ("; ", "; "),
        false => ("\n", "\n"),
    };
    let body = list(random, depth, true);
    format!(
        "for {name} in {}{before}do {body}{behind}done",
        words.join(" ")
    )
}

fn condition(random: &mut StdRng, looped: bool) -> String {
    let usual = [
        "-d src",
        "-f a",
        "-e ~/x",
        "! -e b",
        "-n \"a b\"",
        "-z ''",
        "a = b",
        "\"a\" != 'b c'",
        "-s src/a",
        "-x ./pa",
    ];
    let odd = [
        "-v x", "1 -eq 1", "a == b", "-t", "a -a b", "-e src/*", "( a )", "a < b",
    ];
    let about = match looped && chance(random, 30) {
        true => "-f \"$f\"",
        false => mostly(random, &usual, &odd),
    };
    match chance(random, 60) {
        true => format!("[ {about} ]"),
        false => format!("test {about}"),
    }
}

fn simple(random: &mut StdRng, looped: bool) -> String {
    let mut text = String::new();
    if chance(random, 8) {
        text += mostly(
            random,
            &["CI=1 ", "NODE_ENV='a b' ", "TERM= ", "TZ=x:y LANG=C "],
            &["X=1 ", "CI=~ ", "CI=$x ", "CI=* ", "CI+=1 ", "'CI'=1 "],
        );
    }
    if chance(random, 12) {
        let wrappers = [
            "timeout 5 ",
            "timeout -k 1 -s INT 2.5s ",
            "nice ",
            "nice -n 5 ",
            "ionice -c2 -n 0 ",
            "stdbuf -oL ",
            "time ",
            "nohup ",
            "xargs ",
            "xargs -0 -n 1 ",
            "xargs -I X ",
        ];
        text += mostly(
            random,
            &wrappers,
            &[
                "env ",
                "sudo ",
                "timeout -v 5 ",
                "time -p ",
                "command ",
                "exec ",
                "builtin ",
                "noglob ",
                "! ",
                "- ",
                "eval ",
                "coproc ",
                "time time ",
                "time ! ",
            ],
        );
    }
    text += mostly(random, &PROGRAMS[..10], &PROGRAMS[10..]);
    for _ in 0..random.random_range(0..4) {
        text += mostly(
            random,
            &[" ", " ", "  ", "\t", " \\\n", " \\\n  "],
            &["\\\n", " \\\n\\\n", "\r"],
        );
        text += match looped && chance(random, 50) {
            true => mostly(random, &VARIABLE[..8], VARIABLE),
            false => mostly(random, KNOWN, OTHER),
        };
    }
    if chance(random, 12) {
        text += mostly(random, &REDIRECTIONS[..7], &REDIRECTIONS[7..]);
    }
    text
}

fn damage(random: &mut StdRng, text: &mut String) {
    let some = [
        "'", "\"", "\\", "$", "`", "*", "?", "[", "]", "{", "}", "~", "=", "#", "!", "&", "|", ";",
        "<", ">", "(", ")", "\n", " ", "f", "2", "/", ",", ":", "^", "-", "pd", "$f", "\\\n", "é",
    ];
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = *places.choose(random).unwrap_or(&0);
    if chance(random, 60) {
        text.insert_str(at, pick(random, &some));
    } else {
        text.remove(at);
    }
}
