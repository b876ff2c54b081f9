//! `sayso interactions VERB`: what the older client printed, by the functions of this one's verbs.
//!
//! The bare record with two spaces of indent on standard output, or `Error STATUS NAME: TEXT` on standard
//! error; exit code 0, 1, or 3 for a question that is not there.

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use super::context::Context;
use super::exit::Exit;
use super::operator::{find, find_exact};
use super::{cancel, failure, list, relay, request, respond, wait};
use crate::cli::{
    CancelArgs, GetArgs, Global, PollArgs, QuestionArgs, RelayAction, RelayArgs,
    older::{self, OlderListArgs, OlderVerb},
};
use crate::error::{Code, Error};
use crate::http;
use crate::id::is_hex;
use crate::log;
use crate::model::bare;
use crate::model::draft::ttl;
use crate::model::interaction::{Interaction, Kind, Status};
use crate::relay::{provider, publish};
use crate::render::json as envelope;
use crate::render::out::{lines_to_stderr, to_stderr};
use crate::text;
use crate::time::Time;

/// The longest key of the older client, in characters.
const KEY_MAX: usize = 100;
/// The bounds of its lists, in questions.
const LIMITS: (i64, i64) = (1, 500);
/// How much of a prompt its lists show, in columns.
const HEAD: usize = 80;

/// Runs a verb of the group and returns the process's exit code.
pub fn run(args: &[OsString]) -> u8 {
    let json = args.iter().any(|arg| arg == "--json");
    let (global, args) = match older::parse(args) {
        Ok(parsed) => parsed,
        Err(help) if help.exit_code() == 0 => return printed(&help),
        Err(error) => return refused(&Error::input(failure::first_line(&error)), json),
    };
    if !global.quiet {
        log::start(to_stderr, global.verbose);
    }
    let lists = matches!(args.verb, Some(OlderVerb::List(_)));
    let done = no_broker(args.port.as_deref()).and_then(|()| answer(global, args.verb));
    match done.map_err(failure::of) {
        Ok(exit) => exit.code(),
        Err(None) => 0,
        Err(Some(error)) => refused(&error, json).min(if lists { 1 } else { u8::MAX }),
    }
}

/// Prints help that was asked for.
fn printed(help: &clap::Error) -> u8 {
    match help.print().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 1,
        _ => 0,
    }
}

/// Says what went wrong, on one line, and returns the exit code.
fn refused(error: &Error, json: bool) -> u8 {
    if json {
        lines_to_stderr(&[envelope::failure(error)]);
        return error.code.exit();
    }
    let (status, name) = match error.code.http() {
        Some(400) => (400, "BadRequest"),
        Some(403) => (403, "Forbidden"),
        Some(404) => (404, "NotFound"),
        Some(409) => (409, "Conflict"),
        Some(503) => (503, "ServiceUnavailable"),
        _ => (500, "InternalServerError"),
    };
    let hint = error.hint.as_deref().map(|hint| format!(" ({hint})"));
    let told = format!("{error}{}", hint.unwrap_or_default()).replace('\n', "; ");
    to_stderr(&format!("Error {status} {name}: {told}"));
    if status == 404 { 3 } else { 1 }
}

/// Whoever names a port wants a broker's questions, which are not ours.
fn no_broker(port: Option<&str>) -> Result<()> {
    let set = std::env::var(older::PORT).is_ok_and(|port| !port.trim().is_empty());
    let named = match (port, set) {
        (Some(_), _) => "--port",
        (None, true) => older::PORT,
        (None, false) => return Ok(()),
    };
    Err(
        Error::input(format!("{named} names a broker, and there is none here"))
            .hint("leave it away: questions are files, and no port and no token are needed")
            .into(),
    )
}

fn answer(global: Global, verb: Option<OlderVerb>) -> Result<Exit> {
    let Some(verb) = verb else {
        let context = Context::new(global)?;
        let mut out = context.out();
        out.line(older::help().trim_end())?;
        out.flush()?;
        return Ok(Exit::Found);
    };
    let context = &Context::new(global)?;
    match verb {
        OlderVerb::Request(args) => ask(context, *args),
        OlderVerb::List(args) => show_list(context, &args),
        OlderVerb::Get(args) => {
            an_id(&args.id)?;
            let (store, id) = find_exact(context, &context.asking_scopes()?, &args.id)?;
            show(context, &store.must_load(&id)?, Time::now())
        }
        OlderVerb::Wait(args) => {
            an_id(&args.id)?;
            let print = |record: &Interaction, now| print(context, &bare::record(record, now));
            Ok(match wait::wait(context, &args, print)? {
                // Whoever asks for it must not take a denial for an allow.
                wait::Waited::Stands(status) if args.exit_status => status,
                wait::Waited::Stands(_) => Exit::Done,
                wait::Waited::Signal(signal) => Exit::Interrupted(signal),
            })
        }
        OlderVerb::Respond(args) => {
            // A fault of the answer itself comes first, as it did there.
            if args.digest.is_some() && !args.response_id.trim().is_empty() {
                an_id(&args.id)?;
            }
            let accepted = respond::accept(context, &args)?;
            show(context, &accepted.record, Time::now())
        }
        OlderVerb::Cancel(args) => withdraw(context, &args),
        OlderVerb::Publish(args) => send(context, &args),
        OlderVerb::PollResponses(args) => fetch(context, args),
    }
}

