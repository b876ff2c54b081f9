//! What could stand at the end of a command line, read from the parser's own types: a verb or option
//! that is added there is completed without a word here.
//!
//! Pure. Values that only the store knows are named as a [`Source`]; `cmd/complete.rs` looks them up.

use clap::{Arg, ArgAction, Command, ValueHint};

use crate::words::is_hidden;

/// One thing that could be typed, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole word.
    pub value: String,
    /// A few words; may be empty.
    pub about: String,
}

/// Values that are looked up when they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Ids of pending questions.
    Ids,
    /// Choices of the question on the line, of all pending ones without it.
    Choices,
    /// `N=LABEL` of the form on the line.
    Labels,
    /// `ID=allow` and `ID=deny` for the choices that the line offers.
    Effects,
    /// Names of agents.
    Agents,
    /// Projects of pending questions.
    Projects,
    /// Sessions of pending questions.
    Sessions,
    /// Workflows of pending questions.
    Workflows,
    /// Tasks of pending questions.
    Tasks,
    /// Keys of pending questions.
    Keys,
    /// Names of scopes.
    Scopes,
    /// Names of Relays.
    Providers,
    /// Types of events.
    Types,
    /// Kinds of questions.
    Kinds,
    /// Hosts whose prompts can be caught.
    Hosts,
    /// Events of the host on the line.
    HostEvents,
    /// Verbs and topics.
    Topics,
}

/// What fits at the end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// These.
    These(Vec<Candidate>),
    /// What a look-up finds.
    From(Source),
    /// Paths of files.
    Files,
    /// Paths of directories.
    Directories,
}

/// A command line up to the word that is being typed.
#[derive(Debug)]
pub struct Line<'a> {
    verb: &'a Command,
    /// The options so far that take a value, by long name.
    options: Vec<(&'a str, String)>,
    flags: Vec<&'a str>,
    positionals: Vec<String>,
    /// The option whose value comes next.
    open: Option<&'a Arg>,
    only_positionals: bool,
}

impl<'a> Line<'a> {
    /// Reads the words that follow the program's name. `root` must have been built, so that its global
    /// options stand at every verb.
    pub fn read(root: &'a Command, words: &[String]) -> Self {
        let mut line = Self {
            verb: root,
            options: Vec::new(),
            flags: Vec::new(),
            positionals: Vec::new(),
            open: None,
            only_positionals: false,
        };
        for word in words {
            line.take(word);
        }
        line
    }

    fn take(&mut self, word: &str) {
        if let Some(option) = self.open.take() {
            self.options.extend(long(option).map(|n| (n, word.into())));
        } else if self.only_positionals || !word.starts_with('-') || word == "-" {
            self.take_positional(word);
        } else if word == "--" {
            self.only_positionals = true;
        } else if let Some((name, value)) = split_option(word) {
            let option = self.option(name);
            self.options
                .extend(option.and_then(long).map(|n| (n, value.into())));
        } else if let Some(option) = word.strip_prefix("--").and_then(|name| self.option(name)) {
            match option.get_action().takes_values() {
                true => self.open = Some(option),
                false => self.flags.extend(long(option)),
            }
        } else {
            let shorts = word[1..].chars();
            let found =
                shorts.filter_map(|s| options(self.verb).find(|a| a.get_short() == Some(s)));
            self.flags.extend(found.filter_map(long));
        }
    }

    fn take_positional(&mut self, word: &str) {
        match self.verb.find_subcommand(word) {
            Some(verb) if self.positionals.is_empty() && !self.only_positionals => self.verb = verb,
            _ => self.positionals.push(word.to_owned()),
        }
    }

