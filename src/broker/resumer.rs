//! The detached process that runs a resume command: it claims the resume under the lock, so that the
//! command runs once, and holds a lease on the claim for as long as the command runs.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::config::{self, Config, Env};
use crate::error::{Error, Result};
use crate::events::{Event, Type};
use crate::fsio;
use crate::id::Id;
use crate::model::feedback;
use crate::model::interaction::{Interaction, State};
use crate::repo;
use crate::store::create::Lease;
use crate::store::marks::{Resume, Stage};
use crate::store::{LOCK_WAIT, Store};

/// The exit code by which a command says: not now, try again (sysexits.h, `EX_TEMPFAIL`).
const TEMPORARY: i32 = 75;
/// How long a command that says so is tried again.
const RETRY_FOR: Duration = Duration::from_secs(60);
/// How long a command must have run to count as started well.
const SETTLED_AFTER: Duration = Duration::from_millis(1800);

/// What one resumer does: the decisions that it tells, and its hold on each of them.
struct Claim<'a> {
    store: &'a Store,
    records: Vec<Interaction>,
    leases: Vec<Lease>,
    attempts: u32,
}

/// Runs the configured command for a workflow, until it ends.
///
/// # Errors
/// Whatever kept it from claiming anything.
pub fn run(store: &Store, workflow: &str) -> Result<()> {
    // In a session of its own, neither the end of the answerer's terminal nor its signals reach it.
    let _ = nix::unistd::setsid();
    let Some(mut claim) = Claim::take(store, workflow)? else {
        return Ok(());
    };
    let outcome = claim.run(workflow);
    if let Err(why) = outcome {
        claim.note(Stage::Failed, Some(why))?;
    }
    let _ = fsio::remove(&store.layout().feedback(claim.id()));
    Ok(())
}

impl<'a> Claim<'a> {
    /// Claims everything that was decided for a workflow and that no living resumer holds.
    fn take(store: &'a Store, workflow: &str) -> Result<Option<Self>> {
        let writer = store.lock(LOCK_WAIT)?;
        let mut records: Vec<Interaction> = super::resume::paused(store)?
            .into_iter()
            .map(|paused| paused.record)
            .filter(|r| r.question.workflow_id.as_deref() == Some(workflow))
            .filter(|r| r.state != State::Pending)
            .collect();
        records.sort_by_key(Interaction::updated_at);
        let Some(last) = records.last() else {
            return Ok(None);
        };
        writer.write_feedback(&last.id, &feedback::text(&records))?;
        let starting = Resume::new(Stage::Starting, writer.now, 0);
        let leases = records
            .iter()
            .map(|r| writer.write_resume(&r.id, &starting));
        let leases = leases.collect::<Result<_>>()?;
        drop(writer);
        Ok(Some(Self {
            store,
            records,
            leases,
            attempts: 0,
        }))
    }

    /// The newest decision gives the ids and the directory.
    fn last(&self) -> &Interaction {
        &self.records[self.records.len() - 1]
    }

    fn id(&self) -> &Id {
        &self.last().id
    }

    fn run(&mut self, workflow: &str) -> std::result::Result<(), String> {
        let start = Instant::now();
        let mut pause = Duration::from_secs(1);
        loop {
            self.attempts += 1;
            let mut child = self.spawn(workflow)?;
            let status = self.watch(&mut child)?;
            if status.code() == Some(TEMPORARY) {
                if start.elapsed() + pause > RETRY_FOR {
                    return Err("the command ended with 75 (try again) for 60 seconds".to_owned());
                }
                self.note(Stage::Starting, None).map_err(|e| e.message)?;
                std::thread::sleep(pause);
                pause *= 2;
                continue;
            }
            // Whatever ends it later, a command that ran this long was resumed.
            if status.success() || self.is_noted() {
                return self.note(Stage::Resumed, None).map_err(|e| e.message);
            }
            return Err(format!("the command ended with {status}"));
        }
    }

