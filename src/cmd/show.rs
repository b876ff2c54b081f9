//! `sayso show`: everything that was asked, whole, and how to answer it.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::find;
use crate::cli::ShowArgs;
use crate::model::brief::how_to_answer;
use crate::model::interaction::Status;
use crate::model::record::{Loaded, Secrets};
use crate::render::json as envelope;
use crate::render::question::{self, Look};
use crate::text;
use crate::time::Time;

/// Prints the record.
pub fn run(context: &Context, args: &ShowArgs) -> Result<Exit> {
    let scopes = context.operator_scopes()?;
    let (store, id) = find(context, &scopes, &args.id)?;
    let mut out = context.out();
    let record = match store.load(&id)? {
        Loaded::Current(record) => *record,
        Loaded::Newer(newer) if context.global.json => {
            out.line(&envelope::success(&super::list::newer_json(&newer)))?;
            out.flush()?;
            return Ok(Exit::Done);
        }
        Loaded::Newer(newer) => {
            out.line(&format!(
                "{} (schema {}, written by a newer sayso: it can only be shown here)",
                newer.id, newer.schema
            ))?;
            out.lines(&text::block(&newer.prompt.unwrap_or_default(), out.columns).lines)?;
            out.flush()?;
            return Ok(Exit::Done);
        }
    };
    if record.is_overdue(Time::now()) {
        store.sweep_if_free();
    }
    let now = Time::now();
    let waiting = (record.status_at(now) == Status::Pending).then(|| store.waiting(&id));
    if context.global.json {
        let mut extra = store.beside(&record);
        if let Some(waiting) = waiting {
            extra.push(("waiting", waiting.name().into()));
        }
        out.line(&envelope::success(&envelope::record(
            &record,
            now,
            Secrets::Hidden,
            &extra,
        )))?;
    } else {
        let look = Look {
            style: out.style,
            columns: out.columns,
            now,
        };
        out.lines(&question::record(&record, waiting, look))?;
        if waiting.is_some() {
            out.line("")?;
            for line in how_to_answer(&record) {
                out.line(&text::line(&line))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
