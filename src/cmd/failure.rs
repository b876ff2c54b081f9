//! A run that failed: its error, and the words of the parser without the values that it quotes.

use std::io;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::{Code, Error};

/// The failure of a run; none where nobody reads the output any more.
pub fn of(error: anyhow::Error) -> Option<Error> {
    let other = match error.downcast::<Error>() {
        Ok(error) => return Some(error),
        Err(other) => other,
    };
    match other.downcast::<io::Error>() {
        Ok(io) if io.kind() == io::ErrorKind::BrokenPipe => None,
        Ok(io) => Some(Error::unavailable(format!("cannot write the output: {io}"))),
        Err(other) => Some(Error::new(Code::Internal, format!("{other}"))),
    }
}

/// What clap says, without the values that it quotes: one in the wrong place may be a prompt, an answer
/// or a nonce.
pub fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let quoted = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => ContextKind::InvalidValue,
    };
    match error.get(quoted) {
        Some(ContextValue::String(value)) if !is_a_word_of_ours(value, quoted) => {
            text.replace(&format!("'{value}'"), "'…'")
        }
        _ => text,
    }
}

/// Whether it was meant as an option or a verb, so that saying it helps and tells nothing.
fn is_a_word_of_ours(value: &str, quoted: ContextKind) -> bool {
    let word = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    match quoted {
        ContextKind::InvalidArg => value.starts_with('-') && word(value),
        ContextKind::InvalidSubcommand => word(value),
        _ => false,
    }
}

/// The first line of that, without its label.
pub fn first_line(error: &clap::Error) -> String {
    let text = told(error);
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
