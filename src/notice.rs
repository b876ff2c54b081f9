//! Telling those who want it that something waits for a human (`[[notify]]`).
//!
//! Promise: a notice never delays or fails what it tells of.

use crate::config::Config;
use crate::model::interaction::Interaction;
use crate::store::Store;
use crate::store::layout::Home;

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Priority {
    Low,
    Normal,
    High,
    Critical,
}

impl Priority {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// From its name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High, Self::Critical]
            .into_iter()
            .find(|p| p.name() == text)
    }
}

/// A notice that is about no question: ARC's information, a host's own notification.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who says it.
    pub agent: String,
    /// The project's name.
    pub project: Option<String>,
    /// One line.
    pub title: String,
    /// The text.
    pub body: String,
    /// How urgent it is.
    pub priority: Priority,
}

/// Tells of a question that was just opened.
pub fn question(_config: &Config, _store: &Store, _record: &Interaction) {}

/// Passes a message on.
pub fn message(_config: &Config, _home: &Home, _message: &Message) {}
