//! Whether the allowing patterns of a policy allow a simple command.
//!
//! Promise: a pattern allows a command as it is written, or as it is behind assignments and wrappers that
//! give it no power; never by a trapdoor that the pattern does not spell.

use std::borrow::Cow;

use super::pattern::{HOLE, Letters, Pattern};
use super::plain::{Invocation, Known};
use super::rule::Rule;
use super::trapdoors;

mod wrapper;

use wrapper::Inner;

/// Why no pattern allows a command, for a person; it names nothing of the call but programs and options of
/// the table of trapdoors.
pub(super) type Why = Cow<'static, str>;

const NO_PATTERN: &str = "not every part of it is allowed by a pattern";

/// Wrappers around one another that are looked through.
const WRAPPERS_MAX: usize = 4;

/// Commands that do nothing.
const JOINERS: &[&str] = &["true", "false", ":"];

/// Programs whose first operand is a text of commands: which file a pattern stands for decides what they do.
const LANGUAGES: &[&str] = &[
    "awk", "bc", "dc", "ed", "ex", "find", "gawk", "gmake", "gsed", "jq", "make", "mawk", "nawk",
    "perl", "ruby", "sed",
];

/// What allows commands.
pub(super) struct Allowing<'a> {
    /// The patterns for commands, with their rules.
    pub(super) patterns: Vec<(&'a Rule<'a>, &'a Pattern)>,
    /// Variables that may be set in front of a command.
    pub(super) harmless_env: &'a [String],
}

impl<'a> Allowing<'a> {
    /// The rule that allows a command; none for a command without effect.
    ///
    /// # Errors
    /// Says why there is none.
    pub(super) fn rule(&self, command: &Invocation) -> Result<Option<&'a Rule<'a>>, Why> {
        if self.patterns.is_empty() {
            return Err(NO_PATTERN.into());
        }
        self.of(&Inner::whole(command), WRAPPERS_MAX)
    }

    /// With at most so many wrappers in front.
    fn of(&self, command: &Inner, wrappers: usize) -> Result<Option<&'a Rule<'a>>, Why> {
        let written = match self.as_written(command) {
            Ok(rule) => return Ok(Some(rule)),
            Err(why) => why,
        };
        let mut names = command.assignments().iter().map(name_of);
        let harmless = names.all(|name| self.harmless_env.iter().any(|known| known == name));
        if !harmless {
            return Err(written.unwrap_or("a variable in front that no rule spells".into()));
        }
        if !command.assignments().is_empty() {
            return self.of(&command.without_assignments(), wrappers);
        }
        let program = command.program();
        if JOINERS.contains(&program) || is_harmless_test(command.words()) {
            return Ok(None);
        }
        match command.unwrapped().filter(|_| wrappers > 0) {
            Some(inner) => self.of(&inner, wrappers - 1).map_err(|why| match why {
                Cow::Borrowed(NO_PATTERN) => written.unwrap_or(why),
                why => why,
            }),
            None => Err(written.unwrap_or(NO_PATTERN.into())),
        }
    }

    /// # Errors
    /// Why a pattern that matches does not count, if one does.
    fn as_written(&self, command: &Inner) -> Result<&'a Rule<'a>, Option<Why>> {
        let text = subject(command.written());
        let letters = Letters::of(&text);
        let mut why = None;
        for (rule, pattern) in &self.patterns {
            if !pattern.fits(letters) || !pattern.matches(&text) {
                continue;
            }
            match obstacle(command, pattern) {
                None => return Ok(rule),
                Some(obstacle) => why = why.or(Some(obstacle)),
            }
        }
        Err(why)
    }
}

