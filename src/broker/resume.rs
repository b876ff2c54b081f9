//! Resuming the workflow of a suspended question once it is settled.
//!
//! Promise: only a question that was asked suspended resumes anything; the answer stands whatever
//! becomes of the resume; and each decision is told to at most one resumed command at a time.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::resumer::{self, command_line};
use crate::config::{self, Config, Env};
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::log;
use crate::model::interaction::{Interaction, State};
use crate::store::Store;
use crate::store::marks::{Resume, Stage};

const NO_COMMAND: &str = "no resume command is configured ([resume] command)";
const RUNNING: &str = "its command still runs; the answer is told after that";
/// How long an answerer waits to see the resume start.
const START_WAIT: Duration = Duration::from_secs(2);

/// What became of a workflow after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// Its command runs, or ended well.
    Yes,
    /// Its command could not be started or ended badly; for people.
    No(String),
    /// There was nothing to start, and why.
    Skipped(&'static str),
}

/// A workflow and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowResume {
    /// The workflow's id.
    pub workflow: String,
    /// What became of it.
    pub outcome: Resumed,
}

/// A question whose workflow does not go on.
#[derive(Debug)]
pub struct Paused {
    /// The question.
    pub record: Interaction,
    /// How far the resume is.
    pub resume: Resume,
}

impl WorkflowResume {
    /// As JSON (`workflow_resume`).
    pub fn json(&self) -> Value {
        let workflow = &self.workflow;
        match &self.outcome {
            Resumed::Yes => json!({ "workflow_id": workflow, "resumed": true }),
            Resumed::No(error) => json!({
                "workflow_id": workflow, "resumed": false, "error": error,
                "guidance": guidance(workflow),
            }),
            Resumed::Skipped(reason) => json!({
                "workflow_id": workflow, "resumed": false, "skipped": true, "reason": reason,
            }),
        }
    }
}

/// The command that resumes a workflow, to be pasted as it is.
pub fn guidance(workflow: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._:-".contains(&b);
    if workflow.bytes().all(plain) && !workflow.starts_with('-') && !workflow.is_empty() {
        format!("sayso workflow resume --id {workflow}")
    } else {
        format!(
            "sayso workflow resume --id='{}'",
            workflow.replace('\'', r"'\''")
        )
    }
}

/// The questions of a scope whose workflows do not go on, oldest first. Marks and records that cannot be
/// trusted are warned of and passed over.
pub fn paused(store: &Store) -> Result<Vec<Paused>> {
    let mut found = Vec::new();
    for id in store.resume_ids()? {
        match one_paused(store, &id) {
            Ok(paused) => found.extend(paused),
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => log::warn(&error.message),
        }
    }
    found.sort_by(|a, b| {
        (a.record.created_at, &a.record.id).cmp(&(b.record.created_at, &b.record.id))
    });
    Ok(found)
}

fn one_paused(store: &Store, id: &Id) -> Result<Option<Paused>> {
    let Some(resume) = store.resume_mark(id)? else {
        return Ok(None);
    };
    if resume.state == Stage::Resumed || has_gone_on(store, id)? {
        return Ok(None);
    }
    let record = store.must_load(id)?;
    Ok(record
        .question
        .suspended
        .then_some(Paused { record, resume }))
}

/// Whether a living resumer has it, or the host itself came back for the answer.
fn has_gone_on(store: &Store, id: &Id) -> Result<bool> {
    Ok(store.is_resuming(id)? || store.delivered(id)?)
}

