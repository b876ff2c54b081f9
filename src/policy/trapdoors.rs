//! Trapdoors: options, words and subcommands through which a program runs another, writes, or reads commands.
//!
//! Promise: [`used`] names each trapdoor of the table that a command uses, however it is abbreviated, bundled
//! or attached. Where a word may be an option or the value of one, it counts as an option. A program
//! without a row has none.

use super::pattern::{HOLE, Pattern};

mod awk;
mod looks;
mod options;
mod sed;
mod table;
#[cfg(test)]
mod tests;
mod words;

use table::Row;

/// What comes of using a trapdoor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Another program is run.
    Runs,
    /// A file is written or removed.
    Writes,
    /// A file, the standard input or a word is read as commands or as configuration.
    Reads,
    /// What is set changes what later commands run.
    Sets,
    /// Commands are taken from whoever types, or from the standard input.
    Interactive,
    /// It is no command of the program's own, so another program is run.
    Foreign,
    /// It is not understood here, so it may do any of these.
    Unclear,
}

impl Does {
    /// For a sentence.
    fn phrase(self) -> &'static str {
        match self {
            Self::Runs => "runs another program",
            Self::Writes => "writes or removes files",
            Self::Reads => "reads commands or settings from elsewhere",
            Self::Sets => "changes what later commands run",
            Self::Interactive => "takes commands while it runs",
            Self::Foreign => "is no command of its own, so it runs another program",
            Self::Unclear => "may run another program or write files",
        }
    }
}

/// A use of an option, word or subcommand through which a program runs another, writes, or reads commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trapdoor {
    /// The program without its directory, and its subcommand.
    pub(super) program: String,
    /// The option, word or subcommand as the table spells it.
    pub(super) spelled: String,
    /// The same as the command writes it.
    written: String,
    /// What comes of it.
    pub(super) does: Does,
    /// Whether it is a path, which a pattern may also spell by its beginning.
    path: bool,
}

impl Trapdoor {
    /// For a person: "find -exec runs another program; no rule names it".
    pub(super) fn reason(&self) -> String {
        let (program, spelled, phrase) = (&self.program, &self.spelled, self.does.phrase());
        if program == spelled {
            return format!("{program} {phrase}; no rule names it");
        }
        format!("{program} {spelled} {phrase}; no rule names it")
    }

    /// Whether the pattern names it: its text is a word of the pattern, or stands at the beginning of one before a `*`.
    pub(super) fn is_spelled_by(&self, pattern: &Pattern) -> bool {
        let text = pattern.pieces().join("\0");
        text.split([' ', '\t', '\n'])
            .any(|word| self.is_spelled_by_word(word))
    }

    fn is_spelled_by_word(&self, word: &str) -> bool {
        let literal = word.split(HOLE).next().unwrap_or_default();
        if self.path {
            let rest = self.written.strip_prefix(literal);
            let inside = rest.is_some_and(|rest| !words::climbs(rest));
            // `/a/.*` is also `/a/../b`.
            let open = word != literal && !literal.ends_with('.');
            return literal.contains(['/', '.', '~']) && inside && (open || rest == Some(""));
        }
        if self.program == self.spelled && base(literal) == self.program {
            return true;
        }
        [&self.spelled, &self.written].into_iter().any(|name| {
            let Some(rest) = literal.strip_prefix(&**name).filter(|_| !name.is_empty()) else {
                return false;
            };
            // `-o/tmp/x` and `--output=/tmp/x`.
            let is_short = name.len() == 2 && name.starts_with(['-', '+']);
            rest.is_empty()
                || rest.starts_with('=')
                || name.ends_with('=')
                || is_short && !self.is_single()
        })
    }

    /// Whether the program takes no bundles of short options.
    fn is_single(&self) -> bool {
        let program = self.program.split(' ').next().unwrap_or_default();
        Row::of(program).is_some_and(|row| row.single)
    }
}

/// What is found while a command is looked through.
pub(super) struct Found<'a> {
    /// The program and its subcommands.
    path: Vec<&'a str>,
    trapdoors: Vec<Trapdoor>,
}

