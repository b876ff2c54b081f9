//! The programs of awk, as far as it takes to see pipes, output to files and calls of other programs.
//!
//! What is not understood counts as a trapdoor. Source: gawk(1) 5.2, mawk(1) 1.3.4, POSIX awk; GTFOBins.

use super::table::Row;
use super::{Does, Found};

/// Looks through the program on a command line.
pub(super) fn look<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for at in super::options::operands(row, arguments) {
        let program = &arguments[at];
        if let Err((does, name)) = Program::new(program).read() {
            found.add(does, name, program);
        }
    }
}

type Stop = (Does, &'static str);
const UNCLEAR: Stop = (Does::Unclear, "(program)");

/// Words behind which a slash could do either.
const KEYWORDS: &[&str] = &[
    "return", "in", "else", "do", "case", "getline", "delete", "exit", "func", "function",
];

/// What stands before a place in a program.
#[derive(PartialEq, Eq)]
enum Behind {
    /// A slash divides.
    Value,
    /// A slash begins a regular expression.
    Sign,
    /// It could do either.
    Either,
}

struct Program {
    text: Vec<char>,
    at: usize,
    /// What stands before, which says what a slash is.
    behind: Behind,
    /// Whether a `print` began in this statement.
    printing: bool,
    depth: usize,
}

impl Program {
    fn new(text: &str) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            behind: Behind::Sign,
            printing: false,
            depth: 0,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn read(&mut self) -> Result<(), Stop> {
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                ' ' | '\t' | '\r' => {}
                '\n' => self.behind = Behind::Sign,
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '"' => self.string()?,
                '/' if self.behind == Behind::Sign => self.regex()?,
                '/' => self.division()?,
                'a'..='z' | 'A'..='Z' | '_' => self.word()?,
                '0'..='9' => self.behind = Behind::Value,
                '\\' if self.peek() == Some('\n') => self.at += 1,
                '|' | '>' => self.output(c)?,
                '+' | '-' if self.peek() == Some(c) => {
                    self.at += 1;
                    self.behind = Behind::Either;
                }
                _ => self.sign(c)?,
            }
        }
        Ok(())
    }

    fn sign(&mut self, c: char) -> Result<(), Stop> {
        match c {
            '(' => self.depth += 1,
            ')' => self.depth = self.depth.saturating_sub(1),
            ';' | '{' | '}' => {
                self.printing = false;
                self.depth = 0;
            }
            '[' | ']' | ',' | '!' | '~' | '&' | '=' | '<' | '+' | '-' | '*' | '/' | '%' | '^'
            | '?' | ':' | '.' | '$' => {}
            _ => return Err(UNCLEAR),
        }
        self.behind = match c {
            ')' => Behind::Either,
            ']' => Behind::Value,
            _ => Behind::Sign,
        };
        Ok(())
    }

    fn string(&mut self) -> Result<(), Stop> {
        loop {
            match self.peek() {
                None | Some('\n') => return Err(UNCLEAR),
                Some('\\') => self.at += 2,
                Some('"') => break,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        self.behind = Behind::Value;
        Ok(())
    }

    /// awks differ about a slash inside brackets.
    fn regex(&mut self) -> Result<(), Stop> {
        let mut brackets = false;
        loop {
            match self.peek() {
                None | Some('\n') => return Err(UNCLEAR),
                Some('/') if brackets => return Err(UNCLEAR),
                Some('/') => break,
                Some('\\') if brackets => return Err(UNCLEAR),
                Some('\\') => self.at += 1,
                Some('[') => {
                    brackets = true;
                    let begins = self.text.get(self.at + 1..self.at + 3).unwrap_or_default();
                    if matches!(begins, [']', _] | ['^', ']']) {
                        return Err(UNCLEAR);
                    }
                }
                Some(']') => brackets = false,
                Some(_) => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.behind = Behind::Value;
        Ok(())
    }

    fn word(&mut self) -> Result<(), Stop> {
        let from = self.at - 1;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            self.at += 1;
        }
        let word: String = self.text[from..self.at].iter().collect();
        match &*word {
            "system" => return Err((Does::Runs, "system")),
            "extension" => return Err((Does::Runs, "extension")),
            "print" | "printf" => {
                self.printing = true;
                self.behind = Behind::Sign;
                return Ok(());
            }
            _ => {}
        }
        self.behind = Behind::Value;
        if KEYWORDS.contains(&&*word) {
            self.behind = Behind::Either;
        }
        Ok(())
    }

    /// `|`, `||`, `>`, `>=` and `>>`.
    fn output(&mut self, c: char) -> Result<(), Stop> {
        self.behind = Behind::Sign;
        match (c, self.peek()) {
            ('|', Some('|')) | ('>', Some('=')) => self.at += 1,
            ('|', _) => return Err((Does::Runs, "|")),
            (_, Some('>')) => return Err((Does::Writes, ">>")),
            _ if self.printing && self.depth == 0 => return Err((Does::Writes, ">")),
            _ => {}
        }
        Ok(())
    }

    /// A slash that divides, or could. Without another one behind it, it begins no regular expression.
    fn division(&mut self) -> Result<(), Stop> {
        if self.behind == Behind::Either && self.text[self.at..].contains(&'/') {
            return Err(UNCLEAR);
        }
        self.behind = Behind::Sign;
        Ok(())
    }
}
