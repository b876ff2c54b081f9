//! Exit codes, in one place. Failures have theirs in [`crate::error::Code::exit`].

use crate::error::Code;
use crate::model::interaction::{Effect, Interaction, Kind, Status};

/// How a verb that did not fail ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; answered with an allowing choice, a choice, a text or a form's answer.
    Done,
    /// 1: `doctor` found something.
    Found,
    /// 2: `policy lint` found something.
    Remarked,
    /// The code of a failure that was told beside what did work.
    Failed(Code),
    /// 10: denied.
    Denied,
    /// 11: settled without an answer.
    Unanswered,
    /// 12: a permission answered with a choice that neither allows nor denies.
    Undecided,
    /// 124: still pending when the time was up.
    TimedOut,
    /// 128 + the signal that interrupted.
    Interrupted(i32),
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Found => 1,
            Self::Remarked => 2,
            Self::Failed(code) => code.exit(),
            Self::Denied => 10,
            Self::Unanswered => 11,
            Self::Undecided => 12,
            Self::TimedOut => 124,
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(255),
        }
    }

    /// What `ask` and `--exit-status` say of a record.
    pub fn of(record: &Interaction, status: Status) -> Self {
        match status {
            Status::Pending => Self::TimedOut,
            Status::Expired | Status::Cancelled | Status::Superseded => Self::Unanswered,
            Status::Answered => match (record.question.kind(), record.effect()) {
                (_, Some(Effect::Deny)) => Self::Denied,
                (Kind::Permission, Some(Effect::Allow)) => Self::Done,
                (Kind::Permission, None) => Self::Undecided,
                _ => Self::Done,
            },
        }
    }
}
