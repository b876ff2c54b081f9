//! The simple commands of a text, its loops unrolled.

use std::collections::HashSet;

use super::word::{Piece, Word};
use super::{Plain, Reason, Step, is_among};
use crate::policy::pattern::HOLE;
use crate::policy::scan;

/// A simple command as it may run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::policy) struct Invocation {
    /// How many of the words are assignments in front of the program.
    pub(in crate::policy) assignments: usize,
    /// Assignments, program, arguments.
    pub(in crate::policy) words: Vec<Known>,
    /// Whether it has a redirection of its own.
    pub(in crate::policy) redirected: bool,
}

/// A word that is known beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::policy) struct Known {
    /// Its text without quotes.
    pub(in crate::policy) text: String,
    /// Whether the shell puts something of its own for a part of it (names of files for a pattern, the home
    /// directory, digits), which cannot make an option of it.
    pub(in crate::policy) expands: bool,
}

impl Invocation {
    /// The texts of its words.
    pub(in crate::policy) fn texts(&self) -> Vec<String> {
        self.words.iter().map(|word| word.text.clone()).collect()
    }

    /// Its words in the form in which denying patterns are looked for.
    pub(in crate::policy) fn scanned(&self) -> Vec<scan::Word> {
        let words = self.words.iter();
        words
            .map(|word| {
                let known = word
                    .text
                    .find(['*', '?', '[', '~', '$'])
                    .filter(|_| word.expands);
                let shape = match known {
                    Some(at) => format!("{}{HOLE}", &word.text[..at]),
                    None => word.text.clone(),
                };
                scan::Word {
                    raw: word.text.clone(),
                    text: word.text.clone(),
                    shape,
                }
            })
            .collect()
    }
}

/// Words that all commands may have together.
const WORDS_MAX: usize = 8192;

/// Programs of the shell's own that set variables: what a loop's variable holds is not known behind them.
const SETTERS: &str = "\
    read mapfile readarray print getopts declare typeset local export readonly unset integer float eval \
    source . let set shift vared wait zparseopts zstyle strftime sysread builtin command alias unalias hash \
    trap exec private nameref emulate setopt unsetopt shopt zmodload autoload fc history";

impl Plain {
    /// The simple commands, for each of a loop's words those of its body.
    ///
    /// # Errors
    /// Says which use of a loop's variable cannot be followed.
    pub(in crate::policy) fn commands(&self) -> Result<Vec<Invocation>, Reason> {
        let mut unroller = Unroller {
            values: vec![],
            found: vec![],
            seen: HashSet::new(),
            budget: WORDS_MAX,
        };
        unroller.run(&self.steps)?;
        Ok(unroller.found)
    }
}

/// The words of all loops around, and what is left to be found.
struct Unroller {
    values: Vec<(String, Known)>,
    found: Vec<Invocation>,
    /// Those of them that stand in loops.
    seen: HashSet<Invocation>,
    budget: usize,
}

impl Unroller {
    fn run(&mut self, steps: &[Step]) -> Result<(), Reason> {
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            at += 1;
            match step {
                Step::Command { words, redirected } => self.command(words, *redirected)?,
                Step::Loop { name, words } => {
                    let body = body(&steps[at..]);
                    at += body.len() + 1;
                    for word in words {
                        let value = self.known(word)?;
                        self.values.push((name.text.clone(), value));
                        self.run(body)?;
                        self.values.pop();
                    }
                }
                Step::Done => {}
            }
        }
        Ok(())
    }

    fn command(&mut self, words: &[Word], redirected: bool) -> Result<(), Reason> {
        let left = self.budget.checked_sub(words.len());
        self.budget = left.ok_or("loops with too many words")?;
        let assignments = words.iter().take_while(|word| word.is_assignment()).count();
        let words = words
            .iter()
            .map(|word| self.known(word))
            .collect::<Result<Vec<_>, _>>()?;
        if !self.values.is_empty() && sets_variables(&words[assignments..]) {
            return Err("a loop whose variable a command may change");
        }
        let invocation = Invocation {
            assignments,
            words,
            redirected,
        };
        if self.values.is_empty() || self.seen.insert(invocation.clone()) {
            self.found.push(invocation);
        }
        Ok(())
    }

    fn known(&self, word: &Word) -> Result<Known, Reason> {
        let mut known = Known {
            text: String::new(),
            expands: word.expands,
        };
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => known.text.push_str(text),
                Piece::Variable { name, quoted } => {
                    let mut values = self.values.iter().rev();
                    let (_, value) = values
                        .find(|(known, _)| known == name)
                        .ok_or("an expansion")?;
                    if !quoted && (value.expands || !is_one_word(&value.text)) {
                        return Err(
                            "a loop's variable that the shell would split; \" around it would do",
                        );
                    }
                    if value.expands && value.text.starts_with('~') && word.pieces.len() > 1 {
                        return Err("a loop's variable that a home directory is put in for");
                    }
                    known.expands |= value.expands;
                    known.text.push_str(&value.text);
                }
            }
        }
        Ok(known)
    }
}

/// The steps up to the end of the loop that they are in.
fn body(steps: &[Step]) -> &[Step] {
    let mut depth = 0;
    let end = steps.iter().position(|step| {
        match step {
            Step::Loop { .. } => depth += 1,
            Step::Done if depth == 0 => return true,
            Step::Done => depth -= 1,
            Step::Command { .. } => {}
        }
        false
    });
    &steps[..end.unwrap_or(steps.len())]
}

/// Whether no shell makes anything else of a variable with this value outside quotes.
fn is_one_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-+,:@%".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

fn sets_variables(words: &[Known]) -> bool {
    let mut words = words.iter().map(|word| &*word.text).peekable();
    words.next_if_eq(&"time");
    match words.next() {
        Some("printf") => words.any(|word| word.starts_with("-v")),
        Some(program) => is_among(SETTERS, program),
        None => false,
    }
}