/// To that client any text was an id, and one that no question has was not found.
fn an_id(text: &str) -> Result<()> {
    if is_hex(&text.to_ascii_lowercase()) && (4..=32).contains(&text.len()) {
        return Ok(());
    }
    let told = "no question has that id: ids are 32 hex characters";
    Err(Error::new(Code::NotFound, told).into())
}

/// Opens a question with that client's defaults.
fn ask(context: &Context, mut args: QuestionArgs) -> Result<Exit> {
    let key = args
        .key
        .as_deref()
        .map_or(0, |key| key.trim().chars().count());
    if key > KEY_MAX {
        let told = format!("key must be at most {KEY_MAX} characters, not {key}");
        return Err(Error::input(told).into());
    }
    let named = args.agent.take().filter(|agent| !agent.trim().is_empty());
    let named = named
        .or_else(|| context.var("SAYSO_AGENT"))
        .or_else(|| context.var(older::AGENT));
    args.agent = Some(named.unwrap_or_else(|| "unknown".into()));
    // A number that means nothing for other kinds was no error there.
    if args.kind != Some(Kind::Text) {
        args.text_max = None;
    }
    let project = args.project.clone();
    let lifetime = ttl(args.ttl);
    let store = context.asking_store(None)?;
    let mut question = request::question(context, args, &store)?;
    if project.is_none() {
        question.project = None;
    }
    request::open(context, &store, question, lifetime, |created| {
        print(context, &bare::record(&created.record, Time::now()))
    })?;
    Ok(Exit::Done)
}

fn show_list(context: &Context, args: &OlderListArgs) -> Result<Exit> {
    let now = Time::now();
    let (mut rows, _) = list::collect(&context.operator_scopes()?.stores, true, now)?;
    rows.reverse();
    rows.retain(|row| wanted(args, &row.record, now));
    let limit = args.limit.clamp(LIMITS.0, LIMITS.1);
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut out = context.out();
    if rows.is_empty() {
        out.line("(no interactions)")?;
    }
    for row in &rows {
        out.line(&line(&row.record, now))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn wanted(args: &OlderListArgs, record: &Interaction, now: Time) -> bool {
    let status = record.status_at(now);
    let q = &record.question;
    let is = |wanted: &Option<String>, value: Option<&String>| {
        let wanted = wanted.as_ref().map(|w| w.trim()).filter(|w| !w.is_empty());
        wanted.is_none_or(|w| value.is_some_and(|v| v == w))
    };
    let named = args.status.as_deref();
    let named = named.and_then(|s| Status::parse(&s.trim().to_ascii_lowercase()));
    let stands = match (args.pending, named) {
        (Some(true), _) => status == Status::Pending,
        (_, Some(named)) => status == named,
        _ => true,
    };
    stands
        && is(&args.agent, Some(&q.agent))
        && is(&args.project, q.project.as_ref())
        && is(&args.session, q.session_id.as_ref())
        && is(&args.workflow, q.workflow_id.as_ref())
        && is(&args.task, q.task_id.as_ref())
}

fn line(record: &Interaction, now: Time) -> String {
    let q = &record.question;
    format!(
        "{}  [{}/{}] {}  ({})",
        record.id,
        spelt(bare::kind(q).name()),
        spelt(record.status_at(now).name()),
        text::cut(&q.prompt, HEAD),
        text::line(&q.agent),
    )
}

/// A name as that client's lists spell it: `SingleChoice` for `single_choice`.
fn spelt(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

fn withdraw(context: &Context, args: &CancelArgs) -> Result<Exit> {
    let now = Time::now();
    args.ids.iter().try_for_each(|id| an_id(id))?;
    let records = cancel::withdraw(context, args)?;
    let mut each: Vec<Value> = records.iter().map(|r| bare::record(r, now)).collect();
    let shown = match each.as_mut_slice() {
        [only] if args.ids.len() == 1 => only.take(),
        _ => Value::Array(each),
    };
    print(context, &shown)?;
    Ok(Exit::Done)
}

/// Without a Relay the request is wrong, whatever its id is.
fn send(context: &Context, args: &GetArgs) -> Result<Exit> {
    let config = context.config()?;
    if provider::enabled(&context.home, &config)?.is_empty() {
        return Err(no_relay().into());
    }
    an_id(&args.id)?;
    let (store, id) = find(context, &context.operator_scopes()?, &args.id)?;
    let done = publish::again(&config, &store, &id, Instant::now() + http::WHOLE)?;
    for (provider, condition) in &done.conditions {
        to_stderr(&format!("{provider}: {condition}"));
    }
    print(
        context,
        &json!({ "id": id.as_str(), "published": done.published }),
    )?;
    Ok(Exit::Done)
}

fn fetch(context: &Context, args: PollArgs) -> Result<Exit> {
    let enabled = provider::enabled(&context.home, &context.config()?)?;
    if args.provider.is_none() && enabled.is_empty() {
        return Err(no_relay().into());
    }
    let action = RelayAction::Poll(args);
    Ok(match relay::run(context, &RelayArgs { action })? {
        Exit::Done => Exit::Done,
        _ => Exit::Failed(Code::Internal),
    })
}

fn no_relay() -> Error {
    Error::input("no Relay is enabled").hint("'sayso relay pair' adds one")
}

fn show(context: &Context, record: &Interaction, now: Time) -> Result<Exit> {
    print(context, &bare::record(record, now))?;
    Ok(Exit::Done)
}

fn print(context: &Context, value: &Value) -> io::Result<()> {
    let mut out = context.out();
    out.line(&format!("{value:#}"))?;
    out.flush()
}
