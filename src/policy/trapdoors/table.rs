//! The table: a row per program, by family. Facts are from the programs' manuals and from lists of such uses.

use super::options::holds;
use super::words::assignment;
use super::{Does, Found};

mod build;
mod containers;
mod editors;
mod files;
mod git;
mod interpreters;
mod media;
mod network;
mod packages;
mod shell;
mod system;
mod text;
mod wrappers;

/// What options, words or subcommands do, and their names, blanks between: `--long`, `-x`, `-single`, `word`, and
/// `name=` where only the form with a value counts.
pub(super) type List = (Does, &'static str);

/// A closer look at the arguments, for what lists of options cannot say.
pub(super) type Look = for<'a> fn(&'static Row, &'a [String], &mut Found<'a>);

/// What is known of a program or of one of its subcommands.
pub(super) struct Row {
    /// Its names, blanks between.
    pub(super) names: &'static str,
    /// Where the facts are from; a subcommand's are from its program's.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test sees to it that there is one")
    )]
    pub(super) source: &'static str,
    /// Trapdoors among its options and words.
    pub(super) options: &'static [List],
    /// Trapdoors that its subcommands take too.
    pub(super) every: &'static [List],
    /// Whether `options` count in front of the subcommand only.
    pub(super) front: bool,
    /// Options that take a value: in a bundle the rest is it, else the next word.
    pub(super) valued: &'static str,
    /// Options without a value.
    pub(super) flags: &'static str,
    /// Harmless options that are beginnings of others.
    pub(super) harmless: &'static str,
    /// Options for a file to write, which are trapdoors where it is not one of the working directory.
    pub(super) files: &'static str,
    /// Whether options are whole words with one dash or two, never bundled or abbreviated.
    pub(super) single: bool,
    /// What using it at all does.
    pub(super) itself: Option<Does>,
    /// Its subcommands with trapdoors of their own.
    pub(super) subs: &'static [Row],
    /// Whether a subcommand that is neither in `subs` nor in `known` is another program.
    pub(super) closed: bool,
    /// Its other subcommands.
    pub(super) known: &'static str,
    /// Whether it runs the program that its arguments name.
    pub(super) wraps: bool,
    /// How many operands stand in front of that program.
    pub(super) skips: usize,
    /// A closer look.
    pub(super) look: Option<Look>,
    /// Names for what `look` finds.
    pub(super) looks: &'static str,
}

/// A row that knows nothing.
const ROW: Row = Row {
    names: "",
    source: "",
    options: &[],
    every: &[],
    front: false,
    valued: "",
    flags: "",
    harmless: "",
    files: "",
    single: false,
    itself: None,
    subs: &[],
    closed: false,
    known: "",
    wraps: false,
    skips: 0,
    look: None,
    looks: "",
};

/// Every row.
pub(super) const FAMILIES: &[&[Row]] = &[
    git::ROWS,
    files::ROWS,
    text::ROWS,
    shell::ROWS,
    build::ROWS,
    packages::ROWS,
    interpreters::ROWS,
    wrappers::ROWS,
    network::ROWS,
    containers::ROWS,
    editors::ROWS,
    media::ROWS,
    system::ROWS,
];

impl Row {
    /// That of a program; `python3.12` is `python`.
    pub(super) fn of(program: &str) -> Option<&'static Self> {
        let find = |name: &str| {
            let mut rows = FAMILIES.iter().copied().flatten();
            rows.find(|row| row.is_named(name))
        };
        find(program).or_else(|| {
            let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_".contains(c));
            (plain.len() > 1 && plain.len() < program.len()).then(|| find(plain))?
        })
    }

    /// Names are compared without regard to case, as some file systems do.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let mut names = self.names.split(' ');
        names.any(|known| known.eq_ignore_ascii_case(name))
    }

    pub(super) fn has_subcommands(&self) -> bool {
        self.closed || !self.subs.is_empty()
    }

    /// Whether the option word takes the next word.
    pub(super) fn takes_value(&self, word: &str) -> bool {
        holds(self.valued, word)
    }

    pub(super) fn short_takes_value(&self, letter: char) -> bool {
        self.valued.split_ascii_whitespace().any(|name| {
            let mut chars = name.chars().skip(1);
            chars.next() == Some(letter) && chars.next().is_none()
        })
    }

    /// Whether the long option is one of its own that is not a trapdoor.
    pub(super) fn knows(&self, option: &str) -> bool {
        holds(self.harmless, option) || holds(self.flags, option) || holds(self.valued, option)
    }

    /// Whether the word can stand in front of a subcommand or program: `cargo +nightly`, `env A=1`.
    pub(super) fn is_skipped(&self, word: &str) -> bool {
        word.starts_with('+') || self.wraps && assignment(word).is_some()
    }

    /// The names of its trapdoors that are left when these words follow its name.
    pub(super) fn names_below(&self, words: &[&str], names: &mut Vec<&'static str>) {
        let sub = words.iter().find_map(|word| {
            let sub = self.subs.iter().find(|sub| sub.is_named(word))?;
            Some((sub, word))
        });
        let in_known = words.iter().any(|word| holds(self.known, word));
        let fixed = sub.is_some() || in_known;
        if !(fixed && self.front) {
            push_lists(self.options, names);
        }
        push_lists(self.every, names);
        names.extend(self.files.split_ascii_whitespace());
        names.extend(self.looks.split_ascii_whitespace());
        match sub {
            Some((sub, _)) => sub.names_below(&[], names),
            None if fixed => {}
            None => {
                for sub in self.subs {
                    match sub.itself {
                        Some(_) => names.extend(sub.names.split(' ')),
                        None => sub.names_below(&[], names),
                    }
                }
            }
        }
        let mut seen = vec![];
        names.retain(|name| {
            let new = !seen.contains(name);
            seen.push(*name);
            new
        });
    }
}

fn push_lists(lists: &'static [List], names: &mut Vec<&'static str>) {
    names.extend(
        lists
            .iter()
            .flat_map(|(_, list)| list.split_ascii_whitespace()),
    );
}
