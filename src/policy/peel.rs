//! What a simple command runs in the end, when its wrappers are peeled off.
//!
//! Promise: [`peel`] gives the command itself and each command that a wrapper in front (`env`, `sudo`,
//! `xargs`, …) would start, and the scripts that a shell, `eval` and the like would read. Where an
//! option is not known, both readings are given. It is for denying only: it rather gives too much.

use super::plain::is_assignment;
use super::scan::Word;

mod table;

use table::{KEYWORDS, Options, SHELLS, WRAPPERS, Wrapper};

/// What is found under the wrappers.
#[derive(Debug, Default)]
pub(super) struct Peeled<'a> {
    /// Words of commands: the given one first.
    pub(super) commands: Vec<Vec<&'a Word>>,
    /// Texts that would be read as shell scripts.
    pub(super) scripts: Vec<String>,
    /// Whether one of the commands is a shell that reads its standard input.
    pub(super) reads_script: bool,
    /// Whether there is more that was not looked at.
    pub(super) incomplete: bool,
}

/// Unknown options of a program that are read both ways.
const DOUBTFUL_MAX: usize = 8;

/// Everything that the command would start, as far as that takes looking at no more words than `limit`.
/// `filler` stands for arguments that are added later.
pub(super) fn peel<'a>(words: Vec<&'a Word>, filler: &'a Word, limit: usize) -> Peeled<'a> {
    let mut peeled = Peeled::default();
    let mut left = vec![words];
    let mut effort = 0;
    while let Some(words) = left.pop() {
        if words.is_empty() || peeled.commands.contains(&words) {
            continue;
        }
        let under = step(&words, filler, &mut peeled);
        peeled.commands.push(words);
        effort += under.iter().map(Vec::len).sum::<usize>();
        if effort > limit {
            peeled.incomplete = true;
            break;
        }
        left.extend(under);
    }
    peeled
}

/// The program's name without its directory.
pub(super) fn program<'a>(words: &[&'a Word]) -> &'a str {
    let text = words.first().map_or("", |word| &word.text);
    text.rsplit('/').next().unwrap_or(text)
}

/// Whether a program of this name is peeled off.
pub(super) fn looks_into(program: &str) -> bool {
    matches!(
        program,
        "git" | "find" | "eval" | "trap" | "alias" | "coproc"
    ) || KEYWORDS.contains(&program)
        || SHELLS.contains(&program)
        || WRAPPERS.iter().any(|wrapper| wrapper.name == program)
}

/// Peels one layer off.
fn step<'a>(words: &[&'a Word], filler: &'a Word, out: &mut Peeled<'a>) -> Vec<Vec<&'a Word>> {
    let assignments = words
        .iter()
        .take_while(|word| is_assignment(&word.raw))
        .count();
    if assignments > 0 {
        return vec![words[assignments..].to_vec()];
    }
    let name = program(words);
    let arguments = &words[1..];
    match name {
        _ if KEYWORDS.contains(&name) => return vec![arguments.to_vec()],
        _ if SHELLS.contains(&name) => shell(arguments, out),
        // In front of a compound command the coprocess may have a name.
        "coproc" => {
            return vec![
                arguments.to_vec(),
                arguments.iter().skip(1).copied().collect(),
            ];
        }
        "eval" => out.scripts.push(joined(arguments)),
        "trap" => out
            .scripts
            .extend(arguments.iter().take(1).map(|word| word.text.clone())),
        "alias" => out.scripts.extend(arguments.iter().filter_map(|word| {
            let (_, value) = word.text.split_once('=')?;
            Some(value.to_owned())
        })),
        "git" => return git(words, out),
        "find" => return find(arguments),
        _ => {}
    }
    match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        Some(wrapper) => unwrap(wrapper, words, filler, out),
        None => vec![],
    }
}

fn joined(words: &[&Word]) -> String {
    let texts: Vec<_> = words.iter().map(|word| &*word.text).collect();
    texts.join(" ")
}

fn unwrap<'a>(
    wrapper: &Wrapper,
    words: &[&'a Word],
    filler: &'a Word,
    out: &mut Peeled<'a>,
) -> Vec<Vec<&'a Word>> {
    let arguments = &words[1..];
    let read = read_options(&wrapper.options, arguments);
    let rest = arguments
        .get(read.start + wrapper.operands..)
        .unwrap_or_default();
    if wrapper.joins {
        out.scripts.push(joined(rest));
    }
    if let [option, script, ..] = rest
        && option.text == "-c"
    {
        out.scripts.push(script.text.clone());
    }
    out.scripts.extend(read.scripts);
    let mut commands = without(words, &read.doubtful, out);
    let more = wrapper.more && !rest.is_empty();
    commands.push(rest.iter().copied().chain(more.then_some(filler)).collect());
    commands
}

/// The command again without the words in front of each place.
fn without<'a>(words: &[&'a Word], places: &[usize], out: &mut Peeled) -> Vec<Vec<&'a Word>> {
    if places.len() > DOUBTFUL_MAX {
        out.incomplete = true;
        return vec![];
    }
    let from = |at: &usize| [&words[..1], words.get(1 + at..).unwrap_or_default()].concat();
    places.iter().map(from).collect()
}

/// What stands between a program and the first word that is no option of its own.
#[derive(Default)]
struct Read {
    /// Where that word is.
    start: usize,
    /// Where reading goes on if an unknown option takes a value.
    doubtful: Vec<usize>,
    /// What options make a script of.
    scripts: Vec<String>,
    /// Options (without dashes) and their values.
    values: Vec<(String, String)>,
}

