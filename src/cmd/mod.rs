//! One file per verb: arguments → call → output.

pub mod answer;
pub mod arc;
pub mod ask;
pub mod cancel;
pub mod complete;
pub mod completions;
pub mod context;
pub mod count;
pub mod doctor;
pub mod events;
pub mod exit;
pub mod failure;
pub mod get;
pub mod harness;
pub mod help;
pub mod hook;
pub mod inbox;
pub mod list;
pub mod mcp;
pub mod notify;
pub mod older;
pub mod operator;
pub mod policy;
pub mod prune;
pub mod publish;
pub mod relay;
pub mod request;
pub mod respond;
pub mod show;
pub mod wait;
pub mod watch;
pub mod workflow;

use anyhow::Result;

use crate::cli::Verb;
use context::Context;
use exit::Exit;

/// Does what a verb says.
pub fn run(context: &Context, verb: Verb) -> Result<Exit> {
    match verb {
        Verb::Ask(args) => ask::run(context, *args),
        Verb::Request(args) => request::run(context, *args),
        Verb::Wait(args) => wait::run(context, &args),
        Verb::Get(args) => get::run(context, &args),
        Verb::Cancel(args) => cancel::run(context, &args),
        Verb::List(args) => list::run(context, &args),
        Verb::Show(args) => show::run(context, &args),
        Verb::Answer(args) => answer::run(context, &args),
        Verb::Respond(args) => respond::run(context, &args),
        Verb::Inbox(args) => inbox::run(context, &args),
        Verb::Watch(_) => watch::run(context),
        Verb::Count(args) => count::run(context, &args),
        Verb::Events(args) => events::run(context, &args),
        Verb::Prune(args) => prune::run(context, &args),
        Verb::Publish(args) => publish::run(context, &args),
        Verb::Relay(args) => relay::run(context, &args),
        Verb::Doctor(args) => doctor::run(context, &args),
        Verb::Hook(args) => hook::run(context, &args),
        Verb::Policy(args) => policy::run(context, &args),
        Verb::Mcp(args) => mcp::run(context, &args),
        Verb::Arc(args) => arc::run(context, &args),
        Verb::Workflow(args) => workflow::run(context, &args),
        Verb::Harness(args) => harness::run(context, &args),
        Verb::Completions(args) => completions::run(context, &args),
        Verb::Complete(args) => complete::run(context, &args),
        Verb::Notify(args) => notify::run(context, &args),
        Verb::Help(args) => help::run(context, &args),
    }
}

/// Prints an error and its hint to standard error.
pub fn print_error_lines(error: &crate::error::Error) {
    crate::render::out::to_stderr(&format!("error: {error}"));
    print_hint(error);
}

/// Prints what an error suggests to standard error, each line of it as one.
pub fn print_hint(error: &crate::error::Error) {
    for line in error.hint.iter().flat_map(|hint| hint.lines()) {
        crate::render::out::to_stderr(&format!("hint: {line}"));
    }
}
