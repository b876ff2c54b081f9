//! A rule of a policy: a pattern, what it is for, and where it is written.

use toml::Spanned;

use super::contents::Spec;
use super::pattern::Pattern;
use super::{List, Ruling};
use crate::config::Source;
use crate::error::Result;

/// Whether text can stand in a list of a policy.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_pattern(text: &str) -> std::result::Result<(), &'static str> {
    Matcher::parse(text).map(drop)
}

/// A pattern of a policy.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    list: List,
    index: usize,
    text: &'a Spanned<String>,
    source: &'a Source,
    pub(super) matcher: Matcher,
}

/// What a pattern is matched against.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// A tool's name, or the action, and commands.
    Bare(Pattern),
    /// `NAME(SPEC)`: a tool's name and its principal argument.
    Tool { name: Pattern, spec: Spec },
}

impl Matcher {
    pub(super) fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        // The whole is measured: its halves could each be just short enough.
        let whole = Pattern::parse(text)?;
        let Some((name, spec)) = text.strip_suffix(')').and_then(|text| text.split_once('('))
        else {
            return Ok(Self::Bare(whole));
        };
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'*' | b'-');
        if name.is_empty() || !name.bytes().all(fits) {
            return Ok(Self::Bare(whole));
        }
        Ok(Self::Tool {
            name: Pattern::parse(name)?,
            spec: Spec::parse(spec)?,
        })
    }
}

impl<'a> Rule<'a> {
    /// The rules of a list.
    ///
    /// # Errors
    /// `config_error` for the first that is no pattern.
    pub(super) fn all(
        list: List,
        texts: &'a [Spanned<String>],
        source: &'a Source,
    ) -> Result<Vec<Self>> {
        let rules = texts.iter().enumerate();
        rules
            .map(|(index, text)| Self::new(list, index, text, source))
            .collect()
    }

    pub(super) fn new(
        list: List,
        index: usize,
        text: &'a Spanned<String>,
        source: &'a Source,
    ) -> Result<Self> {
        let matcher = Matcher::parse(text.get_ref()).map_err(|why| {
            let message = format!("{}: {why}", list.name());
            source.error(text.span().start, message)
        })?;
        Ok(Self {
            list,
            index,
            text,
            source,
            matcher,
        })
    }

    /// The rule as a verdict names it.
    pub fn ruling(&self) -> Ruling<'a> {
        Ruling {
            list: self.list,
            index: self.index,
            pattern: self.text.get_ref(),
            place: self.source.place(self.text.span().start),
        }
    }

    /// Whether it is a bare pattern that matches the text, a tool's name or an action.
    pub(super) fn matches_bare(&self, text: &str) -> bool {
        matches!(&self.matcher, Matcher::Bare(pattern) if pattern.matches(text))
    }

    /// The pattern for the commands of a call of this tool.
    pub(super) fn for_commands(&self, tool_name: Option<&str>) -> Option<&Pattern> {
        match &self.matcher {
            Matcher::Bare(pattern) => Some(pattern),
            Matcher::Tool { .. } => self.for_contents(tool_name).map(|spec| &spec.whole),
        }
    }

    /// The SPEC for the principal argument of a call of this tool.
    pub(super) fn for_contents(&self, tool_name: Option<&str>) -> Option<&Spec> {
        match (&self.matcher, tool_name) {
            (Matcher::Tool { name, spec }, Some(tool)) if name.matches(tool) => Some(spec),
            _ => None,
        }
    }
}
