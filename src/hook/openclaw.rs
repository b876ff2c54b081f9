//! OpenClaw's approvals, one shot for cron (docs.openclaw.ai, `openclaw approvals`): what is pending at its
//! gateway becomes keyed questions, and what was answered is resolved there. From its documentation.

use std::process::Command;
use std::time::Duration;

use crate::broker::Lifetime;
use crate::broker::decide::{Ruled, decide};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::log;
use crate::model::digest::same_question;
use crate::model::draft::Draft;
use crate::model::interaction::{Effect, Question, Status, Tool};
use crate::model::json::{INPUT_MAX, Json, object};
use crate::park::{self, Courier, Stay};
use crate::process::{self, Bounds, End};
use crate::store::Store;
use crate::time::Time;

/// What one call of the program may do. What it starts is its own affair.
const BOUNDS: Bounds = Bounds {
    time: Duration::from_secs(15),
    output: 4 << 20,
    end: End::Own,
};
/// Members that tell of the moment, not of the request.
const MOMENTS: [&str; 4] = ["createdAtMs", "expiresAtMs", "ageMs", "expiresInMs"];

/// Opens what is pending and resolves what was answered. One approval's failure does not stop the others.
///
/// # Errors
/// Where OpenClaw cannot be asked.
pub fn poll(store: &Store, agent: &str, config: &Config) -> Result<()> {
    let listed = run(&["approvals", "pending", "--json"])?;
    let listed = Json::parse("openclaw's answer", &listed, INPUT_MAX)?;
    let members = listed.members();
    let approvals = members.iter().find(|(name, _)| name == "approvals");
    let (_, approvals) =
        approvals.ok_or_else(|| Error::unavailable("openclaw does not list its approvals"))?;
    for approval in approvals.elements() {
        if let Err(error) = handle(store, agent, config, &approval) {
            log::warn(&format!("an approval of OpenClaw was left alone: {error}"));
        }
    }
    Ok(())
}

fn handle(store: &Store, agent: &str, config: &Config, approval: &Json) -> Result<()> {
    let id = approval
        .string("id")
        .filter(|id| !id.is_empty() && !id.starts_with('-'))
        .ok_or_else(|| Error::input("it has no id"))?;
    let question = question(agent, &id, approval)?;
    let key = question.key.clone().unwrap_or_default();
    let asked = match store.newest_under(&question.agent, &key)? {
        Some(id) if store.has(&id) => Some(store.must_load(&id)?),
        _ => None,
    };
    if let Some(record) = asked.filter(|record| same_question(&record.question, &question)) {
        // Only what was shown is resolved, and once.
        if record.status() == Status::Answered && !store.delivered(&record.id)? {
            let effect = record
                .effect()
                .ok_or_else(|| Error::input("the answer decides nothing"))?;
            resolve(&id, effect)?;
            store.mark_delivered(&record);
        }
        if record.status_at(Time::now()) != Status::Expired {
            return Ok(());
        }
    }
    match decide(store, config, &question)? {
        Ruled::Allow { .. } => return resolve(&id, Effect::Allow),
        Ruled::Deny { .. } => return resolve(&id, Effect::Deny),
        Ruled::Ask => {}
    }
    let left = lifetime(approval)?;
    let mut courier = Courier::new(Stay::Leaves);
    park::open(store, question, Lifetime::For(left), config, &mut courier)?;
    courier.finish();
    Ok(())
}

fn question(agent: &str, id: &str, approval: &Json) -> Result<Question> {
    let members = approval.members();
    let shown = members
        .iter()
        .filter(|(name, _)| !MOMENTS.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), value.as_str().to_owned()));
    let input = Json::parse("the approval", &object(shown), INPUT_MAX)?;
    let draft = Draft {
        key: Some(format!("openclaw:{id}")),
        agent: Some(agent.to_owned()),
        host: Some("openclaw".to_owned()),
        native_request_id: Some(id.to_owned()),
        prompt: "OpenClaw wants an approval".to_owned(),
        tool: Some(Tool {
            name: approval.string("kind").unwrap_or_else(|| "exec".to_owned()),
            input: Some(input),
            use_id: Some(id.to_owned()),
            suggestions: None,
        }),
        ..Draft::default()
    };
    draft.check()
}

/// How long OpenClaw itself still waits.
fn lifetime(approval: &Json) -> Result<Duration> {
    let members = approval.members();
    let deadline = members.iter().find(|(name, _)| name == "expiresAtMs");
    let Some(millis) = deadline.and_then(|(_, value)| value.as_str().parse::<i64>().ok()) else {
        return Ok(crate::model::draft::TTL_DEFAULT);
    };
    let left = Time::from_micros(millis.saturating_mul(1000)).since(Time::now());
    if left.is_zero() {
        return Err(Error::input("it has expired"));
    }
    Ok(left)
}

fn resolve(id: &str, effect: Effect) -> Result<()> {
    let choice = match effect {
        Effect::Allow => "allow-once",
        Effect::Deny => "deny",
    };
    run(&["approvals", "resolve", id, choice]).map(drop)
}

/// What the program prints, if it succeeds in time.
fn run(args: &[&str]) -> Result<String> {
    let failed =
        |why: String| Error::unavailable(format!("openclaw {}: {why}", args[..2].join(" ")));
    let mut command = Command::new("openclaw");
    command.args(args);
    let ran = process::run(command, Vec::new(), &BOUNDS);
    let (status, printed) = ran.map_err(|failure| failed(failure.to_string()))?;
    if !status.success() {
        return Err(failed(format!("it ended with {status}")));
    }
    String::from_utf8(printed).map_err(|_| failed("it printed no text".into()))
}
