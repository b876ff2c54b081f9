//! The arguments of the machinery: hooks, servers, installation, policy, help.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::hook::Host;

/// `hook`
#[derive(Args, Debug)]
pub struct HookArgs {
    /// The host
    #[arg(help = format!("The host: {}", Host::ids(" or ")))]
    pub host: String,
    /// The event, such as permission-request
    pub event: String,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "590")]
    pub timeout: u64,
    /// pre-tool-use: suspend an unattended session until the answer is there
    #[arg(long)]
    pub suspend: bool,
    /// The agent whose policy applies [env: SAYSO_AGENT] [default: the host's id]
    #[arg(long, alias = "agent-id")]
    pub agent: Option<String>,
}

/// `mcp`
#[derive(Args, Debug)]
pub struct McpArgs {
    /// What to do
    #[command(subcommand)]
    pub action: McpAction,
}

/// `mcp ACTION`
#[derive(Subcommand, Debug)]
pub enum McpAction {
    /// Serve one agent session on standard input and output; ends with its client
    Serve(Box<McpServeArgs>),
}

/// `mcp serve`
#[derive(Args, Debug)]
pub struct McpServeArgs {
    /// Who asks, whatever a call says [env: SAYSO_MCP_AGENT_ID]
    #[arg(long, visible_alias = "agent", value_name = "ID")]
    pub agent_id: Option<String>,
    /// The workflow that every question belongs to; its calls suspend instead of waiting [env: SAYSO_MCP_WORKFLOW_ID]
    #[arg(long, visible_alias = "workflow", value_name = "ID")]
    pub workflow_id: Option<String>,
    /// The session that every question belongs to
    #[arg(long, visible_alias = "session", value_name = "ID")]
    pub session_id: Option<String>,
    /// The task that every question belongs to
    #[arg(long, visible_alias = "task", value_name = "ID")]
    pub task_id: Option<String>,
    /// How long a call waits that does not say, in seconds (clamped to 1-3600)
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    pub timeout: u64,
    /// Offer the inbox too: for your own assistant, never for an agent
    #[arg(long)]
    pub management: bool,
    /// Call the tools by other names: those of animus, for agents that were told of them
    #[arg(
        long,
        value_enum,
        value_name = "TOOL",
        default_value = "sayso",
        hide = true
    )]
    pub names: ToolNames,
}

/// Whose names an MCP server's tools have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolNames {
    /// This program's.
    Sayso,
    /// The older tool's: its four, beside no others.
    Animus,
}

/// `arc`
#[derive(Args, Debug)]
pub struct ArcArgs {
    /// The file that holds the event; - or nothing is standard input
    #[arg(value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Take one event a line and print one result a line; a refused one is passed over, and the exit code is that of the first
    #[arg(long)]
    pub stream: bool,
    /// Apply an answer even from inside an agent's session
    #[arg(long)]
    pub self_answer: bool,
}

/// `workflow`
#[derive(Args, Debug)]
pub struct WorkflowArgs {
    /// What to do
    #[command(subcommand)]
    pub action: WorkflowAction,
}

/// `workflow ACTION`
#[derive(Subcommand, Debug)]
pub enum WorkflowAction {
    /// List the workflows that wait for an answer or were not resumed
    List,
    /// Resume a workflow with what was decided
    Resume(WorkflowIdArgs),
    /// Run the resume command of a workflow until it ends
    #[command(hide = true)]
    Run(WorkflowIdArgs),
}

/// Which workflow.
#[derive(Args, Debug)]
pub struct WorkflowIdArgs {
    /// The workflow
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub id: String,
}

/// `__notify`, which sends what is queued for one `[[notify]]`
#[derive(Args, Debug)]
pub struct NotifyArgs {
    /// The entry, as its files under notify/ are called
    #[arg(long, value_name = "NAME")]
    pub entry: String,
}

/// `completions`
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell", "elvish"])]
    pub shell: String,
}

/// `__complete`, which the completion scripts call
#[derive(Args, Debug)]
pub struct CompleteArgs {
    /// The word that is being typed, up to the cursor
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub word: std::ffi::OsString,
    /// The words between the program's name and that one
    #[arg(last = true)]
    pub words: Vec<std::ffi::OsString>,
}

/// `help`
#[derive(Args, Debug)]
pub struct HelpArgs {
    /// A verb, or interactions, exit-codes, environment, files, hosts, mcp-server, approval-policy, phones, security, migration
    pub topic: Option<String>,
}

/// `harness`
#[derive(Args, Debug)]
pub struct HarnessArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: HarnessVerb,
}

