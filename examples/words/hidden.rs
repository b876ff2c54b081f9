//! Which characters are hidden, from Unicode's own properties. The test that compares the table with the
//! committed one builds it with this same file.

use std::fmt::Write;

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Drawn as nothing or as plain room, although no property says so: what stands in for a missing object,
/// and letters, marks and signs that are blank by their name.
const BLANK: [u32; 7] = [
    0x2800,  // Braille pattern blank
    0xFFFC,  // object replacement character
    0x13441, // Egyptian hieroglyph full blank
    0x13442, // Egyptian hieroglyph half blank
    0x16FE4, // Khitan small script filler
    0x1BC9D, // Duployan thick letter selector
    0x1D159, // musical symbol null notehead
];

/// Spaces that ordinary writing needs: the space, the two of French and the one of Chinese and Japanese.
const WRITTEN_SPACES: [u32; 4] = [0x20, 0xA0, 0x202F, 0x3000];

fn is_hidden(code: u32) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate,
        Unassigned,
    };
    match CodePointMapData::<GeneralCategory>::new().get32(code) {
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Surrogate
        | Unassigned => true,
        SpaceSeparator => !WRITTEN_SPACES.contains(&code),
        _ => {
            BLANK.contains(&code)
                || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains32(code)
        }
    }
}

/// The hidden code points as ranges, both ends included, in order and apart from one another.
pub(crate) fn ranges() -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in (0..=0x10_FFFF).filter(|code| is_hidden(*code)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    ranges
}

/// The text of `src/words/hidden.rs`.
pub(crate) fn file() -> String {
    let mut text = String::from(
        "//! Made by `cargo run --example words`; what is in it and why stands there.\n\n\
         /// Code points that are shown as escapes: ranges, both ends included, in order. Unicode 18.\n\
         #[rustfmt::skip]\n\
         pub(super) const HIDDEN: &[(u32, u32)] = &[\n",
    );
    for row in ranges().chunks(4) {
        let cells: Vec<String> = row
            .iter()
            .map(|(first, last)| format!("(0x{first:04X}, 0x{last:04X}),"))
            .collect();
        let _ = writeln!(text, "    {}", cells.join(" "));
    }
    text + "];\n"
}
