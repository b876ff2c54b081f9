//! The command line's types. They feed the parser, the completions and the man pages; what a verb
//! does is in `cmd`.

pub mod args;
pub mod asking;
pub mod machinery;
pub mod older;
pub mod relay;

use clap::{Args, Command, FromArgMatches};

pub use args::*;
pub use asking::*;
pub use machinery::*;
pub use older::modernise;
pub use relay::*;

use crate::render::style::When;

/// Options that every verb takes.
#[derive(Args, Clone, Debug, Default)]
pub struct Global {
    /// Act for this repository instead of the current directory's [env: SAYSO_REPO]
    #[arg(long, alias = "project-root", global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Global options")]
    pub repo: Option<std::path::PathBuf>,
    /// Name the scope outright [env: SAYSO_SCOPE]
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        help_heading = "Global options"
    )]
    pub scope: Option<String>,
    /// Act on every scope (operator's verbs; the default outside a repository)
    #[arg(short = 'A', long, global = true, help_heading = "Global options")]
    pub all_repos: bool,
    /// Print one JSON envelope instead of text
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub color: When,
    /// Print no notes
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Say more; twice: what the store does, by id and kind only
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,
}

macro_rules! verbs {
    ($($name:literal $variant:ident($args:ty) $about:literal $example:literal;)*) => {
        /// A verb with its arguments.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each is documented by its arguments")]
        pub enum Verb { $($variant(Box<$args>),)* }

        /// The verbs' names, in the order of the help.
        pub const VERBS: &[&str] = &[$($name),*];

        /// One verb's command; none if there is no such verb.
        pub fn verb_command(name: &str) -> Option<Command> {
            match name {
                $($name => Some(
                    <$args>::augment_args(Command::new($name))
                        .about($about)
                        .hide($name.starts_with('_'))
                        .after_help(concat!("Example:\n  ", $example)),
                ),)*
                _ => None,
            }
        }

        impl Verb {
            /// From what the parser found under a verb's name.
            ///
            /// # Errors
            /// Those of clap.
            pub fn from_matches(name: &str, matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                match name {
                    $($name => <$args>::from_arg_matches(matches).map(|a| Self::$variant(Box::new(a))),)*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }
        }
    };
}

verbs! {
    "ask" Ask(AskArgs) "Ask and wait: prints the answer, the exit code says what it was"
        "sayso ask \"Deploy?\" && ./deploy";
    "request" Request(RequestArgs) "Open a question and print it, without waiting"
        "sayso request \"Deploy?\" --key deploy --json";
    "wait" Wait(WaitArgs) "Wait for a question to be settled and print its state"
        "sayso wait 0123456789abcdef0123456789abcdef --timeout 300 --exit-status";
    "get" Get(GetArgs) "Print a record as JSON, with digest and nonce"
        "sayso get 0123456789abcdef0123456789abcdef";
    "cancel" Cancel(CancelArgs) "Withdraw questions"
        "sayso cancel --key deploy";
    "list" List(ListArgs) "List questions, oldest first"
        "sayso list --all --limit 20";
    "show" Show(ShowArgs) "Show everything that was asked, and how to answer it"
        "sayso show 3f2a";
    "answer" Answer(AnswerArgs) "Answer a question as a person does"
        "sayso answer 3f2a --deny --message \"not on a Friday\"";
    "respond" Respond(RespondArgs) "Answer a question as a program does, with digest and nonce"
        "sayso respond ID --response-id r1 --digest D --nonce-file FILE --choice allow-once";
    "inbox" Inbox(InboxArgs) "Walk the pending questions at a terminal and wait for more"
        "sayso inbox --all-repos --bell";
    "watch" Watch(WatchArgs) "Print questions as they come and go"
        "sayso watch --json";
    "count" Count(CountArgs) "Print the number of pending questions; nothing when there is none"
        "sayso count --format '{pending} waiting, oldest {oldest}'";
    "events" Events(EventsArgs) "Print what happened, one line per transition"
        "sayso events --follow --json";
    "prune" Prune(PruneArgs) "Remove settled records past their retention"
        "sayso prune --older-than 7d --dry-run";
    "publish" Publish(PublishArgs) "Send a question to your phones again"
        "sayso publish 3f2a";
    "relay" Relay(RelayArgs) "Questions to your phones, answers from them"
        "sayso relay status --units";
    "doctor" Doctor(DoctorArgs) "Check the store and its surroundings"
        "sayso doctor";
    "hook" Hook(HookArgs) "Answer a host's permission prompt: its JSON in, its decision out"
        "sayso hook claude permission-request < event.json";
    "policy" Policy(PolicyArgs) "Say what the approval policy decides, and what is odd about it"
        "sayso policy check --agent claude -- git push";
    "mcp" Mcp(McpArgs) "Speak MCP with an agent: ask, request_approval, wait_for_answer"
        "sayso mcp serve --agent-id claude";
    "arc" Arc(ArcArgs) "Apply an ARC 0.2 event: a request, an update, an answer or an end"
        "sayso arc event.json";
    "workflow" Workflow(WorkflowArgs) "List and resume workflows that a suspended question paused"
        "sayso workflow resume --id nightly-build";
    "harness" Harness(HarnessArgs) "Install into a host's settings, take it out, say what is there"
        "sayso harness install claude --ask";
    "completions" Completions(CompletionsArgs) "Print a shell's completion script"
        "sayso completions zsh > ~/.zfunc/_sayso";
    "__complete" Complete(CompleteArgs) "Print what could stand at the end of a command line"
        "sayso __complete --word=pen -- list --status";
    "__notify" Notify(NotifyArgs) "Send the notices that are queued for one [[notify]]"
        "sayso __notify --entry 0123456789abcdef";
    "help" Help(HelpArgs) "Print help on a verb or a topic"
        "sayso help exit-codes";
}

/// The program without verbs and options.
fn root() -> Command {
    Command::new("sayso")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Puts a durable question in front of a human and brings the answer back")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .after_help(
            "Nothing happens without your say-so.\n\nTopics: sayso help interactions | exit-codes | environment | files | hosts | mcp-server | approval-policy | phones | security | migration",
        )
}

/// A command with the options that every verb takes; it keeps its own description.
fn with_global(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    Global::augment_args(command).about(about)
}

/// The program with all its verbs: for help, man pages and completions.
pub fn full_command() -> Command {
    VERBS
        .iter()
        .filter_map(|name| verb_command(name))
        .fold(with_global(root()), Command::subcommand)
}

/// The program with the one verb that the arguments name, or with all where they name none: building
/// every verb's arguments would cost each start a third of its time. The verb must come first
/// ([`verb_first`]): then it alone has the options of every verb, and nothing is handed down to it.
pub fn command_for(args: &[std::ffi::OsString]) -> Command {
    match named_verb(args).and_then(verb_command) {
        Some(verb) => root().subcommand(with_global(verb)),
        None => full_command(),
    }
}

/// The first argument that is no option and no option's value.
pub fn named_verb(args: &[std::ffi::OsString]) -> Option<&str> {
    args[verb_at(args)?].to_str()
}

/// Where that argument stands.
fn verb_at(args: &[std::ffi::OsString]) -> Option<usize> {
    let mut at = 1;
    loop {
        match args.get(at)?.to_str()? {
            "--repo" | "--project-root" | "--scope" | "--color" => at += 2,
            "--help" | "-h" | "--version" | "-V" => return None,
            option if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
}

/// The same arguments with the verb before the options that stood before it.
pub fn verb_first(mut args: Vec<std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    if let Some(at) = verb_at(&args) {
        args[1..=at].rotate_right(1);
    }
    args
}
