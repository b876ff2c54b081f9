//! What is wrong or odd about a policy, for `policy lint` and `doctor`.
//!
//! Promise: a pure function of the file. Every entry that is no pattern is found, not only the first, and
//! nothing is reported that holds for no call.

use toml::Spanned;

use super::List;
use super::call::{ADDRESS_TOOLS, PATH_TOOLS, SHELL_TOOLS};
use super::pattern::Pattern;
use super::repo_file::RepoFile;
use super::rule::{Matcher, Rule};
use super::trapdoors;
use super::visible::all_visible;
use crate::config::{Config, Place, Source};

#[cfg(test)]
mod tests;

/// Something about a policy that its author may want to know.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// How bad it is.
    pub level: Level,
    /// Where it is written.
    pub place: Place<'a>,
    /// What it is: lower case, no full stop.
    pub message: String,
}

/// How bad a finding is; all but notes fail `policy lint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It may be meant.
    Note,
    /// It is probably not meant.
    Warning,
    /// The policy cannot be used.
    Error,
}

/// The findings about every table of the user's configuration, in the file's order.
pub fn lint(config: &Config) -> Vec<Finding<'_>> {
    let mut linter = Linter::new(&config.source);
    let names: Vec<_> = config.agents.keys().collect();
    linter.names(&names);
    for agent in config.agents.values() {
        if let Some(table) = &agent.approval_policy {
            let deny = linter.rules(List::AutoDeny, &table.auto_deny);
            let allow = linter.rules(List::AutoAllow, &table.auto_allow);
            linter.list(&deny);
            linter.list(&allow);
            linter.allow(&allow, &deny);
        }
    }
    linter.finish()
}

/// The findings about a repository's file, in the file's order.
pub fn lint_repo_file(file: &RepoFile) -> Vec<Finding<'_>> {
    let mut linter = Linter::new(&file.source);
    let names: Vec<_> = file.agents.keys().collect();
    linter.names(&names);
    for agent in file.agents.values() {
        if let Some(table) = &agent.approval_policy {
            let deny = linter.rules(List::AutoDeny, &table.auto_deny);
            linter.list(&deny);
        }
    }
    linter.finish()
}

struct Linter<'a> {
    source: &'a Source,
    found: Vec<(usize, Level, String)>,
}

/// A rule and the text that it was made from.
struct Entry<'a> {
    rule: Rule<'a>,
    text: &'a str,
    offset: usize,
    list: List,
}

