//! Hook entries in a host's settings: ours are added, put right and taken out; everything else stays.
//!
//! Works on the text of one settings file and returns the new text. A file that only holds what an
//! installation created comes back as `None`: it can be deleted.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value as Json, json};

use super::command;
use super::entries::{Entry, as_object, member, scan};
use super::events::{Entries, Event, Modes};
use super::json::{self, Fault, Left};
use super::layout::Style;
use crate::hook::host::Host;

/// How long a host waits for a hook that asks a human, in seconds.
pub const HOST_LIMIT: u64 = 600;
/// How long such a hook itself waits, in seconds; less, so that it can withdraw its question in time.
pub const OWN_LIMIT: u64 = 590;
/// How long a host waits for a hook that only takes note, in seconds.
pub const NOTE_LIMIT: u64 = 30;

/// What an installation is to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The host.
    pub(super) host: Host,
    /// What to capture.
    pub(super) modes: Modes,
    /// Our program, an absolute path.
    pub(super) program: &'a str,
    /// The agent whose policy counts; entries name it only if it was given.
    pub(super) agent: Option<&'a str>,
}

/// A settings file after the work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The new text; `None` for no file.
    pub(super) text: Option<String>,
    /// What happened, one line each: `add Stop`, `update Stop`, `remove Stop`.
    pub(super) did: Vec<String>,
    /// Commands that call us inside something larger and were left alone.
    pub(super) mentions: Vec<String>,
}

/// The text with exactly the entries that the job asks for.
pub(super) fn install(text: Option<&str>, job: Job<'_>) -> Result<Outcome, Fault> {
    let Some(entries) = job.host.entries() else {
        return Ok(unchanged(text));
    };
    let wanted: Vec<Event> = entries
        .events
        .iter()
        .copied()
        .filter(|e| e.wanted(job.modes))
        .collect();
    let Some(text) = text else {
        return Ok(fresh(entries, &wanted, job));
    };
    let mut did = Vec::new();
    let mut text = text.to_owned();
    for &event in &wanted {
        let claimed = scan(&text, job.host)?
            .entries
            .into_iter()
            .find(|e| is_for(e, event));
        let (new, verb) = match claimed {
            Some(entry) => (refresh(&text, &entry, event, entries, job)?, "update"),
            None => (add(&text, event, entries, job)?, "add"),
        };
        if new != text {
            did.push(format!("{verb} {}", event.native));
            text = new;
        }
    }
    let surplus = |found: &[Entry]| {
        let kept: Vec<usize> = wanted
            .iter()
            .filter_map(|&event| found.iter().position(|e| is_for(e, event)))
            .collect();
        (0..found.len()).rev().find(|i| !kept.contains(i))
    };
    let text = take_out(Some(text), job.host, surplus, &mut did)?;
    let mentions = text
        .as_deref()
        .map_or(Ok(Vec::new()), |t| scan(t, job.host).map(|s| s.mentions))?;
    Ok(Outcome {
        text,
        did,
        mentions,
    })
}

/// The text without any entry of ours.
pub(super) fn uninstall(text: Option<&str>, host: Host) -> Result<Outcome, Fault> {
    let mut did = Vec::new();
    let last = |found: &[Entry]| found.len().checked_sub(1);
    let text = take_out(text.map(str::to_owned), host, last, &mut did)?;
    did.reverse();
    Ok(Outcome {
        text,
        did,
        mentions: Vec::new(),
    })
}

fn unchanged(text: Option<&str>) -> Outcome {
    Outcome {
        text: text.map(str::to_owned),
        ..Outcome::default()
    }
}

fn is_for(entry: &Entry, event: Event) -> bool {
    entry.native == event.native && entry.own.event == event.name
}

/// Removes the entries that `which` picks, one after the other.
fn take_out(
    mut text: Option<String>,
    host: Host,
    which: impl Fn(&[Entry]) -> Option<usize>,
    did: &mut Vec<String>,
) -> Result<Option<String>, Fault> {
    while let Some(current) = &text {
        let mut found = scan(current, host)?.entries;
        let Some(index) = which(&found) else { break };
        let entry = found.swap_remove(index);
        did.push(format!("remove {}", entry.native));
        text = drop_entry(current, host, &entry)?;
    }
    Ok(text)
}

fn drop_entry(text: &str, host: Host, entry: &Entry) -> Result<Option<String>, Fault> {
    let version_is_ours =
        host.entries().is_some_and(|e| e.versioned) && version_follows_hooks(&json::object(text)?);
    let text = match json::remove(text, &entry.remove, entry.keep)? {
        Left::Text(text) => text,
        Left::Nothing => return Ok(None),
    };
    if !version_is_ours || json::member(&json::object(&text)?, "hooks")?.is_some() {
        return Ok(Some(text));
    }
    Ok(match json::remove(&text, &[member("version")], 0)? {
        Left::Text(text) => Some(text),
        Left::Nothing => None,
    })
}

