//! `sayso help`: on a verb or a topic.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::{self, HelpArgs};
use crate::error::Error;

/// The topics and their texts.
pub const TOPICS: [(&str, &str); 10] = [
    ("interactions", include_str!("help/interactions.txt")),
    ("exit-codes", include_str!("help/exit-codes.txt")),
    ("environment", include_str!("help/environment.txt")),
    ("files", include_str!("help/files.txt")),
    ("hosts", include_str!("help/hosts.txt")),
    ("mcp-server", include_str!("help/mcp-server.txt")),
    ("approval-policy", include_str!("help/approval-policy.txt")),
    ("phones", include_str!("help/phones.txt")),
    ("security", include_str!("help/security.txt")),
    ("migration", include_str!("help/migration.txt")),
];

/// Prints it.
pub fn run(context: &Context, args: &HelpArgs) -> Result<Exit> {
    let mut out = context.out();
    match args.topic.as_deref() {
        None => out.line(&cli::full_command().render_long_help().to_string())?,
        Some(topic) => {
            let text = TOPICS
                .iter()
                .find(|(name, _)| *name == topic)
                .map(|(_, text)| *text);
            match (text, cli::verb_command(topic)) {
                (Some(text), None) => out.line(text.trim_end())?,
                (_, Some(_)) => {
                    let mut root = cli::full_command();
                    root.build();
                    let verb = root.find_subcommand_mut(topic);
                    let help = verb.map(|v| v.render_long_help().to_string());
                    out.line(help.unwrap_or_default().trim_end())?;
                }
                (None, None) => {
                    let topics = TOPICS.map(|(name, _)| name).join(", ");
                    return Err(Error::input("there is no such verb or topic")
                        .hint(format!("topics: {topics}"))
                        .into());
                }
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
