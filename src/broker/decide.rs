//! The order of policy and human, for every surface through which an approval comes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::resolve::resolve;
use crate::config::{Config, Decision, Source, read_repository_file};
use crate::error::{Code, Error, Result};
use crate::events::{Event, Type};
use crate::log;
use crate::model::interaction::Question;
use crate::model::json::Json;
use crate::policy::{self, Call, Effective, REPO_FILE_MAX, REPO_FILE_NAME, RepoFile};
use crate::repo;
use crate::store::Store;
use crate::time::Time;

/// How long an event that has to be written may wait for the lock.
const EVENT_WAIT: Duration = Duration::from_secs(1);

/// What stands before a human is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruled {
    /// The policy allows it.
    Allow {
        /// The rule that decided, with its place.
        rule: String,
    },
    /// The policy denies it.
    Deny {
        /// The rule that decided, with its place.
        rule: String,
        /// For the asker.
        message: String,
    },
    /// A human decides.
    Ask,
}

/// What the policy of the asking agent says about a permission. Every verdict leaves an event.
///
/// # Errors
/// `config_error` where the policy cannot be read, `unavailable` where an allow's event cannot be
/// written: never a leave to go on.
pub fn decide(store: &Store, config: &Config, question: &Question) -> Result<Ruled> {
    let files = repository_files(question.cwd.as_deref())?;
    if config.agents.is_empty() && files.is_empty() {
        return Ok(Ruled::Ask);
    }
    let policy = Effective::new(config, &question.agent, &files)?;
    let input = question
        .tool()
        .and_then(|tool| tool.input.as_ref())
        .map(Json::value);
    let call = Call {
        tool_name: question.tool().map(|tool| tool.name.as_str()),
        input: input.as_ref(),
        action: question.action(),
        cwd: question.cwd.as_deref().map(Path::new),
        resolved: &[],
    };
    let resolved = resolve(&call);
    let call = Call {
        resolved: &resolved,
        ..call
    };
    let verdict = policy::decide(&policy, &call);
    let rule = verdict
        .rule
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let position = verdict.rule.as_ref().map(policy::Ruling::position);
    let (word, ruled) = match verdict.decision {
        Decision::Allow => ("allow", Ruled::Allow { rule }),
        Decision::Deny => {
            let message = format!("Denied by the approval policy: {rule}");
            ("deny", Ruled::Deny { rule, message })
        }
        Decision::Ask => ("ask", Ruled::Ask),
    };
    let mut event = Event::about_agent(Type::PolicyDecided, &question.agent, Time::now());
    event.tool = question.tool().map(|tool| tool.name.clone());
    event.session_id.clone_from(&question.session_id);
    event.verdict = Some(word.to_owned());
    event.rule = position;
    match (note(store, event), &ruled) {
        (Err(error), Ruled::Allow { .. }) => {
            Err(error.hint("an allow that leaves no trace is not given"))
        }
        _ => Ok(ruled),
    }
}

/// Notes that a call to a pinned server gave another agent's name. The name itself is not kept.
pub fn note_pin(store: &Store, agent: &str) {
    let event = Event::about_agent(Type::IdentityPinned, agent, Time::now());
    if let Err(error) = note(store, event) {
        log::warn(&format!("another agent's name was given: {error}"));
    }
}

fn note(store: &Store, event: Event) -> Result<()> {
    let writer = store.lock_or_make(EVENT_WAIT)?;
    writer
        .try_append(event)
        .map_err(|e| Error::unavailable(format!("the event could not be noted: {e}")))
}

/// The `.sayso.toml` of the main worktrees of the asker's directory and of the host's project.
///
/// # Errors
/// `config_error` for one that cannot be read or says more than it may.
pub fn repository_files(cwd: Option<&str>) -> Result<Vec<RepoFile>> {
    let given = cwd.map(PathBuf::from);
    let dir = match given.filter(|dir| dir.is_absolute() && dir.is_dir()) {
        Some(dir) => dir,
        // As for the scope: an asker whose directory is absent or gone is where this process is.
        None => repo::current_dir()?,
    };
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty());
    let mut roots: Vec<PathBuf> = Vec::new();
    for dir in [Some(dir), project.map(PathBuf::from)]
        .into_iter()
        .flatten()
    {
        if !dir.is_dir() {
            let message = format!("CLAUDE_PROJECT_DIR is no directory: {}", dir.display());
            return Err(Error::new(Code::ConfigError, message));
        }
        if let Some(found) = repo::discover(&dir, None)? {
            let root = found.main_worktree().to_owned();
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
    }
    let read = |root: &PathBuf| read_repository_file(root, REPO_FILE_NAME, REPO_FILE_MAX);
    let mut files = Vec::new();
    for root in &roots {
        let source: Option<Source> = read(root)?;
        files.extend(source.map(RepoFile::parse).transpose()?);
    }
    Ok(files)
}
