//! One word: what the shells make of it, or why that cannot be said beforehand.

use std::ops::Range;

use super::{RESERVED, Reader, Reason, is_among};

/// A word as it was read.
#[derive(Debug)]
pub(in crate::policy) struct Word {
    /// Where it is in the text.
    pub(in crate::policy) range: Range<usize>,
    pub(super) pieces: Vec<Piece>,
    /// Whether a file name pattern or a home directory is in it: it stands for one or several words
    /// that begin with the text before.
    pub(super) expands: bool,
    /// Whether anything in it is quoted.
    quoted: bool,
    /// Whether it has braces.
    braced: bool,
    /// Whether it begins with a name and an equals sign, neither of them quoted.
    assigns: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// A loop's variable.
    Variable {
        name: String,
        quoted: bool,
    },
}

/// Whether a character can stand in a variable's name.
pub(super) fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a word in front of a command sets a variable.
pub(in crate::policy) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    name.bytes().next().is_some_and(letter) && name.bytes().all(|b| letter(b) || b.is_ascii_digit())
}

impl Word {
    fn new(from: usize) -> Self {
        Self {
            range: from..from,
            pieces: vec![],
            expands: false,
            quoted: false,
            braced: false,
            assigns: false,
        }
    }

    fn push(&mut self, c: char) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            return text.push(c);
        }
        self.pieces.push(Piece::Text(c.to_string()));
    }

    fn quoted_text(&mut self) {
        self.quoted = true;
        if self.pieces.is_empty() {
            self.pieces.push(Piece::Text(String::new()));
        }
    }

    /// The literal text that it begins with.
    fn head(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    fn ends_with(&self, ends: [char; 2]) -> bool {
        matches!(self.pieces.last(), Some(Piece::Text(text)) if text.ends_with(ends))
    }

    /// The text before a pattern, where that alone says that the word cannot become an option.
    fn fixes_its_beginning(&self) -> bool {
        let holds = |c: char| {
            let mut pieces = self.pieces.iter();
            pieces.any(|piece| matches!(piece, Piece::Text(text) if text.contains(c)))
        };
        holds('/') || self.is_option() && holds('=')
    }

    pub(super) fn is_option(&self) -> bool {
        self.head().starts_with('-')
    }

    /// Whether it is this text, without quotes.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        !self.quoted && self.pieces == [Piece::Text(text.to_owned())]
    }

    /// `NAME=value`, the name and the sign unquoted. A name that is quoted is refused by `names_program`.
    pub(super) fn is_assignment(&self) -> bool {
        self.assigns && !self.expands && !self.braced
    }

    /// Whether it can stand where a program is named.
    pub(super) fn names_program(&self) -> Result<(), Reason> {
        let [Piece::Text(name)] = &self.pieces[..] else {
            return Err("a program that an expansion names, or none");
        };
        if !self.quoted && is_among(RESERVED, name) {
            return Err("a reserved word");
        }
        if name.contains('=') {
            return Err("an assignment");
        }
        if name.contains([' ', '\t', '\n']) {
            return Err("a program name that is empty or has blanks");
        }
        let pattern = self.expands && !name.starts_with('~');
        if pattern || self.braced || name.contains(['*', '?']) {
            return Err("a pattern or braces in a program's name");
        }
        Ok(())
    }
}

/// Characters behind a `$` between double quotes before which it is no expansion.
const BEHIND_DOLLAR: &[char] = &[
    '"', ' ', '\t', '\n', '/', '|', ')', ']', '.', ',', ';', '%', '\\',
];

