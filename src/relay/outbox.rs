//! What is to go out to one provider: one entry per question, ids only. An entry is sealed when it is
//! sent, and dropped once the question is settled.

use std::path::PathBuf;
use std::time::Duration;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::client::Unsent;
use super::state::Dir;
use crate::error::Result;
use crate::fsio::{self, Lock};
use crate::id::Id;
use crate::store::Store;
use crate::store::layout::Home;
use crate::time::Time;

/// How often a question is tried before it counts as dead.
const TRIES: u32 = 6;
/// The pause after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is to be sent, at its time.
    Due,
    /// The Relay has it.
    Sent,
    /// It is not tried any more.
    Dead,
}

/// One question for one provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    schema: u32,
    /// `interaction:<id>:<provider_id>`.
    pub id: String,
    /// The scope that holds the question.
    pub scope: String,
    /// The question.
    pub interaction_id: String,
    /// How far it is.
    pub stage: Stage,
    /// How often it was tried in vain.
    pub failures: u32,
    /// Not to be tried before, RFC 3339.
    pub due_at: String,
    /// Why the last try failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An entry that nobody else is sending.
pub(super) struct Taken {
    pub(super) entry: Entry,
    _lock: Lock,
}

/// The deterministic id, so that publishing twice sends once.
pub(super) fn outbox_id(id: &Id, provider_id: &str) -> String {
    format!("interaction:{id}:{provider_id}")
}

fn path(dir: &Dir, outbox_id: &str) -> PathBuf {
    dir.outbox().join(format!("{outbox_id}.json"))
}

impl Entry {
    fn new(id: &Id, scope: &str, provider_id: &str) -> Self {
        Self {
            schema: 1,
            id: outbox_id(id, provider_id),
            scope: scope.to_owned(),
            interaction_id: id.to_string(),
            stage: Stage::Due,
            failures: 0,
            due_at: Time::now().to_string(),
            error: None,
        }
    }

    /// Whether it is to be sent now.
    pub fn is_due(&self, now: Time) -> bool {
        let at = Time::parse(&self.due_at);
        // Nothing is put off for longer: the clock was set back.
        let passed = |at: Time| at <= now || at.since(now) > crate::http::RETRY_AFTER_MAX;
        self.stage == Stage::Due && at.is_none_or(passed)
    }

    /// The question's scope and id, where the question may still be open.
    pub(super) fn open_question(&self, home: &Home) -> Option<(Store, Id)> {
        let id = Id::parse(&self.interaction_id)?;
        let named = crate::repo::valid_scope_name(&self.scope);
        let store = named.then(|| Store::new(home, &self.scope, None))?;
        let there = |path: PathBuf| path.try_exists().unwrap_or(true);
        let layout = store.layout();
        let open = there(layout.pending_file(&id)) && !layout.settled_file(&id).exists();
        open.then_some((store, id))
    }

    /// The entry after a try.
    pub(super) fn after(mut self, outcome: &std::result::Result<(), Unsent>, now: Time) -> Self {
        match outcome {
            Ok(()) => {
                self.stage = Stage::Sent;
                self.error = None;
            }
            Err(unsent) => {
                self.failures += 1;
                self.error = Some(unsent.code.clone());
                match unsent.again {
                    Some(at_least) if self.failures < TRIES => {
                        let pause = at_least.unwrap_or_else(|| pause(self.failures));
                        self.due_at = now.plus(pause).to_string();
                    }
                    _ => self.stage = Stage::Dead,
                }
            }
        }
        self
    }
}

/// 5·2ⁿ s ±20 %, at most 15 minutes.
fn pause(failures: u32) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let spread = rand::rng().random_range(0.8..1.2);
    whole.mul_f64(spread).min(LONGEST_PAUSE)
}

/// Makes an entry unless there is one; whether it is new.
pub(super) fn add(dir: &Dir, id: &Id, scope: &str, provider_id: &str) -> Result<bool> {
    dir.make()?;
    let entry = Entry::new(id, scope, provider_id);
    dir.write_new(&path(dir, &entry.id), &entry)
}

/// Whether there is an entry for a question.
pub(super) fn has(dir: &Dir, id: &Id, provider_id: &str) -> bool {
    path(dir, &outbox_id(id, provider_id)).exists()
}

/// Every entry, oldest due first; what cannot be understood is passed over.
pub(super) fn entries(dir: &Dir) -> Vec<Entry> {
    let Ok(files) = std::fs::read_dir(dir.outbox()) else {
        return Vec::new();
    };
    let json = files
        .flatten()
        .filter(|f| f.file_name().as_encoded_bytes().ends_with(b".json"));
    let mut entries: Vec<Entry> = json.filter_map(|f| Dir::read(&f.path())).collect();
    entries.sort_by(|a, b| (&a.due_at, &a.id).cmp(&(&b.due_at, &b.id)));
    entries
}

