//! Which characters are shown as they are, which as an escape, and how wide each is.

use std::str::Chars;

use unicode_width::UnicodeWidthChar;

/// Combining marks that one letter may carry; real writing (pointed Hebrew, Tibetan) stays below.
const MARKS: u8 = 8;

/// Format characters (general category Cf), default-ignorable code points
/// (`DerivedCoreProperties.txt`), line and paragraph separator, and the noncharacters of the BMP;
/// Unicode 17, sorted. Unassigned default-ignorables are in it, so later versions add little.
const HIDDEN: &[(u32, u32)] = &[
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x0600, 0x0605),
    (0x061C, 0x061C),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
];

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

/// Space-like: every Unicode space that is not a control, and the empty Braille pattern.
fn is_blank(char: char) -> bool {
    (char.is_whitespace() || char == '\u{2800}') && !is_hidden(char)
}

/// Never shown as it is, wherever it stands.
pub(super) fn is_hidden(char: char) -> bool {
    let code = u32::from(char);
    char.is_control()
        || code & 0xFFFE == 0xFFFE
        || HIDDEN
            .binary_search_by(|&(first, last)| {
                if last < code {
                    std::cmp::Ordering::Less
                } else if first > code {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
}
