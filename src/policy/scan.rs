//! A reader of shell text that finds everything that could be run, for denying.
//!
//! Promise: it never fails. It follows bash's tokens, but where the language is richer than it, it
//! rather finds a command too many: every place behind `;`, `&`, `|`, a newline, a parenthesis or
//! the opening of a substitution begins one. What it is known to miss (`case` inside `$(…)`) the
//! grammar in `tree` finds. It takes time linear in the text.

mod word;

use word::Draft;

/// Substitutions inside one another that are followed.
const DEPTH_MAX: usize = 50;

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// As it is written.
    pub(super) raw: String,
    /// Without its quotes and backslashes; expansions stand as they are written.
    pub(super) text: String,
    /// The same with [`super::pattern::HOLE`] wherever the shell puts something of its own.
    pub(super) shape: String,
}

/// A simple command.
#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    /// Assignments in front, program and arguments, redirections left out.
    pub(super) words: Vec<Word>,
    /// Texts of heredocs and here-strings that it reads.
    pub(super) stdin: Vec<String>,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// In the order in which they end.
    pub(super) commands: Vec<Simple>,
    /// The insides of backticks, with their backslashes removed.
    pub(super) scripts: Vec<String>,
    /// Whether something was nested too deeply, or a quote or substitution had no end.
    pub(super) incomplete: bool,
}

/// Everything that a text could run.
pub(super) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner::new(text);
    scanner.list(None);
    scanner.found
}

/// A single word as it is written.
pub(super) fn word(raw: &str) -> Word {
    Scanner::new(raw).word()
}

struct Scanner {
    text: Vec<char>,
    at: usize,
    depth: usize,
    found: Scan,
}

/// A heredoc whose body begins behind the next newline.
struct Heredoc {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    /// The command that reads it; `None` while that is being read.
    owner: Option<usize>,
}

/// The state of one list of commands.
#[derive(Default)]
struct Frame {
    current: Simple,
    parentheses: usize,
    heredocs: Vec<Heredoc>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            depth: 0,
            found: Scan::default(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn looking_at(&self, token: &str) -> bool {
        let mut chars = self.text[self.at..].iter();
        token.chars().all(|c| chars.next() == Some(&c))
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.looking_at(token);
        if there {
            self.at += token.chars().count();
        }
        there
    }

    /// Commands up to the parenthesis that closes them, or to the end.
    fn list(&mut self, close: Option<char>) {
        let mut frame = Frame::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.take("\\\n") => {}
                '\n' => {
                    self.at += 1;
                    self.end_command(&mut frame);
                    self.heredoc_bodies(&mut frame);
                }
                ')' => {
                    self.at += 1;
                    self.end_command(&mut frame);
                    if frame.parentheses == 0 && close.is_some() {
                        return;
                    }
                    frame.parentheses = frame.parentheses.saturating_sub(1);
                }
                '(' => {
                    self.at += 1;
                    self.end_command(&mut frame);
                    frame.parentheses += 1;
                }
                '#' => self.comment(),
                '<' | '>' => self.redirection(&mut frame),
                '&' if self.looking_at("&>") => self.redirection(&mut frame),
                ';' | '&' | '|' => self.operator(&mut frame),
                _ => self.push_word(&mut frame),
            }
        }
        self.end_command(&mut frame);
        self.found.incomplete |= close.is_some() || !frame.heredocs.is_empty();
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn operator(&mut self, frame: &mut Frame) {
        while self.peek().is_some_and(|c| matches!(c, ';' | '&' | '|')) && !self.looking_at("&>") {
            self.at += 1;
        }
        self.end_command(frame);
    }

    fn end_command(&mut self, frame: &mut Frame) {
        let command = std::mem::take(&mut frame.current);
        if command.words.is_empty() {
            return;
        }
        let index = self.found.commands.len();
        self.found.commands.push(command);
        for heredoc in &mut frame.heredocs {
            heredoc.owner.get_or_insert(index);
        }
    }

    fn push_word(&mut self, frame: &mut Frame) {
        let word = self.word();
        let number = !word.raw.is_empty() && word.raw.bytes().all(|b| b.is_ascii_digit());
        let names_descriptor = number && matches!(self.peek(), Some('<' | '>'));
        if !names_descriptor {
            frame.current.words.push(word);
        }
    }

    fn redirection(&mut self, frame: &mut Frame) {
        if self.looking_at("<(") || self.looking_at(">(") {
            let word = self.process_substitution();
            frame.current.words.push(word);
            return;
        }
        let here_string = self.take("<<<");
        let strip_tabs = !here_string && self.take("<<-");
        let heredoc = strip_tabs || !here_string && self.take("<<");
        let begin = self.at;
        while !here_string && !heredoc && self.peek().is_some_and(|c| "<>&|".contains(c)) {
            self.at += 1;
        }
        let operator = &self.text[begin..self.at];
        let duplicates = matches!(operator, ['<' | '>', '&']);
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) || self.take("\\\n") {
            self.at += usize::from(self.peek().is_some_and(|c| matches!(c, ' ' | '\t')));
        }
        // Closing a descriptor is a word of its own: in `2>&-b`, `b` is an argument.
        if duplicates && self.take("-") {
            return;
        }
        let target = self.word();
        if here_string {
            frame.current.stdin.push(target.text);
        } else if heredoc {
            frame.heredocs.push(Heredoc {
                quoted: target.raw != target.text,
                delimiter: target.text,
                strip_tabs,
                owner: None,
            });
        }
    }

    fn heredoc_bodies(&mut self, frame: &mut Frame) {
        for heredoc in std::mem::take(&mut frame.heredocs) {
            let body = self.heredoc_body(&heredoc);
            if !heredoc.quoted {
                let mut inside = Self::new(&body);
                inside.depth = self.depth;
                inside.double_quoted(None, &mut Draft::default());
                self.adopt(inside.found);
            }
            if let Some(owner) = heredoc.owner {
                self.found.commands[owner].stdin.push(body);
            }
        }
    }

    fn heredoc_body(&mut self, heredoc: &Heredoc) -> String {
        let mut body = String::new();
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let mut line = &rest[..length];
            while heredoc.strip_tabs && line.first() == Some(&'\t') {
                line = &line[1..];
            }
            let last = line.iter().copied().eq(heredoc.delimiter.chars());
            body.extend(line);
            body.push('\n');
            self.at = (self.at + length + 1).min(self.text.len());
            if last {
                return body;
            }
        }
        self.found.incomplete = true;
        body
    }

    /// Takes over what was found in a text inside this one.
    fn adopt(&mut self, inner: Scan) {
        self.found.commands.extend(inner.commands);
        self.found.scripts.extend(inner.scripts);
        self.found.incomplete |= inner.incomplete;
    }

    /// The inside of `$(`, `<(` or `>(`.
    fn nested_list(&mut self) {
        self.deeper(|scanner| scanner.list(Some(')')));
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth == DEPTH_MAX {
            self.found.incomplete = true;
            return;
        }
        self.depth += 1;
        read(self);
        self.depth -= 1;
    }
}
