//! `sayso inbox`, and `sayso answer` without flags: the pending questions one at a time.

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::Result;
use nix::poll::PollFlags;

use super::answer::random_response_id;
use super::context::Context;
use super::exit::Exit;
use super::list::{Row, collect};
use super::operator::{login_name, responder, sentence};
use crate::broker;
use crate::cli::InboxArgs;
use crate::error::Error;
use crate::fsio::Held;
use crate::id::Id;
use crate::interrupt::Interrupts;
use crate::model::interaction::Interaction;
use crate::model::response::{Answer, Responder};
use crate::park::{Ended, Output, Wait};
use crate::prompt::{self, Decision, Desk, Settle};
use crate::render::out::to_stderr;
use crate::render::question::Look;
use crate::store::Store;
use crate::terminal::{Decoder, Input, Key, Keys, read_keys};
use crate::text;
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};

/// Walks the questions and waits for more.
pub fn run(context: &Context, args: &InboxArgs) -> Result<Exit> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Error::input("the inbox needs a terminal")
            .hint("without one: 'sayso list', then 'sayso answer ID --allow'")
            .into());
    }
    let who = responder(context, args.self_answer)?;
    let bell = if args.bell { Bell::On } else { Bell::Off };
    Walk::new(context, args.by.as_deref(), &who, bell)?.run(AtEnd::Wait)
}

/// Walks the questions that are pending, then ends.
pub(super) fn walk(context: &Context, by: Option<&str>, who: &Responder) -> Result<Exit> {
    Walk::new(context, by, who, Bell::Off)?.run(AtEnd::Leave)
}