impl<'a> Linter<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            found: vec![],
        }
    }

    fn finish(mut self) -> Vec<Finding<'a>> {
        self.found.sort_by_key(|(offset, ..)| *offset);
        let findings = self.found.into_iter();
        findings
            .map(|(offset, level, message)| Finding {
                level,
                place: self.source.place(offset),
                message,
            })
            .collect()
    }

    fn say(&mut self, offset: usize, level: Level, message: impl Into<String>) {
        self.found.push((offset, level, message.into()));
    }

    fn names(&mut self, names: &[&Spanned<String>]) {
        for (index, name) in names.iter().enumerate() {
            let same =
                |other: &&&Spanned<String>| other.get_ref().eq_ignore_ascii_case(name.get_ref());
            if let Some(other) = names[..index].iter().find(same) {
                let (name, at) = (name.get_ref(), name.span().start);
                let message = format!("agents {} and {name} differ only in case", other.get_ref());
                self.say(at, Level::Warning, message);
            }
        }
    }

    fn rules(&mut self, list: List, texts: &'a [Spanned<String>]) -> Vec<Entry<'a>> {
        let mut entries = vec![];
        for (index, text) in texts.iter().enumerate() {
            let offset = text.span().start;
            match Rule::new(list, index, text, self.source) {
                Ok(rule) => entries.push(Entry {
                    rule,
                    text: text.get_ref(),
                    offset,
                    list,
                }),
                Err(_) => {
                    let why = Matcher::parse(text.get_ref()).err().unwrap_or_default();
                    self.say(offset, Level::Error, format!("{}: {why}", list.name()));
                }
            }
        }
        entries
    }

    /// What holds for either list.
    fn list(&mut self, entries: &[Entry]) {
        for entry in entries {
            if let Some(why) = never_matches(entry) {
                let message = format!("{:?} can never match: {why}", entry.text);
                self.say(entry.offset, Level::Warning, message);
            }
            if let Some((level, why)) = address_remark(entry) {
                self.say(entry.offset, level, format!("{:?} {why}", entry.text));
            }
            let Some(command) = command_pattern(entry) else {
                continue;
            };
            if let Some(program) = needs_argument(command)
                && !entries
                    .iter()
                    .filter_map(command_pattern)
                    .any(|other| other.matches(program))
            {
                let message = format!(
                    "{:?} does not match `{program}` without an argument",
                    entry.text
                );
                self.say(entry.offset, Level::Note, message);
            }
        }
    }

    /// What holds for patterns that allow.
    fn allow(&mut self, allow: &[Entry], deny: &[Entry]) {
        for entry in allow {
            let text = entry.text;
            let mut warn = |message: String| self.say(entry.offset, Level::Warning, message);
            if let Matcher::Bare(pattern) = &entry.rule.matcher {
                let shell = SHELL_TOOLS.iter().find(|tool| pattern.matches(tool));
                if text == "*" {
                    warn("\"*\" allows every tool and every plain command".to_owned());
                } else if let Some(tool) = shell {
                    warn(format!("{text:?} allows every command of the tool {tool}"));
                }
            }
            if let Some(program) = command_pattern(entry).and_then(is_open_ended) {
                warn(format!(
                    "{text:?} also matches other programs, such as `{program}-x`"
                ));
            }
            if let Some(denying) = deny.iter().find(|deny| covers(deny, entry)) {
                warn(format!(
                    "{text:?} is covered by {:?} in auto_deny",
                    denying.text
                ));
            }
            if let Some(closed) = command_pattern(entry).and_then(closed_names) {
                let message =
                    format!("{text:?} does not open {closed}: commands that use one are asked");
                self.say(entry.offset, Level::Note, message);
            }
        }
    }
}

/// The trapdoors that the pattern leaves room for and does not spell, the first few by name.
fn closed_names(pattern: &Pattern) -> Option<String> {
    const NAMED: usize = 12;
    let closed = trapdoors::closed_to(pattern);
    let named = closed.iter().take(NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(" ");
    match closed.len() {
        0 => None,
        n if n > NAMED => Some(format!("{named} and {} more", n - NAMED)),
        _ => Some(named),
    }
}

/// The pattern that commands are matched against.
fn command_pattern<'e>(entry: &'e Entry) -> Option<&'e Pattern> {
    match &entry.rule.matcher {
        Matcher::Bare(pattern) => Some(pattern),
        Matcher::Tool { name, spec } => {
            let shell = SHELL_TOOLS.iter().any(|tool| name.matches(tool));
            shell.then_some(&spec.whole)
        }
    }
}

/// What its author may not know about a SPEC for addresses.
fn address_remark(entry: &Entry) -> Option<(Level, String)> {
    let Matcher::Tool { name, spec } = &entry.rule.matcher else {
        return None;
    };
    let allows = entry.list == List::AutoAllow;
    let holds = |text: &str| spec.whole.pieces().iter().any(|piece| piece.contains(text));
    let any = |tools: &[&str]| tools.iter().any(|tool| name.matches(tool));
    let meant = holds("://") || holds("domain:") || any(ADDRESS_TOOLS) && !any(PATH_TOOLS);
    match &spec.address {
        Some(Err(_)) if allows => None,
        Some(Err(why)) => Some((
            Level::Warning,
            format!("is matched on the whole text only: {why}"),
        )),
        Some(Ok(address)) if allows && address.is_open_ended() => {
            let why = "leaves the end of the host open, so that a name of anybody's fits";
            Some((Level::Warning, why.to_owned()))
        }
        None if meant && !spec.whole.pieces().iter().all(String::is_empty) => {
            let level = if allows { Level::Warning } else { Level::Note };
            let why = "is no address and matched on the whole text, wherever the host stands in it: \
                       write it as `https://example.com/*` or `https://*.example.com/*`";
            Some((level, why.to_owned()))
        }
        _ => None,
    }
}

