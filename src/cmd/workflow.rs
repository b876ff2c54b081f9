//! `sayso workflow`: the workflows that a suspended question paused, and how they go on.

use anyhow::Result;
use serde_json::json;

use super::context::{Context, Scopes};
use super::exit::Exit;
use super::operator::tell_resume;
use crate::broker::resume::{self, Paused, Resumed};
use crate::broker::resumer;
use crate::cli::{WorkflowAction, WorkflowArgs};
use crate::error::{self, Code, Error};
use crate::model::interaction::{State, Status};
use crate::render::json as envelope;
use crate::render::question::summary;
use crate::render::span;
use crate::render::table::{Cell, table};
use crate::store::Store;
use crate::store::marks::Stage;
use crate::text;
use crate::time::Time;

/// Lists or resumes.
pub fn run(context: &Context, args: &WorkflowArgs) -> Result<Exit> {
    match &args.action {
        WorkflowAction::List => list(context),
        WorkflowAction::Resume(which) => resume(context, &which.id),
        WorkflowAction::Run(which) => {
            resumer::run(&context.asking_store(None)?, &which.id)?;
            Ok(Exit::Done)
        }
    }
}

fn list(context: &Context) -> Result<Exit> {
    let scopes = context.operator_scopes_told()?;
    let now = Time::now();
    let mut found: Vec<Paused> = Vec::new();
    for store in &scopes.stores {
        found.extend(resume::paused(store)?);
    }
    let mut out = context.out();
    if context.global.json {
        let each: Vec<_> = found.iter().map(|paused| to_json(paused, now)).collect();
        let data = json!({ "count": each.len(), "workflows": each });
        out.line(&envelope::success(&data.to_string()))?;
    } else if found.is_empty() {
        context.note("no paused workflows");
    } else {
        let head = [
            "WORKFLOW",
            "STATUS",
            "TASK",
            "QUESTION",
            "AGE",
            "AGENT",
            "WAITS FOR",
            "SUMMARY",
        ];
        let rows: Vec<Vec<Cell>> = found.iter().map(|paused| row(paused, now)).collect();
        out.lines(&table(&head, &rows, out.columns, out.style))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn to_json(paused: &Paused, now: Time) -> serde_json::Value {
    let record = &paused.record;
    let q = &record.question;
    let mut row = json!({
        "workflow_id": q.workflow_id,
        "status": "paused",
        "task_id": q.task_id,
        "interaction_id": record.id.as_str(),
        "question": q.prompt,
        "question_status": record.status_at(now).name(),
        "age_seconds": now.since(record.created_at).as_secs(),
        "agent": q.agent,
        "resume": paused.resume,
    });
    if let Some(row) = row.as_object_mut() {
        row.retain(|_, value| !value.is_null());
    }
    row
}

fn row(paused: &Paused, now: Time) -> Vec<Cell> {
    let record = &paused.record;
    let q = &record.question;
    vec![
        q.workflow_id.as_deref().unwrap_or("-").into(),
        "paused".into(),
        q.task_id.as_deref().unwrap_or("-").into(),
        record.id.as_str()[..8].into(),
        span::age(now, record.created_at).into(),
        q.agent.as_str().into(),
        waits_for(paused, now).into(),
        summary(q).into(),
    ]
}

fn waits_for(paused: &Paused, now: Time) -> &'static str {
    if paused.record.state == State::Pending {
        return "an answer";
    }
    match (paused.record.status_at(now), paused.resume.state) {
        (_, Stage::Failed) => "a resume (it failed)",
        (Status::Answered, _) => "a resume (answered)",
        _ => "a resume (withdrawn)",
    }
}

fn resume(context: &Context, workflow: &str) -> Result<Exit> {
    let resumed = find(context, workflow)?;
    let mut out = context.out();
    if context.global.json {
        out.line(&envelope::success(&resumed.json().to_string()))?;
    } else if resumed.outcome == Resumed::Yes {
        out.line(&text::line(&format!("resumed {workflow}")))?;
    } else {
        tell_resume(context, &resumed);
    }
    out.flush()?;
    Ok(match resumed.outcome {
        Resumed::Yes | Resumed::Skipped(_) => Exit::Done,
        Resumed::No(_) => Exit::Found,
    })
}

/// The chosen scopes first, then every other: the command that an answer suggests works anywhere. Where
/// several know the workflow, the one is meant in which it is paused.
fn find(context: &Context, workflow: &str) -> error::Result<resume::WorkflowResume> {
    let Scopes { stores, .. } = context.operator_scopes()?;
    let every = context.every_scope()?.stores;
    let elsewhere = |store: &Store| stores.iter().all(|s| s.scope != store.scope);
    let rest: Vec<Store> = every.into_iter().filter(elsewhere).collect();
    let none = "there is no suspended question of that workflow";
    let mut found =
        Err(Error::new(Code::NotFound, none).hint("'sayso workflow list' shows the paused ones"));
    for store in stores.iter().chain(&rest) {
        match resume::resume(store, workflow) {
            Err(error) if error.code == Code::NotFound => {}
            Ok(resumed) if matches!(resumed.outcome, Resumed::Skipped(_)) => {
                found = found.or(Ok(resumed));
            }
            other => return other,
        }
    }
    found
}
