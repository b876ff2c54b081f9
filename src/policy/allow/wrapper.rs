//! Wrappers that give a command no power: `timeout`, `nice`, `time` and their kin.

use crate::policy::pattern::HOLE;
use crate::policy::plain::{Invocation, Known};

/// A command, or what is left of it behind assignments and wrappers.
pub(super) struct Inner {
    assignments: usize,
    words: Vec<Known>,
    redirected: bool,
    /// Whether it gets further arguments that are not known; the last word stands for them.
    more: bool,
}

/// Options of `xargs` without a value, and with one (xargs(1), GNU findutils).
const XARGS_FLAGS: &[&str] = &[
    "-0",
    "--null",
    "-r",
    "--no-run-if-empty",
    "-t",
    "--verbose",
    "-x",
];
const XARGS_VALUES: &[&str] = &["-n", "-P", "-L", "-d", "-s", "-I"];

impl Inner {
    pub(super) fn whole(command: &Invocation) -> Self {
        Self {
            assignments: command.assignments,
            words: command.words.clone(),
            redirected: command.redirected,
            more: false,
        }
    }

    /// All words, assignments included.
    pub(super) fn written(&self) -> &[Known] {
        &self.words
    }

    pub(super) fn assignments(&self) -> &[Known] {
        &self.words[..self.assignments]
    }

    /// Program and arguments.
    pub(super) fn words(&self) -> &[Known] {
        &self.words[self.assignments..]
    }

    pub(super) fn program(&self) -> &str {
        self.words().first().map_or("", |word| &word.text)
    }

    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    pub(super) fn without_assignments(&self) -> Self {
        self.rest(self.words().to_vec())
    }

    fn rest(&self, words: Vec<Known>) -> Self {
        Self {
            assignments: 0,
            words,
            redirected: self.redirected,
            more: self.more,
        }
    }

    /// The command behind a wrapper whose own arguments are plain; `None` where there is none.
    pub(super) fn unwrapped(&self) -> Option<Self> {
        let arguments = &self.words()[1..];
        let start = match self.program() {
            "timeout" => timeout(arguments)?,
            "nice" => nice(arguments)?,
            "ionice" => options(arguments, &["-c", "-n"], is_number)?,
            "stdbuf" => options(arguments, &["-i", "-o", "-e"], is_buffer)?,
            "time" => 0,
            "nohup" if !self.redirected => 0,
            "xargs" => return self.xargs(),
            _ => return None,
        };
        let words = arguments.get(start..)?;
        let program = words.first()?;
        let plain = !program.expands && !program.text.starts_with('-');
        plain.then(|| self.rest(words.to_vec()))
    }

    /// The program of `xargs`, with a word for what it adds.
    fn xargs(&self) -> Option<Self> {
        let mut words = self.words()[1..].iter();
        let mut replaced = None;
        let program = loop {
            let word = words.next()?;
            if XARGS_FLAGS.contains(&&*word.text) {
                continue;
            }
            if !word.text.starts_with('-') {
                break word;
            }
            let name = XARGS_VALUES
                .iter()
                .find(|name| word.text.starts_with(**name))?;
            let value = match &word.text[name.len()..] {
                "" => words.next()?.text.clone(),
                attached => attached.to_owned(),
            };
            let fits = match *name {
                "-d" => true,
                "-I" => !value.is_empty(),
                _ => is_number(&value),
            };
            if !fits {
                return None;
            }
            if *name == "-I" {
                replaced = Some(value);
            }
        };
        let unknown = |text: &str| Known {
            text: text.to_owned(),
            expands: true,
        };
        let mut inner = vec![program.clone()];
        for word in words {
            inner.push(match &replaced {
                Some(mark) if word.text.contains(&**mark) => {
                    unknown(&word.text.replace(&**mark, &HOLE.to_string()))
                }
                _ => word.clone(),
            });
        }
        inner.push(unknown(&HOLE.to_string()));
        let named_by_input = replaced.is_some_and(|mark| program.text.contains(&*mark));
        let mut rest = self.rest(inner);
        rest.more = true;
        (!named_by_input && !program.expands).then_some(rest)
    }
}

/// `[-k DURATION] [-s SIGNAL] DURATION`.
fn timeout(arguments: &[Known]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = &*arguments.get(at)?.text;
        let value = &*arguments.get(at + 1)?.text;
        at += match word {
            "-k" if is_duration(value) => 2,
            "-s" if value.bytes().all(|b| b.is_ascii_alphanumeric()) => 2,
            "--foreground" | "--preserve-status" => 1,
            word if is_duration(word) => return Some(at + 1),
            _ => return None,
        };
    }
}

/// `[-n NUMBER]`.
fn nice(arguments: &[Known]) -> Option<usize> {
    let text = |at: usize| arguments.get(at).map(|word| &*word.text);
    match text(0)? {
        "-n" => is_number(text(1)?).then_some(2),
        word => match word
            .strip_prefix("-n")
            .or(word.strip_prefix("--adjustment="))
        {
            Some(value) => is_number(value).then_some(1),
            None => Some(0),
        },
    }
}

/// Options with a value behind them or attached.
fn options(arguments: &[Known], names: &[&str], fits: fn(&str) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        let name = names.iter().find(|name| word.text.starts_with(**name))?;
        let attached = &word.text[name.len()..];
        let (value, taken) = match attached {
            "" => (&*arguments.get(at + 1)?.text, 2),
            attached => (attached, 1),
        };
        if !fits(value) {
            return None;
        }
        at += taken;
    }
    Some(at)
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_buffer(text: &str) -> bool {
    text == "L" || text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// A duration of `timeout`: a number and a unit.
fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}
