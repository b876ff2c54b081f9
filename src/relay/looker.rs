//! Looking for answers while somebody waits: one process for all that do, whoever holds `poller.lock`.
//!
//! Who holds it shows every few seconds that it lives; where it does not (a stopped process), others look
//! as well. A provider's own lock keeps them from each other, so that costs a request and no more.

use std::collections::HashMap;
use std::fs::FileTimes;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use super::provider::{self, Provider};
use super::{courier::FIRST_ATTEMPT, cursor, poll, publish};
use crate::config::{Config, Env};
use crate::error::Result;
use crate::fsio::{self, Lock};
use crate::id::Id;
use crate::log;
use crate::store::Store;
use crate::store::layout::Home;

/// How often the holder of the lock shows that it lives, at least.
const BEAT: Duration = Duration::from_secs(5);
/// How long it may show nothing. A provider that is slow to reply makes it longer, which does no harm.
const SILENT: Duration = Duration::from_secs(10);
/// How long there is nothing to do where no question is open.
const IDLE: Duration = Duration::from_secs(3600);

/// What one waiting process looks for.
pub(super) struct Looker {
    home: Home,
    /// Its own questions, as long as they are open.
    open: Vec<(Store, Id)>,
    /// When each provider is looked at next.
    next: HashMap<String, Instant>,
    wake: Instant,
    lock: Option<Lock>,
}

impl Looker {
    pub(super) fn new(home: Home) -> Self {
        Self {
            home,
            open: Vec::new(),
            next: HashMap::new(),
            wake: Instant::now(),
            lock: None,
        }
    }

    /// How long there is nothing to do.
    pub(super) fn rest(&self) -> Duration {
        if self.open.is_empty() {
            return IDLE;
        }
        self.wake.saturating_duration_since(Instant::now())
    }

    /// Looks for the answer to this question too, from now on.
    pub(super) fn take_on(&mut self, question: (Store, Id)) {
        if self.open.is_empty() {
            self.wake = Instant::now() + cursor::pause(0);
            // What a crash left without an entry goes out with a process's first question.
            for provider in self.providers() {
                if let Err(error) = publish::catch_up(&self.home, &provider) {
                    log::info(|| format!("pending questions could not be read: {error}"));
                }
            }
        }
        self.open.push(question);
    }

    /// Looks, if this process is the one that does.
    pub(super) fn look(&mut self) {
        self.open.retain(|(store, id)| {
            let layout = store.layout();
            layout.pending_file(id).exists() && !layout.settled_file(id).exists()
        });
        if self.open.is_empty() {
            self.lock = None;
            return;
        }
        self.wake = Instant::now() + cursor::pause(0);
        if !self.is_poller() {
            return;
        }
        for provider in self.providers() {
            let due = self
                .next
                .get(&provider.id)
                .is_none_or(|at| *at <= Instant::now());
            if due {
                self.beat();
                let until = Instant::now() + FIRST_ATTEMPT;
                let _ = publish::flush(&self.home, &provider, until);
                let failures = poll::look(&self.home, &provider);
                let next = Instant::now() + cursor::pause(failures);
                self.next.insert(provider.id, next);
            }
        }
        self.beat();
        let next = self.next.values().min().copied();
        let soon = Instant::now() + BEAT;
        self.wake = next.map_or(soon, |next| next.min(soon));
    }

    /// The Relays of all who wait: other processes' questions may have gone elsewhere than ours.
    fn providers(&self) -> Vec<Provider> {
        let known = || -> Result<Vec<Provider>> {
            let config = Config::load(&Env::of_process())?;
            provider::enabled(&self.home, &config)
        };
        let mut providers = known().unwrap_or_else(|error| {
            log::info(|| format!("no Relay is looked at: {error}"));
            Vec::new()
        });
        providers.retain(Provider::is_paired);
        providers
    }

    fn lock_path(&self) -> PathBuf {
        provider::relay_dir(&self.home).join("poller.lock")
    }

    fn is_poller(&mut self) -> bool {
        if self.lock.is_none() {
            let file = fsio::open_or_create(&self.lock_path()).ok();
            let lock = file.map(|file| fsio::lock(file, Duration::ZERO, |_| {}));
            self.lock = lock.and_then(std::result::Result::ok).flatten();
        }
        self.lock.is_some() || self.holder_is_silent()
    }

    fn holder_is_silent(&self) -> bool {
        let shown = self.lock_path().metadata().and_then(|m| m.modified());
        shown.is_ok_and(|at| {
            let now = SystemTime::now();
            let apart = now.duration_since(at).or_else(|_| at.duration_since(now));
            apart.unwrap_or_default() > SILENT
        })
    }

    fn beat(&self) {
        if self.lock.is_some()
            && let Ok(file) = fsio::open_or_create(&self.lock_path())
        {
            let _ = file.set_times(FileTimes::new().set_modified(SystemTime::now()));
        }
    }
}
