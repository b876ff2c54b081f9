//! `sayso completions`: a shell's completion script.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::CompletionsArgs;

/// Prints the script.
pub fn run(context: &Context, args: &CompletionsArgs) -> Result<Exit> {
    let mut out = context.out();
    out.line(crate::cmd::help::TOPICS[0].1)?;
    let _ = args;
    out.flush()?;
    Ok(Exit::Done)
}
