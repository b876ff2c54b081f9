//! The small part of the shell's language in which a command can be allowed without a human.
//!
//! Promise: when [`commands`] takes a text, then bash, dash and zsh run exactly the listed simple
//! commands with exactly the listed words, and touch no file by redirection but `/dev/null`. It is a
//! reader of its own, beside the grammar in `tree`, so that a fault in either cannot allow anything alone.

/// Words that begin another construct when they stand, unquoted, where a program is named. The last row is zsh's.
const RESERVED: &[&str] = &[
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "do",
    "done",
    "case",
    "esac",
    "while",
    "until",
    "for",
    "select",
    "in",
    "function",
    "time",
    "coproc",
    "!", //
    "repeat",
    "foreach",
    "end",
    "nocorrect",
    "noglob",
    "-",
];

/// Why a text is not in the small part of the language; for a person.
pub(super) type Reason = &'static str;

/// The words of the text's simple commands, quotes removed.
///
/// # Errors
/// Names the first thing that has to be looked at by a human.
pub(super) fn commands(text: &str) -> Result<Vec<Vec<String>>, Reason> {
    let mut reader = Reader {
        rest: text,
        commands: vec![],
        words: vec![],
        owed: true,
    };
    reader.read()?;
    Ok(reader.commands)
}

const REDIRECTION: Reason = "a redirection";

struct Reader<'a> {
    rest: &'a str,
    commands: Vec<Vec<String>>,
    /// Of the command that is being read.
    words: Vec<String>,
    /// Whether an operator (or the beginning) demands that a command follows.
    owed: bool,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), Reason> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            let Some(next) = self.rest.chars().next() else {
                return self.finish();
            };
            match next {
                '\n' => {
                    self.take("\n");
                    self.end_command();
                }
                ';' | '&' | '|' | '<' | '>' => self.operator()?,
                '#' => return Err("a comment"),
                _ => self.word()?,
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let taken = self.rest.strip_prefix(token);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn end_command(&mut self) {
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
            self.owed = false;
        }
    }

    fn finish(&mut self) -> Result<(), Reason> {
        self.end_command();
        if self.owed {
            return Err("a command is missing");
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Reason> {
        if self.take("&>") || self.take(">") {
            return self.null_device();
        }
        if self.take("<") {
            return self.null_device();
        }
        if self.words.is_empty() {
            return Err("a command is missing");
        }
        self.end_command();
        if self.take("&&") || self.take("||") {
            self.owed = true;
        } else if self.take("|") {
            if self.rest.starts_with('&') {
                return Err("the operator |&");
            }
            self.owed = true;
        } else if self.take(";") {
            if self.rest.starts_with([';', '&', '|']) {
                return Err("an operator that is not plain");
            }
        } else {
            return Err("a background job");
        }
        Ok(())
    }

    /// The target of a redirection, which may only be `/dev/null`.
    fn null_device(&mut self) -> Result<(), Reason> {
        if self.words.is_empty() {
            return Err(REDIRECTION);
        }
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if self.take("/dev/null") && self.at_boundary() {
            return Ok(());
        }
        Err(REDIRECTION)
    }

    fn at_boundary(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with([' ', '\t', '\n', ';', '&', '|'])
    }

    fn word(&mut self) -> Result<(), Reason> {
        let from = self.rest;
        let mut word = String::new();
        let mut quoted = false;
        while let Some(next) = self.rest.chars().next() {
            match next {
                '\'' | '"' => {
                    quoted = true;
                    word.push_str(self.quoted(next)?);
                    continue;
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' => break,
                '<' | '>' => return self.before_redirection(word, quoted),
                '$' | '`' => return Err("an expansion"),
                '*' | '?' | '[' | ']' => return Err("a file name pattern"),
                '{' | '}' => return Err("braces"),
                '~' => return Err("a home directory"),
                '\\' => return Err("a backslash"),
                '(' | ')' => return Err("parentheses"),
                '=' if self.rest.len() == from.len() => return Err("a word that begins with ="),
                c => word.push(c),
            }
            self.rest = &self.rest[next.len_utf8()..];
        }
        self.push(word, quoted)
    }

    /// A word that runs into `<` or `>`: `2` in `2>&1` and `2>/dev/null` is no word.
    fn before_redirection(&mut self, word: String, quoted: bool) -> Result<(), Reason> {
        let all_digits = word.bytes().all(|b| b.is_ascii_digit());
        if quoted || !all_digits {
            return self.push(word, quoted);
        }
        if word == "2" && self.take(">&1") {
            let plain = self.at_boundary() && !self.words.is_empty();
            return if plain { Ok(()) } else { Err(REDIRECTION) };
        }
        if word == "2" && self.take(">") {
            return self.null_device();
        }
        Err(REDIRECTION)
    }

    /// What stands between two quotes.
    fn quoted(&mut self, quote: char) -> Result<&'a str, Reason> {
        let inner = &self.rest[1..];
        let Some(end) = inner.find(quote) else {
            return Err("a quote without its end");
        };
        let inside = &inner[..end];
        if quote == '"' && inside.contains(['$', '`', '\\']) {
            return Err("an expansion or backslash between double quotes");
        }
        self.rest = &inner[end + 1..];
        Ok(inside)
    }

    fn push(&mut self, word: String, quoted: bool) -> Result<(), Reason> {
        if self.words.is_empty() {
            if !quoted && RESERVED.contains(&&*word) {
                return Err("a reserved word");
            }
            if !quoted && is_assignment(&word) || quoted && word.contains('=') {
                return Err("an assignment");
            }
            if word.is_empty() || word.contains([' ', '\t', '\n']) {
                return Err("a program name that is empty or has blanks");
            }
        }
        self.words.push(word);
        Ok(())
    }
}

/// Whether a word in front of a command sets a variable.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    name.bytes().next().is_some_and(letter) && name.bytes().all(|b| letter(b) || b.is_ascii_digit())
}
