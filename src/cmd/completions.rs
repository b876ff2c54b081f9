//! `sayso completions`: a shell's completion script.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::CompletionsArgs;
use crate::error::Error;

/// The shells and their scripts. A script only passes on what is typed; `sayso __complete` knows the
/// rest, so that it stays right when the program is updated.
pub const SCRIPTS: [(&str, &str); 5] = [
    ("bash", include_str!("../../completions/sayso.bash")),
    ("zsh", include_str!("../../completions/_sayso")),
    ("fish", include_str!("../../completions/sayso.fish")),
    ("powershell", include_str!("../../completions/sayso.ps1")),
    ("elvish", include_str!("../../completions/sayso.elv")),
];

/// Prints the script.
pub fn run(context: &Context, args: &CompletionsArgs) -> Result<Exit> {
    let script = SCRIPTS.iter().find(|(shell, _)| *shell == args.shell);
    let (_, script) = script.ok_or_else(|| Error::input("there is no script for that shell"))?;
    let mut out = context.out();
    out.line(script.trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}
