//! A whole text under a gutter, wrapped, with nothing cut.

use super::chars::{Shown, pieces};
use super::width;

/// Stands before every line of content; what follows it can look like anything but a bare line.
const GUTTER: &str = "│ ";
/// Stands before the rows in which a line goes on that was too long for one.
const WRAPPED: &str = "┆ ";
/// Stands before what is said about the text in its midst.
const ASIDE: &str = "⋮ ";
/// Longer runs of blank lines are compressed.
const BLANK_LINES: usize = 3;
/// Longer runs of spaces are compressed.
const SPACES: usize = 16;

/// A text laid out for a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// `│ ` and a line of the text, `┆ ` and more of the line before, or `⋮ ` and a count of blank lines;
    /// without line ends. No text can begin a row otherwise than its place in the text says.
    pub lines: Vec<String>,
    /// What a reader must know beside it: one line on escaped characters, one on compressed runs.
    /// Absent where there is nothing to say, so that an imitation within the text stands alone.
    pub notes: Vec<String>,
}

/// The whole text, wrapped into `columns` display columns including the gutter.
///
/// Lines break after a space or before a wide character where they can, else anywhere but between
/// a letter and its marks. Nothing is dropped; runs of more than 3 blank lines or 16 spaces are
/// replaced by their count. Below 20 columns the result is right, but may be wider than asked for.
pub fn block(text: &str, columns: usize) -> Block {
    let mut layout = Layout::new(columns.saturating_sub(width(GUTTER)).max(1));
    let mut blank = Vec::new();
    for line in text.split('\n') {
        if pieces(line).all(Shown::is_blank) {
            blank.push(line);
            continue;
        }
        layout.blank_lines(&blank);
        blank.clear();
        layout.line(line);
    }
    layout.blank_lines(&blank);
    Block {
        notes: layout.tally.notes(text),
        lines: layout.lines,
    }
}

/// What was not shown as it is.
#[derive(Default)]
struct Tally {
    escaped: usize,
    blank_lines: usize,
    line_runs: usize,
    spaces: usize,
    space_runs: usize,
}

impl Tally {
    fn notes(&self, text: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let own = text.matches("\\u{").count();
        if self.escaped > 0 || own > 0 {
            let mut note = match self.escaped {
                0 => "no character is escaped".to_owned(),
                1 => "1 character is shown as \\u{…}".to_owned(),
                many => format!("{many} characters are shown as \\u{{…}}"),
            };
            if own > 0 {
                note += &format!("; \\u{{ stands {} in the text itself", count(own, "time"));
            }
            notes.push(note);
        }
        let mut runs = Vec::new();
        if self.line_runs > 0 {
            let lines = count(self.blank_lines, "blank line");
            runs.push(format!("{lines} in {}", count(self.line_runs, "run")));
        }
        if self.space_runs > 0 {
            let spaces = count(self.spaces, "space");
            runs.push(format!("{spaces} in {}", count(self.space_runs, "run")));
        }
        if !runs.is_empty() {
            notes.push(format!("shortened: {}", runs.join(", ")));
        }
        notes
    }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Lines in the making: those done, the one being filled, and the word that is not placed yet.
struct Layout {
    room: usize,
    gutter: &'static str,
    lines: Vec<String>,
    row: Row,
    word: Row,
    tally: Tally,
}

/// Text and its width.
#[derive(Default)]
struct Row {
    text: String,
    width: usize,
}

impl Row {
    fn take(&mut self) -> String {
        self.width = 0;
        std::mem::take(&mut self.text)
    }
}

impl Layout {
    fn new(room: usize) -> Self {
        Self {
            room,
            gutter: GUTTER,
            lines: Vec::new(),
            row: Row::default(),
            word: Row::default(),
            tally: Tally::default(),
        }
    }

    fn blank_lines(&mut self, blank: &[&str]) {
        if blank.len() <= BLANK_LINES {
            for line in blank {
                self.line(line);
            }
            return;
        }
        self.tally.blank_lines += blank.len();
        self.tally.line_runs += 1;
        self.gutter = ASIDE;
        for word in count(blank.len(), "blank line").split_inclusive(' ') {
            self.atom(word);
            self.place_word();
        }
        self.end_line();
    }

    fn line(&mut self, line: &str) {
        self.gutter = GUTTER;
        let mut rest = pieces(line).peekable();
        let mut after_word = false;
        while let Some(piece) = rest.next() {
            if piece.is_blank() {
                let mut run = vec![piece];
                while let Some(next) = rest.next_if(|next| next.is_blank()) {
                    run.push(next);
                }
                self.blanks(&run, after_word);
                after_word = false;
            } else {
                self.piece(piece);
                after_word = true;
            }
        }
        self.end_line();
    }

    /// The first blank stays with the word before it, so that a line seldom begins with one.
    fn blanks(&mut self, run: &[Shown], after_word: bool) {
        if run.len() > SPACES {
            self.tally.spaces += run.len();
            self.tally.space_runs += 1;
            self.place_word();
            self.atom(&format!("⟨{} spaces⟩", run.len()));
            self.place_word();
            return;
        }
        for (at, blank) in run.iter().enumerate() {
            if at > 0 || !after_word {
                self.place_word();
            }
            self.put(blank.char, blank.width);
        }
        self.place_word();
    }

    fn piece(&mut self, piece: Shown) {
        if piece.escaped {
            self.tally.escaped += 1;
            self.atom(&piece.char.escape_unicode().to_string());
            return;
        }
        if piece.width > 1 {
            self.place_word();
        }
        self.put(piece.char, piece.width);
    }

    /// Adds text that stays in one piece if any line can hold it.
    fn atom(&mut self, text: &str) {
        let wide = width(text);
        if wide <= self.room && self.word.width + wide > self.room {
            self.place_word();
        }
        for char in text.chars() {
            self.put(char, 1);
        }
    }

    /// Adds a character to the word; a word that outgrows a line is broken.
    fn put(&mut self, char: char, width: usize) {
        if width > 0 && self.word.width > 0 && self.word.width + width > self.room {
            self.place_word();
        }
        self.word.text.push(char);
        self.word.width += width;
    }

    /// Moves the word to the row if it fits there, else to the next row.
    fn place_word(&mut self) {
        if self.row.width > 0 && self.row.width + self.word.width > self.room {
            self.end_row();
        }
        self.row.width += self.word.width;
        self.row.text += &self.word.take();
    }

    fn end_row(&mut self) {
        let gutter = self.gutter;
        let text = self.row.take();
        self.lines.push(format!("{gutter}{text}"));
        if gutter == GUTTER {
            self.gutter = WRAPPED;
        }
    }

    fn end_line(&mut self) {
        self.place_word();
        self.end_row();
    }
}
