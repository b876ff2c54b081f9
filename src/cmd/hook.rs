//! `sayso hook HOST EVENT`: a host's JSON in, its decision out. It always exits 0; what goes wrong is
//! one line on standard error, and on standard output what makes the host ask.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::request::project_name;
use crate::cli::HookArgs;
use crate::error::{self, Error};
use crate::hook::asking::{self, Came, Settings};
use crate::hook::payload::Payload;
use crate::hook::{Event, Host, Surface, defer, openclaw, reconcile};
use crate::interrupt::Interrupts;
use crate::notice::{self, Message, Priority};
use crate::render::out::to_stderr;

/// How long a host may take to write a notification.
const NOTICE_READ: Duration = Duration::from_secs(5);

/// Runs the hook. A failure is for [`fell_silent`].
pub fn run(context: &Context, args: &HookArgs) -> Result<Exit> {
    let host = Host::parse(&args.host)?;
    match Event::parse(host, &args.event)? {
        Event::Decide(surface) => decide(context, args, surface)?,
        Event::Notice => {
            // Nobody decides anything here, so a failure is not the host's business either.
            if let Err(error) = pass_on(context, args, host) {
                to_stderr(&format!("sayso: {error}"));
            }
        }
        Event::Poll => {
            let config = context.config()?;
            let store = context.hook_store(None)?;
            openclaw::poll(&store, &agent(context, args, host), &config)?;
        }
        Event::Reconcile(told) => {
            let payload = read(&listen()?, Duration::from_secs(args.timeout))?;
            // The agent may have left the directory that it asked from.
            let stores = context.hook_stores()?;
            reconcile::run(&stores, host, told, &payload)?;
        }
    }
    Ok(Exit::Done)
}

/// Ends a hook that decided nothing: one line on standard error, and what makes the host ask.
pub fn fell_silent(args: &[std::ffi::OsString], why: &str) {
    let surface = surface_of(args);
    if let Some(asks) = surface.and_then(Surface::undecided) {
        let _ = asking::print(&asks);
    }
    to_stderr(&format!("sayso: {why}; the host asks its own prompt"));
}

/// The surface that the words of a command line name, however broken the rest of it is.
fn surface_of(args: &[std::ffi::OsString]) -> Option<Surface> {
    let words: Vec<&str> = args.iter().skip(1).filter_map(|arg| arg.to_str()).collect();
    let decides = |pair: &[&str]| match Event::parse(Host::parse(pair[0]).ok()?, pair[1]) {
        Ok(Event::Decide(surface)) => Some(surface),
        _ => None,
    };
    words.windows(2).find_map(decides)
}

/// The agent whose policy applies; never a name from the payload.
fn agent(context: &Context, args: &HookArgs, host: Host) -> String {
    let given = args.agent.clone().filter(|agent| !agent.trim().is_empty());
    let named = given.or_else(|| context.var("SAYSO_AGENT"));
    named.unwrap_or_else(|| host.id().to_owned())
}

fn listen() -> error::Result<Interrupts> {
    Interrupts::listen().map_err(|e| Error::unavailable(format!("cannot listen for signals: {e}")))
}

/// Reads the payload, until a signal comes or the time is up.
fn read(interrupts: &Interrupts, limit: Duration) -> error::Result<Payload> {
    let (sent, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || drop(sent.send(Payload::read(std::io::stdin().lock()))));
    let until = Instant::now() + limit.max(Duration::from_secs(1));
    loop {
        match received.recv_timeout(Duration::from_millis(20)) {
            Ok(payload) => return payload,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::input("standard input cannot be read"));
            }
            Err(RecvTimeoutError::Timeout) if interrupts.signal().is_some() => {
                return Err(Error::unavailable(
                    "interrupted while reading standard input",
                ));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                return Err(Error::input("standard input does not end"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Passes the host's own notification on to those who want notices.
fn pass_on(context: &Context, args: &HookArgs, host: Host) -> error::Result<()> {
    let config = context.config()?;
    if config.notify.is_empty() {
        return Ok(());
    }
    let payload = read(&listen()?, NOTICE_READ)?;
    let text = |name: &str| payload.text(name).unwrap_or_default();
    let message = Message {
        agent: agent(context, args, host),
        project: project_name(&context.hook_store(payload.directory())?),
        title: text("title"),
        body: text("message"),
        priority: Priority::default(),
    };
    if message.title.trim().is_empty() && message.body.trim().is_empty() {
        return Ok(());
    }
    notice::message(&config, &context.home, &message);
    Ok(())
}

fn decide(context: &Context, args: &HookArgs, surface: Surface) -> error::Result<()> {
    // From here on a signal is a failure like any other, so that a gate still says its word.
    let interrupts = listen()?;
    let payload = read(&interrupts, Duration::from_secs(args.timeout))?;
    if surface == Surface::ClaudeElicitation && payload.text("mode").as_deref() == Some("url") {
        return Ok(());
    }
    let config = context.config()?;
    let store = context.hook_store(payload.directory())?;
    let settings = Settings {
        surface,
        agent: agent(context, args, surface.host()),
        project: project_name(&store),
        timeout: Duration::from_secs(args.timeout),
        config,
    };
    let tool = surface.tool(&payload)?;
    // In the terminal UI a deferred call would run: there --suspend waits like any gate.
    let unattended = context.var("CLAUDE_CODE_SESSION_ATTENDED").as_deref() == Some("0");
    if args.suspend && surface == Surface::ClaudeGate && unattended {
        return defer::run(&store, &payload, &tool, &settings);
    }
    match asking::run(&store, &payload, &tool, &settings, &interrupts)? {
        Came::Decided => {}
        Came::Withdrawn => {
            if let Some(asks) = surface.undecided() {
                let _ = asking::print(&asks);
            }
        }
    }
    Ok(())
}