/// Puts one question to the operator.
pub(super) fn answer_one(
    context: &Context,
    store: &Store,
    id: &Id,
    by: Option<&str>,
    who: &Responder,
) -> Result<Exit> {
    let record = store.must_load(id)?;
    if !super::list::is_open(&record, Time::now()) {
        return Err(crate::model::transition::not_pending(&record, Time::now()).into());
    }
    let walk = Walk::new(context, by, who, Bell::Off)?;
    match walk.put(store, &record, None, Settle::AtOnce)? {
        Next::Stop(exit) => Ok(exit),
        Next::Skipped | Next::Answered | Next::Gone => Ok(Exit::Done),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    Wait,
    Leave,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bell {
    On,
    Off,
}

enum Next {
    /// The operator decided.
    Answered,
    /// It was settled elsewhere.
    Gone,
    Skipped,
    Stop(Exit),
}

struct Walk<'a> {
    context: &'a Context,
    who: &'a Responder,
    by: String,
    bell: Bell,
    interrupts: Interrupts,
}

impl<'a> Walk<'a> {
    fn new(context: &'a Context, by: Option<&str>, who: &'a Responder, bell: Bell) -> Result<Self> {
        let listen = || {
            let interrupts = Interrupts::listen()?;
            interrupts.listen_for_stop()?;
            Ok::<_, std::io::Error>(interrupts)
        };
        let interrupts =
            listen().map_err(|e| Error::unavailable(format!("cannot listen for signals: {e}")))?;
        let by = by.map_or_else(login_name, str::to_owned);
        Ok(Self {
            context,
            who,
            by,
            bell,
            interrupts,
        })
    }

    fn run(&self, at_end: AtEnd) -> Result<Exit> {
        self.context.operator_scopes_told()?;
        let mut skipped: HashSet<Id> = HashSet::new();
        let mut settle = Settle::AtOnce;
        loop {
            let rows = self.pending()?;
            let waiting = rows
                .iter()
                .filter(|r| r.store.waiting(&r.record.id) == Held::Yes)
                .count();
            let next = rows.iter().find(|r| !skipped.contains(&r.record.id));
            let Some(row) = next else {
                if at_end == AtEnd::Leave {
                    self.context.note("no more pending questions");
                    return Ok(Exit::Done);
                }
                let since = Instant::now();
                match self.idle(waiting, &rows)? {
                    Idle::Look => {
                        // A hand that was moving towards the last question has rested by then.
                        if since.elapsed() > Duration::from_secs(1) {
                            settle = Settle::AtOnce;
                        }
                        continue;
                    }
                    Idle::Again => {
                        skipped.clear();
                        continue;
                    }
                    Idle::Stop(exit) => return Ok(exit),
                }
            };
            self.ring();
            let above = format!("{} pending, {waiting} agents waiting", rows.len());
            settle = match self.put(&row.store, &row.record, Some(&above), settle)? {
                Next::Answered => Settle::AfterQuiet,
                Next::Gone => Settle::AfterLook,
                Next::Skipped => {
                    skipped.insert(row.record.id.clone());
                    Settle::AfterQuiet
                }
                Next::Stop(exit) => return Ok(exit),
            };
        }
    }

    fn pending(&self) -> Result<Vec<Row>> {
        let now = Time::now();
        let scopes = self.context.operator_scopes()?;
        let (mut rows, _) = collect(&scopes.stores, false, now)?;
        rows.retain(|row| super::list::is_open(&row.record, now));
        Ok(rows)
    }

    fn ring(&self) {
        if self.bell == Bell::On {
            let _ = std::io::stderr().lock().write_all(b"\x07");
        }
    }

    /// Puts a question to the operator until it is answered, settled elsewhere or left.
    fn put(
        &self,
        store: &Store,
        record: &Interaction,
        above: Option<&str>,
        settle: Settle,
    ) -> Result<Next> {
        loop {
            let mut wait = Wait::new(store, record, None, &self.interrupts, Output::Ignored)?;
            let look = Look {
                style: self.context.style(true),
                columns: self.context.columns(),
                now: Time::now(),
            };
            let desk = Desk {
                record,
                waiting: Some(store.waiting(&record.id)),
                look,
                above: above.map(str::to_owned),
                answered_by: &self.by,
                response_id: random_response_id(),
                dumb: super::ask::is_dumb(),
                settle,
            };
            match prompt::ask(&desk, &mut wait)? {
                Decision::Answer(submission) => {
                    let answered = Answer::try_from(*submission)
                        .and_then(|answer| broker::answer(store, &record.id, &answer, self.who));
                    match answered {
                        Ok(accepted) => {
                            to_stderr(&sentence(&accepted));
                            return Ok(Next::Answered);
                        }
                        Err(error) => super::print_error_lines(&error),
                    }
                }
                Decision::Withdraw => {
                    let cancelled = broker::cancel(store, &record.id, &self.by)?;
                    to_stderr(cancelled.status().name());
                    return Ok(Next::Answered);
                }
                Decision::Skip => return Ok(Next::Skipped),
                Decision::Quit | Decision::Gone => return Ok(Next::Stop(Exit::Done)),
                Decision::Ended(Ended::Signal(signal)) => {
                    return Ok(Next::Stop(Exit::Interrupted(signal)));
                }
                Decision::Ended(_) => return Ok(Next::Gone),
            }
        }
    }

    /// Nothing to put: waits for the next question or a key.
    fn idle(&self, waiting: usize, rows: &[Row]) -> Result<Idle> {
        let fail = |e: std::io::Error| Error::unavailable(format!("cannot wait: {e}"));
        let skipped = rows.len();
        let line = format!(
            "waiting for the next question ({skipped} skipped, {waiting} agents waiting) · s show skipped · q quit"
        );
        to_stderr(&text::cut(&line, self.context.columns()));
        let stdin = std::io::stdin();
        let dumb = super::ask::is_dumb();
        let mut keys = if dumb {
            None
        } else {
            Some(Keys::enter(stdin.as_fd()).map_err(fail)?)
        };
        let mut decoder = Decoder::default();
        let mut watch = Watch::new().map_err(fail)?;
        watch.arm(&self.context.home.scopes());
        for store in self.context.operator_scopes()?.stores {
            watch.arm(&store.layout().pending);
        }
        let known: HashSet<Id> = rows.iter().map(|r| r.record.id.clone()).collect();
        loop {
            if let Some(signal) = self.interrupts.signal() {
                return Ok(Idle::Stop(Exit::Interrupted(signal)));
            }
            if self.interrupts.take_stop()
                && let Some(keys) = &mut keys
            {
                keys.suspend().map_err(fail)?;
            }
            if self
                .pending()?
                .iter()
                .any(|row| !known.contains(&row.record.id))
            {
                return Ok(Idle::Look);
            }
            let on = match &mut keys {
                Some(keys) => keys.ready().map_err(fail)?,
                None => true,
            };
            let also = [Also {
                fd: stdin.as_fd(),
                events: PollFlags::POLLIN,
            }];
            let also = if on { &also[..] } else { &[] };
            let ready = watch
                .sleep(TICK, Some(&self.interrupts), also)
                .map_err(fail)?;
            if ready.first() != Some(&true) {
                continue;
            }
            match read_keys(stdin.as_fd(), &mut decoder).map_err(fail)? {
                Input::Closed => return Ok(Idle::Stop(Exit::Done)),
                Input::Keys(pressed) if pressed.contains(&Key::Char('q')) => {
                    return Ok(Idle::Stop(Exit::Done));
                }
                Input::Keys(pressed) if pressed.contains(&Key::Char('s')) => {
                    return Ok(Idle::Again);
                }
                Input::Keys(_) => {}
            }
        }
    }
}

enum Idle {
    Look,
    Again,
    Stop(Exit),
}
