//! Which characters a person can see.

use crate::words::is_hidden;

/// Whether every character shows, blanks being space, tab and newline only.
pub(super) fn all_visible(text: &str) -> bool {
    text.chars().all(|c| match c {
        ' ' | '\t' | '\n' => true,
        c if c.is_ascii() => !c.is_ascii_control(),
        c => !(c.is_whitespace() || is_hidden(c)),
    })
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
}