/// The program, if the pattern is its name, a blank and a star.
fn needs_argument(pattern: &Pattern) -> Option<&str> {
    match pattern.pieces() {
        [head, tail] if tail.is_empty() => head.strip_suffix(' ').filter(|name| is_program(name)),
        _ => None,
    }
}

/// The program, if the pattern is its name and a star.
fn is_open_ended(pattern: &Pattern) -> Option<&str> {
    match pattern.pieces() {
        [head, tail] if tail.is_empty() => Some(&**head).filter(|name| is_program(name)),
        _ => None,
    }
}

fn is_program(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_alphanumeric()) && !name.contains(' ')
}

/// Whether everything that the entry matches is matched by the denying one.
fn covers(deny: &Entry, entry: &Entry) -> bool {
    match (&deny.rule.matcher, &entry.rule.matcher) {
        (Matcher::Bare(deny), Matcher::Bare(pattern)) => deny.covers(pattern),
        (Matcher::Bare(deny), Matcher::Tool { name, .. }) => deny.covers(name),
        (Matcher::Tool { .. }, Matcher::Bare(_)) => false,
        (Matcher::Tool { name, spec }, Matcher::Tool { name: n, spec: s }) => {
            name.covers(n) && spec.whole.covers(&s.whole)
        }
    }
}

/// Why a pattern matches nothing, for the reasons that people fall for.
fn never_matches(entry: &Entry) -> Option<&'static str> {
    let (allows, shown) = (entry.list == List::AutoAllow, entry.text);
    if let Matcher::Tool { name, spec } = &entry.rule.matcher {
        let pieces = spec.whole.pieces();
        let start = pieces[0].as_str();
        let relative = !start.is_empty() && !start.starts_with('/') || pieces == [""];
        if PATH_TOOLS.iter().any(|tool| name.matches(tool)) && relative {
            return Some("paths are absolute");
        }
        let stray = |piece: &String| piece.contains("//") || piece.contains("/../");
        if allows && PATH_TOOLS.iter().any(|tool| name.matches(tool)) && pieces.iter().any(stray) {
            return Some("paths hold no `..` and no `//`");
        }
        if let (true, Some(Err(why))) = (allows, &spec.address) {
            return Some(why);
        }
    }
    let pattern = command_pattern(entry)?;
    if pattern.pieces() == [""] {
        return Some("it is empty");
    }
    if !allows {
        return None;
    }
    let pieces = pattern.pieces();
    let holds = |text: &str| pieces.iter().any(|piece| piece.contains(text));
    match () {
        () if pieces[0].starts_with(' ') || pieces[pieces.len() - 1].ends_with(' ') => {
            Some("commands have no blanks at their ends")
        }
        () if holds("  ") || holds("\t") || holds("\n") => {
            Some("blanks are collapsed to one space")
        }
        () if !all_visible(shown) => {
            Some("a command with control or invisible characters is never allowed")
        }
        () if [" && ", " || ", " | ", "; "].iter().any(|text| holds(text)) => {
            Some("each simple command is matched by itself")
        }
        () if [" > ", " >", " 2>&1"].iter().any(|text| holds(text)) => {
            Some("redirections are not part of a command")
        }
        () if super::plain::is_assignment(pieces[0].split(' ').next()?) => {
            Some("a command with an assignment in front is never allowed")
        }
        () if pieces
            .last()
            .is_some_and(|_| shown.ends_with(":*") || shown.ends_with(":*)")) =>
        {
            Some("`:*` is not special here, write a blank and `*`")
        }
        () => None,
    }
}
