//! The spellings of the two older tools: rewritten to this one's verbs where its output is wanted, and
//! parsed as a group of its own where the older client's output is.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Args, Command, FromArgMatches, Subcommand};

use super::{
    CancelArgs, GetArgs, Global, PollArgs, QuestionArgs, RespondArgs, WaitArgs, root, verb_at,
    with_global,
};

/// The group of verbs that prints what the older client printed.
pub const GROUP: &str = "interactions";

/// The verbs of that client.
const VERBS: [&str; 8] = [
    "request",
    "list",
    "get",
    "wait",
    "respond",
    "cancel",
    "publish",
    "poll-responses",
];

/// `interactions`
#[derive(Args, Debug)]
pub struct InteractionsArgs {
    /// The port of a broker; there is none to talk to
    #[arg(long, global = true, value_name = "N", hide = true)]
    pub port: Option<String>,
    /// What to do
    #[command(subcommand)]
    pub verb: Option<OlderVerb>,
}

/// `interactions VERB`
#[derive(Subcommand, Debug)]
pub enum OlderVerb {
    /// Open a question and print it, with digest and nonce
    Request(Box<QuestionArgs>),
    /// List questions, newest first
    List(OlderListArgs),
    /// Print a question
    Get(GetArgs),
    /// Wait for a question to be settled and print it as it then stands
    Wait(WaitArgs),
    /// Answer a question with digest and nonce, and print it
    Respond(Box<RespondArgs>),
    /// Withdraw a question and print it
    Cancel(CancelArgs),
    /// Send a question to your phones again
    Publish(GetArgs),
    /// Fetch answers from your phones once
    PollResponses(PollArgs),
}

/// `interactions list`
#[derive(Args, Debug)]
pub struct OlderListArgs {
    /// Only pending questions
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub pending: Option<bool>,
    /// Questions of this status; any other word counts for nothing
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Only this agent's
    #[arg(long, alias = "agent-id")]
    pub agent: Option<String>,
    /// Only this project's
    #[arg(long)]
    pub project: Option<String>,
    /// Only this session's
    #[arg(long, alias = "session-id", value_name = "ID")]
    pub session: Option<String>,
    /// Only this workflow's
    #[arg(long, alias = "workflow-id", value_name = "ID")]
    pub workflow: Option<String>,
    /// Only this task's
    #[arg(long, alias = "task-id", value_name = "ID")]
    pub task: Option<String>,
    /// Only the newest N (clamped to 1-500)
    #[arg(
        long,
        value_name = "N",
        default_value = "20",
        allow_negative_numbers = true
    )]
    pub limit: i64,
}

/// The group's command.
pub fn group() -> Command {
    InteractionsArgs::augment_args(Command::new(GROUP))
        .about("What the older client printed, for its scripts and hooks")
        .disable_help_subcommand(true)
        .mut_subcommand("request", |request| {
            let clamped = |arg: Arg| arg.value_parser(clamped).allow_negative_numbers(true);
            request.mut_arg("ttl", clamped).mut_arg("text_max", clamped)
        })
        .after_help(
            "With --json anywhere: this program's own verbs, envelope and exit codes.\n\nExample:\n  sayso interactions request \"Deploy?\" --agent codex --key deploy",
        )
}

/// Clamped there, not refused: a whole number of any size; what is below zero, or beyond 64 bits, stands at that bound.
fn clamped(text: &str) -> Result<u64, String> {
    let (below, digits) = match text.trim().strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.trim()),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("a whole number".into());
    }
    Ok(if below {
        0
    } else {
        digits.parse().unwrap_or(u64::MAX)
    })
}

/// The group's help.
pub fn help() -> String {
    let mut root = root().subcommand(with_global(group()));
    root.build();
    let group = root.find_subcommand_mut(GROUP);
    group.map_or_else(String::new, |g| g.render_long_help().to_string())
}

/// Reads the arguments of the group.
///
/// # Errors
/// Those of clap, help among them.
pub fn parse(args: &[OsString]) -> Result<(Global, InteractionsArgs), clap::Error> {
    let matches = root()
        .subcommand(with_global(group()))
        .try_get_matches_from(args)?;
    let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
    let (_, group) = matches.subcommand().ok_or_else(missing)?;
    Ok((
        Global::from_arg_matches(group)?,
        InteractionsArgs::from_arg_matches(group)?,
    ))
}

