//! Finding a row's options, words and subcommands among the arguments of a command.
//!
//! Long options count in any abbreviation that getopt_long(3) could take, short ones also inside a bundle.
//! A `--` ends the options only where it cannot itself be the value of one.

use super::table::{List, Row};
use super::words::leads_away;
use super::{Does, Found};

/// Looks through the arguments behind the name that the row is for.
pub(super) fn look<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    if let Some(does) = row.itself {
        let name = found.path.last().copied().unwrap_or_default();
        found.add(does, name, name);
    }
    let places = if row.front || row.has_subcommands() {
        operands(row, arguments)
    } else {
        vec![]
    };
    let front = match places.last() {
        Some(last) if row.front => &arguments[..*last],
        _ => arguments,
    };
    scan(row, row.options, front, found);
    scan(row, row.every, arguments, found);
    files(row, arguments, found);
    if let Some(look) = row.look {
        look(row, arguments, found);
    }
    if row.has_subcommands() {
        for at in places {
            subcommand(row, arguments, at, found);
        }
    }
}

fn subcommand<'a>(row: &'static Row, arguments: &'a [String], at: usize, found: &mut Found<'a>) {
    let name = &*arguments[at];
    if let Some(sub) = row.subs.iter().find(|sub| sub.is_named(name)) {
        found.path.push(name);
        look(sub, &arguments[at + 1..], found);
        found.path.pop();
    } else if row.closed && !name.is_empty() && !holds(row.known, name) {
        found.add(Does::Foreign, name, name);
    }
}

/// Where the first operand may be: the first word that is no option, and as many more as options in front of it
/// may take for their values. Operands that the row skips, and assignments of env, do not count.
pub(super) fn operands(row: &Row, arguments: &[String]) -> Vec<usize> {
    let mut places = vec![];
    let (mut seen, mut doubtful) = (0, 0);
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let is_option = word.starts_with('-') && word.len() > 1;
        if is_option && row.takes_value(word) {
            at += 1;
        } else if is_option {
            doubtful += usize::from(may_take_value(row, word));
        } else if !row.is_skipped(word) {
            seen += 1;
            if seen > row.skips {
                places.push(at);
            }
            if seen > row.skips + doubtful {
                break;
            }
        }
        at += 1;
    }
    places
}

/// Looks for the trapdoors of the lists.
fn scan(row: &Row, lists: &'static [List], arguments: &[String], found: &mut Found) {
    if lists.is_empty() {
        return;
    }
    let mut ended = false;
    for (at, word) in arguments.iter().enumerate() {
        if word == "--" && !row.single {
            ended |= at == 0 || !may_take_value(row, &arguments[at - 1]);
            continue;
        }
        let next = arguments.get(at + 1).map_or("", |next| &**next);
        let word = Word { text: word, next };
        scan_word(row, lists, &word, ended, found);
    }
}

/// A word and the one behind it.
struct Word<'a> {
    text: &'a str,
    next: &'a str,
}

/// Looks for output files outside of the working directory.
fn files(row: &Row, arguments: &[String], found: &mut Found) {
    for name in row.files.split_ascii_whitespace() {
        for (at, word) in arguments.iter().enumerate() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (&**word, None),
            };
            let next = arguments.get(at + 1).map(|next| &**next);
            let attached = word
                .strip_prefix(name)
                .filter(|rest| name.len() == 2 && !rest.is_empty());
            let path = match attached {
                None if is(row, name, option, false) => value.or(next),
                path => path,
            };
            if path.is_some_and(leads_away) {
                found.add(Does::Writes, name, option);
            }
        }
    }
}

/// Where written output is lost or printed.
const NOWHERE: &[&str] = &["-", "/dev/null", "/dev/stdout", "/dev/stderr"];

/// Whether the option writes nothing because of its value, which stands behind it or is the next word.
fn writes_nowhere(row: &Row, does: Does, name: &str, behind: Option<&str>, next: &str) -> bool {
    does == Does::Writes && row.takes_value(name) && NOWHERE.contains(&behind.unwrap_or(next))
}

/// Whether the option may take the next word as its value.
fn may_take_value(row: &Row, word: &str) -> bool {
    if !word.starts_with('-') || word.contains('=') || holds(row.flags, word) {
        return false;
    }
    let mut letters = word.chars().skip(1);
    let first = letters.next().unwrap_or('-');
    // `-F:` has its value.
    first == '-' || !row.short_takes_value(first) || letters.next().is_none()
}

fn scan_word(row: &Row, lists: &'static [List], word: &Word, ended: bool, found: &mut Found) {
    let (option, value) = match word.text.split_once('=') {
        Some((option, value)) => (option, Some(value)),
        None => (word.text, None),
    };
    for (does, names) in lists {
        for name in names.split_ascii_whitespace() {
            let hit = match name.strip_suffix('=') {
                Some(name) => value.is_some() && is(row, name, option, ended),
                None => is(row, name, option, ended),
            };
            if hit && !writes_nowhere(row, *does, name, value, word.next) {
                found.add(*does, name, option);
            }
        }
    }
    let bundled =
        !row.single && !ended && word.text.starts_with('-') && !word.text.starts_with("--");
    if bundled {
        bundle(row, lists, word, found);
    }
}

/// Whether the word, without a value, is the option or word of the table.
fn is(row: &Row, name: &str, option: &str, ended: bool) -> bool {
    if !name.starts_with('-') {
        return name == option;
    }
    if ended {
        return false;
    }
    if row.single || !name.starts_with("--") && name.len() > 2 {
        let both = name.strip_prefix('-').is_some_and(|name| {
            let option = option.strip_prefix('-').unwrap_or_default();
            option == name || option.strip_prefix('-') == Some(name)
        });
        return name == option || both;
    }
    if !name.starts_with("--") || option.len() < 3 {
        return false;
    }
    name == option || name.starts_with(option) && !row.knows(option)
}

/// Short options in one word, up to one that takes the rest as its value.
fn bundle(row: &Row, lists: &'static [List], word: &Word, found: &mut Found) {
    for (at, letter) in word.text.char_indices().skip(1) {
        let rest = &word.text[at + letter.len_utf8()..];
        let behind = (!rest.is_empty()).then_some(rest);
        for (does, names) in lists {
            let name = names
                .split_ascii_whitespace()
                .find(|name| is_short(name, letter));
            let name = name.filter(|name| !writes_nowhere(row, *does, name, behind, word.next));
            if let Some(name) = name {
                found.add(*does, name, word.text);
            }
        }
        if row.short_takes_value(letter) {
            break;
        }
    }
}

fn is_short(name: &str, letter: char) -> bool {
    let mut chars = name.chars();
    chars.next() == Some('-') && chars.next() == Some(letter) && chars.next().is_none()
}

/// Whether the list of words has the word.
pub(super) fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
