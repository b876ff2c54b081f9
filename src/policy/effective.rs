//! The policy that holds for one agent: its table in the user's configuration, and what the repository's
//! file adds to it.

use toml::Spanned;

use super::repo_file::RepoFile;
use super::rule::Rule;
use super::{List, Ruling, variables};
use crate::config::{Config, Decision, Named, Place, Source};
use crate::error::{Code, Error, Result};

/// The policy for one agent.
#[derive(Clone, Debug)]
pub struct Effective<'a> {
    deny: Vec<Rule<'a>>,
    allow: Vec<Rule<'a>>,
    default: Option<(Decision, Written<'a>)>,
    tables: Vec<(&'a str, Written<'a>)>,
    harmless_env: Vec<String>,
}

/// Where something is written.
type Written<'a> = (&'a Source, usize);

fn written<'a, T>(value: &'a Spanned<T>, source: &'a Source) -> Written<'a> {
    (source, value.span().start)
}

impl<'a> Effective<'a> {
    /// The policy of the agent; the files are those of the call's repositories.
    ///
    /// # Errors
    /// `config_error` for an entry that is no pattern, and for a name that fits several tables.
    pub fn new(config: &'a Config, agent: &str, repo_files: &'a [RepoFile]) -> Result<Self> {
        let mut policy = Self {
            deny: vec![],
            allow: vec![],
            default: None,
            tables: vec![],
            harmless_env: vec![],
        };
        let source = &config.source;
        let table = |agent: &'a crate::config::Agent| agent.approval_policy.as_ref();
        if let Some((name, table)) = lookup(&config.agents, table, agent, source)? {
            policy.tables.push((name.get_ref(), written(name, source)));
            policy.deny = Rule::all(List::AutoDeny, &table.auto_deny, source)?;
            policy.allow = Rule::all(List::AutoAllow, &table.auto_allow, source)?;
            policy.harmless_env = variables::harmless(table.harmless_env.as_deref(), source)?;
            policy.tighten(
                table
                    .default
                    .as_ref()
                    .map(|d| (*d.get_ref(), written(d, source))),
            );
        }
        for file in repo_files {
            policy.add(file, agent)?;
        }
        Ok(policy)
    }

    fn add(&mut self, file: &'a RepoFile, agent: &str) -> Result<()> {
        let source = &file.source;
        let Some((name, table)) =
            lookup(&file.agents, |a| a.approval_policy.as_ref(), agent, source)?
        else {
            return Ok(());
        };
        self.tables.push((name.get_ref(), written(name, source)));
        self.deny
            .extend(Rule::all(List::AutoDeny, &table.auto_deny, source)?);
        let default = table.default.as_ref();
        self.tighten(default.map(|d| ((*d.get_ref()).into(), written(d, source))));
        Ok(())
    }

    /// The stricter default counts; nothing written counts as `ask`.
    fn tighten(&mut self, default: Option<(Decision, Written<'a>)>) {
        let Some(other) = default else {
            return;
        };
        let first = self.tables.len() == 1;
        let current = self.default.map_or(Decision::Ask, |(decision, _)| decision);
        if self.default.is_none() && first || other.0 > current {
            self.default = Some(other);
        }
    }

    /// The denying rules, the user's first.
    pub fn deny(&self) -> &[Rule<'a>] {
        &self.deny
    }

    /// The allowing rules; they are always the user's.
    pub fn allow(&self) -> &[Rule<'a>] {
        &self.allow
    }

    /// Variables that may be set in front of an allowed command.
    pub fn harmless_env(&self) -> &[String] {
        &self.harmless_env
    }

    /// What becomes of a call that no pattern matches, and where that is written, if it is.
    pub fn default(&self) -> (Decision, Option<Ruling<'a>>) {
        let Some((decision, (source, offset))) = self.default else {
            return (Decision::Ask, None);
        };
        let ruling = Ruling {
            list: List::Default,
            index: 0,
            pattern: decision.name(),
            place: source.place(offset),
        };
        (decision, Some(ruling))
    }

    /// The tables that it is made of: their names (`*` for any agent) and where they are.
    pub fn tables(&self) -> impl Iterator<Item = (&'a str, Place<'a>)> {
        let tables = self.tables.iter();
        tables.map(|(name, (source, offset))| (*name, source.place(*offset)))
    }
}

/// The name of the table that holds for the agent in the user's configuration.
///
/// # Errors
/// `config_error` for a name that fits several tables.
pub fn table_name<'a>(config: &'a Config, agent: &str) -> Result<Option<&'a str>> {
    let table = |agent: &'a crate::config::Agent| agent.approval_policy.as_ref();
    let found = lookup(&config.agents, table, agent, &config.source)?;
    Ok(found.map(|(name, _)| name.get_ref().as_str()))
}

/// The agent's own table: by exact name, else without regard to ASCII case, else that of `*`.
fn lookup<'a, A, T>(
    agents: &'a Named<A>,
    table: impl Fn(&'a A) -> Option<&'a T>,
    agent: &str,
    source: &Source,
) -> Result<Option<(&'a Spanned<String>, &'a T)>> {
    let find = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        let fitting = agents.iter().filter(|(name, _)| fits(name.get_ref()));
        fitting
            .filter_map(|(name, agent)| Some((name, table(agent)?)))
            .collect()
    };
    if let [exact] = find(&|name| name == agent)[..] {
        return Ok(Some(exact));
    }
    match find(&|name| name.eq_ignore_ascii_case(agent))[..] {
        [] => Ok(find(&|name| name == "*").first().copied()),
        [only] => Ok(Some(only)),
        [(one, _), (other, _), ..] => {
            let place = source.place(other.span().start);
            let (one, other) = (one.get_ref(), other.get_ref());
            let message = format!("{place}: agent {agent} could be {one} or {other}");
            Err(Error::new(Code::ConfigError, message).hint("give it a table of its exact name"))
        }
    }
}
