//! The permission hook: opens the question that the host would ask, waits, and returns the decision.

use std::io::Write;
use std::time::Duration;

use super::payload::Payload;
use super::{Host, claude, codex, question_tool};
use crate::broker::{self, Lifetime};
use crate::error::{Error, Result};
use crate::interrupt::Interrupts;
use crate::model::draft::Draft;
use crate::model::interaction::{Interaction, Kind, Tool};
use crate::model::response::Response;
use crate::park::{self, Ended, Output, Wait};
use crate::store::Store;

/// What a permission hook needs beside the payload.
pub struct Settings {
    /// Whose prompt it is.
    pub host: Host,
    /// Who asks, in the record.
    pub agent: String,
    /// The project's name.
    pub project: Option<String>,
    /// How long the question stays open; also how long the hook waits.
    pub timeout: Duration,
    /// How many questions may be pending.
    pub max_pending: usize,
}

/// Asks and prints the decision, if there is one. After a signal or a hang-up nothing is printed.
///
/// # Errors
/// Whatever kept it from asking or printing: then nothing was decided.
pub fn run(store: &Store, payload: &Payload, settings: &Settings) -> Result<()> {
    let interrupts = Interrupts::listen()
        .map_err(|e| Error::unavailable(format!("cannot listen for signals: {e}")))?;
    let tool = payload.tool()?;
    let question = draft(payload, tool.clone(), settings)?.check()?;
    let lifetime = Lifetime::For(settings.timeout);
    let created = broker::open(store, question, lifetime, settings.max_pending)?;
    let opened = &created.record;
    let ended = Wait::new(store, opened, None, &interrupts, Output::Watched)
        .and_then(|mut wait| wait.run());
    let record = match ended {
        Ok(Ended::Settled(record)) => *record,
        Ok(Ended::TimedOut) => park::withdraw(store, opened, created.lease)?,
        Ok(Ended::Signal(_) | Ended::Hangup) => {
            return park::withdraw(store, opened, created.lease).map(drop);
        }
        Err(error) => {
            // Nobody will take an answer any more; the failure itself matters more than this one's.
            let _ = park::withdraw(store, opened, created.lease);
            return Err(error);
        }
    };
    let Some(response) = record.response() else {
        return Err(Error::unavailable(format!(
            "no answer: {}",
            record.status().name()
        )));
    };
    print(&decision(settings.host, opened, &tool, response)?)?;
    store.mark_delivered(&record);
    Ok(())
}

/// The question that stands for the host's prompt.
pub fn draft(payload: &Payload, tool: Tool, settings: &Settings) -> Result<Draft> {
    let host = settings.host;
    let mut draft = Draft {
        agent: Some(settings.agent.clone()),
        host: Some(host.id().to_owned()),
        agent_instance: payload.sub_agent(),
        project: settings.project.clone(),
        session_id: payload.text("session_id"),
        turn_id: payload
            .text("turn_id")
            .or_else(|| payload.text("prompt_id")),
        cwd: payload.text("cwd").filter(|cwd| cwd.starts_with('/')),
        prompt: format!("{} wants to run {}", host.name(), tool.name),
        ..Draft::default()
    };
    if host == Host::Claude && tool.name == question_tool::NAME {
        draft.kind = Some(Kind::Form);
        draft.prompt = format!("{} asks", host.name());
        draft.questions = question_tool::questions(tool.input.as_ref())?;
    }
    draft.tool = Some(tool);
    Ok(draft)
}

/// The host's own words for an answer. They are built from the hook's own input, never from the store's.
///
/// # Errors
/// Where the answer means neither allow nor deny, or the host cannot take what it carries.
pub fn decision(
    host: Host,
    opened: &Interaction,
    tool: &Tool,
    response: &Response,
) -> Result<String> {
    match host {
        Host::Claude => claude::permission(opened, tool, response),
        Host::Codex => codex::permission(opened, response),
    }
}

fn print(decision: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{decision}")
        .and_then(|()| stdout.flush())
        .map_err(|e| Error::unavailable(format!("cannot write the decision: {e}")))
}

/// What a host tells the model where the operator gave no reason.
pub(super) fn deny_message(response: &Response) -> String {
    match &response.message {
        Some(message) => message.clone(),
        None => format!("Denied by {}", response.answered_by),
    }
}
