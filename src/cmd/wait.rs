//! `sayso wait`: waits for a question that someone else opened, and prints its state.

use std::io::{self, ErrorKind};
use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::find_exact;
use crate::cli::WaitArgs;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::model::interaction::{Interaction, State};
use crate::model::record::Secrets;
use crate::park::{Courier, Ended, Output, Stay, Wait};
use crate::render::json as envelope;
use crate::store::{Store, WITHDRAW_WAIT};
use crate::time::Time;

/// Waits and prints; never withdraws.
pub fn run(context: &Context, args: &WaitArgs) -> Result<Exit> {
    let waited = wait(context, args, |record, now| print(context, record, now))?;
    Ok(match waited {
        Waited::Signal(signal) => Exit::Interrupted(signal),
        Waited::Stands(status) if args.exit_status => status,
        Waited::Stands(_) => Exit::Done,
    })
}

/// How a wait ended.
pub(super) enum Waited {
    /// The question's state was printed; what it means for an exit code.
    Stands(Exit),
    /// This signal came.
    Signal(i32),
}

/// Waits until a question is settled or the time is up, and hands its state to `print`.
pub(super) fn wait(
    context: &Context,
    args: &WaitArgs,
    print: impl FnOnce(&Interaction, Time) -> io::Result<()>,
) -> Result<Waited> {
    let interrupts = Interrupts::listen_apart()
        .map_err(|e| Error::unavailable(format!("cannot listen for signals: {e}")))?;
    let (store, id) = find_exact(context, &context.asking_scopes()?, &args.id)?;
    let seconds = args
        .timeout
        .trim()
        .parse::<i64>()
        .map_or(60, |s| s.clamp(1, 300));
    let budget = Duration::from_secs(seconds.unsigned_abs());
    let opened = store.must_load(&id)?;
    let lease = (opened.state == State::Pending)
        .then(|| lease(&store, &opened.id))
        .flatten();
    let mut courier = Courier::new(Stay::Waits);
    if opened.state == State::Pending
        && let Ok(config) = context.config()
    {
        courier.take(&config, &store, &opened);
    }
    let mut wait = Wait::new(&store, &opened, Some(budget), &interrupts, Output::Watched)?;
    let record = match wait.run()? {
        Ended::Settled(record) => *record,
        Ended::TimedOut | Ended::Hangup => opened.clone(),
        Ended::Signal(signal) => return Ok(Waited::Signal(signal)),
    };
    drop(lease);
    let now = Time::now();
    match print(&record, now) {
        Ok(()) => store.mark_delivered(&record),
        // Nobody reads it any more; the exit code still must not take a denial for an allow.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Waited::Stands(Exit::of(&record, record.status_at(now))))
}

fn print(context: &Context, record: &Interaction, now: Time) -> io::Result<()> {
    let mut out = context.out();
    if context.global.json {
        let record = envelope::record(record, now, Secrets::Hidden, &[]);
        out.line(&envelope::success(&record))?;
    } else {
        out.line(record.status_at(now).name())?;
    }
    out.flush()
}

/// Taken under the lock, so that no answerer misses it; where the store cannot be locked, without.
fn lease(store: &Store, id: &crate::id::Id) -> Option<crate::store::create::Lease> {
    let _lock = store.lock(WITHDRAW_WAIT).ok();
    store.lease(id)
}
