//! The kinds of request, and what stands over a notice whose sender gave no title and no priority.

use crate::notice::Priority;

/// Why a human's attention is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Information,
    Question,
    Permission,
    Blocked,
    Failure,
    Completion,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Information,
        Self::Question,
        Self::Permission,
        Self::Blocked,
        Self::Failure,
        Self::Completion,
    ];

    /// The name in an event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Information => "information",
            Self::Question => "question",
            Self::Permission => "permission",
            Self::Blocked => "blocked",
            Self::Failure => "failure",
            Self::Completion => "completion",
        }
    }

    /// The title where none is given.
    pub fn title(self, sender: &str) -> String {
        match self {
            Self::Information => format!("Update from {sender}"),
            Self::Question => format!("{sender} needs input"),
            Self::Permission => format!("{sender} needs permission"),
            Self::Blocked => format!("{sender} is blocked"),
            Self::Failure => format!("{sender} reported a failure"),
            Self::Completion => format!("{sender} completed work"),
        }
    }

    /// The priority where none is given.
    pub fn priority(self) -> Priority {
        match self {
            Self::Question | Self::Permission | Self::Blocked | Self::Failure => Priority::High,
            Self::Information | Self::Completion => Priority::Normal,
        }
    }
}
