//! Random commands: a grammar of bash over harmless words, and small damage.

use rand::RngExt;
use rand::rngs::StdRng;

use super::{chance, pick};

/// A random command.
pub(crate) fn command(random: &mut StdRng) -> String {
    let mut text = match random.random_range(0..6) {
        0..=2 => plain(random),
        depth => list(random, depth - 3),
    };
    if chance(random, 60) {
        for _ in 0..random.random_range(1..4) {
            damage(random, &mut text);
        }
    }
    text.retain(|c| c != '\0');
    text
}

/// Commands that are in plain view, or nearly so.
fn plain(random: &mut StdRng) -> String {
    let mut text = String::new();
    for _ in 0..random.random_range(1..4) {
        text += pick(
            random,
            &["xa", "xa", "xg s", "'xa'", "x\"a\"", "xb", "xa\t"],
        );
        for _ in 0..random.random_range(0..4) {
            let pieces = [
                " y",
                " -y",
                " 'y y'",
                " \"y;xd y\"",
                " ''",
                "  y",
                "\ty",
                " 2>&1",
                " >/dev/null",
                " 2>/dev/null",
                " &>/dev/null",
                " </dev/null",
                " y=1",
                " -",
                " y'y'\"y\"",
                " '$A`*'",
                " \"* ? ~ #\"",
                " 'y\ny'",
                " é",
                ">/dev/null",
                " 2> /dev/null",
                " @y",
                " y#",
                " %y:+,.^",
                " xd",
                " xd y",
            ];
            text += pick(random, &pieces);
        }
        text += pick(
            random,
            &[
                ";", "; ", " && ", "&&", " || ", " | ", "|", "\n", "\n\n", " ;\n", " &&\n ",
            ],
        );
    }
    text.truncate(text.trim_end_matches(['&', '|', ' ']).len());
    text
}

fn list(random: &mut StdRng, depth: u32) -> String {
    let mut text = statement(random, depth);
    for _ in 0..random.random_range(0..3) {
        let operators = [
            ";", "; ", " && ", "&&", " || ", "||", " | ", "|", "\n", " & ", "&", "|&", "\n\n",
            " \\\n&& ",
        ];
        text += pick(random, &operators);
        text += &statement(random, depth);
    }
    text + pick(random, &["", "", "", ";", "\n", " ", "&", " # y\n", "#"])
}

fn statement(random: &mut StdRng, depth: u32) -> String {
    if depth == 0 || chance(random, 55) {
        return simple(random, depth);
    }
    let depth = depth - 1;
    let inner = list(random, depth);
    let other = list(random, depth);
    match random.random_range(0..16) {
        0 => format!("({inner})"),
        1 => format!("{{ {inner}\n}}"),
        2 => format!("if {inner}\nthen {other}\nfi"),
        3 => format!("for v in y {}; do {inner}\ndone", word(random, depth)),
        4 => format!(
            "case {} in y) {inner}\n;; *) {other}\nesac",
            word(random, depth)
        ),
        5 => format!("f() {{ {inner}\n}}; f"),
        6 => format!("! {inner}"),
        7 => format!("time {inner}"),
        8 => format!("sh -c {}", quoted(random, &inner)),
        9 => format!("eval {}", quoted(random, &inner)),
        10 => format!("cat <<E\n{inner}\nE\n{other}"),
        11 => format!(
            "sh <<{}\n{inner}\nE\n",
            pick(random, &["E", "'E'", "\\E", "\"E\""])
        ),
        12 => format!("[[ y == {} ]] && {inner}", word(random, depth)),
        13 => format!("(( 1 {} 2 )); {inner}", pick(random, &["<", "<<", "+"])),
        14 => format!("sh <<< {}", quoted(random, &inner)),
        _ => format!("echo {} | sh", quoted(random, &inner)),
    }
}

fn simple(random: &mut StdRng, depth: u32) -> String {
    let mut words = vec![];
    if chance(random, 8) {
        words.push(format!("A={}", word(random, depth)));
    }
    if chance(random, 15) {
        let wrappers = [
            "env",
            "env -i",
            "env A=1",
            "sudo",
            "sudo -u y",
            "sudo -n",
            "nice",
            "nice -n 5",
            "timeout 5",
            "xargs",
            "xargs -0",
            "command",
            "command --",
            "builtin command",
            "time",
            "!",
            "coproc",
            "2>&1",
            ">y",
            "</dev/null",
            "exec 2>&1;",
        ];
        words.push(pick(random, &wrappers).to_owned());
    }
    let (program, arguments) = match random.random_range(0..8) {
        0..=3 => ("xa", ["y", "-y", "xd", "s"]),
        4 => ("xg", ["stash", "s", "-c", "xg"]),
        5 => ("xg", ["push", "p", "y", "s"]),
        6 => ("xb", ["y", "xd", "y", "y"]),
        _ => ("xd", ["y", "push", "-y", "y"]),
    };
    words.push(spelled(random, program));
    for _ in 0..random.random_range(0..3) {
        let argument = match chance(random, 70) {
            true => {
                let argument = pick(random, &arguments);
                spelled(random, argument)
            }
            false => word(random, depth),
        };
        words.push(argument);
        if chance(random, 12) {
            words.push(redirection(random));
        }
    }
    words.join(pick(random, &[" ", " ", " ", "  ", "\t", " \\\n"]))
}

