//! Text of ours in a file that people write by hand: one block, put at the end and taken out again.
//!
//! Nothing outside the block changes. The line end that is put in front of it belongs to it, so that a
//! file without a last line end, and an empty one, come back as they were.

use std::ops::Range;

/// The text with `block` at `old`, or at the end if there is none yet. A block ends with a line end.
pub(super) fn put(text: Option<&str>, old: Option<Range<usize>>, block: &str) -> String {
    match (text, old) {
        (None, _) => block.to_owned(),
        (Some(text), None) => format!("{text}\n{block}"),
        (Some(text), Some(old)) => format!("{}{block}{}", &text[..old.start], &text[old.end..]),
    }
}

/// The text without the block at `at`; `None` if there is nothing else and the file was made for it.
pub(super) fn cut(text: &str, at: &Range<usize>) -> Option<String> {
    let start = at.start - usize::from(text[..at.start].ends_with('\n'));
    let rest = format!("{}{}", &text[..start], &text[at.end..]);
    (at.start > 0 || !rest.is_empty()).then_some(rest)
}

/// Where a line that begins with `prefix` begins.
pub(super) fn line(text: &str, prefix: &str) -> Option<usize> {
    if text.starts_with(prefix) {
        return Some(0);
    }
    text.match_indices(prefix)
        .map(|(at, _)| at)
        .find(|&at| text[..at].ends_with('\n'))
}

/// Just after the line that `at` is on, line end included.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |i| at + i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn put_then_cut_is_the_identity(text in prop::option::of("[a-c\\n\\r]{0,8}")) {
            let with = put(text.as_deref(), None, "# ours\nx\n");
            let start = line(&with, "# ours").unwrap();
            let at = start..line_end(&with, line_end(&with, start));
            prop_assert_eq!(put(Some(&with), Some(at.clone()), "# ours\nx\n"), with.clone());
            prop_assert_eq!(cut(&with, &at), text);
        }
    }
}