/// Whether the version stands where [`add`] puts it, which is behind a `hooks` that it created.
fn version_follows_hooks(root: &Object<'_>) -> bool {
    let at = root
        .properties
        .iter()
        .position(|p| p.name.as_str() == "hooks");
    let next = at.map(|i| &root.properties[i + 1..]);
    matches!(next, Some([version]) if version.name.as_str() == "version"
        && version.value.as_number_lit().is_some_and(|n| n.value == "1"))
}

fn fresh(entries: &Entries, wanted: &[Event], job: Job<'_>) -> Outcome {
    let mut hooks = Map::new();
    for &event in wanted {
        hooks.insert(
            event.native.to_owned(),
            json!([element(event, entries, job)]),
        );
    }
    let mut root = Map::new();
    root.insert("hooks".to_owned(), Json::Object(hooks));
    if entries.versioned {
        root.insert("version".to_owned(), json!(1));
    }
    let text = Style::fresh().render(&Json::Object(root), "");
    Outcome {
        text: Some(text + "\n"),
        did: wanted.iter().map(|e| format!("add {}", e.native)).collect(),
        mentions: Vec::new(),
    }
}

/// What stands in an event's array: the entry, or a group of it alone.
fn element(event: Event, entries: &Entries, job: Job<'_>) -> Json {
    let wait = event.waits().then_some(OWN_LIMIT);
    let agent = job.agent.filter(|_| event.waits());
    let command = command::hook(job.program, job.host, event.name, wait, agent);
    let mut entry = Map::new();
    if entries.typed {
        entry.insert("type".to_owned(), json!("command"));
    }
    entry.insert(entries.command.to_owned(), json!(command));
    entry.insert(entries.timeout.to_owned(), json!(limit(event, entries)));
    if let Some((name, value)) = entries.status.filter(|_| event.waits()) {
        entry.insert(name.to_owned(), json!(value));
    }
    if let Some((name, value)) = entries.fail_closed.filter(|_| event.gates()) {
        entry.insert(name.to_owned(), literal(value));
    }
    if !entries.grouped {
        return Json::Object(entry);
    }
    let mut group = Map::new();
    if let Some(matcher) = event.matcher {
        group.insert("matcher".to_owned(), json!(matcher));
    }
    group.insert("hooks".to_owned(), json!([entry]));
    Json::Object(group)
}

fn limit(event: Event, entries: &Entries) -> u64 {
    let seconds = if event.waits() {
        HOST_LIMIT
    } else {
        NOTE_LIMIT
    };
    seconds * entries.per_second
}

fn literal(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn add(text: &str, event: Event, entries: &Entries, job: Job<'_>) -> Result<String, Fault> {
    let root = json::object(text)?;
    let hooks = match json::member(&root, "hooks")? {
        Some(value) => Some(as_object(value, "hooks")?),
        None => None,
    };
    let new = element(event, entries, job);
    let Some(hooks) = hooks else {
        let mut map = Map::new();
        map.insert(event.native.to_owned(), json!([new]));
        let with_hooks = json::append(text, &[], Some("hooks"), &Json::Object(map))?;
        return if entries.versioned && json::member(&root, "version")?.is_none() {
            json::append(&with_hooks, &[], Some("version"), &json!(1))
        } else {
            Ok(with_hooks)
        };
    };
    let path = [member("hooks"), member(event.native)];
    if json::member(hooks, event.native)?.is_none() {
        json::append(text, &path[..1], Some(event.native), &json!([new]))
    } else {
        json::append(text, &path, None, &new)
    }
}

fn refresh(
    text: &str,
    entry: &Entry,
    event: Event,
    entries: &Entries,
    job: Job<'_>,
) -> Result<String, Fault> {
    let wait = event.waits().then_some(OWN_LIMIT);
    let agent = job.agent.filter(|_| event.waits());
    let command = entry
        .own
        .refreshed(&entry.command.1, job.program, wait, agent);
    let mut parts = Vec::new();
    if command != entry.command.1 {
        parts.push((entry.command.0.clone(), json!(command).to_string()));
    }
    let limit = limit(event, entries);
    let mut missing = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "limits are small")]
    let right = entry.limit == Some(limit as f64);
    match &entry.timeout {
        Some(_) if right => {}
        Some(range) => parts.push((range.clone(), limit.to_string())),
        None => missing.push((entries.timeout, json!(limit))),
    }
    if let Some((name, value)) = entries.fail_closed.filter(|_| event.gates()) {
        let root = Value::Object(json::object(text)?);
        let item = as_object(json::follow(&root, &entry.at)?, event.native)?;
        match json::member(item, name)? {
            Some(found) if &text[found.start()..found.end()] == value => {}
            Some(found) => parts.push((found.start()..found.end(), value.to_owned())),
            None => missing.push((name, literal(value))),
        }
    }
    let mut text = json::splice(text, parts);
    for (name, value) in missing {
        text = json::append(&text, &entry.at, Some(name), &value)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
