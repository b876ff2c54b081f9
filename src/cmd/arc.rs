//! `sayso arc`: applies ARC 0.2 events.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::context::Context;
use super::exit::Exit;
use super::operator::{responder, sentence};
use super::request::read_file;
use crate::arc::{self, Applied, Body, EVENT_MAX, Event, Place, Wanted};
use crate::cli::ArcArgs;
use crate::error::{self, Error};
use crate::log;
use crate::model::interaction::Interaction;
use crate::model::record::Secrets;
use crate::relay::courier::{Courier, Stay};
use crate::render::json as envelope;
use crate::store::Store;
use crate::text;
use crate::time::Time;

/// Applies one event, or each line of a stream.
pub fn run(context: &Context, args: &ArcArgs) -> Result<Exit> {
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    if args.stream {
        return stream(context, args, path);
    }
    let text = read_file("the event", path)?;
    let event = arc::parse(&text).map_err(|error| match text.trim().split_once('\n') {
        Some((first, _)) if arc::parse(first).is_ok() => {
            error.hint("several events, one on each line, go with --stream")
        }
        _ => error,
    })?;
    let mut courier = Courier::new(Stay::Leaves);
    let (result, store) = apply(context, args, &event, &mut courier)?;
    let mut out = context.out();
    out.line(&result)?;
    out.flush()?;
    courier.finish();
    prune_when_due(context, &store);
    Ok(Exit::Done)
}

/// One result for each event, in their order; the first refusal decides the exit code.
fn stream(context: &Context, args: &ArcArgs, path: &Path) -> Result<Exit> {
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| unreadable(path, &e))?;
        Box::new(BufReader::new(file))
    };
    let mut courier = Courier::new(Stay::Leaves);
    let mut out = context.out();
    let mut first = None;
    let mut number = 0;
    while let Some(line) = next_line(&mut input).map_err(|e| unreadable(path, &e))? {
        number += 1;
        if matches!(&line, Line::Whole(bytes) if bytes.trim_ascii().is_empty()) {
            continue;
        }
        let done = read(line).and_then(|event| apply(context, args, &event, &mut courier));
        match &done {
            Ok((result, _)) => out.line(result)?,
            Err(error) => {
                out.line(&refusal(context, number, error))?;
                first.get_or_insert(error.code);
            }
        }
        out.flush()?;
        if let Ok((_, store)) = &done {
            prune_when_due(context, store);
        }
    }
    courier.finish();
    Ok(first.map_or(Exit::Done, Exit::Failed))
}

fn read(line: Line) -> error::Result<Event> {
    match line {
        Line::TooLong => Err(Error::input(format!(
            "the event is longer than {EVENT_MAX} bytes"
        ))),
        Line::Whole(bytes) => match String::from_utf8(bytes) {
            Ok(text) => arc::parse(&text),
            Err(_) => Err(Error::input("the event is not UTF-8")),
        },
    }
}

/// What stands in the place of a refused event's result.
fn refusal(context: &Context, number: usize, error: &Error) -> String {
    if context.global.json {
        let mut error = error.clone();
        let mut details = error.details.take().map_or(json!({}), |details| *details);
        details["line"] = number.into();
        return envelope::failure(&error.details(details));
    }
    text::line(&format!("line {number}: {}: {error}", error.code.name()))
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::input(format!(
        "cannot read the events from {}: {error}",
        path.display()
    ))
}

/// Applies an event; its result as it is printed, and the scope.
fn apply(
    context: &Context,
    args: &ArcArgs,
    event: &Event,
    courier: &mut Courier,
) -> error::Result<(String, Store)> {
    let cwd = event.cwd.as_deref().map(Path::new);
    let store = context.asking_store(cwd.filter(|dir| dir.is_dir()))?;
    let config = context.config()?;
    let responder = responder(context, args.self_answer);
    let place = Place {
        store: &store,
        config: &config,
        responder: &responder,
    };
    let applied = arc::apply(&place, event, courier)?;
    let result = if context.global.json {
        envelope::success(&data(event, &applied))
    } else {
        line(event, &applied)
    };
    Ok((result, store))
}

fn prune_when_due(context: &Context, store: &Store) {
    super::prune::prune_when_due(context, store);
    let forgotten = context
        .config()
        .and_then(|config| arc::prune(&context.home, config.retention(), Wanted::WhenDue));
    if let Err(error) = forgotten {
        log::info(|| format!("applied events were not pruned: {error}"));
    }
}

/// A line of a stream.
enum Line {
    Whole(Vec<u8>),
    /// It is longer than any event may be; what it held is gone.
    TooLong,
}

/// The next line without its end; none at the end of the input.
fn next_line(input: &mut dyn BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if bytes.is_empty() && length == 0 {
            return Ok(None);
        }
        let end = bytes.iter().position(|b| *b == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        length += part.len().max(1);
        if line.len() <= EVENT_MAX {
            line.extend_from_slice(part);
        }
        let used = end.map_or(bytes.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() || used == 0 {
            let whole = line.len() <= EVENT_MAX;
            return Ok(Some(if whole {
                Line::Whole(line)
            } else {
                Line::TooLong
            }));
        }
    }
}

/// What came of an event, for programs.
fn data(event: &Event, applied: &Applied) -> String {
    let mut object = json!({
        "event_id": event.id,
        "event_type": event.kind().name(),
        "key": event.key(),
        "scope": applied.scope,
        "replayed": applied.replayed,
    });
    if let Body::Created(request) | Body::Updated(request) = &event.body {
        object["title"] = request.message.title.as_str().into();
        object["priority"] = request.message.priority.name().into();
        object["reused"] = applied.reused.into();
    }
    if let Some(accepted) = &applied.accepted {
        object["delivery_state"] = accepted.delivery.name().into();
        if let Some(resume) = &accepted.resume {
            object["workflow_resume"] = resume.json();
        }
    }
    let interaction = match &applied.interaction {
        Some(record) => envelope::record(record, Time::now(), Secrets::Hidden, &[]),
        None => Value::Null.to_string(),
    };
    let object = object.to_string();
    let members = object.strip_suffix('}').unwrap_or(&object);
    format!("{members},\"interaction\":{interaction}}}")
}

/// What came of an event, for people.
fn line(event: &Event, applied: &Applied) -> String {
    let what = match (&applied.accepted, &applied.interaction, &event.body) {
        (Some(accepted), _, _) => sentence(accepted),
        (None, Some(record), _) => standing(record),
        (None, None, Body::Created(request) | Body::Updated(request)) => {
            format!("notice: {}", request.message.title)
        }
        (None, None, Body::Resolved { .. }) => "the condition is over".to_owned(),
        (None, None, Body::Submitted { .. }) => String::new(),
    };
    let note = match (applied.replayed, applied.reused) {
        (true, _) => " (applied before)",
        (false, true) => " (the same question was pending under this key already)",
        (false, false) => "",
    };
    text::line(&format!("{} {what}{note}", event.kind().name()))
}

fn standing(record: &Interaction) -> String {
    format!("{} {}", record.id, record.status_at(Time::now()).name())
}
