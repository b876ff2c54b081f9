//! What can go wrong, as data: a code that scripts read, a sentence that people read, and a hint.
//!
//! A message says what was wrong and with which input. It never holds a prompt, an answer, a digest
//! or a nonce; whoever builds one is responsible for that.

use std::fmt;

/// The kinds of failure, each with its name in JSON, its exit code and its HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The arguments or the request are malformed or out of bounds.
    InvalidInput,
    /// The answer does not fit the question.
    InvalidAnswer,
    /// A configuration file cannot be read or understood.
    ConfigError,
    /// No such interaction, scope or file.
    NotFound,
    /// The question was answered before, otherwise.
    AlreadyAnswered,
    /// The question expired, was cancelled or was superseded.
    NotPending,
    /// The digest is missing or names another question.
    DigestMismatch,
    /// The nonce is missing or not this question's.
    NonceMismatch,
    /// The store or a service cannot be used now: locked, unwritable, full, unreachable.
    Unavailable,
    /// An agent's session tried to answer its own question.
    SelfAnswer,
    /// A record or file of the store cannot be trusted.
    Corrupt,
    /// A fault of this program.
    Internal,
}

impl Code {
    /// The name in JSON (`error.code`).
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::InvalidAnswer => "invalid_answer",
            Self::ConfigError => "config_error",
            Self::NotFound => "not_found",
            Self::AlreadyAnswered => "already_answered",
            Self::NotPending => "not_pending",
            Self::DigestMismatch => "digest_mismatch",
            Self::NonceMismatch => "nonce_mismatch",
            Self::Unavailable => "unavailable",
            Self::SelfAnswer => "self_answer",
            Self::Corrupt => "corrupt",
            Self::Internal => "internal",
        }
    }

    /// The process's exit code.
    pub fn exit(self) -> u8 {
        match self {
            Self::Corrupt | Self::Internal => 1,
            Self::InvalidInput | Self::InvalidAnswer | Self::ConfigError => 2,
            Self::NotFound => 3,
            Self::AlreadyAnswered => 4,
            Self::NotPending => 5,
            Self::DigestMismatch | Self::NonceMismatch => 6,
            Self::Unavailable => 7,
            Self::SelfAnswer => 8,
        }
    }

    /// The status that an HTTP surface would give; absent where none fits.
    pub fn http(self) -> Option<u16> {
        match self {
            Self::InvalidInput
            | Self::InvalidAnswer
            | Self::NotPending
            | Self::DigestMismatch
            | Self::NonceMismatch => Some(400),
            Self::NotFound => Some(404),
            Self::AlreadyAnswered => Some(409),
            Self::Unavailable => Some(503),
            Self::SelfAnswer => Some(403),
            Self::ConfigError | Self::Corrupt | Self::Internal => None,
        }
    }
}

/// A failure: code, message, and what to do next.
#[derive(Clone, Debug)]
pub struct Error {
    /// What kind of failure.
    pub code: Code,
    /// What was wrong, with which input: lower case, no full stop.
    pub message: String,
    /// What to do next; printed on a line of its own.
    pub hint: Option<String>,
    /// Machine-readable particulars for `--json`.
    pub details: Option<Box<serde_json::Value>>,
}

/// The result of everything that can fail in this library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure of the given kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// A malformed or out-of-bounds input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// Something that cannot be had now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// A file operation that failed, with the path it was about.
    pub fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::unavailable(format!("cannot {what} {}: {error}", path.display()))
    }

    /// The same failure with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with particulars for `--json`.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
