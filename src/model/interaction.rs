//! What an interaction is. A settled one has an outcome, a choice list belongs to a kind that has
//! choices, and only a permission can allow: the types leave no other way.

use serde::{Deserialize, Serialize};

use super::json::Json;
use super::response::Response;
use crate::id::Id;
use crate::secret::Nonce;
use crate::time::Time;

/// The newest version of the record's format that this program reads and writes. Version 2 has answers
/// of a form with labels beside free text, or with notes; every other record is of version 1, so that an
/// older program goes on reading it.
pub const SCHEMA: u64 = 2;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// May I do this?
    Permission,
    /// Which of these?
    SingleChoice,
    /// A short text.
    Text,
    /// Several questions at once.
    Form,
}

impl Kind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::SingleChoice => "single_choice",
            Self::Text => "text",
            Self::Form => "form",
        }
    }

    /// From its name, with `-` or `_`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "permission" => Some(Self::Permission),
            "single_choice" | "single-choice" => Some(Self::SingleChoice),
            "text" => Some(Self::Text),
            "form" => Some(Self::Form),
            _ => None,
        }
    }
}

/// Where an interaction is in its life. All but `Pending` are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Open.
    Pending,
    /// An answer was accepted.
    Answered,
    /// The deadline passed.
    Expired,
    /// The asker withdrew it.
    Cancelled,
    /// A new question under the same key replaced it.
    Superseded,
}

impl Status {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
        }
    }

    /// From its name.
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Pending,
            Self::Answered,
            Self::Expired,
            Self::Cancelled,
            Self::Superseded,
        ]
        .into_iter()
        .find(|s| s.name() == text)
    }
}

/// What choosing a choice of a permission means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Go ahead.
    Allow,
    /// Do not.
    Deny,
}

/// One offered choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// `^[A-Za-z0-9_-]{1,64}$`, unique.
    pub id: String,
    /// 1–200 characters, one line.
    pub label: String,
    /// At most 500 characters, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What choosing it means; resolved when the question is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// One option of a form's question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormOption {
    /// 1–200 characters, unique within the question.
    pub label: String,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One question of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormQuestion {
    /// At most 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// 1–2000 characters, unique within the form.
    pub question: String,
    /// 0–50; without any the question takes free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FormOption>,
    /// Whether several labels may be picked.
    #[serde(default)]
    pub multi_select: bool,
}

/// The tool call that a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// 1–200 characters.
    pub name: String,
    /// At most 1 MiB, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The host's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_id: Option<String>,
    /// The host's `permission_suggestions`, at most 256 KiB, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Json>,
}

/// What is asked, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A permission, with what it is about.
    Permission {
        /// 2–12.
        choices: Vec<Choice>,
        /// The tool call, verbatim.
        tool: Option<Tool>,
        /// What a voluntary approval is about, where there is no tool call.
        action: Option<String>,
    },
    /// One of a bounded list.
    SingleChoice {
        /// 2–12.
        choices: Vec<Choice>,
    },
    /// A short text.
    Text {
        /// 1–2000 characters.
        max_length: u32,
    },
    /// Several questions.
    Form {
        /// 1–12.
        questions: Vec<FormQuestion>,
        /// The call of a question tool that the form came from.
        tool: Option<Tool>,
    },
}

/// Everything that was asked; it never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The logical name under which asking again finds this question.
    pub key: Option<String>,
    /// Who asks.
    pub agent: String,
    /// The host whose prompt a hook caught.
    pub host: Option<String>,
    /// Which of several agents of that name.
    pub agent_instance: Option<String>,
    /// The project's name.
    pub project: Option<String>,
    /// Opaque host correlation.
    pub session_id: Option<String>,
    /// Opaque host correlation.
    pub turn_id: Option<String>,
    /// Opaque host correlation.
    pub native_request_id: Option<String>,
    /// The workflow that waits.
    pub workflow_id: Option<String>,
    /// Opaque host correlation.
    pub task_id: Option<String>,
    /// The asker's absolute directory.
    pub cwd: Option<String>,
    /// 1–2000 characters.
    pub prompt: String,
    /// What is asked, by kind.
    pub body: Body,
    /// Nobody parks on it and it has no deadline: answering resumes a workflow.
    pub suspended: bool,
}

