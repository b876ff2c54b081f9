//! Words, and the quotes and expansions in them.

use super::{Scanner, Word};
use crate::policy::pattern::HOLE;

/// A word while it is read.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    shape: String,
    /// The rest of the word can become anything (a pattern, braces, a home directory).
    open: bool,
}

impl Draft {
    fn literal(&mut self, c: char) {
        self.text.push(c);
        if !self.open {
            self.shape.push(c);
        }
    }

    fn hole(&mut self, raw: &[char]) {
        self.text.extend(raw);
        if !self.open {
            self.shape.push(HOLE);
        }
    }

    fn open(&mut self, c: char) {
        self.hole(&[c]);
        self.open = true;
    }
}

impl Scanner {
    /// The word that begins here; empty where none does.
    pub(super) fn word(&mut self) -> Word {
        self.rest_of_word(self.at, Draft::default())
    }

    /// The word that begins with `<(` or `>(` here.
    pub(super) fn process_substitution(&mut self) -> Word {
        let from = self.at;
        let mut draft = Draft::default();
        self.at += 2;
        self.nested_list();
        draft.hole(&self.text[from..self.at]);
        self.rest_of_word(from, draft)
    }

    fn rest_of_word(&mut self, from: usize, mut draft: Draft) -> Word {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => self.backslash(&mut draft),
                '\'' => {
                    self.at += 1;
                    self.single_quoted(&mut draft);
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(Some('"'), &mut draft);
                }
                '$' => self.dollar(&mut draft, true),
                '`' => self.backticks(&mut draft),
                '*' | '?' => {
                    self.at += 1;
                    draft.hole(&[c]);
                }
                '~' if self.at == from => {
                    self.at += 1;
                    draft.open(c);
                }
                '[' | '{' => {
                    self.at += 1;
                    draft.open(c);
                }
                HOLE => {
                    self.at += 1;
                    draft.hole(&[c]);
                }
                _ => {
                    self.at += 1;
                    draft.literal(c);
                }
            }
        }
        Word {
            raw: self.text[from..self.at].iter().collect(),
            text: draft.text,
            shape: draft.shape,
        }
    }

    fn backslash(&mut self, draft: &mut Draft) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c) => {
                self.at += 1;
                draft.literal(c);
            }
            None => draft.literal('\\'),
        }
    }

    fn single_quoted(&mut self, draft: &mut Draft) {
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\'' {
                return;
            }
            draft.literal(c);
        }
        self.found.incomplete = true;
    }

    /// Text in which only `$`, backticks and some backslashes are special, up to `close`.
    pub(super) fn double_quoted(&mut self, close: Option<char>, draft: &mut Draft) {
        while let Some(c) = self.peek() {
            match c {
                _ if Some(c) == close => {
                    self.at += 1;
                    return;
                }
                '\\' if self.take("\\\n") => {}
                '\\' => {
                    self.at += 1;
                    if let Some(escaped @ ('$' | '`' | '"' | '\\')) = self.peek() {
                        self.at += 1;
                        draft.literal(escaped);
                    } else {
                        draft.literal('\\');
                    }
                }
                '$' => self.dollar(draft, false),
                '`' => self.backticks(draft),
                _ => {
                    self.at += 1;
                    draft.literal(c);
                }
            }
        }
        self.found.incomplete |= close.is_some();
    }

    fn dollar(&mut self, draft: &mut Draft, unquoted: bool) {
        let from = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.nested_list();
            }
            Some('{') => {
                self.at += 1;
                self.braces(unquoted);
            }
            Some('\'') if unquoted => return self.ansi_quoted(draft),
            Some('"') if unquoted => {
                self.at += 1;
                return self.double_quoted(Some('"'), draft);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-[".contains(c) => self.at += 1,
            _ => return draft.literal('$'),
        }
        draft.hole(&self.text[from..self.at]);
    }

    /// `$'…'`: known only where nothing is escaped.
    fn ansi_quoted(&mut self, draft: &mut Draft) {
        let from = self.at - 1;
        self.at += 1;
        let mut escapes = false;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\\' => {
                    escapes = true;
                    self.at = (self.at + 1).min(self.text.len());
                }
                '\'' if escapes => return draft.hole(&self.text[from..self.at]),
                '\'' => {
                    let inside = from + 2..self.at - 1;
                    inside.for_each(|at| draft.literal(self.text[at]));
                    return;
                }
                _ => {}
            }
        }
        self.found.incomplete = true;
        draft.hole(&self.text[from..self.at]);
    }

    fn backticks(&mut self, draft: &mut Draft) {
        let from = self.at;
        let mut script = String::new();
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '`' => {
                    self.found.scripts.push(script);
                    return draft.hole(&self.text[from..self.at]);
                }
                '\\' => {
                    let escaped = self.peek();
                    self.at += usize::from(escaped.is_some());
                    if !matches!(escaped, Some('`' | '\\' | '$')) {
                        script.push('\\');
                    }
                    script.extend(escaped);
                }
                c => script.push(c),
            }
        }
        self.found.incomplete = true;
        self.found.scripts.push(script);
        draft.hole(&self.text[from..self.at]);
    }

    /// The inside of `${`.
    fn braces(&mut self, unquoted: bool) {
        self.deeper(|scanner| {
            let mut ignored = Draft::default();
            while let Some(c) = scanner.peek() {
                match c {
                    '}' => {
                        scanner.at += 1;
                        return;
                    }
                    '\\' => scanner.backslash(&mut ignored),
                    '$' => scanner.dollar(&mut ignored, true),
                    '`' => scanner.backticks(&mut ignored),
                    '\'' if unquoted => {
                        scanner.at += 1;
                        scanner.single_quoted(&mut ignored);
                    }
                    '"' => {
                        scanner.at += 1;
                        scanner.double_quoted(Some('"'), &mut ignored);
                    }
                    _ => scanner.at += 1,
                }
            }
            scanner.found.incomplete = true;
        });
    }
}
