//! Publishing and polling beside an asker, on a thread of its own, so that a Relay that is slow or dead
//! delays nobody.
//!
//! One process polls for all that wait: whoever holds `poller.lock`.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::provider::Provider;
use super::publish::{self, Occasion};
use super::{cursor, outbox, poll, provider};
use crate::config::Config;
use crate::fsio::{self, Lock};
use crate::id::Id;
use crate::log;
use crate::model::interaction::Interaction;
use crate::store::Store;
use crate::store::layout::Home;

/// How long the first attempt for a question may take.
pub const FIRST_ATTEMPT: Duration = Duration::from_secs(2);

/// Whether the asker stays for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// It opens the question and leaves.
    Leaves,
    /// It waits; meanwhile answers are fetched.
    Waits,
}

/// An asker's thread; there is none until a question goes out. Dropping it leaves the thread to end by
/// itself, or with the process.
#[derive(Debug)]
pub struct Courier {
    stay: Stay,
    jobs: Option<Sender<Job>>,
    done: Option<Receiver<()>>,
    until: Option<Instant>,
}

/// A question and whom it goes out to.
struct Job {
    id: Id,
    providers: Vec<Provider>,
    until: Instant,
}

impl Courier {
    /// For an asker of this kind.
    pub fn new(stay: Stay) -> Self {
        Self {
            stay,
            jobs: None,
            done: None,
            until: None,
        }
    }

    /// Whether its asker stays for the answer.
    pub fn stays(&self) -> bool {
        self.stay == Stay::Waits
    }

    /// Takes on a question that is open. Its outbox entries are there when this returns; the
    /// attempt to send it goes on beside the caller. Nothing of it can fail the caller.
    pub fn take(&mut self, config: &Config, store: &Store, record: &Interaction) {
        if !publish::carries(config, store, record) {
            return;
        }
        let providers = match publish::enqueue(config, store, record) {
            Ok(providers) => providers,
            Err(error) => {
                log::info(|| format!("nothing was published: {error}"));
                return;
            }
        };
        let until = Instant::now() + FIRST_ATTEMPT;
        let job = Job {
            id: record.id.clone(),
            providers,
            until,
        };
        self.until = Some(until);
        let jobs = self.jobs.get_or_insert_with(|| {
            let (jobs, taken) = channel();
            let (tell, done) = channel();
            let (home, stay) = (store.home.clone(), self.stay);
            // Where no thread can be had, the entry waits in the outbox for whoever polls next.
            let thread = std::thread::Builder::new().name("relay".into());
            if let Err(error) = thread.spawn(move || run(&home, stay, &taken, &tell)) {
                log::info(|| format!("no thread for Relay: {error}"));
            }
            self.done = Some(done);
            jobs
        });
        let _ = jobs.send(job);
    }

    /// Waits for the first attempts, at most 2 s from the last question on.
    pub fn finish(mut self) {
        drop(self.jobs.take());
        if let (Some(done), Some(until)) = (&self.done, self.until) {
            let left = until.saturating_duration_since(Instant::now());
            let _ = done.recv_timeout(left);
        }
    }
}

/// The thread: jobs as they come, looks for answers in between.
fn run(home: &Home, stay: Stay, jobs: &Receiver<Job>, _done: &Sender<()>) {
    let mut looker = Looker::new(home.clone());
    loop {
        let job = match stay {
            Stay::Leaves => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Stay::Waits => jobs.recv_timeout(looker.rest()),
        };
        match job {
            Ok(job) => {
                let new = looker.take_on(&job.providers);
                send(home, job);
                if stay == Stay::Waits {
                    // What a crash left without an entry goes out with a process's first question.
                    new.iter().for_each(|p| looker.catch_up(p));
                }
            }
            Err(RecvTimeoutError::Timeout) => looker.look(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One attempt at each provider, side by side.
fn send(home: &Home, job: Job) {
    let attempts = job.providers.into_iter().map(|provider| {
        let (home, until) = (home.clone(), job.until);
        let entry = outbox::outbox_id(&job.id, &provider.id);
        std::thread::spawn(move || {
            publish::attempt(&home, &provider, &entry, Occasion::Due, until);
        })
    });
    let attempts: Vec<_> = attempts.collect();
    for attempt in attempts {
        let _ = attempt.join();
    }
}

/// Polls for whoever waits, if no other process does.
struct Looker {
    home: Home,
    providers: Vec<Looked>,
    lock: Option<Lock>,
}

struct Looked {
    provider: Provider,
    next: Instant,
}

impl Looker {
    fn new(home: Home) -> Self {
        Self {
            home,
            providers: Vec::new(),
            lock: None,
        }
    }

    /// How long there is nothing to look for.
    fn rest(&self) -> Duration {
        let next = self.providers.iter().map(|looked| looked.next).min();
        next.map_or_else(
            || cursor::pause(0),
            |next| next.saturating_duration_since(Instant::now()),
        )
    }

    /// Looks at these providers from now on; returns those that are new.
    fn take_on(&mut self, providers: &[Provider]) -> Vec<Provider> {
        let known = |p: &Provider| self.providers.iter().any(|k| k.provider.id == p.id);
        let new: Vec<Provider> = providers.iter().filter(|p| !known(p)).cloned().collect();
        self.providers.extend(new.iter().map(|provider| Looked {
            provider: provider.clone(),
            next: Instant::now() + cursor::pause(0),
        }));
        new
    }

    fn catch_up(&self, provider: &Provider) {
        if let Err(error) = publish::catch_up(&self.home, provider) {
            log::info(|| format!("pending questions could not be read: {error}"));
        }
    }

    fn look(&mut self) {
        let poller = self.is_poller();
        let now = Instant::now();
        for looked in self.providers.iter_mut().filter(|l| l.next <= now) {
            let mut failures = 0;
            if poller {
                publish::flush(&self.home, &looked.provider, Instant::now() + FIRST_ATTEMPT);
                failures = poll::look(&self.home, &looked.provider);
            }
            looked.next = Instant::now() + cursor::pause(failures);
        }
    }

    /// Whether this process polls for all.
    fn is_poller(&mut self) -> bool {
        if self.lock.is_none() {
            let path = provider::relay_dir(&self.home).join("poller.lock");
            let file = fsio::open_or_create(&path).ok();
            let lock = file.map(|file| fsio::lock(file, Duration::ZERO, |_| {}));
            self.lock = lock.and_then(std::result::Result::ok).flatten();
        }
        self.lock.is_some()
    }
}
