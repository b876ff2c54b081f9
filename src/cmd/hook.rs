//! `sayso hook HOST EVENT`: a host's JSON in, its decision out. It always exits 0; what goes wrong is
//! one line on standard error and nothing on standard output, so that the host asks its own prompt.

use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::request::project_name;
use crate::cli::HookArgs;
use crate::error;
use crate::hook::payload::Payload;
use crate::hook::permission::{self, Settings};
use crate::hook::{Event, Host};
use crate::render::out::to_stderr;

/// Runs the hook; failures are told here and go no further.
pub fn run(context: &Context, args: &HookArgs) -> Result<Exit> {
    if let Err(error) = decide(context, args) {
        fell_silent(&error.to_string());
    }
    Ok(Exit::Done)
}

/// The one line of a hook that decided nothing.
pub fn fell_silent(why: &str) {
    to_stderr(&format!("sayso: {why}; the host asks its own prompt"));
}

fn decide(context: &Context, args: &HookArgs) -> error::Result<()> {
    let host = Host::parse(&args.host)?;
    let event = Event::parse(&args.event)?;
    let payload = Payload::read(std::io::stdin().lock())?;
    let config = context.config()?;
    let store = context.hook_store(payload.directory())?;
    let named = args.agent.clone().or_else(|| context.var("SAYSO_AGENT"));
    let settings = Settings {
        host,
        agent: named.unwrap_or_else(|| host.id().to_owned()),
        project: project_name(&store),
        timeout: Duration::from_secs(args.timeout),
        max_pending: config.max_pending(),
    };
    match event {
        Event::PermissionRequest => permission::run(&store, &payload, &settings),
    }
}
