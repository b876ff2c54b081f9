//! `sayso __complete`: what could stand at the end of a command line, one `value<TAB>description` a
//! line. An empty value with the description `files` or `directories` asks the shell for paths.
//!
//! Reads only, and never fails: what cannot be looked up is not offered. Nothing it prints could do
//! anything in a shell but stand there, and no nonce is ever among it.

use std::path::PathBuf;

use anyhow::Result;

use super::context::{Context, Scopes};
use super::exit::Exit;
use crate::cli::{self, CompleteArgs, Global};
use crate::completion::{Candidate, Line, Source, Wanted, is_plain};
use crate::events::Type;
use crate::hook::{Event, Host};
use crate::model::interaction::{Interaction, Question};
use crate::relay::provider;
use crate::render::question::summary;
use crate::store::query::Entry;
use crate::text::cut;
use crate::time::Time;

/// The width of a description.
const ABOUT_WIDTH: usize = 60;

/// Prints the candidates.
pub fn run(context: &Context, args: &CompleteArgs) -> Result<Exit> {
    let (before, word) = words(args);
    let mut root = cli::full_command();
    root.build();
    let line = Line::read(&root, &before);
    let (lead, wanted) = line.wanted(&word);
    let typed = &word[lead.len()..];
    let mut out = context.out();
    match wanted {
        Wanted::Files => out.line("\tfiles")?,
        Wanted::Directories => out.line("\tdirectories")?,
        Wanted::These(found) => put(&mut out, lead, typed, &found)?,
        Wanted::From(source) => put(&mut out, lead, typed, &look_up(&line, source))?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The words before the one that is typed, and that one, in this program's own spelling.
fn words(args: &CompleteArgs) -> (Vec<String>, String) {
    let word = args.word.to_string_lossy().into_owned();
    let given = args.words.iter().chain([&args.word]).cloned();
    let modern = cli::modernise(
        [std::ffi::OsString::from("sayso")]
            .into_iter()
            .chain(given)
            .collect(),
    );
    let mut words: Vec<String> = modern
        .iter()
        .skip(1)
        .map(|w| w.to_string_lossy().into_owned())
        .collect();
    if words.last() == Some(&word) {
        words.pop();
        return (words, word);
    }
    let plain = args.words.iter().map(|w| w.to_string_lossy().into_owned());
    (plain.collect(), word)
}

fn put(
    out: &mut crate::render::out::Out,
    lead: &str,
    typed: &str,
    found: &[Candidate],
) -> std::io::Result<()> {
    for Candidate { value, about } in found.iter().filter(|c| c.value.starts_with(typed)) {
        out.line(&format!("{lead}{value}\t{}", cut(about, ABOUT_WIDTH)))?;
    }
    Ok(())
}

fn look_up(line: &Line<'_>, source: Source) -> Vec<Candidate> {
    let found = match source {
        Source::Ids => ids(line),
        Source::Choices => asked(line).iter().flat_map(choices).collect(),
        Source::Labels => asked(line).iter().flat_map(labels).collect(),
        Source::Effects => effects(line),
        Source::Agents => agents(line),
        Source::Projects => distinct(line, |q| q.project.clone()),
        Source::Sessions => distinct(line, |q| q.session_id.clone()),
        Source::Workflows => distinct(line, |q| q.workflow_id.clone()),
        Source::Tasks => distinct(line, |q| q.task_id.clone()),
        Source::Keys => distinct(line, |q| q.key.clone()),
        Source::Scopes => scopes(line),
        Source::Providers => providers(line),
        Source::Types => named(Type::ALL.iter().map(|t| t.name())),
        Source::Kinds => named(["permission", "single-choice", "text", "form"]),
        Source::Hosts => hosts(line),
        Source::HostEvents => host_events(line.first()),
        Source::Topics => topics(),
    };
    let mut unique: Vec<Candidate> = Vec::new();
    for candidate in found {
        if is_plain(&candidate.value) && !unique.iter().any(|c| c.value == candidate.value) {
            unique.push(candidate);
        }
    }
    unique
}

fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Candidate> {
    names.into_iter().map(|name| with_about(name, "")).collect()
}

fn with_about(value: impl Into<String>, about: &str) -> Candidate {
    Candidate {
        value: value.into(),
        about: about.to_owned(),
    }
}

/// What the global options on the line lead to.
fn context(line: &Line<'_>) -> Option<Context> {
    let global = Global {
        repo: line.value_of("repo").map(PathBuf::from),
        scope: line.value_of("scope").map(str::to_owned),
        all_repos: line.has_flag("all-repos"),
        ..Global::default()
    };
    Context::new(global).ok()
}

/// The pending questions that the line's verb would see, the newest first.
fn pending(line: &Line<'_>) -> Vec<Interaction> {
    let Some(context) = context(line) else {
        return Vec::new();
    };
    let stores = match line.verb() {
        "wait" | "get" | "cancel" => context.asking_scopes(),
        _ => context
            .operator_scopes()
            .map(|Scopes { stores, .. }| stores),
    };
    let now = Time::now();
    let mut records: Vec<Interaction> = stores
        .unwrap_or_default()
        .iter()
        .flat_map(|store| store.pending().unwrap_or_default())
        .filter_map(Entry::current)
        .filter(|record| super::list::is_open(record, now))
        .collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.created_at));
    records
}

