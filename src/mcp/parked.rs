//! The questions that this process waits for: one lease each, all of them withdrawn together at the end.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::broker::Lifetime;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::fsio::Held;
use crate::id::Id;
use crate::log;
use crate::model::interaction::{Interaction, Question, State};
use crate::model::transition;
use crate::park::{self, Courier, Stay};
use crate::store::Store;
use crate::store::create::{Created, Lease};
use crate::time::Time;

/// How long the desk waits for the lock to settle what expired; signals wait as long.
const EXPIRE_WAIT: Duration = Duration::from_millis(50);

/// How a wait ends: the settled record, or why there is none.
pub(super) type Settled = Result<Interaction>;

/// The questions that wait.
pub(super) struct Parked {
    store: Store,
    state: Mutex<Questions>,
    /// Held while a question is opened: one after the other, none waits for the store's lock in vain.
    turn: Mutex<()>,
    opened: Condvar,
    bell: UnixStream,
    courier: Mutex<Courier>,
}

#[derive(Default)]
struct Questions {
    closing: bool,
    /// Questions that are being opened at this moment.
    opening: usize,
    open: HashMap<Id, Entry>,
    /// Of answers that did not go out yet: until they do, everyone sees that they are taken.
    kept: HashMap<Id, Lease>,
    /// Those that the desk does not watch yet.
    fresh: Vec<Id>,
}

struct Entry {
    opened: Arc<Interaction>,
    lease: Option<Lease>,
    listeners: Vec<oneshot::Sender<Settled>>,
}

/// A question and where its end will be heard.
pub(super) struct Waiting {
    pub(super) opened: Arc<Interaction>,
    pub(super) settled: oneshot::Receiver<Settled>,
}

/// The end of a wait.
pub(super) struct Ending {
    listeners: Vec<oneshot::Sender<Settled>>,
    settled: Settled,
}

impl Ending {
    /// Tells those who listen.
    pub(super) fn tell(self) {
        for listener in self.listeners {
            let _ = listener.send(self.settled.clone());
        }
    }
}

impl Parked {
    /// None yet, and what becomes readable when there is a new one.
    pub(super) fn new(store: Store) -> std::io::Result<(Self, UnixStream)> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let parked = Self {
            store,
            state: Mutex::default(),
            turn: Mutex::default(),
            opened: Condvar::new(),
            bell,
            courier: Mutex::new(Courier::new(Stay::Waits)),
        };
        Ok((parked, rings))
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a question and waits for it from now on. Blocks on the store.
    ///
    /// # Errors
    /// Those of [`park::open`]; `unavailable` when the server is closing.
    pub(super) fn open(
        &self,
        question: Question,
        lifetime: Lifetime,
        config: &Config,
    ) -> Result<Waiting> {
        let (sender, receiver) = oneshot::channel();
        let turn = self.turn.lock();
        {
            let mut state = self.lock();
            if state.closing {
                return Err(closing());
            }
            state.opening += 1;
        }
        let created = self.make_known(question, lifetime, config);
        drop(turn);
        let mut state = self.lock();
        state.opening -= 1;
        self.opened.notify_all();
        let created = created?;
        let id = created.record.id.clone();
        let opened = Arc::new(created.record);
        let entry = Entry {
            opened: Arc::clone(&opened),
            lease: created.lease,
            listeners: vec![sender],
        };
        state.open.insert(id.clone(), entry);
        state.fresh.push(id);
        drop(state);
        let _ = (&self.bell).write(&[1]);
        Ok(Waiting {
            opened,
            settled: receiver,
        })
    }

    fn make_known(
        &self,
        question: Question,
        lifetime: Lifetime,
        config: &Config,
    ) -> Result<Created> {
        let mut courier = self.courier.lock().unwrap_or_else(PoisonError::into_inner);
        park::open(&self.store, question, lifetime, config, &mut courier)
    }

    /// Opens a question for which nobody waits. Blocks on the store.
    ///
    /// # Errors
    /// Those of [`park::open`].
    pub(super) fn suspend(&self, question: Question, config: &Config) -> Result<Interaction> {
        // The host may end this process with the agent's turn: what is to go out goes out first.
        let mut courier = Courier::new(Stay::Leaves);
        let forever = Lifetime::Unbounded;
        let created = park::open(&self.store, question, forever, config, &mut courier)?;
        courier.finish();
        Ok(created.record)
    }

    /// Waits for a question that is open here; none if it is not.
    pub(super) fn listen(&self, id: &Id) -> Option<Waiting> {
        let (sender, settled) = oneshot::channel();
        let mut state = self.lock();
        let entry = state.open.get_mut(id)?;
        entry.listeners.push(sender);
        let opened = Arc::clone(&entry.opened);
        Some(Waiting { opened, settled })
    }

