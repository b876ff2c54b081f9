//! `sayso hook`
use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::HookArgs;

/// Placeholder.
pub fn run(_: &Context, _: &HookArgs) -> Result<Exit> {
    Ok(Exit::Done)
}
