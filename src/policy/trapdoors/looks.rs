//! Closer looks at arguments, for what a list of options cannot say.

pub(super) mod build;
pub(super) mod code;
pub(super) mod files;
pub(super) mod git;
pub(super) mod hosts;

fn is_operand(word: &str) -> bool {
    !word.starts_with('-') || word == "-"
}

/// The value in an option word: what stands behind `=`, or attached to a short one.
fn attached(word: &str) -> &str {
    match word.split_once('=') {
        Some((_, value)) if word.starts_with("--") => value,
        _ if word.starts_with('-') && !word.starts_with("--") => word.get(2..).unwrap_or_default(),
        _ => "",
    }
}
