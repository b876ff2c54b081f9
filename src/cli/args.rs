//! The arguments of the verbs that answer and look.

use std::path::PathBuf;

use clap::Args;

use super::asking::kind;
use crate::model::interaction::Kind;

/// `list`
#[derive(Args, Debug, Default)]
pub struct ListArgs {
    /// Only pending questions (the default)
    #[arg(long, conflicts_with_all = ["all", "status"])]
    pub pending: bool,
    /// Questions of every status
    #[arg(long)]
    pub all: bool,
    /// Questions of this status
    #[arg(long, value_parser = ["pending", "answered", "expired", "cancelled", "superseded"])]
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
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<Kind>,
    /// Only the newest N [default: all pending, 50 otherwise]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// `show`
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The question's id, or a prefix of at least 4 characters
    pub id: String,
}

/// `answer`
#[derive(Args, Debug, Default)]
pub struct AnswerArgs {
    /// The question's id, or a prefix of at least 4 characters
    pub id: Option<String>,
    /// Take the only choice that allows
    #[arg(long, group = "what")]
    pub allow: bool,
    /// Take the only choice that denies; decline a form
    #[arg(long, group = "what")]
    pub deny: bool,
    /// Take this choice
    #[arg(long, value_name = "ID", group = "what", allow_hyphen_values = true)]
    pub choice: Option<String>,
    /// Answer with this text
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "what"
    )]
    pub text: Option<String>,
    /// Pick labels of a form's question, named by text, header or #N
    #[arg(long, value_name = "Q=LABEL[,LABEL]", conflicts_with = "what")]
    pub select: Vec<String>,
    /// Answer a form's question with free text
    #[arg(long, value_name = "Q=TEXT", conflicts_with = "what")]
    pub other: Vec<String>,
    /// Say something beside the answer to a form's question
    #[arg(long, value_name = "Q=TEXT", conflicts_with = "what")]
    pub note: Vec<String>,
    /// A note to the asker
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
    /// Let the host remember this allow in its local settings
    #[arg(long)]
    pub remember: bool,
    /// Allow with this tool input instead
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true)]
    pub updated_input: Option<String>,
    /// Who answers [default: the login name]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Refuse if the question is not the one with this digest
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// The idempotency key [default: random]
    #[arg(long, value_name = "ID")]
    pub response_id: Option<String>,
    /// Answer even from inside an agent's session
    #[arg(long)]
    pub self_answer: bool,
}

/// `respond`
#[derive(Args, Debug)]
pub struct RespondArgs {
    /// The question's id, or a prefix of at least 4 characters
    pub id: String,
    /// The idempotency key, 1-128 characters
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub response_id: String,
    /// The digest of the question that was displayed
    #[arg(long, value_name = "DIGEST", allow_hyphen_values = true)]
    pub digest: Option<String>,
    /// The nonce of the request that was read
    #[arg(
        long,
        value_name = "NONCE",
        allow_hyphen_values = true,
        conflicts_with = "nonce_file"
    )]
    pub nonce: Option<String>,
    /// The nonce, from a file or '-' for standard input
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub nonce_file: Option<PathBuf>,
    /// Take this choice
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub choice: Option<String>,
    /// Answer with this text, literally
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "text_file"
    )]
    pub text: Option<String>,
    /// The text, from a file or '-' for standard input
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub text_file: Option<PathBuf>,
    /// A form's answers: a JSON object by exact question text
    #[arg(long, value_name = "JSON|@FILE")]
    pub answers: Option<String>,
    /// A form's free response
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub response: Option<String>,
    /// Decline a form as a whole
    #[arg(long)]
    pub declined: bool,
    /// A note to the asker
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
    /// Let the host remember this allow in its local settings
    #[arg(long)]
    pub remember: bool,
    /// Allow with this tool input instead
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true)]
    pub updated_input: Option<String>,
    /// The surface that the answer came through [default: cli]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The device that the answer came from
    #[arg(long, alias = "device-id", value_name = "ID")]
    pub device: Option<String>,
    /// Who answers [default: the login name]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Answer even from inside an agent's session
    #[arg(long)]
    pub self_answer: bool,
}

/// `inbox`
#[derive(Args, Debug)]
pub struct InboxArgs {
    /// Ring the terminal's bell when a question arrives
    #[arg(long)]
    pub bell: bool,
    /// Who answers [default: the login name]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Answer even from inside an agent's session
    #[arg(long)]
    pub self_answer: bool,
}

/// `watch`
#[derive(Args, Debug)]
pub struct WatchArgs {}

/// `count`
#[derive(Args, Debug)]
pub struct CountArgs {
    /// Print 0 when there is none
    #[arg(long)]
    pub zero: bool,
    /// Print this, with {pending} and {oldest} filled in
    #[arg(long, value_name = "TEXT")]
    pub format: Option<String>,
}

/// `events`
#[derive(Args, Debug)]
pub struct EventsArgs {
    /// Go on with what happens next
    #[arg(long)]
    pub follow: bool,
    /// Only the newest N [default: 20]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only this type, such as interaction_answered
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Only since this time (RFC 3339) or this long ago (10m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Print ARC 0.2 events: new questions and their ends, one a line
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<EventFormat>,
}

/// Another form of what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EventFormat {
    /// The Attention Request Contract, 0.2.
    Arc,
}

/// `prune`
#[derive(Args, Debug)]
pub struct PruneArgs {
    /// Remove what was settled longer ago than this (12h, 30d); never less than an hour [default: retention_days, 30]
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// `doctor`
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Ask each Relay too whether it knows this machine
    #[arg(long)]
    pub online: bool,
}
