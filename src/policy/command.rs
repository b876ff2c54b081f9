//! What a command text runs, for the two questions a policy has about it.
//!
//! Promise: [`Command::plain`] lists the simple commands only if two readers of the shell's language, one
//! of them the grammar of tree-sitter, agree on every word and nothing else can happen.
//! [`Command::subjects`] holds every text that a denying pattern is matched against: the text itself and
//! each simple command at any depth, as it is written and peeled. Where that could not be worked out
//! to the end, [`Command::doubt`] says why. Time and size are linear in the text.

use std::collections::HashMap;

use super::pattern::HOLE;
use super::peel;
use super::plain::{self, Invocation, Plain, Reason, Step};
use super::scan::{self, Simple, Word};
use super::tree::Parsed;
use super::visible::all_visible;

#[cfg(test)]
mod tests;

/// Bytes of a text that is looked into.
const TEXT_MAX: usize = 64 * 1024;
/// Bytes of a text that is not plain and yet given to the grammar; where people write more, they write files.
/// Text that is made to be ambiguous takes it much more than linear time.
const TREE_MAX: usize = 4 * 1024;
/// Scripts inside scripts (`sh -c`, `eval`, backticks) that are looked into.
const DEPTH_MAX: usize = 8;

const TOO_MUCH: Reason = "it runs too much to be looked through";

/// A command, taken apart.
#[derive(Debug)]
pub(super) struct Command {
    /// Its simple commands, or why it cannot be allowed by a pattern.
    pub(super) plain: Result<Vec<Invocation>, Reason>,
    /// The simple commands that were found, each once.
    pub(super) parts: Vec<Part>,
    /// What denying patterns are matched against, each once.
    pub(super) subjects: Vec<Subject>,
    /// Why something may have been missed.
    pub(super) doubt: Option<Reason>,
}

/// A simple command.
#[derive(Debug)]
pub(super) struct Part {
    /// As it is written, blanks collapsed.
    pub(super) text: String,
    /// Its words without quotes.
    pub(super) words: Vec<String>,
}

/// A text that denying patterns are matched against.
#[derive(Debug)]
pub(super) struct Subject {
    /// The text, expansions as they are written.
    pub(super) text: String,
    /// The text with a hole for each expansion, where there are any.
    pub(super) shape: Option<String>,
    /// The index of the simple command that it comes from.
    pub(super) part: Option<usize>,
}

impl Command {
    /// Takes a text apart.
    pub(super) fn new(text: &str) -> Self {
        let mut digger = Digger::new(text.len());
        digger.subject(text.to_owned(), None, None);
        if text.len() > TEXT_MAX {
            digger.doubt = Some("it is too long");
            return digger.finish(Err("it is too long"));
        }
        let plain = match all_visible(text) {
            true => plain::read(text),
            false => Err("control or invisible characters"),
        };
        let straight = plain
            .as_ref()
            .map(|plain| plain.without_continuations(text));
        // A text that the plain reader takes costs the parser no more than its length.
        let parsed = match &straight {
            Ok(text) => Parsed::new(text),
            Err(_) => digger.parse(text),
        };
        let plain = plain.and_then(|plain| agreed(&plain, parsed.as_ref()));
        digger.dig(text, parsed.as_ref());
        if text.contains("for") {
            // What a loop's variable makes of its body stands nowhere in the text.
            for invocation in plain.iter().flatten() {
                digger.simple(&invocation.scanned());
            }
        }
        if text.contains("\\\n") {
            let joined = text.replace("\\\n", "");
            digger.subject(joined.clone(), None, None);
            let parsed = digger.parse(&joined);
            digger.dig(&joined, parsed.as_ref());
        }
        digger.dig_deeper();
        digger.finish(plain)
    }
}

/// The commands if the grammar finds the same.
fn agreed(plain: &Plain, parsed: Option<&Parsed>) -> Result<Vec<Invocation>, Reason> {
    let steps = parsed.ok_or("it has too many parts")?.plain()?;
    match steps.into_iter().eq(plain.steps.iter().map(Step::ranges)) {
        true => plain.commands(),
        false => Err("two readings of it differ"),
    }
}

/// What matters for the commands beside a simple command.
struct Run {
    /// Whether it is a shell that reads its standard input.
    reads_script: bool,
    /// What it writes where such a shell could read it.
    echoed: Vec<String>,
}

/// Collects subjects within a budget.
struct Digger {
    parts: Vec<Part>,
    subjects: Vec<Subject>,
    /// Indices of subjects by their texts.
    seen: HashMap<String, usize>,
    /// Scripts that are still to be looked into, and their depths.
    scripts: Vec<(String, usize)>,
    depth: usize,
    /// Bytes that subjects may still take.
    budget: usize,
    /// Bytes of scripts that may still be looked into.
    script_budget: usize,
    /// Bytes that the grammar may still parse.
    tree_budget: usize,
    doubt: Option<Reason>,
}

impl Digger {
    fn new(length: usize) -> Self {
        Self {
            parts: vec![],
            subjects: vec![],
            seen: HashMap::new(),
            scripts: vec![],
            depth: 0,
            budget: 4096 + 16 * length,
            script_budget: 4096 + 4 * length,
            tree_budget: 2 * TREE_MAX,
            doubt: None,
        }
    }

