//! Which characters a person can see.

/// Ranges of format and default-ignorable characters, line and paragraph separators, blank letters,
/// and private use. Source: Unicode 16, `DerivedCoreProperties.txt` (`Default_Ignorable_Code_Point`) and
/// `UnicodeData.txt` (general categories Cf, Zl, Zp, Co).
const HIDDEN: &[(u32, u32)] = &[
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
    (0xf0000, 0x10_ffff),
];

/// Whether every character shows, blanks being space, tab and newline only.
pub(super) fn all_visible(text: &str) -> bool {
    text.chars().all(|c| match c {
        ' ' | '\t' | '\n' => true,
        c if c.is_ascii() => !c.is_ascii_control(),
        c => !(c.is_control() || c.is_whitespace() || hidden(c)),
    })
}

fn hidden(c: char) -> bool {
    let code = u32::from(c);
    let after = HIDDEN.partition_point(|(first, _)| *first <= code);
    after > 0 && code <= HIDDEN[after - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_is_found() {
        for text in ["", "git log\n\tx", "grüße 日本 שלום 👍 é"] {
            assert!(all_visible(text), "{text}");
        }
        for c in [
            '\0',
            '\r',
            '\x1b',
            '\x7f',
            '\u{85}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{200b}',
            '\u{202e}',
            '\u{2028}',
            '\u{2029}',
            '\u{2066}',
            '\u{3000}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{e0041}',
            '\u{e000}',
            '\u{10ffff}',
        ] {
            assert!(!all_visible(&format!("a{c}b")), "{c:?}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
    }
}
