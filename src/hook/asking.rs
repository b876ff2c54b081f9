//! The one way in which every hook asks: open the question, wait, hand the decision over.

use std::io::Write;
use std::time::Duration;

use super::payload::Payload;
use super::{Surface, claude};
use crate::broker::decide::Ruled;
use crate::broker::{self, Lifetime};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::interrupt::Interrupts;
use crate::model::draft::Draft;
use crate::model::interaction::{Interaction, Kind, Question, Tool};
use crate::model::question_tool;
use crate::park::{self, Courier, Ended, Output, Stay, Wait};
use crate::store::Store;

/// What a hook needs beside the payload.
pub struct Settings {
    /// Where the decision goes.
    pub surface: Surface,
    /// Who asks, in the record.
    pub agent: String,
    /// The project's name.
    pub project: Option<String>,
    /// How long the question stays open; also how long the hook waits.
    pub timeout: Duration,
    /// The user's configuration, with the policy.
    pub config: Config,
}

/// What a hook came to.
pub enum Came {
    /// The decision was printed.
    Decided,
    /// The host does not want it any more: a signal, or nobody reads the output.
    Withdrawn,
}

/// Asks and prints the decision.
///
/// # Errors
/// Whatever kept it from asking, from an answer, or from printing: then nothing was decided.
pub fn run(
    store: &Store,
    payload: &Payload,
    tool: &Tool,
    settings: &Settings,
    interrupts: &Interrupts,
) -> Result<Came> {
    let question = draft(payload, tool.clone(), settings)?.check()?;
    if let Some(decision) = by_policy(store, &question, settings)? {
        print(&decision)?;
        return Ok(Came::Decided);
    }
    let lifetime = Lifetime::For(settings.timeout);
    let mut courier = Courier::new(Stay::Waits);
    let created = park::open(store, question, lifetime, &settings.config, &mut courier)?;
    let opened = &created.record;
    let ended =
        Wait::new(store, opened, None, interrupts, Output::Watched).and_then(|mut wait| wait.run());
    let record = match ended {
        Ok(Ended::Settled(record)) => *record,
        Ok(Ended::TimedOut) => park::withdraw(store, opened, created.lease)?,
        Ok(Ended::Signal(_) | Ended::Hangup) => {
            return park::withdraw(store, opened, created.lease).map(|_| Came::Withdrawn);
        }
        Err(error) => {
            // Nobody will take an answer any more; the failure itself matters more than this one's.
            let _ = park::withdraw(store, opened, created.lease);
            return Err(error);
        }
    };
    hand_over(store, settings.surface, &record, tool)?;
    Ok(Came::Decided)
}

/// What the policy decides without a human; it has no say about forms.
pub(super) fn by_policy(
    store: &Store,
    question: &Question,
    settings: &Settings,
) -> Result<Option<String>> {
    if question.kind() != Kind::Permission {
        return Ok(None);
    }
    Ok(
        match broker::decide::decide(store, &settings.config, question)? {
            Ruled::Ask => None,
            Ruled::Allow { rule } => settings
                .surface
                .allows(&format!("Allowed by the approval policy: {rule}")),
            Ruled::Deny { message, .. } => settings.surface.denies(&message),
        },
    )
}

/// Prints the decision that a settled record holds, and marks it as delivered once it is out.
pub(super) fn hand_over(
    store: &Store,
    surface: Surface,
    record: &Interaction,
    tool: &Tool,
) -> Result<()> {
    let Some(response) = record.response() else {
        return Err(Error::unavailable(format!(
            "no answer: {}",
            record.status().name()
        )));
    };
    print(&surface.decision(record, tool, response)?)?;
    store.mark_delivered(record);
    Ok(())
}

/// The question that stands for the host's prompt.
pub(super) fn draft(payload: &Payload, tool: Tool, settings: &Settings) -> Result<Draft> {
    let host = settings.surface.host();
    let mut draft = Draft {
        agent: Some(settings.agent.clone()),
        host: Some(host.id().to_owned()),
        agent_instance: payload.sub_agent(),
        project: settings.project.clone(),
        session_id: payload.session(),
        turn_id: payload
            .text("turn_id")
            .or_else(|| payload.text("prompt_id")),
        cwd: payload.cwd(),
        prompt: format!("{} wants to run {}", host.title(), tool.name),
        ..Draft::default()
    };
    if settings.surface == Surface::ClaudeElicitation {
        draft.kind = Some(Kind::Form);
        draft.prompt = payload.text("message").unwrap_or_default();
        draft.questions = claude::elicitation_questions(&tool)?;
    } else if tool.name == question_tool::NAME
        && matches!(
            settings.surface,
            Surface::ClaudePermission | Surface::ClaudeGate
        )
    {
        draft.kind = Some(Kind::Form);
        draft.prompt = format!("{} asks", host.title());
        draft.questions = question_tool::questions(tool.input.as_ref())?;
    }
    draft.tool = Some(tool);
    Ok(draft)
}

/// Prints one line, all of it or an error.
pub fn print(decision: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{decision}")
        .and_then(|()| stdout.flush())
        .map_err(|e| Error::unavailable(format!("cannot write the decision: {e}")))
}
