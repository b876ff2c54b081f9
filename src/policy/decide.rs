//! The verdict about one call.

use std::borrow::Cow;

use super::allow::{self, Allowing, Why};
use super::call::{Call, Subjects};
use super::command::{self, Command, Part as CommandPart, Subject};
use super::contents::Spec;
use super::effective::Effective;
use super::pattern::{Letters, Pattern};
use super::plain::{Invocation, Known};
use super::rule::Rule;
use super::{Part, Ruling, Verdict};
use crate::config::Decision;

/// Bytes of a command's arguments that are looked into because they could be commands.
const CARRIED_MAX: usize = 8 * 1024;

/// What the policy says about the call.
pub fn decide<'a>(policy: &'a Effective<'_>, call: &Call) -> Verdict<'a> {
    let subjects = Subjects::of(call);
    let deciding = Deciding::new(policy, &subjects);
    let by_tool = deciding.denied_by_tool();
    let commands = subjects.commands.iter();
    let by_command = commands
        .filter_map(|command| deciding.denied_by(&command.subjects))
        .min();
    let (decision, rule, reason) = match by_tool.into_iter().chain(by_command).min() {
        Some(index) => (Decision::Deny, Some(policy.deny()[index].ruling()), None),
        None => deciding.undenied(),
    };
    Verdict {
        decision,
        rule,
        reason,
    }
}

/// The simple commands that the call would run and what the policy says about each alone, in the order in
/// which they were found. Empty for a call that is no command.
pub fn explain<'a>(policy: &'a Effective<'_>, call: &Call) -> Vec<Part<'a>> {
    let subjects = Subjects::of(call);
    let deciding = Deciding::new(policy, &subjects);
    let commands = subjects.commands.iter();
    commands
        .flat_map(|command| deciding.parts(command))
        .collect()
}

type Outcome<'a> = (Decision, Option<Ruling<'a>>, Option<Why>);

struct Deciding<'a, 's> {
    policy: &'a Effective<'a>,
    subjects: &'s Subjects<'s>,
    /// The denying patterns for the call's commands, with the indices of their rules.
    deny: Vec<(usize, &'a Pattern)>,
    allow: Allowing<'a>,
}

impl<'a, 's> Deciding<'a, 's> {
    fn new(policy: &'a Effective<'a>, subjects: &'s Subjects<'s>) -> Self {
        let tool = subjects.tool_name;
        let deny = policy.deny().iter().enumerate();
        let allow = policy.allow().iter();
        Self {
            policy,
            subjects,
            deny: deny
                .filter_map(|(index, rule)| Some((index, rule.for_commands(tool)?)))
                .collect(),
            allow: Allowing {
                patterns: allow
                    .filter_map(|rule| Some((rule, rule.for_commands(tool)?)))
                    .collect(),
                harmless_env: policy.harmless_env(),
            },
        }
    }

    /// The first rule that denies the call by its tool, its action, or an argument that is no command.
    fn denied_by_tool(&self) -> Option<usize> {
        let Subjects {
            tool_name,
            action,
            denied_by,
            ..
        } = self.subjects;
        self.policy.deny().iter().position(|rule| {
            let mut names = [tool_name, action].into_iter().flatten();
            let spec = rule.for_contents(*tool_name);
            names.any(|name| rule.matches_bare(name))
                || spec.is_some_and(|spec| denied_by.iter().any(|argument| spec.denies(argument)))
        })
    }

    /// The outcome for a call that no pattern denies for certain.
    fn undenied(&self) -> Outcome<'a> {
        let (default, ruling) = self.policy.default();
        if let Some(why) = self.subjects.never {
            return self.held_back(why.into());
        }
        if let Some(rule) = self.allowed_by_name() {
            return match self.doubt() {
                Some(why) => self.held_back(why.into()),
                None => (Decision::Allow, Some(rule.ruling()), None),
            };
        }
        match self.allowed_by_contents() {
            Ok(rule) => (Decision::Allow, rule.map(Rule::ruling), None),
            Err(why) if default == Decision::Allow => {
                match self.doubt().or_else(|| self.carries_denied()) {
                    Some(doubt) => self.held_back(doubt.into()),
                    None => (default, ruling, why),
                }
            }
            Err(why) => (default, ruling, why),
        }
    }