    fn spawn(&self, workflow: &str) -> std::result::Result<Child, String> {
        let config = Config::load(&Env::of_process()).map_err(|e| e.message)?;
        let resume = config.resume.ok_or("no resume command is configured")?;
        let record = self.last();
        let line = command_line(resume.command.get_ref(), record)?;
        let feedback = self.store.layout().feedback(&record.id);
        let told = |e: std::io::Error| format!("the feedback cannot be read: {e}");
        let stdin = File::open(&feedback).map_err(told)?;
        let mut command = Command::new(&line[0]);
        command
            .args(&line[1..])
            .current_dir(directory(self.store, record)?)
            .env("SAYSO_FEEDBACK_FILE", &feedback)
            .env("SAYSO_WORKFLOW_ID", workflow)
            .env("SAYSO_INTERACTION_ID", record.id.as_str())
            .env_remove("SAYSO_SESSION_ID")
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for name in config::token_variables() {
            command.env_remove(name);
        }
        if let Some(session) = &record.question.session_id {
            command.env("SAYSO_SESSION_ID", session);
        }
        let failed = |e| format!("the command cannot be started: {e}");
        command.spawn().map_err(failed)
    }

    /// Waits for the command's end; notes the resume once it has run for a while.
    fn watch(&mut self, child: &mut Child) -> std::result::Result<ExitStatus, String> {
        let failed = |e: std::io::Error| format!("the command cannot be waited for: {e}");
        let start = Instant::now();
        while start.elapsed() < SETTLED_AFTER {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.note(Stage::Resumed, None).map_err(|e| e.message)?;
        child.wait().map_err(failed)
    }

    fn is_noted(&self) -> bool {
        let mark = self.store.resume_mark(self.id());
        mark.is_some_and(|mark| mark.state == Stage::Resumed)
    }

    /// Writes a stage into every mark, and an outcome into the events.
    fn note(&mut self, stage: Stage, error: Option<String>) -> Result<()> {
        let writer = self.store.lock(LOCK_WAIT)?;
        let mut resume = Resume::new(stage, writer.now, self.attempts);
        resume.error = error;
        let repeated = self.is_noted() && stage == Stage::Resumed;
        let marks = self
            .records
            .iter()
            .map(|r| writer.write_resume(&r.id, &resume));
        self.leases = marks.collect::<Result<_>>()?;
        if repeated || stage == Stage::Starting {
            return Ok(());
        }
        for record in &self.records {
            let mut event = Event::of(record, Type::InteractionResumed, writer.now);
            let outcome = if stage == Stage::Resumed {
                "resumed"
            } else {
                "failed"
            };
            event.outcome = Some(outcome.to_owned());
            writer.append(event);
        }
        Ok(())
    }
}

/// The command with the question's ids put in.
///
/// # Errors
/// Where an id that it wants is missing or could be taken for something else than an id.
pub(super) fn command_line(
    command: &[String],
    record: &Interaction,
) -> std::result::Result<Vec<String>, String> {
    let q = &record.question;
    let ids = [
        ("session_id", q.session_id.as_deref()),
        ("workflow_id", q.workflow_id.as_deref()),
        ("interaction_id", Some(record.id.as_str())),
    ];
    let mut line = command.to_vec();
    for (name, id) in ids {
        let placeholder = format!("{{{name}}}");
        if !line.iter().any(|argument| argument.contains(&placeholder)) {
            continue;
        }
        let id =
            id.ok_or_else(|| format!("the question has no {name}, which the command wants"))?;
        if !is_plain(id) {
            return Err(format!("the question's {name} cannot be an argument"));
        }
        for argument in &mut line {
            *argument = argument.replace(&placeholder, id);
        }
    }
    Ok(line)
}

/// `^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`
fn is_plain(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() <= 200
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(b))
}

/// Where the command runs: the asker's directory if it lies in the scope's repository, else the scope's
/// root.
///
/// # Errors
/// Where neither is there.
pub(super) fn directory(
    store: &Store,
    record: &Interaction,
) -> std::result::Result<PathBuf, String> {
    let root = store.recorded_root().map(PathBuf::from);
    let root = root.ok_or("the scope belongs to no directory")?;
    if let Some(cwd) = record.question.cwd.as_deref().map(PathBuf::from)
        && cwd.is_dir()
    {
        let inside = repo::discover(&cwd, None)
            .ok()
            .flatten()
            .is_some_and(|found| found.root == root && found.worktree.is_some());
        if inside {
            return Ok(cwd);
        }
    }
    if root.is_dir() {
        return Ok(root);
    }
    let error = Error::unavailable(format!("the directory {} is gone", root.display()));
    Err(error.message)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_plain_ids_become_arguments() {
        for id in ["a", "0f:1_2.3-4", &"x".repeat(200)] {
            assert!(is_plain(id), "{id}");
        }
        for id in [
            "",
            "-p",
            "--resume",
            ".x",
            "a b",
            "a\n",
            "$(x)",
            "é",
            &"x".repeat(201),
        ] {
            assert!(!is_plain(id), "{id}");
        }
    }
}
