//! `sayso hook HOST EVENT`: a host's JSON in, its decision out. It always exits 0; what goes wrong is
//! one line on standard error, and on standard output what makes the host ask.

use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::request::project_name;
use crate::cli::HookArgs;
use crate::error;
use crate::hook::asking::{self, Came, Settings};
use crate::hook::payload::Payload;
use crate::hook::{Event, Host, Surface, defer, reconcile};
use crate::render::out::to_stderr;

/// Runs the hook. A failure is for [`fell_silent`].
pub fn run(context: &Context, args: &HookArgs) -> Result<Exit> {
    let host = Host::parse(&args.host)?;
    match Event::parse(host, &args.event)? {
        Event::Decide(surface) => decide(context, args, surface)?,
        Event::Notice => {}
        Event::Reconcile(told) => {
            let payload = Payload::read(std::io::stdin().lock())?;
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

fn decide(context: &Context, args: &HookArgs, surface: Surface) -> error::Result<()> {
    let payload = Payload::read(std::io::stdin().lock())?;
    if surface == Surface::ClaudeElicitation && payload.text("mode").as_deref() == Some("url") {
        return Ok(());
    }
    let config = context.config()?;
    let store = context.hook_store(payload.directory())?;
    let named = args.agent.clone().or_else(|| context.var("SAYSO_AGENT"));
    let settings = Settings {
        surface,
        agent: named.unwrap_or_else(|| surface.host().id().to_owned()),
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
    match asking::run(&store, &payload, &tool, &settings)? {
        Came::Decided => {}
        Came::Withdrawn => {
            if let Some(asks) = surface.undecided() {
                let _ = asking::print(&asks);
            }
        }
    }
    Ok(())
}
