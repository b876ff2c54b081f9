//! Finds our entries in a host's settings, and refuses what does not look as the host defines it.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::command::{self, Own};
use super::json::{self, Fault, Step};
use crate::hook::host::Host;

/// One of our entries as it stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The host's event it stands under.
    pub(super) native: String,
    /// Its command.
    pub(super) own: Own,
    /// The host's limit in the host's unit, if it is a number.
    pub(super) limit: Option<f64>,
    /// Where its command stands, and what it is.
    pub(super) command: (Range<usize>, String),
    /// Where its limit stands.
    pub(super) timeout: Option<Range<usize>>,
    /// The entry itself.
    pub(super) at: Vec<Step>,
    /// What to remove for it: the entry, or the whole group that it is alone in.
    pub(super) remove: Vec<Step>,
    /// The least depth at which emptied containers may go with it.
    pub(super) keep: usize,
}

/// What a file holds of ours.
pub(super) struct Scan {
    /// Our entries, in the file's order.
    pub(super) entries: Vec<Entry>,
    /// Commands that call us inside something larger.
    pub(super) mentions: Vec<String>,
}

/// Reads a file. Wherever one of the host's events does not look as the host defines it, the file is
/// refused: what cannot be understood cannot be edited safely.
pub(super) fn scan(text: &str, host: Host) -> Result<Scan, Fault> {
    let mut found = Scan {
        entries: Vec::new(),
        mentions: Vec::new(),
    };
    let Some(format) = host.entries() else {
        return Ok(found);
    };
    let root = json::object(text)?;
    let Some(hooks) = json::member(&root, "hooks")? else {
        return Ok(found);
    };
    let hooks = as_object(hooks, "hooks")?;
    for property in &hooks.properties {
        let native = property.name.as_str();
        let known = format.events.iter().any(|e| e.native == native);
        let list = match (json::member(hooks, native)?, known) {
            (Some(Value::Array(list)), _) => list,
            (_, false) => continue,
            _ => {
                let what = format!("hooks.{native} is not an array");
                return Err(Fault::new(what, property.value.start()));
            }
        };
        for (index, element) in list.elements.iter().enumerate() {
            let at = vec![member("hooks"), member(native), Step::Element(index)];
            let read = if format.grouped {
                read_group(element, native, &at, host, &mut found)
            } else {
                read_item(element, native, &at, &(at.clone(), 0), host, &mut found)
            };
            if known {
                read?;
            }
        }
    }
    Ok(found)
}

fn read_group(
    group: &Value<'_>,
    native: &str,
    at: &[Step],
    host: Host,
    found: &mut Scan,
) -> Result<(), Fault> {
    let object = as_object(group, &format!("an element of hooks.{native}"))?;
    let list = match json::member(object, "hooks")? {
        Some(Value::Array(list)) => list,
        other => {
            let at = other.map_or(group.start(), Ranged::start);
            let what = format!("\"hooks\" of an element of hooks.{native} is not an array");
            return Err(Fault::new(what, at));
        }
    };
    let alone = list.elements.len() == 1
        && object
            .properties
            .iter()
            .all(|p| matches!(p.name.as_str(), "matcher" | "hooks"));
    for (index, item) in list.elements.iter().enumerate() {
        let item_at = [at, &[member("hooks"), Step::Element(index)]].concat();
        let remove = if alone {
            (at.to_vec(), 0)
        } else {
            (item_at.clone(), item_at.len())
        };
        read_item(item, native, &item_at, &remove, host, found)?;
    }
    Ok(())
}

fn read_item(
    item: &Value<'_>,
    native: &str,
    at: &[Step],
    remove: &(Vec<Step>, usize),
    host: Host,
    found: &mut Scan,
) -> Result<(), Fault> {
    let Some(format) = host.entries() else {
        return Ok(());
    };
    let object = as_object(item, &format!("an entry of hooks.{native}"))?;
    let command = match json::member(object, format.command)? {
        Some(Value::StringLit(command)) => command,
        Some(other) => {
            let what = format!(
                "{:?} of an entry of hooks.{native} is not a string",
                format.command
            );
            return Err(Fault::new(what, other.start()));
        }
        None => return Ok(()),
    };
    let Some(own) = Own::parse(&command.value, host) else {
        if command::mentions(&command.value, host) {
            found.mentions.push(command.value.to_string());
        }
        return Ok(());
    };
    let timeout = json::member(object, format.timeout)?;
    let number = timeout.and_then(Value::as_number_lit);
    found.entries.push(Entry {
        native: native.to_owned(),
        own,
        limit: number.and_then(|n| n.value.parse().ok()),
        command: (command.start()..command.end(), command.value.to_string()),
        timeout: timeout.map(|t| t.start()..t.end()),
        at: at.to_vec(),
        remove: remove.0.clone(),
        keep: remove.1,
    });
    Ok(())
}

/// An object, or the fault that it is none.
pub(super) fn as_object<'b, 'a>(value: &'b Value<'a>, what: &str) -> Result<&'b Object<'a>, Fault> {
    value
        .as_object()
        .ok_or_else(|| Fault::new(format!("{what} is not an object"), value.start()))
}

/// A step to a member.
pub(super) fn member(name: &str) -> Step {
    Step::Member(name.to_owned())
}