fn redirection(random: &mut StdRng) -> String {
    let redirections = [
        "2>&1",
        ">/dev/null",
        "2>/dev/null",
        "&>/dev/null",
        "</dev/null",
        "> /dev/null",
        "2> /dev/null",
        ">y",
        ">>y",
        "2>y",
        "&>y",
        ">&2",
        "1>&2",
        "<<<y",
        ">|y",
        "2>&1y",
        ">/dev/null y",
        "<>y",
        "2>&-",
        "< /dev/null",
    ];
    pick(random, &redirections).to_owned()
}

/// Any word.
fn word(random: &mut StdRng, depth: u32) -> String {
    if depth > 0 && chance(random, 40) {
        let inner = list(random, depth - 1);
        return match random.random_range(0..8) {
            0 => format!("$({inner})"),
            1 => format!("\"$({inner})\""),
            2 => format!("`{}`", inner.replace(['`', '\\'], "")),
            3 => format!("<({inner})"),
            4 => format!("${{A:-$({inner})}}"),
            5 => format!("\"${{A:-`{}`}}\"", inner.replace(['`', '\\', '"'], "")),
            6 => format!("$((1+$({inner}; echo 1)))"),
            _ => format!("$(case y in y) {inner}\n;; esac)"),
        };
    }
    let words = [
        "y",
        "'y y'",
        "\"y y\"",
        "''",
        "$A",
        "\"$A\"",
        "${A}",
        "*",
        "?",
        "[y]",
        "{y,xd}",
        "~",
        "-",
        "--",
        "y=1",
        "$'\\x78d'",
        "$'y'",
        "$\"y\"",
        "\\y",
        "y\\ y",
        "'y;xd y'",
        "\"y|xd y\"",
        "#y",
        "y#",
        "@y",
        "+y",
        "1",
        "2",
        "';'",
        "\"\\\"\"",
        "\"'\"",
        "$((1))",
        "$",
        "!",
        "=y",
        "%y",
        "^y",
        "é",
        "y\\\ny",
        "xd\\",
        "a=(y)",
    ];
    pick(random, &words).to_owned()
}

/// The word, spelled with quotes and backslashes here and there.
fn spelled(random: &mut StdRng, word: &str) -> String {
    if chance(random, 75) {
        return word.to_owned();
    }
    let mut text = String::new();
    for c in word.chars() {
        match random.random_range(0..9) {
            0 => text += &format!("'{c}'"),
            1 => text += &format!("\"{c}\""),
            2 => text += &format!("\\{c}"),
            3 => text += &format!("{c}''"),
            4 => text += &format!("\\\n{c}"),
            5 => text += &format!("$'{c}'"),
            _ => text.push(c),
        }
    }
    text
}

/// The text as one quoted word.
fn quoted(random: &mut StdRng, text: &str) -> String {
    match chance(random, 70) {
        true => format!("'{}'", text.replace('\'', r"'\''")),
        false => format!("\"{text}\""),
    }
}

/// Removes, doubles, moves or inserts something.
fn damage(random: &mut StdRng, text: &mut String) {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return;
    }
    let at = random.random_range(0..chars.len());
    let other = random.random_range(0..chars.len());
    match random.random_range(0..6) {
        0 => {
            chars.remove(at);
        }
        1 => chars.insert(at, chars[other]),
        2 => chars.swap(at, other),
        3 => chars.truncate(at),
        _ => {
            let pieces = [
                "'",
                "\"",
                "`",
                "\\",
                "$",
                "(",
                ")",
                "{",
                "}",
                "|",
                "&",
                ";",
                "<",
                ">",
                "\n",
                " ",
                "#",
                "*",
                "!",
                "=",
                "~",
                "[",
                "]",
                "$(",
                "<<E\n",
                "2>&1",
                ">/dev/null",
                "\\\n",
                "\t",
                "\r",
                "\u{a0}",
                "\u{200b}",
                "-",
                "$'",
                "''",
                "2",
                "&>",
                "xd y",
                ";xd y",
                "\nxd y\n",
                "é",
            ];
            let piece: Vec<char> = pick(random, &pieces).chars().collect();
            chars.splice(at..at, piece);
        }
    }
    *text = chars.into_iter().collect();
}
