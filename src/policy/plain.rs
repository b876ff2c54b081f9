//! The part of the shell's language in which a command can be allowed without a human.
//!
//! Promise: when [`read`] takes a text, then bash, dash and zsh (their defaults) run no other simple
//! commands than the listed ones, with exactly the listed words, and touch no file by redirection but
//! `/dev/null`. Which of them run, and how often, is the shell's to decide: `if`, `&&` and loops are looked
//! through. It is a reader of its own, beside the grammar in `tree`, so that a fault in either cannot
//! allow anything alone.

use std::borrow::Cow;
use std::ops::Range;

mod unroll;
mod word;

pub(super) use unroll::{Invocation, Known};
use word::Word;
pub(super) use word::is_assignment;

/// Words that begin or end another construct when they stand, unquoted, where a program is named. The last
/// row is zsh's.
const RESERVED: &str = "\
    if then else elif fi do done case esac while until for select in function coproc ! { } [[ ]] repeat \
    foreach end nocorrect noglob -";

/// Names of loop variables that mean something to zsh or bash.
const TAKEN: &str = "\
    aliases argv auto_resume builtins cdpath commands dirstack epochtime errnos fignore fpath funcfiletrace \
    funcsourcetrace funcstack functions functrace galiases histchars history historywords jobdirs jobstates \
    jobtexts keymaps langinfo mailpath manpath mapfile module_path modules nameddirs options parameters \
    patchars path pipestatus prompt psvar reswords saliases signals status sysparams termcap terminfo \
    usergroups userdirs watch widgets zle_bracketed_paste";

/// Words of a loop.
const LOOP_MAX: usize = 64;
/// Constructs inside one another.
const DEPTH_MAX: usize = 20;

/// Why a text is not in this part of the language; for a person.
pub(super) type Reason = &'static str;

const REDIRECTION: Reason = "a redirection";
const MISSING: Reason = "a command is missing";

/// A text as it was read.
#[derive(Debug)]
pub(super) struct Plain {
    /// What it consists of, in the text's order.
    pub(super) steps: Vec<Step>,
    /// Where a backslash continues a line between two words.
    pub(super) continuations: Vec<usize>,
}

/// A loop's variable.
#[derive(Debug)]
pub(super) struct Name {
    text: String,
    range: Range<usize>,
}

/// A piece of a text.
#[derive(Debug)]
pub(super) enum Step {
    /// A simple command.
    Command {
        /// Assignments in front, the program, its arguments.
        words: Vec<Word>,
        /// Whether a redirection stands in it.
        redirected: bool,
    },
    /// `for NAME in WORDS; do`.
    Loop {
        /// Its variable.
        name: Name,
        /// What it goes through.
        words: Vec<Word>,
    },
    /// The end of a loop.
    Done,
}

impl Step {
    /// Where its words are; for comparing with another reading.
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        let of = |words: &[Word]| words.iter().map(|word| word.range.clone()).collect();
        match self {
            Self::Command { words, .. } => of(words),
            Self::Loop { name, words } => [vec![name.range.clone()], of(words)].concat(),
            Self::Done => vec![],
        }
    }
}

impl Plain {
    /// The text with blanks in the place of each continuation.
    pub(super) fn without_continuations<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut straight = Cow::Borrowed(text);
        for at in &self.continuations {
            straight.to_mut().replace_range(*at..*at + 2, "  ");
        }
        straight
    }
}

