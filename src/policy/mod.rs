//! The approval policy: what becomes of a permission request before a human is asked.
//!
//! Promise: a denying pattern wins over everything, whatever its age or source, and sees through
//! wrappers, quotes and substitutions; an allowing pattern allows a command only if all of it is in plain
//! view; and where a denying pattern could not be ruled out, nothing is allowed. All of it is a
//! function of the configuration, the repository's file and the call: no I/O, no clock. Every verdict
//! names the rule that decided.

use std::borrow::Cow;

use crate::config::{Decision, Place};

mod address;
mod allow;
mod call;
mod command;
mod contents;
mod decide;
mod effective;
mod lint;
mod pattern;
mod peel;
mod plain;
mod repo_file;
mod rule;
mod scan;
#[cfg(test)]
mod tests;
mod trapdoors;
mod tree;
mod undo;
mod variables;
mod visible;

pub use call::{COMMAND_MEMBERS, Call, Resolved, SHELL_TOOLS};
pub use decide::{decide, explain};
pub use effective::{Effective, table_name};
pub use lint::{Finding, Level, lint, lint_repo_file};
pub use pattern::{PATTERN_MAX, Pattern};
pub use repo_file::{REPO_FILE_MAX, REPO_FILE_NAME, RepoFile};
pub use rule::{Rule, check_pattern};
pub use undo::irreversible;

/// What a policy says about a call.
#[derive(Clone, Debug)]
pub struct Verdict<'a> {
    /// What becomes of the call.
    pub decision: Decision,
    /// The rule that decided; absent where only the built-in `ask` applies or an allow was held back.
    pub rule: Option<Ruling<'a>>,
    /// Why no pattern allowed it or an allow did not count, for a person; it quotes nothing of the call but
    /// programs and options that the policy knows.
    pub reason: Option<Cow<'static, str>>,
}

/// A simple command of a call and what the policy says about it alone.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// As it is written, blanks collapsed; where every word is known, with its loops' variables put in.
    pub text: String,
    /// Its words as they were read, without quotes.
    pub words: Vec<String>,
    /// Which of them the shell replaces by names of files, a directory or digits.
    pub expands: Vec<bool>,
    /// What would become of it: the default where no pattern matches.
    pub decision: Decision,
    /// The rule that decides.
    pub rule: Option<Ruling<'a>>,
    /// Why no pattern allows it, for a person.
    pub reason: Option<Cow<'static, str>>,
}

/// The lists of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `auto_deny`.
    AutoDeny,
    /// `auto_allow`.
    AutoAllow,
    /// `default`.
    Default,
}

impl List {
    /// The key in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::AutoDeny => "auto_deny",
            Self::AutoAllow => "auto_allow",
            Self::Default => "default",
        }
    }
}

/// A rule as a verdict names it; shown as `auto_deny[1] "git push*" (config.toml:4:14)`.
#[derive(Clone, Copy, Debug)]
pub struct Ruling<'a> {
    /// The list that it stands in.
    pub list: List,
    /// Its index there, from 0; 0 for the default.
    pub index: usize,
    /// The pattern, or the name of the default.
    pub pattern: &'a str,
    /// Where it is written.
    pub place: Place<'a>,
}

impl Ruling<'_> {
    /// `auto_allow[INDEX]`, `auto_deny[INDEX]` or `default`: what events may hold of it.
    pub fn position(&self) -> String {
        match self.list {
            List::Default => self.list.name().to_owned(),
            list => format!("{}[{}]", list.name(), self.index),
        }
    }
}

impl std::fmt::Display for Ruling<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} ({})", self.position(), self.pattern, self.place)
    }
}