    /// The outcome where something may not be allowed: the default, but at least a question.
    fn held_back(&self, why: Why) -> Outcome<'a> {
        match self.policy.default() {
            (Decision::Allow, _) => (Decision::Ask, None, Some(why)),
            (decision, ruling) => (decision, ruling, Some(why)),
        }
    }

    /// Why a default allow does not count: an unknown wrapper could run what is denied.
    fn carries_denied(&self) -> Option<&'static str> {
        let commands = self.subjects.commands.iter();
        let mut parts = commands.flat_map(|command| &command.parts);
        parts
            .any(|part| self.carries(part))
            .then_some("a program that is not known could run a denied command in its arguments")
    }

    fn carries(&self, part: &CommandPart) -> bool {
        let text = part.words.join(" ");
        let letters = Letters::of(&text);
        // A pattern with a star in front would have matched the whole.
        let patterns: Vec<_> = self.deny.iter().map(|(_, pattern)| *pattern).collect();
        let patterns: Vec<_> = patterns
            .into_iter()
            .filter(|pattern| pattern.fits(letters) && !pattern.pieces()[0].is_empty())
            .collect();
        let denied = |text: &str| patterns.iter().any(|pattern| pattern.matches(text));
        let mut at = 0;
        let mut effort = CARRIED_MAX;
        part.words.iter().enumerate().any(|(index, word)| {
            let rest = &text[at..];
            at += word.len() + 1;
            if index == 0 {
                return false;
            }
            let name = word.rsplit('/').next().unwrap_or_default();
            let bare = &rest[word.len() - name.len()..];
            if denied(rest) || denied(bare) {
                return true;
            }
            // A value of an option, which the unknown program could take for a command: `--run='git push'`.
            let value = word.find(['=', ':']).map(|at| at + 1);
            let attached = (word.starts_with('-') && word.is_char_boundary(2)).then_some(2);
            let values = value
                .into_iter()
                .chain(attached)
                .filter(|at| *at < word.len());
            if values.clone().any(|at| denied(&rest[at..])) {
                return true;
            }
            let is_script = word.contains([' ', '\t', '\n', ';', '&', '|', '(', '`']);
            if !is_script && !command::runs_another(name) {
                return false;
            }
            match effort.checked_sub(rest.len()) {
                Some(left) => effort = left,
                None => return true,
            }
            let quoted: Vec<_> = part.words[index..]
                .iter()
                .map(|word| shell_word(word))
                .collect();
            let scripts = values.map(|at| &word[at..]).chain([&**word]);
            let scripts = scripts.filter(|_| is_script).map(str::to_owned);
            let mut texts = scripts.chain([quoted.join(" ")]);
            texts.any(|text| self.denied_by(&Command::new(&text).subjects).is_some())
        })
    }

    /// Why a denying pattern might apply although none does for certain.
    fn doubt(&self) -> Option<&'static str> {
        let tool = self.subjects.tool_name;
        let commands = &self.subjects.commands;
        let for_contents = self
            .policy
            .deny()
            .iter()
            .any(|rule| rule.for_contents(tool).is_some());
        if for_contents && self.subjects.doubt.is_some() {
            return self.subjects.doubt;
        }
        if self.deny.is_empty() {
            return None;
        }
        let unsure = |command: &Command| {
            let mut shapes = command
                .subjects
                .iter()
                .filter_map(|subject| subject.shape.as_deref());
            let could_match = shapes.any(|shape| self.deny.iter().any(|(_, p)| p.may_match(shape)));
            command
                .doubt
                .or(could_match.then_some("an expansion could make a denied command of it"))
        };
        commands.iter().find_map(unsure)
    }

    /// A bare pattern that matches the tool's name allows the call whatever its input.
    fn allowed_by_name(&self) -> Option<&'a Rule<'a>> {
        let name = self.subjects.tool_name?;
        self.policy
            .allow()
            .iter()
            .find(|rule| rule.matches_bare(name))
    }

    /// The first of the rules that together allow everything that the call is about; none where it has no
    /// effect.
    fn allowed_by_contents(&self) -> Result<Option<&'a Rule<'a>>, Option<Why>> {
        let subjects = self.subjects;
        if subjects.commands.is_empty() {
            let mut rules = self.policy.allow().iter();
            let about = &subjects.allowed_by;
            let matches = |spec: &Spec| !about.is_empty() && about.iter().all(|a| spec.allows(a));
            let rule =
                rules.find(|rule| rule.for_contents(subjects.tool_name).is_some_and(matches));
            return rule.map(Some).ok_or(subjects.remark.map(Into::into));
        }
        let mut first = None;
        for command in &subjects.commands {
            for invocation in command.plain.as_ref().map_err(|why| Some((*why).into()))? {
                let rule = self.allow.rule(invocation).map_err(Some)?;
                first = first.or(rule);
            }
            let invocations = command.plain.as_deref().unwrap_or_default();
            if allow::writes_elsewhere(invocations) {
                return Err(Some("a program writes where a cd leads".into()));
            }
        }
        Ok(first)
    }

    /// The first rule that denies any of the texts.
    fn denied_by<'t>(&self, subjects: impl IntoIterator<Item = &'t Subject>) -> Option<usize> {
        let mut first: Option<usize> = None;
        for subject in subjects {
            let before = |index: usize| first.is_none_or(|first| index < first);
            let mut patterns = self.deny.iter().take_while(|(index, _)| before(*index));
            let letters = Letters::of(&subject.text);
            let denying = patterns
                .find(|(_, pattern)| pattern.fits(letters) && pattern.matches(&subject.text));
            first = denying.map(|(index, _)| *index).or(first);
        }
        first
    }

    fn parts(&self, command: &Command) -> Vec<Part<'a>> {
        match &command.plain {
            Ok(invocations) => {
                let mut parts: Vec<Part> = vec![];
                for invocation in invocations {
                    let part = self.known_part(invocation);
                    if !parts
                        .iter()
                        .any(|known| known.words == part.words && known.text == part.text)
                    {
                        parts.push(part);
                    }
                }
                parts
            }
            Err(_) => self.found_parts(command),
        }
    }

    /// A part of a command of which every word is known.
    fn known_part(&self, invocation: &Invocation) -> Part<'a> {
        let words = invocation.texts();
        let quoted = |word: &Known| match word.expands {
            true => word.text.clone(),
            false => shell_word(&word.text).into_owned(),
        };
        let text = invocation
            .words
            .iter()
            .map(quoted)
            .collect::<Vec<_>>()
            .join(" ");
        let denying = self.denied_by(&Command::new(&text).subjects);
        let (decision, rule, reason) = match denying {
            Some(index) => (
                Decision::Deny,
                Some(self.policy.deny()[index].ruling()),
                None,
            ),
            None => match self.allow.rule(invocation) {
                Ok(rule) => (Decision::Allow, rule.map(Rule::ruling), None),
                Err(why) => {
                    let (decision, rule) = self.policy.default();
                    (decision, rule, Some(why))
                }
            },
        };
        let expands = invocation.words.iter().map(|word| word.expands).collect();
        Part {
            text,
            words,
            expands,
            decision,
            rule,
            reason,
        }
    }

    /// The parts of a command that could not be read to the end.
    fn found_parts(&self, command: &Command) -> Vec<Part<'a>> {
        let mut subjects = vec![vec![]; command.parts.len()];
        for subject in &command.subjects {
            if let Some(part) = subject.part {
                subjects[part].push(subject);
            }
        }
        let parts = command.parts.iter().zip(subjects);
        parts
            .map(|(part, subjects)| {
                let (decision, rule) = match self.denied_by(subjects) {
                    Some(index) => (Decision::Deny, Some(self.policy.deny()[index].ruling())),
                    None => self.policy.default(),
                };
                Part {
                    text: part.text.clone(),
                    words: part.words.clone(),
                    expands: vec![false; part.words.len()],
                    decision,
                    rule,
                    reason: None,
                }
            })
            .collect()
    }
}

/// A word as a shell would have to read it.
fn shell_word(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