/// Rewrites the spellings of the two older tools, and this one's aliases, to this one's verbs.
pub fn modernise(args: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = verb_at(&args) else {
        return args;
    };
    let word = |offset: usize| args.get(at + offset).and_then(|a| a.to_str());
    let (drop, put): (usize, &[&str]) = match (word(0), word(1), word(2)) {
        (Some("interactions"), ..) => return interactions(args, at),
        (Some("agent"), Some("interactions"), Some(_)) => (2, &[]),
        (Some("agent"), Some("interactions"), None) => (2, &["help"]),
        (Some("daemon"), Some("events"), _) => (2, &["events"]),
        (Some("install-harness"), ..) => (1, &["harness", "install"]),
        (Some("install"), Some("harness"), _) => (2, &["harness", "install"]),
        (Some("poll-responses"), ..) => (1, &["relay", "poll"]),
        (Some("harness"), ..) => return audience(args, at),
        _ => return args,
    };
    let put = put.iter().map(OsString::from);
    let rest = args[at + drop..].iter().cloned();
    let modern: Vec<OsString> = args[..at].iter().cloned().chain(put).chain(rest).collect();
    match word(0) {
        Some("install-harness" | "install") => audience(modern, at),
        _ => modern,
    }
}

/// The group stays where the older client's output is wanted; with `--json`, and for verbs that client
/// did not have, it says nothing.
fn interactions(args: Vec<OsString>, at: usize) -> Vec<OsString> {
    let mut line = args[..at].to_vec();
    line.extend(without_token(&args[at + 1..]));
    let verb = verb_at(&line).and_then(|at| line[at].to_str().map(|verb| (at, verb)));
    let json = line.iter().any(|arg| arg == "--json");
    let port = |arg: &OsString| {
        let text = arg.to_str().unwrap_or_default();
        text == "--port" || text.starts_with("--port=")
    };
    let ours = match verb {
        _ if line.iter().any(port) => false,
        None => false,
        Some((_, verb)) => json || (super::VERBS.contains(&verb) && !VERBS.contains(&verb)),
    };
    match verb {
        Some((verb, "poll-responses")) if ours => {
            line.splice(verb..=verb, ["relay", "poll"].map(OsString::from));
        }
        _ if ours => {}
        _ => line.insert(at, GROUP.into()),
    }
    line
}

/// Without a broker there is nothing that a token could open.
fn without_token(args: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::with_capacity(args.len());
    let mut each = args.iter();
    while let Some(arg) = each.next() {
        match arg.to_str() {
            Some("--token" | "--token-file") => drop(each.next()),
            Some(one) if one.starts_with("--token=") || one.starts_with("--token-file=") => {}
            _ => kept.push(arg.clone()),
        }
    }
    kept
}

/// An installation has no scope to be in: its `--scope` says for whom it is, as `--for` does. Given before
/// the verb, which stands at `at`, it moves behind everything.
fn audience(args: Vec<OsString>, at: usize) -> Vec<OsString> {
    let (mut line, mut moved) = (Vec::with_capacity(args.len()), Vec::new());
    let mut each = args.into_iter().enumerate();
    while let Some((index, arg)) = each.next() {
        let text = arg.to_str().unwrap_or_default();
        let whom = match (text, text.strip_prefix("--scope=")) {
            ("--scope", _) => each.next().map(|(_, whom)| whom),
            (_, Some(whom)) => Some(OsString::from(whom)),
            _ => {
                line.push(arg);
                continue;
            }
        };
        let to = if index < at { &mut moved } else { &mut line };
        to.push("--for".into());
        to.extend(whom);
    }
    line.extend(moved);
    line
}

/// The variable of the older client that names who asks.
pub const AGENT: &str = "AGENTNOTIFY_AGENT";
/// The variable of the older client that names its broker's port.
pub const PORT: &str = "AGENTNOTIFY_PORT";

/// Whether a program is called by one of the older names.
pub fn is_older_name(program: &OsStr) -> bool {
    let name = std::path::Path::new(program).file_name();
    name.is_some_and(|name| name == "agentnotify" || name == "animus")
}
