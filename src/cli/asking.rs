//! The arguments of the verbs that ask.

use std::path::PathBuf;

use clap::Args;

use crate::model::interaction::{Effect, Kind};

pub(super) fn kind(text: &str) -> Result<Kind, String> {
    Kind::parse(text).ok_or_else(|| "one of permission, single-choice, text, form".into())
}

fn effect(text: &str) -> Result<(String, Effect), String> {
    match text.rsplit_once('=') {
        Some((id, "allow")) => Ok((id.into(), Effect::Allow)),
        Some((id, "deny")) => Ok((id.into(), Effect::Deny)),
        _ => Err("write ID=allow or ID=deny".into()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((id, rest)) if !id.trim().is_empty() && !rest.trim().is_empty() => {
            Ok((id.into(), rest.into()))
        }
        _ => Err("write ID:TEXT; it splits at the first colon".into()),
    }
}

/// What is asked, and for whom.
#[derive(Args, Debug)]
pub struct QuestionArgs {
    /// The question; '-' reads it from standard input
    #[arg(value_name = "PROMPT")]
    pub positional: Option<String>,
    /// The question, as an option
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "positional",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,
    /// What kind of answer it takes [default: permission]
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<Kind>,
    /// A choice; repeat for 2 to 12 of them
    #[arg(long, value_name = "ID:LABEL", value_parser = pair)]
    pub choice: Vec<(String, String)>,
    /// A choice's second line
    #[arg(long, value_name = "ID:DETAIL", value_parser = pair)]
    pub choice_detail: Vec<(String, String)>,
    /// What choosing a choice means [default: by the first word of its id]
    #[arg(long, value_name = "ID=allow|deny", value_parser = effect)]
    pub effect: Vec<(String, Effect)>,
    /// The longest text taken, in characters (clamped to 1-2000) [default: 500]
    #[arg(long, value_name = "N")]
    pub text_max: Option<u64>,
    /// A form's questions: a JSON array in a file, or '-' for standard input
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub questions: Option<PathBuf>,
    /// How long the question stays open, in seconds (clamped to 30-3600) [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub ttl: Option<u64>,
    /// A name: the same question under it is reused, another one replaces it
    #[arg(long)]
    pub key: Option<String>,
    /// Who asks [env: SAYSO_AGENT] [default: cli]
    #[arg(long, alias = "agent-id")]
    pub agent: Option<String>,
    /// Which of several agents of that name
    #[arg(long, value_name = "NAME")]
    pub agent_instance: Option<String>,
    /// The project [default: the repository's name]
    #[arg(long)]
    pub project: Option<String>,
    /// The asker's session [env: SAYSO_SESSION]
    #[arg(long, alias = "session-id", value_name = "ID")]
    pub session: Option<String>,
    /// The asker's turn
    #[arg(long, value_name = "ID")]
    pub turn: Option<String>,
    /// The host's own id of the request
    #[arg(long, value_name = "ID")]
    pub native_request: Option<String>,
    /// The workflow that waits
    #[arg(long, alias = "workflow-id", value_name = "ID")]
    pub workflow: Option<String>,
    /// The asker's task
    #[arg(long, alias = "task-id", value_name = "ID")]
    pub task: Option<String>,
    /// The tool call that a permission is about
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The tool's input, verbatim: JSON, or @FILE
    #[arg(
        long,
        value_name = "JSON|@FILE",
        requires = "tool",
        allow_hyphen_values = true
    )]
    pub input: Option<String>,
    /// What a permission without a tool call is about
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub action: Option<String>,
}

/// `ask`
#[derive(Args, Debug)]
pub struct AskArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub question: QuestionArgs,
    /// Give up after this many seconds [default: at the deadline]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Do not offer to answer on this terminal
    #[arg(long)]
    pub no_prompt: bool,
    /// Let an agent's session answer on this terminal
    #[arg(long)]
    pub self_answer: bool,
}

/// `request`
#[derive(Args, Debug)]
pub struct RequestArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub question: QuestionArgs,
}

/// `wait`
#[derive(Args, Debug)]
pub struct WaitArgs {
    /// The question's full id
    pub id: String,
    /// How long to wait at most, in seconds (clamped to 1-300; anything else counts as 60)
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        allow_hyphen_values = true
    )]
    pub timeout: String,
    /// Let the exit code say what the answer was, as for ask
    #[arg(long)]
    pub exit_status: bool,
}

/// `get`
#[derive(Args, Debug)]
pub struct GetArgs {
    /// The question's full id
    pub id: String,
}

/// `cancel`
#[derive(Args, Debug)]
pub struct CancelArgs {
    /// Full ids
    #[arg(value_name = "ID", required_unless_present_any = ["session", "key"])]
    pub ids: Vec<String>,
    /// Every pending question of this session
    #[arg(long, alias = "session-id", value_name = "ID", conflicts_with = "ids")]
    pub session: Option<String>,
    /// The pending questions under this key
    #[arg(long, conflicts_with_all = ["ids", "session"])]
    pub key: Option<String>,
    /// Only those of this agent
    #[arg(long, alias = "agent-id")]
    pub agent: Option<String>,
}
