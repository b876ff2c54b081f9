//! `sayso __notify`: the detached sender of notices, which the verbs that ask start.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::NotifyArgs;
use crate::notice::sender;

/// Sends until nothing is queued any more.
pub fn run(context: &Context, args: &NotifyArgs) -> Result<Exit> {
    sender::run(&context.home, &args.entry)?;
    Ok(Exit::Done)
}