    /// Withdraws a question; returns the record as it then stands. Blocks on the store.
    pub(super) fn withdraw(&self, opened: &Interaction) -> Settled {
        let lease = {
            let mut state = self.lock();
            state.kept.remove(&opened.id);
            let entry = state.open.remove(&opened.id);
            entry.and_then(|entry| entry.lease)
        };
        park::withdraw(&self.store, opened, lease)
    }

    /// Withdraws everything in one transition, at the latest at `deadline`; nothing is opened any more.
    /// Returns those who still listen, with what they would hear.
    pub(super) fn close(&self, deadline: Instant) -> Vec<Ending> {
        let mut state = self.lock();
        state.closing = true;
        let left = || deadline.saturating_duration_since(Instant::now());
        while state.opening > 0 && !left().is_zero() {
            let waited = self.opened.wait_timeout(state, left());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let entries: Vec<Entry> = state.open.drain().map(|(_, entry)| entry).collect();
        drop(state);
        if entries.is_empty() {
            return Vec::new();
        }
        // Should the lock not be had, the leases that end with this process show that nobody waits.
        let writer = self.store.lock(left());
        let alone =
            |entry: &&Entry| entry.lease.as_ref().map_or(Held::No, Lease::others) != Held::Yes;
        let ids: Vec<Id> = entries
            .iter()
            .filter(alone)
            .map(|entry| entry.opened.id.clone())
            .collect();
        let mut ended = match &writer {
            Ok(writer) => writer.cancel_all(&ids, "asker", deadline),
            Err(_) => HashMap::new(),
        };
        let ending = |entry: Entry| Ending {
            settled: ended.remove(&entry.opened.id).ok_or_else(closing),
            listeners: entry.listeners,
        };
        entries.into_iter().map(ending).collect()
    }

    /// The files of the questions that came since this was last asked.
    pub(super) fn take_fresh(&self) -> Vec<PathBuf> {
        let fresh = std::mem::take(&mut self.lock().fresh);
        let file = |id: &Id| self.store.layout().pending_file(id);
        fresh.iter().map(file).collect()
    }

    /// When the next question expires.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        let state = self.lock();
        state
            .open
            .values()
            .filter_map(|e| e.opened.expires_at)
            .min()
    }

    /// Looks at every question; returns the files of those that are settled now.
    pub(super) fn look(&self) -> Vec<PathBuf> {
        let open: Vec<Arc<Interaction>> = {
            let state = self.lock();
            state.open.values().map(|e| Arc::clone(&e.opened)).collect()
        };
        let now = Time::now();
        let (mut done, mut overdue) = (Vec::new(), Vec::new());
        for opened in open {
            match park::look(&self.store, &opened) {
                Ok(None) if opened.is_overdue(now) => overdue.push(opened),
                Ok(None) => {}
                Ok(Some(record)) => done.push((opened.id.clone(), Ok(record))),
                Err(error) => done.push((opened.id.clone(), Err(error))),
            }
        }
        done.extend(self.expire(overdue, now));
        let file = |id: &Id| self.store.layout().pending_file(id);
        let files = done.iter().map(|(id, _)| file(id)).collect();
        for (id, settled) in done {
            self.end(id, settled);
        }
        files
    }

    fn end(&self, id: Id, settled: Settled) {
        let mut state = self.lock();
        let Some(entry) = state.open.remove(&id) else {
            return;
        };
        let answered = settled.as_ref().is_ok_and(|r| r.response().is_some());
        if let Some(lease) = entry.lease.filter(|_| answered) {
            state.kept.insert(id, lease);
        }
        drop(state);
        let listeners = entry.listeners;
        Ending { listeners, settled }.tell();
    }

    /// Notes that an answer went out.
    pub(super) fn delivered(&self, record: &Interaction) {
        self.store.mark_delivered(record);
        self.lock().kept.remove(&record.id);
    }

    fn expire(&self, overdue: Vec<Arc<Interaction>>, now: Time) -> Vec<(Id, Settled)> {
        if overdue.is_empty() {
            return Vec::new();
        }
        let writer = self.store.lock(EXPIRE_WAIT);
        if let Err(error) = &writer {
            log::warn(&format!("expired questions could not be settled: {error}"));
        }
        let settle = |opened: Arc<Interaction>| {
            let settled = match &writer {
                Ok(writer) => writer.expire(&opened.id),
                Err(error) => Err(error.clone()),
            };
            let settled = match settled {
                Ok(record) if record.state != State::Pending => Ok(record),
                _ => transition::expire(&opened, now).ok_or_else(closing),
            };
            (opened.id.clone(), settled)
        };
        overdue.into_iter().map(settle).collect()
    }
}

/// What a call is told that comes too late.
pub(super) fn closing() -> Error {
    Error::unavailable("the server is closing")
}
