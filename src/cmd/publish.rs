//! `sayso publish`: sends a question to Relay again.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::context::Context;
use super::exit::Exit;
use super::operator::find;
use crate::cli::PublishArgs;
use crate::http;
use crate::relay::devices::NONE_ACCEPTED;
use crate::relay::publish;
use crate::render::json as envelope;
use crate::render::out::to_stderr;
use crate::text;

/// Sends it now; what fails is said and stays in the outbox.
pub fn run(context: &Context, args: &PublishArgs) -> Result<Exit> {
    let (store, id) = find(context, &context.operator_scopes()?, &args.id)?;
    let config = context.config()?;
    let done = publish::again(&config, &store, &id, Instant::now() + http::WHOLE)?;
    for (provider, condition) in &done.conditions {
        to_stderr(&format!("{provider}: {}", text::line(condition)));
        if condition == NONE_ACCEPTED {
            to_stderr(
                "hint: 'sayso relay devices' lists the devices; --accept ID lets one have questions",
            );
        }
    }
    let mut out = context.out();
    if context.global.json {
        let condition = |(provider, condition): &(String, String)| json!({ "provider_id": provider, "condition": condition });
        let conditions: Vec<_> = done.conditions.iter().map(condition).collect();
        let data = json!({
            "id": id.as_str(), "published": done.published, "conditions": conditions,
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        out.line(&format!("published to {}", done.published))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
