//! `sayso list`: the questions, oldest first.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::ListArgs;
use crate::id::Id;
use crate::model::interaction::{Interaction, Question, State, Status};
use crate::model::record::{Newer, Secrets};
use crate::render::json as envelope;
use crate::render::question::summary;
use crate::render::span;
use crate::render::style::Paint;
use crate::render::table::{Cell, table};
use crate::store::Store;
use crate::store::query::{Entry, warn_corrupt};
use crate::time::Time;

/// A record in a listing, and where it is.
pub(super) struct Row {
    /// Its scope.
    pub(super) store: Store,
    /// The record.
    pub(super) record: Interaction,
}

/// Prints the table or the envelope.
pub fn run(context: &Context, args: &ListArgs) -> Result<Exit> {
    let scopes = context.operator_scopes_told()?;
    let now = Time::now();
    let every_status = args.all || args.status.as_deref().is_some_and(|s| s != "pending");
    let (mut rows, newer) = collect(&scopes.stores, every_status, now)?;
    // Before anything is left out: a prefix that is printed must name one question.
    let length = id_length(&rows, &newer);
    rows.retain(|row| wanted(args, row, every_status, now));
    let limit = args
        .limit
        .unwrap_or(if every_status { 50 } else { usize::MAX });
    rows.drain(..rows.len().saturating_sub(limit));
    let mut out = context.out();
    if context.global.json {
        let json: Vec<String> = rows
            .iter()
            .map(|row| row_json(row, now, scopes.every))
            .chain(newer.iter().map(newer_json))
            .collect();
        out.line(&envelope::success(&envelope::list(&json)))?;
    } else if rows.is_empty() && newer.is_empty() {
        context.note(if every_status {
            "no questions"
        } else {
            "no pending questions"
        });
    } else {
        let (head, cells) = cells(&rows, &newer, length, every_status, scopes.every, now);
        out.lines(&table(&head, &cells, out.columns, out.style))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The records of some scopes, oldest first; overdue ones are settled where the lock is free at once.
pub(super) fn collect(
    stores: &[Store],
    every_status: bool,
    now: Time,
) -> crate::error::Result<(Vec<Row>, Vec<Newer>)> {
    let mut rows = Vec::new();
    let mut newer = Vec::new();
    for store in stores {
        let entries = if every_status {
            store.all()?
        } else {
            store.pending()?
        };
        warn_corrupt(&entries);
        let mut overdue = false;
        for entry in entries {
            match entry {
                Entry::Current(record) => {
                    overdue |= record.is_overdue(now);
                    rows.push(Row {
                        store: store.clone(),
                        record: *record,
                    });
                }
                Entry::Newer(found) => newer.push(found),
                Entry::Corrupt { .. } => {}
            }
        }
        if overdue {
            store.sweep_if_free();
        }
    }
    rows.sort_by(|a, b| {
        (a.record.created_at, &a.record.id).cmp(&(b.record.created_at, &b.record.id))
    });
    Ok((rows, newer))
}

fn wanted(args: &ListArgs, row: &Row, every_status: bool, now: Time) -> bool {
    let status = row.record.status_at(now);
    let q: &Question = &row.record.question;
    let is = |wanted: &Option<String>, value: Option<&String>| {
        wanted.as_ref().is_none_or(|w| value == Some(w))
    };
    (every_status || status == Status::Pending)
        && args.status.as_deref().is_none_or(|s| s == status.name())
        && is(&args.agent, Some(&q.agent))
        && is(&args.project, q.project.as_ref())
        && is(&args.session, q.session_id.as_ref())
        && is(&args.workflow, q.workflow_id.as_ref())
        && is(&args.task, q.task_id.as_ref())
        && args.kind.is_none_or(|k| k == q.kind())
}

fn row_json(row: &Row, now: Time, with_scope: bool) -> String {
    let mut extra = row.store.beside(&row.record);
    if row.record.status_at(now) == Status::Pending {
        extra.push(("waiting", row.store.waiting(&row.record.id).name().into()));
    }
    if with_scope {
        extra.push(("scope", row.store.scope.clone().into()));
    }
    envelope::record(&row.record, now, Secrets::Hidden, &extra)
}

/// What can be told of a record of a newer format.
pub(super) fn newer_json(newer: &Newer) -> String {
    let members = serde_json::json!({
        "id": newer.id.as_str(), "schema": newer.schema, "prompt": newer.prompt, "status": newer.status,
    });
    members.to_string()
}

fn cells(
    rows: &[Row],
    newer: &[Newer],
    length: usize,
    every_status: bool,
    every_scope: bool,
    now: Time,
) -> (Vec<&'static str>, Vec<Vec<Cell>>) {
    let mut head = vec!["ID", "AGE", "LEFT", "AGENT", "KIND", "WAITS"];
    if every_status {
        head.push("STATUS");
    }
    if every_scope {
        head.push("PROJECT");
    }
    head.push("SUMMARY");
    let mut cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| row_cells(row, length, every_status, every_scope, now))
        .collect();
    for found in newer {
        let mut row: Vec<Cell> = vec![found.id.as_str()[..length].into()];
        row.resize_with(head.len() - 1, || "?".into());
        let prompt = found.prompt.clone().unwrap_or_default();
        row.push(format!("[schema {}, read-only here] {prompt}", found.schema).into());
        cells.push(row);
    }
    (head, cells)
}

fn row_cells(
    row: &Row,
    id_length: usize,
    every_status: bool,
    every_scope: bool,
    now: Time,
) -> Vec<Cell> {
    let record = &row.record;
    let q = &record.question;
    let status = record.status_at(now);
    let pending = status == Status::Pending;
    let left = match record.expires_at {
        Some(deadline) if pending => span::left(now, deadline),
        None if pending => "⏸".into(),
        _ => "-".into(),
    };
    let waits = if pending && !q.suspended {
        row.store.waiting(&record.id).name()
    } else {
        "-"
    };
    let mut cells: Vec<Cell> = vec![
        record.id.as_str()[..id_length].into(),
        span::age(now, record.created_at).into(),
        left.into(),
        q.agent.as_str().into(),
        q.kind().name().into(),
        Cell::new(
            waits,
            if waits == "no" {
                Paint::Yellow
            } else {
                Paint::Plain
            },
        ),
    ];
    if every_status {
        let by_itself = record
            .response()
            .is_some_and(|r| r.responder.agent_session.is_some());
        let mark = if by_itself { " (self-answered)" } else { "" };
        cells.push(format!("{}{mark}", status.name()).into());
    }
    if every_scope {
        cells.push(q.project.as_deref().unwrap_or(&row.store.scope).into());
    }
    cells.push(summary(q).into());
    cells
}

/// How many characters of the ids tell them apart, with room for those that settled.
fn id_length(rows: &[Row], newer: &[Newer]) -> usize {
    let ids = rows.iter().map(|row| &row.record.id);
    let mut ids: Vec<&str> = ids
        .chain(newer.iter().map(|n| &n.id))
        .map(Id::as_str)
        .collect();
    ids.sort_unstable();
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let unique = ids
        .windows(2)
        .map(|pair| common(pair[0], pair[1]) + 1)
        .max()
        .unwrap_or(0);
    let settled = rows
        .iter()
        .map(|row| row.store.settled_estimate())
        .max()
        .unwrap_or(0);
    let room = if settled < 64 {
        4
    } else {
        settled.ilog(16) as usize + 4
    };
    unique.max(room).clamp(4, 32)
}

/// Whether a record stands as an open question.
pub(super) fn is_open(record: &Interaction, now: Time) -> bool {
    record.state == State::Pending && record.status_at(now) == Status::Pending
}
