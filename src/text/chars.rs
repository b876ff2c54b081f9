//! Which characters are shown as they are, which as an escape, and how wide each is.

use std::str::Chars;

use unicode_width::UnicodeWidthChar;

use crate::words::is_hidden;

/// Combining marks that one letter may carry; real writing (pointed Hebrew, Tibetan) stays below.
const MARKS: u8 = 8;

/// One character of a text and how it appears.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// The character itself.
    pub(super) char: char,
    /// Whether it appears as `\u{hex}`.
    pub(super) escaped: bool,
    /// Display columns of what appears; zero for a mark that joins what is before it.
    pub(super) width: usize,
}

impl Shown {
    /// Whether it appears as empty space.
    pub(super) fn is_blank(self) -> bool {
        !self.escaped && is_blank(self.char)
    }

    /// Appends what appears.
    pub(super) fn push_to(self, out: &mut String) {
        if self.escaped {
            out.extend(self.char.escape_unicode());
        } else {
            out.push(self.char);
        }
    }
}

/// The characters of `text`, each with the way it is shown.
pub(super) fn pieces(text: &str) -> Pieces<'_> {
    Pieces {
        chars: text.chars(),
        marks_left: 0,
    }
}

/// See [`pieces`].
pub(super) struct Pieces<'a> {
    chars: Chars<'a>,
    marks_left: u8,
}

impl Iterator for Pieces<'_> {
    type Item = Shown;

    fn next(&mut self) -> Option<Shown> {
        let char = self.chars.next()?;
        let width = columns(char);
        let escaped = is_hidden(char) || (width == 0 && self.marks_left == 0);
        self.marks_left = if escaped || is_blank(char) {
            0
        } else if width == 0 {
            self.marks_left - 1
        } else {
            MARKS
        };
        let width = if escaped {
            char.escape_unicode().len()
        } else {
            width
        };
        Some(Shown {
            char,
            escaped,
            width,
        })
    }
}

/// Display columns of one character; zero for marks and controls.
pub(super) fn columns(char: char) -> usize {
    char.width().unwrap_or(0)
}

/// Space-like: every Unicode space that shows as one.
fn is_blank(char: char) -> bool {
    char.is_whitespace() && !is_hidden(char)
}
