//! What one entry still has to tell, and what became of its last notice: files under `notify/`.
//!
//! A queued question is an empty file whose name says it all: one system call, whole or not there at
//! all. Nothing is synced: a notice that a power cut swallows is told of a question that stands in every
//! listing.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::Message;
use crate::fsio::{self, Lock};
use crate::id::{Id, hex};
use crate::model::interaction::Interaction;
use crate::repo;
use crate::store::layout::Home;
use crate::time::Time;

/// The bound of a message's file and of the state file, in bytes.
const FILE_MAX: usize = 64 << 10;

/// One entry's files.
pub(super) struct Queue {
    root: PathBuf,
    dir: PathBuf,
    lock: PathBuf,
    last: PathBuf,
}

/// Something to tell.
#[derive(Debug)]
pub(super) struct Queued {
    file: PathBuf,
    /// What it is about.
    pub(super) what: What,
}

/// What a notice is about.
#[derive(Debug)]
pub(super) enum What {
    /// A question, wherever it stands now.
    Question {
        /// Its scope.
        scope: String,
        /// Its id.
        id: Id,
    },
    /// A message, and when it came.
    Message(Message, Time),
    /// One that cannot be read.
    Nothing,
}

/// What became of the last notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// When it was sent.
    pub at: String,
    /// Why it failed: one clause without addresses, texts and secrets; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Queue {
    /// The files of the entry of that name; nothing is touched yet.
    pub(super) fn of(home: &Home, name: &str) -> Self {
        let root = home.path().join("notify");
        Self {
            dir: root.join(name),
            lock: root.join(format!("{name}.lock")),
            last: root.join(format!("{name}.last")),
            root,
        }
    }

    /// Queues a question.
    pub(super) fn push_question(&self, scope: &str, record: &Interaction) -> io::Result<()> {
        let micros = record.created_at.micros();
        let file = self
            .dir
            .join(format!("q.{micros:020}.{}.{scope}", record.id));
        self.with_dirs(|| match fsio::create_mark(&file) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        })
    }

    /// Queues a message.
    pub(super) fn push_message(&self, now: Time, message: &Message) -> io::Result<()> {
        let random: [u8; 16] = rand::rng().random();
        let name = format!("m.{:020}.{}", now.micros(), hex(&random));
        let bytes = serde_json::to_vec(message)?;
        self.with_dirs(|| {
            let temp = fsio::write_temp(&self.dir, &bytes)?;
            fsio::replace(temp, &self.dir.join(&name))
        })
    }

    fn with_dirs(&self, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
        match write() {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let home = self.root.parent().unwrap_or(&self.root);
                fs::create_dir_all(home.parent().unwrap_or(home))?;
                for dir in [home, &self.root, &self.dir] {
                    fsio::make_dir(dir)?;
                }
                write()
            }
            done => done,
        }
    }

    /// Everything that is queued, oldest first.
    pub(super) fn entries(&self) -> io::Result<Vec<Queued>> {
        let mut names: Vec<(String, PathBuf)> = Vec::new();
        let listed = match fs::read_dir(&self.dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && (name.starts_with("q.") || name.starts_with("m."))
            {
                names.push((name, entry.path()));
            }
        }
        // By their time, whichever kind they are.
        names.sort_by(|a, b| a.0[2..].cmp(&b.0[2..]));
        let queued = |(name, file): (String, PathBuf)| Queued {
            what: what(&name, &file).unwrap_or(What::Nothing),
            file,
        };
        Ok(names.into_iter().map(queued).collect())
    }

    /// Whether nothing is queued; what cannot be read counts as nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_ok_and(|entries| entries.is_empty())
    }

    /// Takes out what was told, or need not be.
    pub(super) fn remove(&self, queued: &Queued) -> io::Result<()> {
        fsio::remove(&queued.file)
    }

    /// The lock that says that somebody sends; none if it is held longer than `wait`.
    pub(super) fn lock(&self, wait: Duration) -> io::Result<Option<Lock>> {
        let failed = |e| io::Error::other(format!("{}: {e}", self.lock.display()));
        let file = fsio::open_or_create(&self.lock).map_err(failed)?;
        fsio::lock(file, wait, |_| {})
    }

    /// Notes what became of a notice.
    pub(super) fn note(&self, last: &Last) -> io::Result<()> {
        let temp = fsio::write_temp(&self.root, &serde_json::to_vec(last)?)?;
        fsio::replace(temp, &self.last)
    }

    /// What became of the last notice.
    pub(super) fn last(&self) -> Option<Last> {
        serde_json::from_slice(&fsio::read(&self.last, FILE_MAX).ok()?).ok()
    }
}

fn what(name: &str, file: &Path) -> Option<What> {
    let (kind, rest) = name.split_once('.')?;
    let (micros, rest) = rest.split_once('.')?;
    let at = Time::from_micros(micros.parse().ok()?);
    if kind == "q" {
        let (id, scope) = rest.split_once('.')?;
        let scope = repo::valid_scope_name(scope).then(|| scope.to_owned())?;
        return Some(What::Question {
            scope,
            id: Id::parse(id)?,
        });
    }
    let message = serde_json::from_slice(&fsio::read(file, FILE_MAX).ok()?).ok()?;
    Some(What::Message(message, at))
}