/// The pending questions whose ids begin with the id on the line; all of them where there is none.
fn asked(line: &Line<'_>) -> Vec<Interaction> {
    let id = line.first().unwrap_or_default().to_ascii_lowercase();
    let mut records = pending(line);
    records.retain(|record| record.id.as_str().starts_with(&id));
    records
}

fn ids(line: &Line<'_>) -> Vec<Candidate> {
    let about = |r: &Interaction| format!("{}: {}", r.question.agent, summary(&r.question));
    let records = pending(line);
    records
        .iter()
        .map(|r| with_about(r.id.as_str(), &about(r)))
        .collect()
}

fn choices(record: &Interaction) -> Vec<Candidate> {
    let choices = record.question.choices().iter();
    choices.map(|c| with_about(&c.id, &c.label)).collect()
}

fn labels(record: &Interaction) -> Vec<Candidate> {
    let questions = record.question.questions().iter().enumerate();
    questions
        .flat_map(|(index, q)| {
            let labels = q.options.iter().map(move |o| &o.label);
            labels.map(move |label| with_about(format!("{}={label}", index + 1), &q.question))
        })
        .collect()
}

fn effects(line: &Line<'_>) -> Vec<Candidate> {
    let choices = line.values_of("choice").into_iter();
    let offered = choices.filter_map(|choice| choice.split_once(':'));
    offered
        .flat_map(|(id, label)| {
            ["allow", "deny"].map(|effect| with_about(format!("{id}={effect}"), label))
        })
        .collect()
}

/// Agents with a table in the configuration, and those that ask at the moment.
fn agents(line: &Line<'_>) -> Vec<Candidate> {
    let config = context(line).and_then(|context| context.config().ok());
    let names = config.iter().flat_map(|config| config.agents.keys());
    let own = names
        .map(|name| name.get_ref().as_str())
        .filter(|n| *n != "*");
    let mut found = named(own);
    found.extend(distinct(line, |q| Some(q.agent.clone())));
    found
}

fn distinct(line: &Line<'_>, value: impl Fn(&Question) -> Option<String>) -> Vec<Candidate> {
    let records = pending(line);
    records
        .iter()
        .filter_map(|r| Some(with_about(value(&r.question)?, &summary(&r.question))))
        .collect()
}

fn scopes(line: &Line<'_>) -> Vec<Candidate> {
    let scopes = context(line).and_then(|context| context.every_scope().ok());
    let stores = scopes.map(|scopes| scopes.stores).unwrap_or_default();
    let about = |root: Option<String>| root.unwrap_or_default();
    stores
        .iter()
        .map(|store| with_about(&store.scope, &about(store.recorded_root())))
        .collect()
}

fn providers(line: &Line<'_>) -> Vec<Candidate> {
    let found = context(line).and_then(|context| {
        let config = context.config().ok()?;
        provider::all(&context.home, &config).ok()
    });
    let providers = found.unwrap_or_default();
    let about = providers.iter().map(|p| with_about(&p.id, &p.base_url));
    about.collect()
}

fn hosts(line: &Line<'_>) -> Vec<Candidate> {
    let known = Host::ALL.into_iter();
    let fitting = known.filter(|host| line.verb() != "hook" || !Event::of(*host).is_empty());
    fitting
        .map(|host| with_about(host.id(), host.title()))
        .collect()
}

fn host_events(host: Option<&str>) -> Vec<Candidate> {
    let events = host.and_then(|name| Host::parse(name).ok()).map(Event::of);
    named(events.unwrap_or_default().iter().map(|(name, _)| *name))
}

fn topics() -> Vec<Candidate> {
    let topics = super::help::TOPICS.iter().map(|(name, _)| *name);
    let verbs = cli::VERBS.iter().copied().filter(|v| !v.starts_with('_'));
    named(topics.chain(verbs))
}
