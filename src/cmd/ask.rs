//! `sayso ask`: opens a question, waits, prints the answer.

use std::io::{self, ErrorKind, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator;
use crate::broker::{self, Lifetime};
use crate::cli::AskArgs;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::log;
use crate::model::draft::ttl;
use crate::model::form::AnswerMap;
use crate::model::interaction::Interaction;
use crate::model::record::Secrets;
use crate::model::response::{Answer, Body};
use crate::park::{self, Courier, Ended, Output, Stay, Wait};
use crate::prompt::{self, Decision, Desk, Settle};
use crate::render::json as envelope;
use crate::render::question::Look;
use crate::store::Store;
use crate::store::create::Lease;
use crate::text;
use crate::time::Time;

/// Asks, waits, prints; withdraws the question when it gives up.
pub fn run(context: &Context, args: AskArgs) -> Result<Exit> {
    let interrupts = listen()?;
    let store = context.asking_store(None)?;
    let lifetime = Lifetime::For(ttl(args.question.ttl));
    let in_place = !args.no_prompt && may_prompt(context, args.self_answer);
    let question = super::request::question(context, args.question, &store)?;
    let mut courier = Courier::new(Stay::Waits);
    let config = context.config()?;
    let created = park::open(&store, question, lifetime, &config, &mut courier)?;
    let opened = &created.record;
    let budget = args.timeout.map(Duration::from_secs);
    super::prune::prune_when_due(context, &store);
    let ended =
        Wait::new(&store, opened, budget, &interrupts, Output::Watched).and_then(|mut wait| {
            if in_place {
                interrupts.listen_for_stop().map_err(no_signals)?;
                in_place_answer(context, &store, opened, &mut wait, args.self_answer)
            } else {
                wait.run()
            }
        });
    match ended {
        Ok(ended) => finish(context, &store, opened, created.lease, ended),
        Err(error) => {
            // The wait itself failed: nobody will take an answer any more.
            let _ = park::withdraw(&store, opened, created.lease);
            Err(error.into())
        }
    }
}

fn may_prompt(context: &Context, self_answer: bool) -> bool {
    std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
        // A job in the background must not touch the terminal: it would be stopped, and wait for ever.
        && crate::terminal::is_foreground(std::io::stdin().as_fd())
        && (self_answer || operator::agent_session(context).is_none())
}

fn listen() -> crate::error::Result<Interrupts> {
    Interrupts::listen_apart().map_err(no_signals)
}

fn no_signals(error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot listen for signals: {error}"))
}

/// Whether keys need Enter here.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Offers the key line while waiting; whichever answer comes first, here or elsewhere, wins.
fn in_place_answer(
    context: &Context,
    store: &Store,
    opened: &Interaction,
    wait: &mut Wait<'_>,
    self_answer: bool,
) -> crate::error::Result<Ended> {
    let who = operator::responder(context, self_answer)?;
    let by = operator::login_name();
    loop {
        let look = Look {
            style: context.style(true),
            columns: context.columns(),
            now: Time::now(),
        };
        let desk = Desk {
            record: opened,
            waiting: None,
            look,
            above: None,
            answered_by: &by,
            response_id: super::answer::random_response_id(),
            dumb: is_dumb(),
            settle: Settle::AtOnce,
        };
        match prompt::ask(&desk, wait)? {
            Decision::Answer(submission) => {
                let answered = Answer::try_from(*submission)
                    .and_then(|answer| broker::answer_own(store, &opened.id, &answer, &who));
                if let Err(error) = answered {
                    super::print_error_lines(&error);
                }
            }
            Decision::Withdraw => drop(broker::cancel(store, &opened.id, &by)?),
            Decision::Skip | Decision::Quit | Decision::Gone => {
                context.note("still waiting; answer it elsewhere, or Ctrl-C withdraws it");
                return wait.run();
            }
            Decision::Ended(ended) => return Ok(ended),
        }
        if let Some(ended) = wait.check()? {
            return Ok(ended);
        }
    }
}

fn finish(
    context: &Context,
    store: &Store,
    opened: &Interaction,
    lease: Option<Lease>,
    ended: Ended,
) -> Result<Exit> {
    match ended {
        Ended::Settled(record) => hand_over(context, store, &record),
        Ended::TimedOut => {
            let record = park::withdraw(store, opened, lease)?;
            if record.response().is_some() {
                return hand_over(context, store, &record);
            }
            if context.global.json {
                hand_over(context, store, &record)?;
            }
            context.note("no answer in time; the question was withdrawn");
            Ok(Exit::TimedOut)
        }
        Ended::Signal(signal) => {
            withdraw_quietly(store, opened, lease);
            Ok(Exit::Interrupted(signal))
        }
        Ended::Hangup => {
            withdraw_quietly(store, opened, lease);
            Ok(Exit::Unanswered)
        }
    }
}

/// Withdraws on the way out; where that fails, the released lease still shows that nobody waits.
fn withdraw_quietly(store: &Store, opened: &Interaction, lease: Option<Lease>) {
    if let Err(error) = park::withdraw(store, opened, lease) {
        log::warn(&format!("the question could not be withdrawn: {error}"));
    }
}

/// Prints the answer, marks it as delivered once it is out, and says what it was.
fn hand_over(context: &Context, store: &Store, record: &Interaction) -> Result<Exit> {
    let now = Time::now();
    match print(context, record, now) {
        Ok(()) => store.mark_delivered(record),
        // Nobody reads it any more; the exit code still must not take a denial for an allow.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::of(record, record.status_at(now)))
}

fn print(context: &Context, record: &Interaction, now: Time) -> io::Result<()> {
    let mut out = context.out();
    if context.global.json {
        let record = envelope::record(record, now, Secrets::Hidden, &[]);
        out.line(&envelope::success(&record))?;
    } else if let Some(response) = record.response() {
        let answer = match &response.body {
            Body::Choice(id) => id.clone(),
            Body::Text(text) => text.clone(),
            Body::Declined => r#"{"declined":true}"#.to_owned(),
            Body::Form(reply) => serde_json::json!({
                "answers": AnswerMap(reply.answers.clone().unwrap_or_default()),
                "unanswered": reply.unanswered,
                "response": reply.response,
            })
            .to_string(),
        };
        let terminal = std::io::stdout().is_terminal();
        out.line(&if terminal {
            text::pipe(&answer)
        } else {
            answer
        })?;
        if let Some(message) = &response.message {
            context.note(message);
        }
    } else {
        context.note(&format!("no answer: {}", record.status_at(now).name()));
    }
    out.flush()
}
