//! The scripts of sed, as far as it takes to see what they run and write.
//!
//! A delimiter inside `[…]` ends no regular expression: a sed that thinks otherwise finds the bracket unmatched and
//! runs nothing. What is not understood counts as a trapdoor. Source: sed(1) and the manual of GNU sed 4.9; POSIX sed.

use super::table::Row;
use super::{Does, Found};

const FLAGS: &str = "--quiet --silent --debug --follow-symlinks --posix --regexp-extended --separate --sandbox \
    --unbuffered --null-data --zero-terminated --help --version";

/// Looks through the scripts on a command line.
pub(super) fn look<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let Some(scripts) = scripts(arguments) else {
        found.add(Does::Unclear, "(options)", "");
        return;
    };
    for script in scripts {
        match Script::new(&script).read() {
            Ok(()) => {}
            Err(Stop::Trapdoor(does, name)) => found.add(does, name, &script),
            Err(Stop::Unclear) => found.add(Does::Unclear, "(script)", &script),
        }
    }
}

/// What may be read as the script: the values of -e together, else the first operand. `None` where an option
/// is not known.
fn scripts(arguments: &[String]) -> Option<Vec<String>> {
    let mut pieces: Vec<&str> = vec![];
    let mut operands: Vec<&str> = vec![];
    let mut doubtful = 1;
    let mut words = arguments.iter().map(|word| &**word);
    let mut ended = false;
    while let Some(word) = words.next() {
        if ended || !word.starts_with('-') || word == "-" {
            operands.push(word);
        } else if word == "--" {
            ended = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let starts = |full: &str| full[2..].starts_with(name);
            if starts("--expression") {
                pieces.push(value.or_else(|| words.next()).unwrap_or_default());
            } else if starts("--line-length") {
                doubtful += 1;
            } else if starts("--file") || starts("--in-place") {
                // A row of the table names them; a file may follow.
                doubtful += 1;
            } else if !FLAGS.split_ascii_whitespace().any(starts) {
                return None;
            }
        } else {
            doubtful += bundle(&word[1..], &mut words, &mut pieces)?;
        }
    }
    if !pieces.is_empty() {
        return Some(vec![pieces.join("\n")]);
    }
    Some(
        operands
            .into_iter()
            .take(doubtful)
            .map(str::to_owned)
            .collect(),
    )
}

/// Reads short options; gives how many words behind may be values of theirs.
fn bundle<'a>(
    letters: &'a str,
    words: &mut impl Iterator<Item = &'a str>,
    pieces: &mut Vec<&'a str>,
) -> Option<usize> {
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        match letter {
            'n' | 'E' | 'r' | 's' | 'u' | 'z' | 'a' | 'b' | 'H' => {}
            'e' if rest.is_empty() => pieces.push(words.next().unwrap_or_default()),
            'e' => pieces.push(rest),
            'l' | 'f' | 'i' | 'I' => return Some(1),
            _ => return None,
        }
        if letter == 'e' {
            break;
        }
    }
    Some(0)
}

/// Why reading stops.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Trapdoor(Does, &'static str),
    /// The script is not understood here.
    Unclear,
}

struct Script {
    text: Vec<char>,
    at: usize,
}

type Step = Result<(), Stop>;

impl Script {
    fn new(text: &str) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn skip(&mut self, class: impl Fn(char) -> bool) -> usize {
        let from = self.at;
        while self.peek().is_some_and(&class) {
            self.at += 1;
        }
        self.at - from
    }

