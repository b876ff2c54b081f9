//! The detached process that sends one entry's notices: at most one in two seconds, until nothing has
//! been queued for that long.
//!
//! What is queued goes only once it was sent, so nothing is lost when this process is killed: the next
//! question starts another. At the end the lock goes first and the queue is looked at once more, because
//! whoever queues something while the lock is held starts nobody.

use std::time::{Duration, Instant};

use super::process::Failure;
use super::queue::{Last, Queue, Queued, What};
use super::route::{self, About};
use super::wording::{self, Notice, Texts};
use super::{Message, desktop, process, web};
use crate::config::{Config, Env, Notify};
use crate::error::{Error, Result};
use crate::events::{self, Event, Type};
use crate::id::Id;
use crate::model::interaction::{Interaction, Status};
use crate::store::Store;
use crate::store::layout::Home;
use crate::store::query::Entry;
use crate::time::Time;

/// At most one notice in this time.
const PACE: Duration = Duration::from_secs(2);
/// How long one that asks may hold the lock to see whether anybody does.
const LOCK_WAIT: Duration = Duration::from_millis(300);

/// Sends what is queued for the entry of that name.
///
/// # Errors
/// Where the configuration or the queue cannot be used; what becomes of the notices themselves is noted
/// in `notify/<name>.last`.
pub fn run(home: &Home, name: &str) -> Result<()> {
    if !route::is_name(name) {
        return Err(Error::input("an entry's name is 16 hex digits"));
    }
    // In a session of its own, neither the end of the asker's terminal nor its signals reach it; nor does
    // it hold the asker's directory.
    let _ = nix::unistd::setsid();
    let _ = std::env::set_current_dir("/");
    let config = Config::load(&Env::of_process())?;
    let entries = config.notify.iter().map(toml::Spanned::get_ref);
    let notify = entries.into_iter().find(|n| route::name(n) == name);
    let queue = Queue::of(home, name);
    let failed = |e: std::io::Error| Error::unavailable(format!("cannot use the queue: {e}"));
    loop {
        let Some(lock) = queue.lock(LOCK_WAIT).map_err(failed)? else {
            return Ok(());
        };
        match notify {
            Some(notify) => drain(home, notify, &queue),
            None => forget(&queue),
        }
        .map_err(failed)?;
        drop(lock);
        if queue.is_empty() {
            return Ok(());
        }
    }
}

/// Nobody wants to know any more: the entry was changed or removed.
fn forget(queue: &Queue) -> std::io::Result<()> {
    queue.entries()?.iter().try_for_each(|q| queue.remove(q))
}

fn drain(home: &Home, notify: &Notify, queue: &Queue) -> std::io::Result<()> {
    let mut sent: Option<Instant> = None;
    loop {
        if let Some(at) = sent {
            std::thread::sleep(PACE.saturating_sub(at.elapsed()));
        }
        let entries = queue.entries()?;
        if entries.is_empty() {
            return Ok(());
        }
        let batch = Batch::of(home, entries);
        if let Some(notice) = batch.notice(home, notify) {
            sent = Some(Instant::now());
            let last = Last {
                at: Time::now().to_string(),
                error: send(notify, &notice).err(),
            };
            queue.note(&last)?;
        }
        batch.told.iter().try_for_each(|q| queue.remove(q))?;
    }
}

fn send(notify: &Notify, notice: &Notice) -> std::result::Result<(), String> {
    if let Some(argv) = &notify.command {
        let input = format!("{}\n", notice.event).into_bytes();
        return process::run(argv, input, &notice.variables).map_err(|failure| match failure {
            Failure::Missing => "the command is not there".to_owned(),
            Failure::Bad(why) => format!("the command: {why}"),
        });
    }
    if notify.desktop {
        return desktop::show(notice);
    }
    web::post(notify, notice)
}

/// What one notice tells of. Questions that are open go first; messages wait for a turn of their own, so
/// that their text is told.
struct Batch {
    told: Vec<Queued>,
    question: Option<(Store, Interaction)>,
    messages: Vec<(Message, Time)>,
}

impl Batch {
    fn of(home: &Home, entries: Vec<Queued>) -> Self {
        let mut question = None;
        for queued in entries.iter().rev() {
            if let What::Question { scope, id } = &queued.what {
                question = open(home, scope, id);
            }
            if question.is_some() {
                break;
            }
        }
        let has_question = question.is_some();
        let waits = |q: &Queued| has_question && matches!(q.what, What::Message(..));
        let told: Vec<Queued> = entries.into_iter().filter(|q| !waits(q)).collect();
        let messages = told.iter().filter_map(|q| match &q.what {
            What::Message(message, at) => Some((message.clone(), *at)),
            What::Question { .. } | What::Nothing => None,
        });
        Self {
            messages: messages.collect(),
            question,
            told,
        }
    }

    /// The notice; none where everything was settled meanwhile.
    fn notice(&self, home: &Home, notify: &Notify) -> Option<Notice> {
        let texts = if notify.include_prompt {
            Texts::Told
        } else {
            Texts::Kept
        };
        if let Some((store, record)) = &self.question {
            let event = created(store, record);
            let waiting = waiting(home, notify).max(1);
            let scope = &store.scope;
            let now = Time::now();
            return Some(wording::question(
                &event, record, scope, texts, waiting, now,
            ));
        }
        let (message, at) = self.messages.last()?;
        let more = self.messages.len() - 1;
        Some(wording::message(message, texts, more, *at))
    }
}

/// A question, if it still can be answered.
fn open(home: &Home, scope: &str, id: &Id) -> Option<(Store, Interaction)> {
    let store = Store::new(home, scope, None);
    let record = store.must_load(id).ok()?;
    (record.status_at(Time::now()) == Status::Pending).then_some((store, record))
}

/// The event that told of the question, as the log has it; made anew where the log was lost.
fn created(store: &Store, record: &Interaction) -> Event {
    let made = Event::of(record, Type::InteractionCreated, record.created_at);
    events::find_recent(&store.layout().dir, &made.id).unwrap_or(made)
}

/// How many questions wait that this entry wants to know of, in every scope.
fn waiting(home: &Home, notify: &Notify) -> usize {
    let now = Time::now();
    let waits = |record: &Interaction| {
        record.status_at(now) == Status::Pending && route::wants(notify, &About::question(record))
    };
    let stores = home.scope_names().unwrap_or_default();
    let stores = stores.iter().map(|scope| Store::new(home, scope, None));
    let pending = stores.filter_map(|store| store.pending().ok()).flatten();
    pending.filter_map(Entry::current).filter(waits).count()
}