/// Whether a word is one of those of a text.
fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Reads a text.
///
/// # Errors
/// Names the first thing that has to be looked at by a human.
pub(super) fn read(text: &str) -> Result<Plain, Reason> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        variables: vec![],
        plain: Plain {
            steps: vec![],
            continuations: vec![],
        },
    };
    reader.list(&[])?;
    Ok(reader.plain)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Names of the loops around.
    variables: Vec<&'a str>,
    plain: Plain,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        self.at += usize::from(there) * token.len();
        there
    }

    /// Spaces and tabs, and line ends behind a backslash that has one in front of it.
    fn blanks(&mut self) {
        loop {
            if self.take(" ") || self.take("\t") {
                continue;
            }
            let behind_blank = self.text[..self.at].ends_with([' ', '\t', '\n']);
            if !behind_blank || !self.rest().starts_with("\\\n") {
                return;
            }
            self.plain.continuations.push(self.at);
            self.at += 2;
        }
    }

    fn lines(&mut self) {
        self.blanks();
        while self.take("\n") {
            self.blanks();
        }
    }

    /// Whether a word ends here.
    fn at_boundary(&self) -> bool {
        self.rest().is_empty()
            || self
                .rest()
                .starts_with([' ', '\t', '\n', ';', '&', '|', ')'])
    }

    /// Takes a reserved word.
    fn keyword(&mut self, word: &str) -> bool {
        let from = self.at;
        if self.take(word) && self.at_boundary() {
            return true;
        }
        self.at = from;
        false
    }

    fn deeper(&mut self) -> Result<(), Reason> {
        self.depth += 1;
        match self.depth {
            ..=DEPTH_MAX => Ok(()),
            _ => Err("too many constructs inside one another"),
        }
    }

    /// Commands and what joins them, up to one of the words that end it, or to the text's end where there are
    /// none. Returns the word.
    fn list(&mut self, ends: &[&'static str]) -> Result<&'static str, Reason> {
        self.deeper()?;
        let mut owed = true;
        loop {
            self.lines();
            let end = ends.iter().find(|end| match **end {
                ")" => self.take(")"),
                end => self.keyword(end),
            });
            match (end, self.peek()) {
                (Some(end), _) if !owed => {
                    self.depth -= 1;
                    return Ok(end);
                }
                (None, None) if !owed && ends.is_empty() => return Ok(""),
                (Some(_), _) | (None, None) => return Err(MISSING),
                (None, Some(')')) => return Err("parentheses"),
                _ => self.statement()?,
            }
            owed = self.joiner()?;
        }
    }

    /// What stands between two commands; whether it demands that one follows.
    fn joiner(&mut self) -> Result<bool, Reason> {
        self.blanks();
        if self.take("&&") || self.take("||") {
            return Ok(true);
        }
        if self.take("|") {
            return match self.peek() {
                Some('&') => Err("the operator |&"),
                _ => Ok(true),
            };
        }
        if self.take(";") {
            return match self.peek() {
                Some(';' | '&' | '|') => Err("an operator that is not plain"),
                _ => Ok(false),
            };
        }
        match self.peek() {
            None | Some('\n' | ')') => Ok(false),
            Some('&') => Err("a background job"),
            Some(_) => Err("something behind the end of a command"),
        }
    }

    fn statement(&mut self) -> Result<(), Reason> {
        if self.rest().starts_with("((") {
            return Err("arithmetic");
        }
        if self.take("(") {
            self.list(&[")"])?;
        } else if self.opens_group() {
            self.list(&["}"])?;
        } else if self.keyword("if") {
            self.condition()?;
        } else if self.keyword("for") {
            self.for_loop()?;
        } else {
            return self.simple();
        }
        self.redirections(true)?;
        Ok(())
    }

    fn opens_group(&mut self) -> bool {
        let opens = self.rest().starts_with("{ ") || self.rest().starts_with("{\n");
        self.at += usize::from(opens);
        opens
    }

    /// Behind `if`.
    fn condition(&mut self) -> Result<(), Reason> {
        self.list(&["then"])?;
        loop {
            match self.list(&["elif", "else", "fi"])? {
                "elif" => self.list(&["then"])?,
                "else" => return self.list(&["fi"]).map(drop),
                _ => return Ok(()),
            };
        }
    }

    /// Behind `for`.
    fn for_loop(&mut self) -> Result<(), Reason> {
        const OTHER: Reason = "a loop that is not plain";
        self.blanks();
        let from = self.at;
        while self.peek().is_some_and(word::in_name) {
            self.at += 1;
        }
        let range = from..self.at;
        let name = &self.text[range.clone()];
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && !name.contains(|c: char| c.is_ascii_uppercase());
        if !plain || is_among(TAKEN, name) {
            return Err("a loop over a variable that may mean something to the shell");
        }
        if self.variables.contains(&name) {
            return Err("a loop that changes the variable of the loop around it");
        }
        self.blanks();
        if !self.keyword("in") {
            return Err(OTHER);
        }
        let mut words = vec![];
        self.blanks();
        while !self.at_boundary() {
            words.push(self.word()?);
            self.blanks();
        }
        if words.is_empty() || words.len() > LOOP_MAX {
            return Err("a loop without words, or over more than 64");
        }
        if !self.take(";") && !self.rest().starts_with('\n') {
            return Err(OTHER);
        }
        self.lines();
        if !self.keyword("do") {
            return Err(OTHER);
        }
        let text = name.to_owned();
        let loop_name = Name { text, range };
        self.plain.steps.push(Step::Loop {
            name: loop_name,
            words,
        });
        self.variables.push(name);
        self.list(&["done"])?;
        self.variables.pop();
        self.plain.steps.push(Step::Done);
        Ok(())
    }

    fn simple(&mut self) -> Result<(), Reason> {
        let mut words = vec![];
        let mut redirected = false;
        loop {
            self.blanks();
            redirected |= self.redirections(!words.is_empty())?;
            if self.at_boundary() {
                break;
            }
            words.push(self.word()?);
        }
        if words.is_empty() {
            return Err(MISSING);
        }
        let assignments = words.iter().take_while(|word| word.is_assignment()).count();
        let program = words.get(assignments).ok_or("an assignment")?;
        program.names_program()?;
        // `time` is a reserved word for some shells: another may follow it, or an option of its own.
        if program.is_bare("time") {
            let next = words.get(assignments + 1).ok_or("time of nothing")?;
            next.names_program()?;
            if assignments > 0 || next.is_assignment() || next.is_option() || next.is_bare("time") {
                return Err("a reserved word");
            }
        }
        self.plain.steps.push(Step::Command { words, redirected });
        Ok(())
    }

    /// Redirections that change nothing that lasts; whether there were any.
    fn redirections(&mut self, allowed: bool) -> Result<bool, Reason> {
        let mut found = false;
        loop {
            self.blanks();
            let opened = if self.take("2>&1") {
                match self.at_boundary() {
                    true => None,
                    false => return Err(REDIRECTION),
                }
            } else if self.take("2>") || self.take("&>") || self.take(">") || self.take("<") {
                Some(())
            } else {
                return Ok(found);
            };
            if !allowed {
                return Err(REDIRECTION);
            }
            found = true;
            if opened.is_some() {
                self.blanks();
                if !(self.take("/dev/null") && self.at_boundary()) {
                    return Err(REDIRECTION);
                }
            }
        }
    }
}
