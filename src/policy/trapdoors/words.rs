//! What a single word can be: a path that leads elsewhere, an address, an assignment.

/// Places that a program may write to without leaving anything.
const DEVICES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Whether a path goes up through `..`.
pub(super) fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Whether a path leads out of the working directory, or to what is hidden in it (`.git/hooks`).
pub(super) fn leads_away(path: &str) -> bool {
    if DEVICES.contains(&path) || path == "-" {
        return false;
    }
    path.starts_with(['/', '~'])
        || path
            .split('/')
            .any(|part| part.starts_with('.') && part != ".")
}

/// Whether a path leads out of the working directory; what is hidden in it does not count.
pub(super) fn leads_out(path: &str) -> bool {
    path.starts_with(['/', '~']) || climbs(path)
}

/// Schemes that git carries itself (gitremote-helpers(7)).
const TRANSPORTS: &[&str] = &["http", "https", "ssh", "git", "file", "git+ssh", "ssh+git"];

/// Whether git hands the address to a helper program: `ext::sh -c …`, `other://host`.
pub(super) fn runs_helper(address: &str) -> bool {
    let end = address
        .find(|c: char| !c.is_ascii_alphanumeric() && !"+-._".contains(c))
        .unwrap_or(address.len());
    let (scheme, rest) = address.split_at(end);
    !scheme.is_empty()
        && (rest.starts_with("::") || rest.starts_with("://") && !TRANSPORTS.contains(&scheme))
}

/// `NAME=value`, taken apart.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-:+?!".contains(c));
    is_name.then_some((name, value))
}

/// Whether a text is plain: no character that a shell or make expands, and no directory.
pub(super) fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || "_.,:@%+- ".contains(c))
}