    fn subject(&mut self, text: String, shape: Option<String>, part: Option<usize>) {
        if let Some(index) = self.seen.get(&text) {
            let known = &mut self.subjects[*index];
            known.part = known.part.or(part);
            known.shape = known.shape.take().or(shape);
            return;
        }
        let Some(left) = self.budget.checked_sub(text.len()) else {
            self.doubt = Some(TOO_MUCH);
            return;
        };
        self.budget = left;
        self.seen.insert(text.clone(), self.subjects.len());
        self.subjects.push(Subject { text, shape, part });
    }

    fn script(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        match self.script_budget.checked_sub(text.len()) {
            Some(left) if self.depth < DEPTH_MAX => self.script_budget = left,
            _ => {
                self.doubt = Some(TOO_MUCH);
                return;
            }
        }
        self.subject(text.clone(), None, None);
        self.scripts.push((text, self.depth + 1));
    }

    fn parse<'t>(&mut self, text: &'t str) -> Option<Parsed<'t>> {
        if text.len() > TREE_MAX {
            return None;
        }
        self.tree_budget = self.tree_budget.checked_sub(text.len())?;
        Parsed::new(text)
    }

    fn finish(self, plain: Result<Vec<Invocation>, Reason>) -> Command {
        Command {
            plain,
            parts: self.parts,
            subjects: self.subjects,
            doubt: self.doubt,
        }
    }

    fn dig_deeper(&mut self) {
        while let Some((script, depth)) = self.scripts.pop() {
            self.depth = depth;
            let parsed = self.parse(&script);
            self.dig(&script, parsed.as_ref());
        }
    }

    /// Collects what both readers find in a text.
    fn dig(&mut self, text: &str, parsed: Option<&Parsed>) {
        let found = scan::scan(text);
        let mut reads_script = false;
        let mut written = vec![];
        for Simple { words, stdin } in found.commands {
            let run = self.simple(&words);
            reads_script |= run.reads_script;
            written.extend(stdin);
            written.extend(run.echoed);
        }
        for words in parsed.map(Parsed::commands).unwrap_or_default() {
            reads_script |= self.simple(&words).reads_script;
        }
        // Which of them reaches the shell's standard input is not worked out.
        let read = written.into_iter().filter(|_| reads_script);
        for script in found.scripts.into_iter().chain(read) {
            self.script(script);
        }
        if found.incomplete || parsed.is_some_and(Parsed::has_error) {
            self.doubt = Some("its syntax is not understood");
        } else if parsed.is_none() {
            self.doubt = Some("its syntax is too long or not understood");
        } else if text.replace("\\\n", "").contains("esac") {
            // Where its patterns end in a bare `)`, both readers can lose their place.
            self.doubt = Some("it holds a case statement");
        }
    }

    /// Collects what a simple command runs.
    fn simple(&mut self, words: &[Word]) -> Run {
        let filler = scan::word("{}");
        let peeled = peel::peel(words.iter().collect(), &filler, 1024 + 32 * words.len());
        if peeled.incomplete {
            self.doubt = Some("it has too many wrappers");
        }
        let mut run = Run {
            reads_script: peeled.reads_script,
            echoed: vec![],
        };
        let Some(written) = peeled.commands.first() else {
            return run;
        };
        let part = self.part(written);
        for words in &peeled.commands {
            self.command(words, part);
            if matches!(peel::program(words), "echo" | "printf") {
                run.echoed.push(join(&words[1..], |word| &word.text));
                run.echoed
                    .extend(words[1..].iter().map(|word| word.text.clone()));
            }
        }
        for script in peeled.scripts {
            self.script(script);
        }
        run
    }

    /// The index of the simple command among the parts.
    fn part(&mut self, words: &[&Word]) -> usize {
        let text = join(words, |word| &word.raw);
        let known = self
            .seen
            .get(&text)
            .and_then(|index| self.subjects[*index].part);
        known.unwrap_or_else(|| {
            let words = words.iter().map(|word| word.text.clone()).collect();
            self.parts.push(Part { text, words });
            self.parts.len() - 1
        })
    }

    /// The texts of one command: without quotes, as written, without the program's directory.
    fn command(&mut self, words: &[&Word], part: usize) {
        let Some(program) = words.first() else {
            return;
        };
        let raw = join(words, |word| &word.raw);
        let text = join(words, |word| &word.text);
        let shape = join(words, |word| &word.shape);
        let shape = shape.contains(HOLE).then_some(shape);
        let bare = without_directory(&text, &program.text).map(str::to_owned);
        let bare_shape = shape.as_deref().map(|shape| {
            without_directory(shape, &program.shape)
                .unwrap_or(shape)
                .to_owned()
        });
        self.subject(text, shape.clone(), Some(part));
        self.subject(raw, shape, Some(part));
        if let Some(bare) = bare {
            self.subject(bare, bare_shape, Some(part));
        }
    }
}

/// A command that begins with the program, without the directory before the program's name.
fn without_directory<'a>(command: &'a str, program: &str) -> Option<&'a str> {
    let name = program.rfind('/')? + 1;
    command.get(name..)
}

fn join<'a>(words: &[&'a Word], form: impl Fn(&'a Word) -> &'a str) -> String {
    let forms: Vec<_> = words.iter().map(|word| form(word)).collect();
    forms.join(" ")
}

/// Whether a program of this name runs another one that denying patterns look for.
pub(super) fn runs_another(program: &str) -> bool {
    peel::looks_into(program)
}