    fn blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    fn read(&mut self) -> Step {
        loop {
            self.skip(|c| c == ';' || c.is_ascii_whitespace());
            if self.peek().is_none() {
                return Ok(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Step {
        if self.address()? {
            self.blanks();
            if self.peek() == Some(',') {
                self.at += 1;
                self.blanks();
                if matches!(self.peek(), Some('+' | '~')) {
                    self.at += 1;
                }
                if !self.address()? {
                    return Err(Stop::Unclear);
                }
            }
        }
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        Ok(())
    }

    /// Whether one stands here.
    fn address(&mut self) -> Result<bool, Stop> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some('0'..='9') => {
                self.skip(|c| c.is_ascii_digit() || c == '~');
            }
            Some('/') => {
                self.at += 1;
                self.regex('/')?;
            }
            Some('\\') => {
                self.at += 1;
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn regex(&mut self, delimiter: char) -> Step {
        self.until(delimiter, true)?;
        self.skip(|c| c == 'I' || c == 'M');
        Ok(())
    }

    fn delimiter(&mut self) -> Result<char, Stop> {
        match self.next() {
            None | Some('\n' | '\\') => Err(Stop::Unclear),
            Some('[' | ']') => Err(Stop::Unclear),
            Some(c) => Ok(c),
        }
    }

    /// Reads over the delimiter.
    fn until(&mut self, delimiter: char, brackets: bool) -> Step {
        loop {
            match self.next() {
                None | Some('\n') => return Err(Stop::Unclear),
                Some(c) if c == delimiter => return Ok(()),
                Some('\\') => {
                    self.next();
                }
                Some('[') if brackets => self.bracket()?,
                Some(_) => {}
            }
        }
    }

    /// The rest of `[…]`.
    fn bracket(&mut self) -> Step {
        self.skip_one('^');
        self.skip_one(']');
        loop {
            match self.next() {
                None | Some('\n') => return Err(Stop::Unclear),
                Some(']') => return Ok(()),
                // A class `[:alpha:]` ends in `]` as well, and seds differ about a backslash here.
                Some('[') if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    self.skip(|c| c != ']' && c != '\n');
                    self.next();
                }
                Some('\\') if self.peek() == Some(']') => return Err(Stop::Unclear),
                Some(_) => {}
            }
        }
    }

    fn skip_one(&mut self, c: char) {
        self.at += usize::from(self.peek() == Some(c));
    }

    fn command(&mut self) -> Step {
        match self.next() {
            None => Err(Stop::Unclear),
            Some('{') => Ok(()),
            Some('#') => {
                self.line();
                Ok(())
            }
            Some('e') => Err(Stop::Trapdoor(Does::Runs, "e")),
            Some('w' | 'W') => Err(Stop::Trapdoor(Does::Writes, "w")),
            Some(
                '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'F'
                | 'z',
            ) => self.end(),
            Some('l' | 'L' | 'q' | 'Q') => {
                self.blanks();
                self.skip(|c| c.is_ascii_digit());
                self.end()
            }
            Some(':' | 'b' | 't' | 'T') => {
                self.blanks();
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            Some('a' | 'i' | 'c') => self.added(),
            Some('r' | 'R') => {
                self.line();
                Ok(())
            }
            Some('y') => {
                let delimiter = self.delimiter()?;
                self.until(delimiter, false)?;
                self.until(delimiter, false)?;
                self.end()
            }
            Some('s') => self.substitution(),
            Some(_) => Err(Stop::Unclear),
        }
    }

    /// The rest of a line.
    fn line(&mut self) -> String {
        let from = self.at;
        self.skip(|c| c != '\n');
        self.text[from..self.at].iter().collect()
    }

    /// What may stand behind a command.
    fn end(&mut self) -> Step {
        self.blanks();
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => Err(Stop::Unclear),
        }
    }

    /// Text to add: up to a line that does not end in a backslash.
    fn added(&mut self) -> Step {
        self.blanks();
        if self.peek() == Some('\\') && self.text.get(self.at + 1) == Some(&'\\') {
            return Err(Stop::Unclear);
        }
        loop {
            let line = self.line();
            self.next();
            if line.ends_with("\\\\") {
                return Err(Stop::Unclear);
            }
            if !line.ends_with('\\') {
                return Ok(());
            }
        }
    }

    fn substitution(&mut self) -> Step {
        let delimiter = self.delimiter()?;
        self.until(delimiter, true)?;
        self.until(delimiter, false)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.at += 1,
                Some('e') => return Err(Stop::Trapdoor(Does::Runs, "e")),
                Some('w') => return Err(Stop::Trapdoor(Does::Writes, "w")),
                _ => return self.end(),
            }
        }
    }
}
