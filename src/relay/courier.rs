//! Publishing and polling beside an asker, on a thread of its own, so that a Relay that is slow or dead
//! delays nobody.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::looker::Looker;
use super::outbox;
use super::provider::Provider;
use super::publish::{self, Occasion};
use crate::config::Config;
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
    store: Store,
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
            store: store.clone(),
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
                let question = (job.store.clone(), job.id.clone());
                send(home, job);
                if stay == Stay::Waits {
                    looker.take_on(question);
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
        // Where no thread can be had, the entry waits in the outbox for whoever polls next.
        std::thread::Builder::new().spawn(move || {
            publish::attempt(&home, &provider, &entry, Occasion::Due, until);
        })
    });
    let attempts: Vec<_> = attempts.collect();
    for attempt in attempts.into_iter().flatten() {
        let _ = attempt.join();
    }
}