/// Whether a living resumer runs the command of a workflow.
///
/// # Errors
/// `unavailable` where that cannot be told of one of its questions.
pub(super) fn is_running(store: &Store, workflow: &str) -> Result<bool> {
    for id in store.resume_ids()? {
        let resuming = store.is_resuming(&id);
        if !matches!(resuming, Ok(false))
            && store.must_load(&id).is_ok_and(|r| is_of(&r, workflow))
            && resuming?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_of(record: &Interaction, workflow: &str) -> bool {
    record.question.workflow_id.as_deref() == Some(workflow)
}

/// Resumes the workflow of a suspended question that was answered; none for any other.
pub(super) fn after_answer(store: &Store, record: &Interaction) -> Option<WorkflowResume> {
    if !record.question.suspended {
        return None;
    }
    let workflow = record.question.workflow_id.clone().unwrap_or_default();
    let outcome = if workflow.is_empty() {
        Resumed::Skipped("the question names no workflow")
    } else {
        start(store, &workflow, record)
    };
    Some(WorkflowResume { workflow, outcome })
}

/// Resumes a workflow with everything that was decided and that it was not told yet.
///
/// # Errors
/// `not_found` where no question of that workflow is here; `unavailable` while it waits for an answer;
/// `config_error` where no command is configured that could resume it.
pub fn resume(store: &Store, workflow: &str) -> Result<WorkflowResume> {
    let paused = paused(store)?;
    let mine = paused.iter().filter(|p| is_of(&p.record, workflow));
    let mine: Vec<&Paused> = mine.collect();
    let settled = mine.iter().rfind(|p| p.record.state != State::Pending);
    let outcome = match (settled, mine.first()) {
        (Some(settled), _) => match start(store, workflow, &settled.record) {
            Resumed::Skipped(NO_COMMAND) => return Err(no_command()),
            outcome => outcome,
        },
        (None, Some(open)) => {
            let id = &open.record.id;
            return Err(Error::unavailable(format!(
                "workflow '{workflow}' waits for the answer to interaction '{id}'"
            ))
            .hint(format!("answer it and it is resumed: sayso answer {id}")));
        }
        (None, None) => {
            let mut ids = store.resume_ids()?;
            ids.retain(|id| store.must_load(id).is_ok_and(|r| is_of(&r, workflow)));
            // One whose mark cannot be read is not known to go on.
            for id in &ids {
                store.resume_mark(id)?;
                has_gone_on(store, id)?;
            }
            if ids.is_empty() {
                return Err(Error::new(
                    Code::NotFound,
                    "no suspended question of that workflow is in this scope",
                )
                .hint("'sayso workflow list' shows the paused ones"));
            }
            Resumed::Skipped("the workflow is not paused")
        }
    };
    Ok(WorkflowResume {
        workflow: workflow.to_owned(),
        outcome,
    })
}

/// An operator who asks for a resume outright is told that nothing happened, and what would make it happen.
fn no_command() -> Error {
    let file = config::path(&Env::of_process());
    let file = file.map_or("the configuration file".to_owned(), |(path, _)| {
        path.display().to_string()
    });
    Error::new(Code::ConfigError, NO_COMMAND).hint(format!(
        "say in {file} how, for instance:\n  [resume]\n  command = [\"claude\", \"-p\", \"--resume\", \"{{session_id}}\"]\n'sayso help mcp-server' has the rest"
    ))
}

/// Starts a resumer and waits a moment to see what becomes of it.
fn start(store: &Store, workflow: &str, record: &Interaction) -> Resumed {
    match goes_on(store, workflow, &record.id) {
        Ok(None) => {}
        Ok(Some(outcome)) => return outcome,
        Err(error) => return Resumed::No(error.message),
    }
    let config = match Config::load(&Env::of_process()) {
        Ok(config) => config,
        Err(error) => return Resumed::No(error.message),
    };
    let Some(resume) = &config.resume else {
        return Resumed::Skipped(NO_COMMAND);
    };
    if let Err(why) = command_line(resume.command.get_ref(), record) {
        return Resumed::No(why);
    }
    if let Err(why) = resumer::directory(store, record) {
        return Resumed::No(why);
    }
    match spawn(store, workflow) {
        Ok(resumer) => observe(store, &record.id, resumer),
        Err(error) => Resumed::No(format!("the resumer cannot be started: {error}")),
    }
}

/// What there is to say of a resume that needs no start.
fn goes_on(store: &Store, workflow: &str, id: &Id) -> Result<Option<Resumed>> {
    let resumed = store.resume_mark(id)?;
    if resumed.is_some_and(|r| r.state == Stage::Resumed) || has_gone_on(store, id)? {
        return Ok(Some(Resumed::Yes));
    }
    Ok(is_running(store, workflow)?.then_some(Resumed::Skipped(RUNNING)))
}

/// The resumer is this program again: it outlives the verb that answered.
fn spawn(store: &Store, workflow: &str) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["--scope", &store.scope, "workflow", "run"])
        .arg(format!("--id={workflow}"))
        .env("SAYSO_HOME", store.home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn observe(store: &Store, id: &Id, mut resumer: Child) -> Resumed {
    let start = Instant::now();
    loop {
        let ended = resumer.try_wait().ok().flatten();
        let mark = store.resume_mark(id).ok().flatten();
        match mark.as_ref().map(|m| m.state) {
            Some(Stage::Resumed) => break,
            Some(Stage::Failed) if ended.is_some() => {
                let error = mark.and_then(|m| m.error).unwrap_or_default();
                return Resumed::No(error);
            }
            // Another one runs the command of an earlier answer, and tells this one after it.
            Some(Stage::Paused) if ended.is_some_and(|end| end.success()) => {
                return Resumed::Skipped(RUNNING);
            }
            _ if ended.is_some() && store.is_resuming(id).is_ok_and(|held| !held) => {
                return Resumed::No("the resumer ended without starting the command".to_owned());
            }
            _ if start.elapsed() >= START_WAIT => break,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    // A server that answers lives longer than the resumer: its end must be taken note of.
    std::thread::spawn(move || resumer.wait());
    Resumed::Yes
}
