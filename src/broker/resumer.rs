//! The detached process that runs a resume command: it claims the resume under the lock, so that the
//! command runs once, and holds a lease on the claim for as long as the command runs.

use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::config::{self, Config, Env, PLACEHOLDERS};
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
    let mut told = HashSet::new();
    // What was decided while the command ran is told after it, not beside it.
    while let Some(mut claim) = Claim::take(store, workflow, &told)? {
        told.extend(claim.records.iter().map(|record| record.id.clone()));
        let outcome = claim.run(workflow);
        if let Err(why) = outcome {
            claim.note(Stage::Failed, Some(why))?;
        }
        let _ = fsio::remove(&store.layout().feedback(claim.id()));
    }
    Ok(())
}

impl<'a> Claim<'a> {
    /// Claims everything that was decided for a workflow; none while another resumer runs its command, for
    /// that one will tell it, nor if all of it was `told` before.
    fn take(store: &'a Store, workflow: &str, told: &HashSet<Id>) -> Result<Option<Self>> {
        let writer = store.lock(LOCK_WAIT)?;
        if super::resume::is_running(store, workflow)? {
            return Ok(None);
        }
        let mut records: Vec<Interaction> = super::resume::paused(store)?
            .into_iter()
            .map(|paused| paused.record)
            .filter(|r| r.question.workflow_id.as_deref() == Some(workflow))
            .filter(|r| r.state != State::Pending)
            .collect();
        records.sort_by_key(Interaction::updated_at);
        let news = records.iter().any(|record| !told.contains(&record.id));
        let Some(last) = records.last().filter(|_| news) else {
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
        loop {
            self.attempts += 1;
            let mut child = self.spawn(workflow)?;
            let status = self.watch(&mut child)?;
            if status.code() == Some(TEMPORARY) {
                let pause = pause(self.attempts, start.elapsed());
                let pause = pause.ok_or("the command ended with 75 (try again) for 60 seconds")?;
                self.note(Stage::Starting, None).map_err(|e| e.message)?;
                std::thread::sleep(pause);
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
        matches!(mark, Ok(Some(mark)) if mark.state == Stage::Resumed)
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

/// How long to wait before a command is started again that said `attempts` times that it cannot go on now,
/// the last time `elapsed` after it was first started: 1, 2, 4, … s, and at last to the end of the minute.
fn pause(attempts: u32, elapsed: Duration) -> Option<Duration> {
    let left = RETRY_FOR
        .checked_sub(elapsed)
        .filter(|left| !left.is_zero())?;
    let doubled = 1_u64 << attempts.saturating_sub(1).min(6);
    Some(Duration::from_secs(doubled).min(left))
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
        q.session_id.as_deref(),
        q.workflow_id.as_deref(),
        Some(record.id.as_str()),
    ];
    let mut line = command.to_vec();
    for (name, id) in PLACEHOLDERS.into_iter().zip(ids) {
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
/// root. A scope with a name of its own has no root: there it is the asker's directory.
///
/// # Errors
/// Where neither is there.
pub(super) fn directory(
    store: &Store,
    record: &Interaction,
) -> std::result::Result<PathBuf, String> {
    let cwd = record.question.cwd.as_deref().map(PathBuf::from);
    let cwd = cwd.filter(|cwd| cwd.is_dir());
    let Some(root) = store.recorded_root().map(PathBuf::from) else {
        let gone = "the asker's directory is gone, and the scope belongs to none";
        return cwd.ok_or_else(|| gone.to_owned());
    };
    if let Some(cwd) = cwd {
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
    use std::time::Duration;

    use super::{is_plain, pause};

    /// When a command is started that says each time, `takes` after its start, that it cannot go on now.
    fn starts(takes: Duration) -> Vec<f64> {
        let (mut starts, mut elapsed) = (vec![0.0], takes);
        while let Some(pause) = pause(starts.len() as u32, elapsed) {
            starts.push((elapsed + pause).as_secs_f64());
            elapsed += pause + takes;
        }
        starts
    }

    #[test]
    fn a_command_that_cannot_go_on_is_started_again_for_a_minute() {
        assert_eq!(
            starts(Duration::ZERO),
            [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 60.0]
        );
        assert_eq!(
            starts(Duration::from_secs(5)),
            [0.0, 6.0, 13.0, 22.0, 35.0, 56.0]
        );
        assert_eq!(starts(Duration::from_secs(60)), [0.0]);
        assert_eq!(starts(Duration::from_secs(3600)), [0.0]);
        // However often it was started, a pause is at least a second or all that is left.
        assert_eq!(
            pause(u32::MAX, Duration::ZERO),
            Some(Duration::from_secs(60))
        );
    }

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
