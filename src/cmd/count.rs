//! `sayso count`: how many questions are pending. For prompts and status lines: it takes no lock,
//! changes nothing, and is quick.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::cli::CountArgs;
use crate::render::json as envelope;
use crate::render::span;
use crate::store::query::Entry;
use crate::time::Time;

/// Prints the number, or nothing for none.
pub fn run(context: &Context, args: &CountArgs) -> Result<Exit> {
    let scopes = context.operator_scopes()?;
    let now = Time::now();
    let mut pending = 0;
    let mut oldest: Option<Time> = None;
    for store in &scopes.stores {
        for record in store.pending()?.into_iter().filter_map(Entry::current) {
            if super::list::is_open(&record, now) {
                pending += 1;
                let asked = record.created_at;
                oldest = Some(oldest.map_or(asked, |o| o.min(asked)));
            }
        }
    }
    let mut out = context.out();
    if context.global.json {
        out.line(&envelope::success(
            &serde_json::json!({ "count": pending }).to_string(),
        ))?;
    } else if pending > 0 || args.zero {
        let age = oldest.map_or_else(|| "-".into(), |asked| span::age(now, asked));
        let text = match &args.format {
            Some(format) => format
                .replace("{pending}", &pending.to_string())
                .replace("{oldest}", &age),
            None => pending.to_string(),
        };
        out.line(&text)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
