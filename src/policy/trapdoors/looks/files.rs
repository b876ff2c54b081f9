//! Files that are written, and packers.

use super::{attached, is_operand};
use crate::policy::trapdoors::table::Row;
use crate::policy::trapdoors::words::{leads_away, leads_out};
use crate::policy::trapdoors::{Does, Found};

/// Every operand, and every value that is attached to an option, that is written and leads away.
pub(in crate::policy::trapdoors) fn all_operands<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        let path = if is_operand(word) {
            Some(&**word)
        } else {
            away_in_bundle(word).or(Some(attached(word)))
        };
        if let Some(path) = path.filter(|path| leads_away(path)) {
            found.add_path(Does::Writes, path);
        }
    }
}

/// A path that leads away behind the letters of short options: `-at/etc`.
fn away_in_bundle(word: &str) -> Option<&str> {
    let letters = word
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))?;
    let mut tails = letters.char_indices().skip(1).map(|(at, _)| &letters[at..]);
    tails.find(|tail| leads_away(tail))
}

/// Whether a copy of this source has a hidden name, or brings hidden ones into the working directory: `x/.git`, `x/.`.
fn brings_hidden(source: &str, to: &str) -> bool {
    let last = source.trim_end_matches('/').rsplit('/').next();
    match last {
        Some(".") => source.contains('/') && (leads_out(source) || to.trim_end_matches('/') == "."),
        Some(name) => name.starts_with('.'),
        None => false,
    }
}

/// The last operand; all of them where the last may be a value, or where the program removes or links its sources.
pub(in crate::policy::trapdoors) fn destination<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let takes_sources = found
        .path
        .last()
        .is_some_and(|program| program.contains("mv") || program.contains("ln"));
    let valued = |word: &String| {
        !is_operand(word) && (word.starts_with("--t") || word.starts_with("--s"))
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['t', 'S'])
    };
    if takes_sources || arguments.iter().any(valued) {
        return all_operands(row, arguments, found);
    }
    let mut operands = arguments.iter().rev().filter(|word| is_operand(word));
    let to = operands.next().map_or("", String::as_str);
    if leads_away(to) {
        found.add_path(Does::Writes, to);
    }
    if let Some(source) = operands.find(|source| brings_hidden(source, to)) {
        found.add_path(Does::Writes, source);
    }
}

/// `uniq INPUT OUTPUT`.
pub(in crate::policy::trapdoors) fn second_operand<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let mut paths = arguments
        .iter()
        .filter(|word| is_operand(word) && leads_away(word));
    if let Some(path) = paths.next_back().filter(|_| arguments.len() > 1) {
        let operands = arguments.iter().filter(|word| is_operand(word)).count();
        if operands > 1 {
            found.add_path(Does::Writes, path);
        }
    }
}

/// Operands that lead out of the working directory.
pub(in crate::policy::trapdoors) fn leads_out_after_options<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments
        .iter()
        .filter(|word| is_operand(word) && leads_out(word))
    {
        found.add_path(Does::Writes, word);
    }
}

/// Old-style bundles (`tar cfI x y`), archives on another host, and unpacking elsewhere.
pub(in crate::policy::trapdoors) fn tar<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    if let Some(first) = arguments.first().filter(|word| !word.starts_with('-')) {
        for (does, names) in row.options {
            for name in names
                .split_ascii_whitespace()
                .filter(|name| name.len() == 2)
            {
                if first.contains(&name[1..]) {
                    found.add(*does, name, first);
                }
            }
        }
    }
    if let Some(path) = archive(arguments) {
        found.add_path(Does::Writes, path);
    }
    let mut before = "";
    for word in arguments {
        let (host, rest) = word.split_once(':').unwrap_or((word, ""));
        let value = attached(word);
        if !rest.is_empty() && !host.contains('/') && !word.starts_with("--exclude") {
            found.add(Does::Runs, "HOST:", word);
        }
        let is_directory = |option: &str| {
            option.starts_with("--dir") || option.starts_with("--one") || option.starts_with("-C")
        };
        let bundled = before.starts_with('-') && !before.starts_with("--") && before.ends_with('C');
        let bundled = bundled
            || arguments
                .first()
                .is_some_and(|first| is_operand(first) && first.contains('C'));
        let path = match () {
            () if is_directory(word) => value,
            () if is_directory(before) || bundled => &**word,
            () => "",
        };
        if leads_out(path) {
            found.add_path(Does::Writes, path);
        }
        before = word;
    }
}

/// The archive that tar makes or changes, where it is outside of the working directory.
fn archive(arguments: &[String]) -> Option<&str> {
    let is_bundle = |at: usize, word: &str| match word.strip_prefix('-') {
        Some(letters) => !letters.starts_with('-'),
        None => at == 0,
    };
    const CHANGES: &[&str] = &["--cr", "--ap", "--up", "--con", "--cat", "--del"];
    let words = || arguments.iter().map(String::as_str).enumerate();
    let changes = words().any(|(at, word)| {
        CHANGES.iter().any(|name| word.starts_with(name))
            || is_bundle(at, word) && word.contains(['c', 'r', 'u', 'A'])
    });
    if !changes {
        return None;
    }
    words().find_map(|(at, word)| {
        let values = if is_bundle(at, word) && word.contains('f') {
            let attached = &word[word.find('f')? + 1..];
            let count = word
                .chars()
                .filter(|c| "fbCTXgHKLNVFI".contains(*c))
                .count();
            let next = arguments[at + 1..].iter().take(count);
            next.map(String::as_str).chain([attached]).collect()
        } else if word == "--file" {
            arguments
                .get(at + 1)
                .map(String::as_str)
                .into_iter()
                .collect()
        } else {
            word.strip_prefix("--file=").into_iter().collect::<Vec<_>>()
        };
        values.into_iter().find(|value| leads_out(value))
    })
}

/// `-TT COMMAND`, also in a bundle.
pub(in crate::policy::trapdoors) fn zip<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        if word.starts_with('-') && !word.starts_with("--") && word.contains("TT") {
            found.add(Does::Runs, "-TT", word);
        }
    }
}

/// `-oDIR`, `-wDIR`, `-sfx`, `-sdel`, and lists of files.
pub(in crate::policy::trapdoors) fn seven_zip<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        for name in ["-o", "-w", "-sfx", "-sdel", "-spf"] {
            if word.starts_with(name) {
                found.add(Does::Writes, name, word);
            }
        }
    }
}

/// Words that ImageMagick and TeX take for commands.
pub(in crate::policy::trapdoors) fn magick<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        let lower = word.to_ascii_lowercase();
        for name in [
            "|",
            "@",
            "msl:",
            "ephemeral:",
            "url:",
            "https:",
            "http:",
            "mvg:",
            "text:",
            "label:@",
            "\\",
            "macro:",
            "vnd.sun.star",
        ] {
            let hit = match name {
                "\\" => lower.contains(name),
                name => lower.starts_with(name),
            };
            if hit {
                found.add(Does::Runs, name, word);
            }
        }
    }
}