impl Found<'_> {
    /// A trapdoor with its name in the table and as it is written.
    fn add(&mut self, does: Does, spelled: &str, written: &str) {
        self.push(does, spelled, written, false);
    }

    /// A path that is written, read or run.
    fn add_path(&mut self, does: Does, path: &str) {
        self.push(does, path, path, true);
    }

    fn push(&mut self, does: Does, spelled: &str, written: &str, path: bool) {
        let program = match &*self.path {
            [before @ .., last] if *last == spelled && !before.is_empty() => before.join(" "),
            path => path.join(" "),
        };
        let trapdoor = Trapdoor {
            program,
            spelled: spelled.to_owned(),
            written: written.to_owned(),
            does,
            path,
        };
        if !self.trapdoors.contains(&trapdoor) {
            self.trapdoors.push(trapdoor);
        }
    }
}

/// Every trapdoor that the words of one simple command use: the program as written, maybe with a directory, and
/// its arguments without quotes. A word that the shell expands arrives as written.
pub(super) fn used(words: &[String]) -> Vec<Trapdoor> {
    let Some((row, program)) = row_of(words) else {
        return vec![];
    };
    let mut found = Found {
        path: vec![],
        trapdoors: vec![],
    };
    look(row, program, &words[1..], &mut found);
    if row.wraps {
        behind(words, &mut found);
    }
    found.trapdoors
}

/// Whether the command writes to a relative path, which is no trapdoor as long as it is in the working directory.
pub(super) fn writes_here(words: &[String]) -> bool {
    let elsewhere = |word: &String| match word.split_once('=') {
        Some((name, value)) => format!("{name}=/{value}"),
        None if word.starts_with(['-', '/']) => word.clone(),
        None => format!("/{word}"),
    };
    let moved: Vec<_> = words
        .iter()
        .take(1)
        .cloned()
        .chain(words.iter().skip(1).map(elsewhere))
        .collect();
    row_of(words).is_some() && used(&moved).iter().any(|trapdoor| trapdoor.path)
}

/// The trapdoors of the programs that a wrapper may run: each word could be one.
fn behind<'a>(words: &'a [String], found: &mut Found<'a>) {
    for at in 1..words.len() {
        if let Some((row, program)) = row_of(&words[at..]) {
            look(row, program, &words[at + 1..], found);
        }
    }
}

fn look<'a>(row: &'static Row, program: &'a str, arguments: &'a [String], found: &mut Found<'a>) {
    found.path.push(program);
    options::look(row, arguments, found);
    found.path.pop();
}

fn row_of(words: &[String]) -> Option<(&'static Row, &str)> {
    let program = base(words.first()?);
    Some((Row::of(program)?, program))
}

/// The program without its directory.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether the program has a row: its further arguments could use a trapdoor.
pub(super) fn has_row(program: &str) -> bool {
    Row::of(base(program)).is_some()
}

/// The trapdoors of the program that an allowing pattern is for, as far as its text leaves room for them and it
/// does not spell them; for a person. Empty where the pattern's beginning names no one program.
pub(super) fn closed_to(pattern: &Pattern) -> Vec<String> {
    let [first, _, ..] = pattern.pieces() else {
        return vec![];
    };
    let mut words = first.split(' ');
    let (Some(program), true) = (words.next(), first.contains(' ')) else {
        return vec![];
    };
    let Some(row) = Row::of(base(program)) else {
        return vec![];
    };
    let words: Vec<_> = words.collect();
    let complete = &words[..words.len().saturating_sub(1)];
    let mut names = vec![];
    row.names_below(complete, &mut names);
    names.retain(|name: &&str| {
        let trapdoor = Trapdoor {
            program: base(program).to_owned(),
            spelled: (*name).to_owned(),
            written: (*name).to_owned(),
            does: Does::Runs,
            path: false,
        };
        !trapdoor.is_spelled_by(pattern)
    });
    names.into_iter().map(str::to_owned).collect()
}