/// Whether one of the commands leaves the working directory, so that a relative path in another is not in it.
pub(super) fn writes_elsewhere(commands: &[Invocation]) -> bool {
    let leaves = |command: &Invocation| {
        let words: Vec<_> = command.words.iter().map(|word| &*word.text).collect();
        let at = words
            .iter()
            .position(|word| matches!(*word, "cd" | "chdir" | "pushd" | "popd"));
        let Some(operands) = at.map(|at| &words[at + 1..]) else {
            return false;
        };
        let inside = |word: &&&str| {
            !word.starts_with(['/', '~', '-', '+']) && !word.split('/').any(|part| part == "..")
        };
        operands.is_empty()
            || operands
                .iter()
                .filter(|word| !word.is_empty())
                .any(|word| !inside(&word))
    };
    commands.iter().any(leaves)
        && commands
            .iter()
            .any(|command| trapdoors::writes_here(&command.texts()))
}

/// Why a pattern that matches the command does not count for it.
fn obstacle(command: &Inner, pattern: &Pattern) -> Option<Why> {
    let spelled = |word: &Known| spells_assignment(pattern, name_of(word));
    if !command.assignments().iter().all(spelled) {
        return Some("a variable in front that no rule spells".into());
    }
    let words = command.words();
    if script_may_expand(words) {
        return Some("a file name pattern where a program reads commands".into());
    }
    let unknown = match command.program() {
        "xargs" => command
            .unwrapped()
            .is_none_or(|inner| trapdoors::has_row(inner.program())),
        program => command.has_more() && trapdoors::has_row(program),
    };
    if unknown {
        return Some("a program whose further arguments are not known could run another".into());
    }
    let texts: Vec<_> = words.iter().map(|word| word.text.clone()).collect();
    let used = trapdoors::used(&texts);
    let closed = used
        .iter()
        .find(|trapdoor| !trapdoor.is_spelled_by(pattern))?;
    Some(closed.reason().into())
}

/// The words as allowing patterns see them: a blank in a pattern stands between two words only, so that
/// `git "push x"` is not `git push x`. Blanks inside a word, and empty words, are matched by `*` alone.
fn subject(words: &[Known]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        match &*word.text {
            "" => text.push(HOLE),
            word => text.extend(word.chars().map(|c| match c {
                ' ' | '\t' | '\n' => HOLE,
                c => c,
            })),
        }
    }
    text
}

/// The variable that an assignment sets.
fn name_of(assignment: &Known) -> &str {
    assignment.text.split('=').next().unwrap_or_default()
}

/// Whether the pattern has `NAME=` at the beginning of a word.
fn spells_assignment(pattern: &Pattern, name: &str) -> bool {
    let pieces = pattern.pieces();
    pieces.iter().enumerate().any(|(index, piece)| {
        let mut words = piece.split(' ');
        if index > 0 {
            // What stands before the first blank goes on a word that a star began.
            words.next();
        }
        let mut words = words.filter_map(|word| word.strip_prefix(name));
        words.any(|rest| rest.starts_with('='))
    })
}

/// Whether a file name pattern stands where the program reads its commands.
fn script_may_expand(words: &[Known]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let program = program.text.rsplit('/').next().unwrap_or_default();
    if !LANGUAGES.contains(&program) {
        return false;
    }
    let is_option = |word: &Known| word.text.starts_with('-') && word.text != "--";
    let first = arguments.iter().position(|word| !is_option(word));
    let could_be = |at: usize| at > 0 && is_option(&arguments[at - 1]) || Some(at) == first;
    (0..arguments.len())
        .any(|at| arguments[at].expands && (could_be(at) || is_option(&arguments[at])))
}

/// `test` and `[ ]` about files and texts; other operators of theirs run what a subscript holds.
fn is_harmless_test(words: &[Known]) -> bool {
    let arguments = match words {
        [program, arguments @ ..] if program.text == "test" => arguments,
        [program, arguments @ .., last] if program.text == "[" && last.text == "]" => arguments,
        _ => return false,
    };
    if arguments
        .iter()
        .any(|word| word.expands && !word.text.starts_with(['~', '/', '.']))
    {
        return false;
    }
    let texts: Vec<_> = arguments.iter().map(|word| &*word.text).collect();
    let texts = texts.strip_prefix(&["!"]).unwrap_or(&texts);
    const ABOUT: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-n", "-z"];
    match texts {
        [about, _] => ABOUT.contains(about),
        [_, "=" | "!=", _] => true,
        _ => false,
    }
}