/// The verbs of `harness`.
#[derive(Subcommand, Debug)]
pub enum HarnessVerb {
    /// Make the host's files hold what these options ask for
    Install(InstallArgs),
    /// Take everything of ours out of the host's files
    Uninstall(UninstallArgs),
    /// Say what is installed
    Status(PlaceArgs),
}

/// For whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AudienceArg {
    /// This user, in every project.
    User,
    /// Everybody who works in this project.
    Project,
}

/// Which host, and where its files are.
#[derive(Args, Debug)]
pub struct PlaceArgs {
    /// The host
    #[arg(help = format!("The host: {}", Host::ids(" or ")))]
    pub host: String,
    /// For this user, or for everybody who works in this project
    #[arg(long = "for", value_enum, value_name = "WHOM", default_value = "user")]
    pub audience: AudienceArg,
    /// Stands in for the host's own directory, or for the project's root
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub path: Option<PathBuf>,
}

/// `harness install`
#[derive(Args, Debug)]
pub struct InstallArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub place: PlaceArgs,
    /// Answer the host's permission prompts
    #[arg(long, alias = "approvals")]
    pub ask: bool,
    /// Decide before the host's own rules
    #[arg(long)]
    pub gate: bool,
    /// Register the MCP server
    #[arg(long)]
    pub mcp: bool,
    /// The agent whose policy applies [default: the host's id]
    #[arg(long, visible_alias = "agent-id")]
    pub agent: Option<String>,
    /// Print or write the instructions for agents that cannot be intercepted
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    pub instructions: Option<PathBuf>,
    /// Print what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replace what is broken or was edited; a .bak is kept
    #[arg(long)]
    pub force: bool,
}

/// `harness uninstall`
#[derive(Args, Debug)]
pub struct UninstallArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub place: PlaceArgs,
    /// Print what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `policy`
#[derive(Args, Debug)]
pub struct PolicyArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: PolicyVerb,
}

/// The verbs of `policy`.
#[derive(Subcommand, Debug)]
pub enum PolicyVerb {
    /// Say what becomes of a call: exit 0 allow, 10 deny, 12 ask
    Check(PolicyCheckArgs),
    /// Say what is odd about every table: exit 0 or 2
    Lint,
    /// Print an agent's effective policy and where each part comes from
    Show(PolicyShowArgs),
    /// Write a commented starter file: rules that only read, everything else is asked
    Init(PolicyInitArgs),
    /// Add a rule to the configuration, after showing the change
    Add(PolicyEditArgs),
    /// Take a rule out of the configuration, after showing the change
    Remove(PolicyEditArgs),
}

/// `policy init`
#[derive(Args, Debug)]
pub struct PolicyInitArgs {
    /// Whose policy [default: that of every agent without one of its own]
    #[arg(long, visible_alias = "agent-id")]
    pub agent: Option<String>,
    /// Print the file and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `policy add` and `policy remove`
#[derive(Args, Debug)]
pub struct PolicyEditArgs {
    /// Which list
    #[arg(value_enum)]
    pub list: ListArg,
    /// The pattern, as the list holds it; see 'sayso help approval-policy'
    #[arg(allow_hyphen_values = true)]
    pub pattern: String,
    /// Whose policy [default: the only one there is, else '*', every agent without one of its own]
    #[arg(long, visible_alias = "agent-id")]
    pub agent: Option<String>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Print what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// The lists of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ListArg {
    /// `auto_allow`
    Allow,
    /// `auto_deny`
    Deny,
}

impl ListArg {
    /// The key in the file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Allow => "auto_allow",
            Self::Deny => "auto_deny",
        }
    }
}

/// `policy check`
#[derive(Args, Debug)]
pub struct PolicyCheckArgs {
    /// Whose policy [env: SAYSO_AGENT]
    #[arg(long, visible_alias = "agent-id")]
    pub agent: Option<String>,
    /// The tool's name
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub tool: Option<String>,
    /// The tool's input: JSON, or @FILE
    #[arg(
        long,
        value_name = "JSON|@FILE",
        requires = "tool",
        allow_hyphen_values = true
    )]
    pub input: Option<String>,
    /// What a voluntary approval is about
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub action: Option<String>,
    /// A command, as the tool Bash would run it
    #[arg(last = true, conflicts_with_all = ["tool", "action"])]
    pub command: Vec<String>,
}

/// `policy show`
#[derive(Args, Debug)]
pub struct PolicyShowArgs {
    /// Whose policy [env: SAYSO_AGENT]
    #[arg(long, visible_alias = "agent-id")]
    pub agent: Option<String>,
}