    fn option(&self, name: &str) -> Option<&'a Arg> {
        options(self.verb).find(|arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            long(arg) == Some(name) || aliases.contains(&name)
        })
    }

    /// The last value that an option was given.
    pub fn value_of(&self, option: &str) -> Option<&str> {
        let mut found = self.options.iter().rev();
        found
            .find(|(name, _)| *name == option)
            .map(|(_, v)| v.as_str())
    }

    /// Every value that an option was given.
    pub fn values_of(&self, option: &str) -> Vec<&str> {
        let with = self.options.iter().filter(|(name, _)| *name == option);
        with.map(|(_, value)| value.as_str()).collect()
    }

    /// Whether a flag was given.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The first positional argument of the verb: an id or a host, for the verbs that take one.
    pub fn first(&self) -> Option<&str> {
        self.positionals.first().map(String::as_str)
    }

    /// The name of the verb, that of the program where there is none yet.
    pub fn verb(&self) -> &str {
        self.verb.get_name()
    }

    /// What `word` could become, and what stands before the part of it that is wanted: `--kind=` of
    /// `--kind=per`, nothing for other words.
    pub fn wanted<'w>(&self, word: &'w str) -> (&'w str, Wanted) {
        if let Some(option) = self.open {
            return ("", self.values(option));
        }
        if self.only_positionals || !word.starts_with('-') {
            return ("", self.positional(word));
        }
        if let Some((name, value)) = split_option(word) {
            let values = self.option(name).map(|option| self.values(option));
            let lead = &word[..word.len() - value.len()];
            return (lead, values.unwrap_or(Wanted::These(Vec::new())));
        }
        ("", self.options_left())
    }

    fn positional(&self, word: &str) -> Wanted {
        if self.verb.has_subcommands() && self.positionals.is_empty() {
            let verbs = self.verb.get_subcommands().filter(|v| !v.is_hide_set());
            let named = verbs.map(|v| candidate(v.get_name(), v.get_about()));
            return Wanted::These(named.collect());
        }
        let last = self.verb.get_positionals().last();
        let many = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Append);
        let index = self.positionals.len();
        let here = self.verb.get_positionals().nth(index).or(last.filter(many));
        match here.map(|arg| self.values(arg)) {
            Some(Wanted::These(none)) if none.is_empty() && word.is_empty() => self.options_left(),
            None if word.is_empty() => self.options_left(),
            Some(wanted) => wanted,
            None => Wanted::These(Vec::new()),
        }
    }

    fn options_left(&self) -> Wanted {
        let left = options(self.verb).filter(|arg| !arg.is_hide_set() && self.fits_again(arg));
        let named = left.filter_map(|arg| {
            let name = format!("--{}", long(arg)?);
            Some(candidate(&name, arg.get_help()))
        });
        Wanted::These(named.collect())
    }

    fn fits_again(&self, arg: &Arg) -> bool {
        let repeats = matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
        let given = long(arg).is_some_and(|n| self.has_flag(n) || self.value_of(n).is_some());
        repeats || !given
    }

    fn values(&self, arg: &Arg) -> Wanted {
        let fixed = arg.get_possible_values();
        if !fixed.is_empty() {
            let shown = fixed.iter().filter(|v| !v.is_hide_set());
            return Wanted::These(
                shown
                    .map(|v| candidate(v.get_name(), v.get_help()))
                    .collect(),
            );
        }
        match arg.get_value_hint() {
            ValueHint::FilePath | ValueHint::AnyPath => return Wanted::Files,
            ValueHint::DirPath => return Wanted::Directories,
            _ => {}
        }
        let name = long(arg).unwrap_or(arg.get_id().as_str());
        match source(self.verb(), name) {
            Some(source) => Wanted::From(source),
            None => Wanted::These(Vec::new()),
        }
    }
}

/// Which look-up an argument of a verb takes its values from.
fn source(verb: &str, argument: &str) -> Option<Source> {
    let asks = matches!(verb, "ask" | "request");
    match argument {
        // `workflow resume`
        "id" if verb == "resume" => Some(Source::Workflows),
        "id" | "ids" => Some(Source::Ids),
        "choice" if !asks => Some(Source::Choices),
        "effect" => Some(Source::Effects),
        "select" | "other" => Some(Source::Labels),
        "agent" | "agent-id" => Some(Source::Agents),
        "project" => Some(Source::Projects),
        "session" | "session-id" => Some(Source::Sessions),
        "workflow" | "workflow-id" => Some(Source::Workflows),
        "task" | "task-id" => Some(Source::Tasks),
        "key" => Some(Source::Keys),
        "scope" => Some(Source::Scopes),
        "provider" => Some(Source::Providers),
        "type" => Some(Source::Types),
        "kind" => Some(Source::Kinds),
        "host" => Some(Source::Hosts),
        "event" => Some(Source::HostEvents),
        "topic" => Some(Source::Topics),
        _ => None,
    }
}

fn options(verb: &Command) -> impl Iterator<Item = &Arg> {
    verb.get_arguments().filter(|arg| !arg.is_positional())
}

fn long(arg: &Arg) -> Option<&str> {
    arg.get_long()
}

fn split_option(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix("--")?.split_once('=')
}

fn candidate(value: &str, about: Option<&clap::builder::StyledStr>) -> Candidate {
    let about = about.map(ToString::to_string).unwrap_or_default();
    Candidate {
        value: value.to_owned(),
        about: about.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Whether a value from the store can stand on a command line in every shell, quoted or not: agents
/// choose their own names, and a name must never become a command.
pub fn is_plain(value: &str) -> bool {
    let plain = |c: char| (c.is_alphanumeric() && !is_hidden(c)) || " _-.,:/@+=".contains(c);
    !value.is_empty() && value.trim() == value && value.chars().all(plain)
}

#[cfg(test)]
mod tests;
