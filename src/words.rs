//! What is known of the characters of untrusted text, the same for whoever shows it and whoever judges it.

mod hidden;

use hidden::HIDDEN;

/// Whether a character does not show as itself, wherever it stands, and so appears as `\u{hex}`: a control,
/// a format or default-ignorable character, a line or paragraph separator, a space that ordinary writing
/// has no use for, a blank letter, private use, or one that Unicode has not assigned.
pub fn is_hidden(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_control();
    }
    let code = u32::from(char);
    let after = HIDDEN.partition_point(|(first, _)| *first <= code);
    after > 0 && code <= HIDDEN[after - 1].1
}
