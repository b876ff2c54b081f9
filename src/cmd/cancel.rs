//! `sayso cancel`: withdraws questions; exact matches only.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::find_exact;
use crate::broker;
use crate::broker::resume::guidance;
use crate::cli::CancelArgs;
use crate::id::Id;
use crate::model::interaction::{Interaction, Question, Status};
use crate::model::record::Secrets;
use crate::render::json as envelope;
use crate::store::Store;
use crate::store::query::Entry;
use crate::time::Time;

/// Withdraws and prints.
pub fn run(context: &Context, args: &CancelArgs) -> Result<Exit> {
    let records = withdraw(context, args)?;
    let now = Time::now();
    let mut out = context.out();
    if context.global.json {
        let json: Vec<String> = records
            .iter()
            .map(|r| envelope::record(r, now, Secrets::Hidden, &[]))
            .collect();
        let data = match json.as_slice() {
            [only] if args.ids.len() == 1 => only.clone(),
            _ => envelope::list(&json),
        };
        out.line(&envelope::success(&data))?;
    } else if !context.global.quiet {
        for record in &records {
            let q = &record.question;
            if let Some(workflow) = q.workflow_id.as_deref().filter(|_| q.suspended) {
                let command = guidance(workflow);
                context.note(&format!(
                    "workflow '{workflow}' stays paused; this resumes it: {command}"
                ));
            }
            out.line(&format!("{} {}", record.id, record.status_at(now).name()))?;
        }
        if records.is_empty() {
            context.note("nothing pending matched");
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Withdraws; a question that has ended already is left as it is.
pub(super) fn withdraw(context: &Context, args: &CancelArgs) -> Result<Vec<Interaction>> {
    let stores = context.asking_scopes()?;
    let targets: Vec<(Store, Id)> = if args.ids.is_empty() {
        matching(&stores, args)?
    } else {
        let find = |id: &String| find_exact(context, &stores, id);
        args.ids.iter().map(find).collect::<Result<_, _>>()?
    };
    let mut records = Vec::new();
    for (store, id) in &targets {
        records.push(broker::cancel(store, id, "asker")?);
    }
    Ok(records)
}

fn matching(stores: &[Store], args: &CancelArgs) -> Result<Vec<(Store, Id)>> {
    let now = Time::now();
    let wanted = |q: &Question| {
        args.agent.as_ref().is_none_or(|agent| *agent == q.agent)
            && args
                .session
                .as_ref()
                .is_none_or(|s| q.session_id.as_ref() == Some(s))
            && args.key.as_ref().is_none_or(|k| q.key.as_ref() == Some(k))
    };
    let mut found = Vec::new();
    for store in stores {
        for record in store.pending()?.into_iter().filter_map(Entry::current) {
            if record.status_at(now) == Status::Pending && wanted(&record.question) {
                found.push((store.clone(), record.id));
            }
        }
    }
    Ok(found)
}
