//! What the asking tools have in common: who asks, for how long, and whether the call waits.

use std::time::Duration;

use super::arguments::Arguments;
use super::{Pins, Settings, TIMEOUT_BOUNDS};
use crate::broker::Lifetime;
use crate::error::{Error, Result};
use crate::model::draft::Draft;

/// What a question is, for the words of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `ask` with one question.
    Flat,
    /// `ask` with several.
    Structured,
    /// `request_approval` by an agent of its own accord.
    Voluntary,
    /// `request_approval` by a host's permission prompt.
    Native,
}

/// How long a question stays open and a call waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The question's deadline; none when it suspends.
    pub(super) deadline: Option<Duration>,
    /// When the call returns although the question is open.
    pub(super) budget: Option<Duration>,
    /// What of the call was ignored.
    pub(super) warning: Option<&'static str>,
}

/// A question that a call wants to ask.
#[derive(Debug)]
pub(super) struct Plan {
    /// The question.
    pub(super) draft: Draft,
    /// Its kind of result.
    pub(super) shape: Shape,
    /// How the call waits.
    pub(super) waiting: Waiting,
    /// Whether the call gave another name than the pinned one.
    pub(super) renamed: bool,
}

impl Shape {
    /// Whether the result is a permission's.
    pub(super) fn is_approval(self) -> bool {
        matches!(self, Self::Voluntary | Self::Native)
    }
}

impl Waiting {
    /// From a call's `timeout_secs`, `wait` and `wait_secs`.
    pub(super) fn of(arguments: &Arguments, settings: &Settings) -> Result<Self> {
        let deadline = arguments.seconds("timeout_secs", TIMEOUT_BOUNDS)?;
        let deadline = deadline.unwrap_or(settings.timeout);
        let budget = arguments.seconds("wait_secs", (0, TIMEOUT_BOUNDS.1))?;
        let pinned = settings.pins.workflow.is_some();
        let (suspends, warning) = match arguments.word("wait", "`block` or `suspend`")?.as_deref() {
            None => (pinned, None),
            Some("block") => (false, None),
            Some("suspend") if pinned => (true, None),
            Some("suspend") => (
                false,
                Some("wait: \"suspend\" is ignored: the server has no --workflow-id"),
            ),
            Some(_) => (
                pinned,
                Some("wait is ignored: it is neither \"block\" nor \"suspend\""),
            ),
        };
        Ok(Self {
            deadline: (!suspends).then_some(deadline),
            budget: budget.filter(|budget| *budget < deadline),
            warning,
        })
    }

    /// Whether nobody waits.
    pub(super) fn suspends(&self) -> bool {
        self.deadline.is_none()
    }

    /// When the question ends by itself.
    pub(super) fn lifetime(&self) -> Lifetime {
        self.deadline.map_or(Lifetime::Unbounded, Lifetime::For)
    }
}

/// The members that do not depend on what is asked, and whether the call gave another name than the
/// pinned one.
pub(super) fn draft(
    arguments: &Arguments,
    settings: &Settings,
    waiting: &Waiting,
) -> Result<(Draft, bool)> {
    let Pins {
        agent,
        workflow,
        session,
        task,
    } = &settings.pins;
    let given = arguments.text("agent_id")?;
    let renamed = agent.is_some() && given.is_some() && given != *agent;
    let name = agent.clone().or(given).unwrap_or_else(|| "agent".into());
    let cwd = settings.cwd.as_ref().and_then(|cwd| cwd.to_str());
    let draft = Draft {
        agent: Some(name),
        project: settings.project.clone(),
        session_id: session.clone(),
        workflow_id: workflow.clone().or(arguments.text("workflow_id")?),
        task_id: task.clone().or(arguments.text("task_id")?),
        cwd: cwd.map(str::to_owned),
        suspended: waiting.suspends(),
        ..Draft::default()
    };
    Ok((draft, renamed))
}

/// What a call is told where it cannot be answered: message and hint.
pub(super) fn words(error: &Error) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}
