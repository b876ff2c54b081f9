//! The verdict about one call.

use super::call::{Call, Subjects};
use super::command::{Command, Subject};
use super::contents::Spec;
use super::effective::Effective;
use super::pattern::{HOLE, Letters, Pattern};
use super::rule::Rule;
use super::{Part, Ruling, Verdict};
use crate::config::Decision;

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

type Outcome<'a> = (Decision, Option<Ruling<'a>>, Option<&'static str>);

struct Deciding<'a, 's> {
    policy: &'a Effective<'a>,
    subjects: &'s Subjects<'s>,
    /// The denying patterns for the call's commands, with the indices of their rules.
    deny: Vec<(usize, &'a Pattern)>,
    /// The allowing patterns for the call's commands, with their rules.
    allow: Vec<(&'a Rule<'a>, &'a Pattern)>,
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
            allow: allow
                .filter_map(|rule| Some((rule, rule.for_commands(tool)?)))
                .collect(),
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
            return self.held_back(why);
        }
        if let Some(rule) = self.allowed_by_name() {
            return match self.doubt() {
                Some(why) => self.held_back(why),
                None => (Decision::Allow, Some(rule.ruling()), None),
            };
        }
        match self.allowed_by_contents() {
            Ok(rule) => (Decision::Allow, Some(rule.ruling()), None),
            Err(why) => match self.doubt() {
                Some(doubt) if default == Decision::Allow => self.held_back(doubt),
                _ => (default, ruling, why),
            },
        }
    }

    /// The outcome where something may not be allowed: the default, but at least a question.
    fn held_back(&self, why: &'static str) -> Outcome<'a> {
        match self.policy.default() {
            (Decision::Allow, _) => (Decision::Ask, None, Some(why)),
            (decision, ruling) => (decision, ruling, Some(why)),
        }
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

    /// The first of the rules that together allow everything that the call is about.
    fn allowed_by_contents(&self) -> Result<&'a Rule<'a>, Option<&'static str>> {
        let subjects = self.subjects;
        if subjects.commands.is_empty() {
            let mut rules = self.policy.allow().iter();
            let about = &subjects.allowed_by;
            let matches = |spec: &Spec| !about.is_empty() && about.iter().all(|a| spec.allows(a));
            let rule =
                rules.find(|rule| rule.for_contents(subjects.tool_name).is_some_and(matches));
            return rule.ok_or(subjects.remark);
        }
        let mut first = None;
        for command in &subjects.commands {
            for words in command.plain.as_ref().map_err(|why| Some(*why))? {
                let rule = self.allowing(words);
                let rule = rule.ok_or(Some("not every part of it is allowed by a pattern"))?;
                first = first.or(Some(rule));
            }
        }
        first.ok_or(None)
    }

    fn allowing(&self, words: &[String]) -> Option<&'a Rule<'a>> {
        let text = allow_subject(words);
        let mut patterns = self.allow.iter();
        let letters = Letters::of(&text);
        let (rule, _) =
            patterns.find(|(_, pattern)| pattern.fits(letters) && pattern.matches(&text))?;
        Some(rule)
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
        let mut subjects = vec![vec![]; command.parts.len()];
        for subject in &command.subjects {
            if let Some(part) = subject.part {
                subjects[part].push(subject);
            }
        }
        let parts = command.parts.iter().zip(subjects);
        parts
            .map(|(part, subjects)| {
                let plain = command.plain.is_ok();
                let (decision, rule) = match self.denied_by(subjects) {
                    Some(index) => (Decision::Deny, Some(self.policy.deny()[index].ruling())),
                    None => match self.allowing(&part.words).filter(|_| plain) {
                        Some(rule) => (Decision::Allow, Some(rule.ruling())),
                        None => self.policy.default(),
                    },
                };
                Part {
                    text: part.text.clone(),
                    decision,
                    rule,
                }
            })
            .collect()
    }
}

/// The words as allowing patterns see them: a blank in a pattern stands between two words only, so that
/// `git "push x"` is not `git push x`. Blanks inside a word, and empty words, are matched by `*` alone.
fn allow_subject(words: &[String]) -> String {
    let hidden = HOLE.to_string();
    let words: Vec<_> = words
        .iter()
        .map(|word| match &**word {
            "" => hidden.clone(),
            word => word.replace([' ', '\t', '\n'], &hidden),
        })
        .collect();
    words.join(" ")
}