/// The entry as it stands now, if nobody else is sending it for longer than `wait`. Only who holds it
/// writes it.
pub(super) fn take(dir: &Dir, outbox_id: &str, wait: Duration) -> Option<Taken> {
    let path = path(dir, outbox_id);
    let file = fsio::open(&path).ok()?;
    let lock = fsio::lock(file, wait, |_| {}).ok()??;
    // Whoever held it before may have put another file in its place: what counts is what is there now.
    let entry: Entry = Dir::read(&path)?;
    (entry.id == outbox_id).then_some(Taken { entry, _lock: lock })
}

/// Writes what became of an entry.
pub(super) fn put(dir: &Dir, entry: &Entry) -> Result<()> {
    dir.write(&path(dir, &entry.id), entry)
}

/// What becomes due again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revived {
    /// Everything: who this machine is to the Relay has changed. What was given up may go out now, and
    /// answers to what went out before would name the old installation and be dropped.
    All,
    /// What did not go out: there is a device for it now.
    Unsent,
}

/// Makes entries due again.
pub(super) fn revive(dir: &Dir, which: Revived) {
    let wanted = |e: &Entry| match which {
        Revived::All => e.stage != Stage::Due,
        Revived::Unsent => e.stage == Stage::Dead || (e.stage == Stage::Due && e.failures > 0),
    };
    for mut entry in entries(dir).into_iter().filter(wanted) {
        entry.stage = Stage::Due;
        entry.failures = 0;
        entry.due_at = Time::now().to_string();
        let _ = put(dir, &entry);
    }
}

/// Forgets an entry.
pub(super) fn drop_entry(dir: &Dir, entry: &Entry) {
    let _ = fsio::remove(&path(dir, &entry.id));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsent(again: Option<Option<Duration>>) -> std::result::Result<(), Unsent> {
        let code = "relay_500".to_owned();
        Err(Unsent { code, again })
    }

    #[test]
    fn six_failures_and_it_is_dead() {
        let id = Id::parse(&"ab".repeat(16)).unwrap();
        let mut entry = Entry::new(&id, "shop", "home");
        assert_eq!(entry.id, format!("interaction:{id}:home"));
        let now = Time::now();
        for failure in 1..TRIES {
            entry = entry.after(&unsent(Some(None)), now);
            assert_eq!(entry.stage, Stage::Due);
            let wait = Time::parse(&entry.due_at).unwrap().since(now).as_secs_f64();
            let middle = 5.0 * f64::from(1 << (failure - 1));
            assert!(
                (0.79 * middle..1.21 * middle).contains(&wait),
                "{failure}: {wait}"
            );
            assert!(!entry.is_due(now));
        }
        entry = entry.after(&unsent(Some(None)), now);
        assert_eq!(
            (entry.stage, entry.error.as_deref()),
            (Stage::Dead, Some("relay_500"))
        );
    }

    #[test]
    fn what_the_relay_asks_for_is_kept_and_what_is_final_is_dead_at_once() {
        let id = Id::parse(&"ab".repeat(16)).unwrap();
        let now = Time::now();
        let hour = Duration::from_secs(3600);
        let later = Entry::new(&id, "shop", "home").after(&unsent(Some(Some(hour))), now);
        assert_eq!(Time::parse(&later.due_at), Some(now.plus(hour)));
        let dead = Entry::new(&id, "shop", "home").after(&unsent(None), now);
        assert_eq!(dead.stage, Stage::Dead);
        let sent = later.after(&Ok(()), now);
        assert_eq!((sent.stage, sent.error), (Stage::Sent, None));
    }

    #[test]
    fn a_clock_that_was_set_back_puts_nothing_off_for_years() {
        let id = Id::parse(&"ab".repeat(16)).unwrap();
        let mut entry = Entry::new(&id, "shop", "home");
        let now = Time::now();
        entry.due_at = now.plus(Duration::from_secs(2 * 365 * 86400)).to_string();
        assert!(entry.is_due(now));
        entry.due_at = now.plus(Duration::from_secs(3600)).to_string();
        assert!(!entry.is_due(now));
    }

    #[test]
    fn no_pause_is_longer_than_a_quarter_of_an_hour() {
        for failures in 1..100 {
            assert!(pause(failures) <= LONGEST_PAUSE);
        }
    }
}