fn read_options(options: &Options, words: &[&Word]) -> Read {
    let mut read = Read::default();
    let mut at = 0;
    while let Some(word) = words.get(at).map(|word| &*word.text) {
        if !word.starts_with(['-', '+']) {
            break;
        }
        at += 1;
        match options.value_of(word) {
            _ if word == "--" => break,
            Value::None => {}
            Value::Attached(name, value) => read.values.push((name, value)),
            Value::Next(name) => {
                let value = words.get(at).map_or("", |word| &word.text);
                read.values.push((name, value.to_owned()));
                at += 1;
            }
            Value::Unknown => read.doubtful.push(at + 1),
        }
    }
    read.start = at;
    let rest = words.get(at..).unwrap_or_default();
    for (name, value) in &read.values {
        if options.scripts.contains(&&**name) {
            read.scripts.push(format!("{value} {}", joined(rest)));
        }
    }
    read
}

/// Where the value of an option word is.
enum Value {
    None,
    Attached(String, String),
    Next(String),
    Unknown,
}

impl Options {
    fn value_of(&self, word: &str) -> Value {
        if let Some(long) = word.strip_prefix("--") {
            return match long.split_once('=') {
                Some((name, value)) => Value::Attached(name.to_owned(), value.to_owned()),
                None if self.long.contains(&long) => Value::Next(long.to_owned()),
                None if self.long_flags.contains(&long) => Value::None,
                None => Value::Unknown,
            };
        }
        let letters = &word[1..];
        for (at, letter) in letters.char_indices() {
            if self.short.contains(letter) {
                let value = &letters[at + letter.len_utf8()..];
                return match value {
                    "" => Value::Next(letter.to_string()),
                    value => Value::Attached(letter.to_string(), value.to_owned()),
                };
            }
            if !self.short_flags.contains(letter) {
                return Value::Unknown;
            }
        }
        Value::None
    }
}

/// A shell runs the word behind `-c` and the options, else a file, else its standard input.
fn shell<'a>(arguments: &[&'a Word], out: &mut Peeled<'a>) {
    let is_option = |word: &&Word| word.text.starts_with(['-', '+']) && word.text.len() > 1;
    let has_command = arguments
        .iter()
        .take_while(|word| word.text != "--")
        .any(|word| is_option(word) && !word.text.starts_with("--") && word.text.contains('c'));
    let fish_command = arguments
        .iter()
        .find_map(|word| word.text.strip_prefix("--command="));
    out.scripts.extend(fish_command.map(str::to_owned));
    let read = read_options(&table::SHELL_OPTIONS, arguments);
    if has_command {
        let places = read.doubtful.iter().chain([&read.start]);
        let scripts = places.filter_map(|at| arguments.get(*at));
        out.scripts.extend(scripts.map(|word| word.text.clone()));
    } else {
        out.reads_script |= arguments.len() <= read.start;
    }
    out.reads_script |= arguments
        .iter()
        .any(|word| matches!(&*word.text, "-s" | "-" | "/dev/stdin" | "/proc/self/fd/0"));
}

/// `git` without its global options, and what its aliases and `!` settings run.
fn git<'a>(words: &[&'a Word], out: &mut Peeled<'a>) -> Vec<Vec<&'a Word>> {
    let arguments = &words[1..];
    let read = read_options(&table::GIT_OPTIONS, arguments);
    for (name, value) in &read.values {
        let Some((key, setting)) = value.split_once('=') else {
            continue;
        };
        if name != "c" && name != "config-env" {
            continue;
        }
        if let Some(script) = setting.strip_prefix('!') {
            out.scripts.push(script.to_owned());
        } else if key.to_ascii_lowercase().starts_with("alias.") {
            out.scripts.push(format!("git {setting}"));
        }
    }
    let mut places = read.doubtful;
    places.extend((read.start > 0).then_some(read.start));
    let mut commands = without(words, &places, out);
    commands.extend(git_runs(
        arguments.get(read.start..).unwrap_or_default(),
        out,
    ));
    commands
}

/// What git's own commands run: `submodule foreach`, `bisect run`, `rebase --exec`.
fn git_runs<'a>(words: &[&'a Word], out: &mut Peeled) -> Option<Vec<&'a Word>> {
    let subcommand = words.first().map(|word| &*word.text);
    for (at, word) in words.iter().enumerate() {
        let behind = &words[at + 1..];
        match (subcommand?, &*word.text) {
            ("submodule", "foreach") | ("bisect", "run") => {
                let options = behind.iter().take_while(|word| word.text.starts_with('-'));
                let command = &behind[options.count()..];
                out.scripts.push(joined(command));
                return Some(command.to_vec());
            }
            ("rebase", "-x" | "--exec") => {
                out.scripts.extend(behind.first().map(|w| w.text.clone()));
            }
            ("rebase", text) => {
                let script = text.strip_prefix("--exec=").or(text.strip_prefix("-x"));
                out.scripts.extend(script.map(str::to_owned));
            }
            _ => {}
        }
    }
    None
}

/// The commands behind `-exec` and its kin.
fn find<'a>(arguments: &[&'a Word]) -> Vec<Vec<&'a Word>> {
    let mut commands = vec![];
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        if !matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut command: Vec<&Word> = vec![];
        while let Some(word) = words.next_if(|word| word.text != ";") {
            let ends = word.text == "+" && command.last().is_some_and(|last| last.text == "{}");
            if ends {
                break;
            }
            command.push(word);
        }
        commands.push(command);
    }
    commands
}