/// How an interaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this answer.
    Answered(Box<Response>),
    /// By its deadline.
    Expired,
    /// Withdrawn.
    Cancelled,
    /// Replaced by this one.
    Superseded(Id),
}

/// Open, or ended at a time with an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Open.
    Pending,
    /// Ended; this never changes.
    Settled {
        /// When.
        at: Time,
        /// How.
        outcome: Outcome,
    },
}

/// One question and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// Its id.
    pub id: Id,
    /// What was asked.
    pub question: Question,
    /// 64 hex characters that bind an answer to exactly this question.
    pub digest: String,
    /// Binds an answer to someone who read the request.
    pub nonce: Nonce,
    /// When it was asked.
    pub created_at: Time,
    /// The deadline; none when suspended.
    pub expires_at: Option<Time>,
    /// Open or ended.
    pub state: State,
}

impl Question {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Permission { .. } => Kind::Permission,
            Body::SingleChoice { .. } => Kind::SingleChoice,
            Body::Text { .. } => Kind::Text,
            Body::Form { .. } => Kind::Form,
        }
    }

    /// The offered choices; empty for kinds that have none.
    pub fn choices(&self) -> &[Choice] {
        match &self.body {
            Body::Permission { choices, .. } | Body::SingleChoice { choices } => choices,
            Body::Text { .. } | Body::Form { .. } => &[],
        }
    }

    /// The questions of a form; empty for other kinds.
    pub fn questions(&self) -> &[FormQuestion] {
        match &self.body {
            Body::Form { questions, .. } => questions,
            _ => &[],
        }
    }

    /// The tool call, where there is one.
    pub fn tool(&self) -> Option<&Tool> {
        match &self.body {
            Body::Permission { tool, .. } | Body::Form { tool, .. } => tool.as_ref(),
            Body::SingleChoice { .. } | Body::Text { .. } => None,
        }
    }

    /// What a voluntary approval is about.
    pub fn action(&self) -> Option<&str> {
        match &self.body {
            Body::Permission { action, .. } => action.as_deref(),
            _ => None,
        }
    }

    /// What an id means here: nothing outside a permission.
    pub fn effect(&self, choice_id: &str) -> Option<Effect> {
        match &self.body {
            Body::Permission { choices, .. } => choices.iter().find(|c| c.id == choice_id)?.effect,
            _ => None,
        }
    }

    /// Whether the asking host can take an edited input and permission rules back with an allow.
    ///
    /// Measured: Claude Code can; Codex counts a decision with either as failed. Who asked without a
    /// host's hook reads the answer's members itself.
    pub fn takes_edits(&self) -> bool {
        matches!(self.host.as_deref(), None | Some("claude"))
    }
}

impl Interaction {
    /// Its status as stored, deadlines aside.
    pub fn status(&self) -> Status {
        match &self.state {
            State::Pending => Status::Pending,
            State::Settled { outcome, .. } => match outcome {
                Outcome::Answered(_) => Status::Answered,
                Outcome::Expired => Status::Expired,
                Outcome::Cancelled => Status::Cancelled,
                Outcome::Superseded(_) => Status::Superseded,
            },
        }
    }

    /// Whether it is open although its deadline has passed.
    pub fn is_overdue(&self, now: Time) -> bool {
        self.state == State::Pending && self.expires_at.is_some_and(|t| t <= now)
    }

    /// Its status as anyone may see it at `now`: an overdue question is expired.
    pub fn status_at(&self, now: Time) -> Status {
        if self.is_overdue(now) {
            Status::Expired
        } else {
            self.status()
        }
    }

    /// The accepted answer.
    pub fn response(&self) -> Option<&Response> {
        match &self.state {
            State::Settled {
                outcome: Outcome::Answered(response),
                ..
            } => Some(response),
            _ => None,
        }
    }

    /// When it was last changed.
    pub fn updated_at(&self) -> Time {
        match &self.state {
            State::Pending => self.created_at,
            State::Settled { at, .. } => *at,
        }
    }

    /// What the accepted answer means for a permission; a declined form denies.
    pub fn effect(&self) -> Option<Effect> {
        let response = self.response()?;
        match &response.body {
            super::response::Body::Choice(id) => self.question.effect(id),
            super::response::Body::Declined => Some(Effect::Deny),
            _ => None,
        }
    }
}