impl Reader<'_> {
    /// The word that begins here.
    pub(super) fn word(&mut self) -> Result<Word, Reason> {
        let mut word = Word::new(self.at);
        if self.rest().starts_with('#') {
            return Err("a comment");
        }
        // zsh takes `=ls` for the path of `ls`, but `=` for itself.
        if self.rest().starts_with('=') && !self.rest().starts_with("= ") {
            return Err("a word that begins with =");
        }
        if let Some(bracket @ ('[' | ']')) = self.peek() {
            let alone = self.at + 1;
            if self.text[alone..].is_empty() || self.text[alone..].starts_with([' ', '\n', ';']) {
                word.push(bracket);
                self.at = alone;
            }
        }
        while !self.at_boundary() && !self.rest().starts_with(['<', '>']) {
            self.piece(&mut word)?;
        }
        if self.at == word.range.start {
            return Err(super::REDIRECTION);
        }
        word.range.end = self.at;
        // Digits in front of a redirection name what it redirects.
        let digits = matches!(&word.pieces[..], [Piece::Text(text)] if text.bytes().all(|b| b.is_ascii_digit()));
        if digits && !word.quoted && !self.at_boundary() {
            return Err(super::REDIRECTION);
        }
        Ok(word)
    }

    fn piece(&mut self, word: &mut Word) -> Result<(), Reason> {
        let Some(c) = self.peek() else {
            return Ok(());
        };
        match c {
            '\'' => return self.single_quoted(word),
            '"' => return self.double_quoted(word),
            '\\' => return self.backslash(word),
            '$' => return self.dollar(word, false),
            '{' => return self.braces(word),
            '`' => return Err("an expansion"),
            '}' => return Err("braces"),
            '(' => return Err("parentheses"),
            '*' | '?' | '[' => {
                if !word.fixes_its_beginning() {
                    return Err(
                        "a file name pattern that could become an option; ./ in front of it would do",
                    );
                }
                word.expands = true;
            }
            ']' if !word.expands => return Err("a file name pattern"),
            '~' if word.range.start == self.at => {
                let behind = &self.rest()[1..];
                if !behind.is_empty()
                    && !behind.starts_with([' ', '\t', '\n', '/', ';', '&', '|', ')'])
                {
                    return Err("somebody's home directory");
                }
                word.expands = true;
            }
            '~' if word.ends_with(['=', ':']) => return Err("a home directory"),
            '=' => word.assigns |= !word.quoted && is_name(word) && word.range.start < self.at,
            _ => {}
        }
        word.push(c);
        self.at += c.len_utf8();
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), Reason> {
        let inside = &self.rest()[1..];
        let end = inside.find('\'').ok_or("a quote without its end")?;
        word.quoted_text();
        inside[..end].chars().for_each(|c| word.push(c));
        self.at += end + 2;
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Reason> {
        word.quoted_text();
        self.at += 1;
        loop {
            let c = self.peek().ok_or("a quote without its end")?;
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '`' => return Err("an expansion between double quotes"),
                '$' if self.rest()[1..].starts_with(BEHIND_DOLLAR) => word.push('$'),
                '$' => {
                    self.dollar(word, true)?;
                    continue;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => {}
                        Some(escaped @ ('$' | '`' | '"' | '\\')) => word.push(escaped),
                        _ => {
                            word.push('\\');
                            continue;
                        }
                    }
                }
                c => word.push(c),
            }
            self.at += self.peek().map_or(0, char::len_utf8);
        }
    }

    fn backslash(&mut self, word: &mut Word) -> Result<(), Reason> {
        match self.rest()[1..].chars().next() {
            Some(c) if c == ' ' || c.is_ascii_graphic() => word.push(c),
            Some('\n') => return Err("a line that goes on within a word"),
            _ => return Err("a backslash"),
        }
        word.quoted = true;
        self.at += 2;
        Ok(())
    }

    /// A loop's variable, or one of the two whose value is digits.
    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Reason> {
        let behind = &self.rest()[1..];
        if behind.starts_with(['?', '#']) {
            let ends = behind[1..].starts_with(['"', ' ', '\t', '\n', ';', ')', ',', '.']);
            if !ends && !behind[1..].is_empty() {
                return Err("an expansion");
            }
            self.text[self.at..self.at + 2]
                .chars()
                .for_each(|c| word.push(c));
            word.expands = true;
            self.at += 2;
            return Ok(());
        }
        let braced = behind.strip_prefix('{');
        let from = braced.unwrap_or(behind);
        let name = &from[..from.find(|c| !in_name(c)).unwrap_or(from.len())];
        if !self.variables.contains(&name) {
            return Err("an expansion");
        }
        let after = &from[name.len()..];
        // zsh reads a subscript or a modifier behind a variable without braces.
        let ends = match braced {
            Some(_) => after.starts_with('}'),
            None => !after.starts_with(['[', ':']),
        };
        if !ends {
            return Err("an expansion");
        }
        word.pieces.push(Piece::Variable {
            name: name.to_owned(),
            quoted,
        });
        self.at += 1 + name.len() + 2 * usize::from(braced.is_some());
        Ok(())
    }

    /// Braces that no shell expands: without a comma or `..` between them.
    fn braces(&mut self, word: &mut Word) -> Result<(), Reason> {
        const OTHER: Reason = "braces";
        let inside = &self.rest()[1..];
        let end = inside.find('}').ok_or(OTHER)?;
        let plain = |c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+' | ':')
        };
        if !inside[..end].chars().all(plain) || inside[..end].contains("..") {
            return Err(OTHER);
        }
        self.text[self.at..self.at + end + 2]
            .chars()
            .for_each(|c| word.push(c));
        word.braced = true;
        self.at += end + 2;
        Ok(())
    }
}

fn is_name(word: &Word) -> bool {
    let [Piece::Text(name)] = &word.pieces[..] else {
        return false;
    };
    name.chars().all(in_name) && !name.starts_with(|c: char| c.is_ascii_digit())
}
