//! Files and blocks that sayso ships say so in their first line, together with a digest of the rest, so
//! that a later version can tell its own work from what somebody edited.

use sha2::{Digest, Sha256};

/// Whose work a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// Ours, unchanged; perhaps of another version.
    Ours,
    /// Ours, and edited since.
    Edited,
    /// Somebody else's.
    Other,
}

const SAYS: &str =
    "written by `sayso harness install`; if edited, replaced only with --force; digest ";

/// The text with its first line, a comment between `open` and `close`.
pub(super) fn stamped(open: &str, close: &str, body: &str) -> String {
    format!("{open} {SAYS}{}{close}\n{body}", digest(body))
}

/// Whose a text is.
pub(super) fn author(text: &str) -> Author {
    let (first, body) = text.split_once('\n').unwrap_or((text, ""));
    match first.split_once(SAYS) {
        None => Author::Other,
        Some((_, rest)) if rest.starts_with(&digest(body)) => Author::Ours,
        Some(_) => Author::Edited,
    }
}

fn digest(body: &str) -> String {
    crate::id::hex(&Sha256::digest(body.as_bytes())[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_noticed_and_another_version_is_not_one() {
        let text = stamped("<!--", " -->", "one\ntwo\n");
        assert_eq!(author(&text), Author::Ours);
        assert_eq!(author(&stamped("//", "", "other\n")), Author::Ours);
        assert_eq!(author(&text.replace("two", "too")), Author::Edited);
        assert_eq!(author(&text.replace("digest ", "digest 0")), Author::Edited);
        for other in ["", "one\ntwo\n", "# written by hand\n"] {
            assert_eq!(author(other), Author::Other);
        }
    }
}
