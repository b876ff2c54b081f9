//! `sayso relay`: pairing, how things stand, and polling as cron does it.

mod devices;

use anyhow::Result;
use serde_json::{Value, json};

use super::context::Context;
use super::exit::Exit;
use crate::cli::{PairArgs, PollArgs, RelayAction, RelayArgs, StatusArgs};
use crate::error::{self, Error};
use crate::http::Private;
use crate::relay::outbox::{Entry, Stage};
use crate::relay::pair::{self, Invitation, Wish};
use crate::relay::poll::{self, Polled};
use crate::relay::provider::{self, Provider};
use crate::relay::status::Status;
use crate::relay::units::units;
use crate::render::json as envelope;
use crate::render::out::{Out, to_stderr};
use crate::render::span;
use crate::text;
use crate::time::Time;

/// The bound of this machine's name at a Relay, in characters.
const NAME_MAX: usize = 100;

/// Does what the action says.
pub fn run(context: &Context, args: &RelayArgs) -> Result<Exit> {
    match &args.action {
        RelayAction::Pair(args) => pair(context, args),
        RelayAction::Status(args) => status(context, args),
        RelayAction::Devices(args) => devices::run(context, args),
        RelayAction::Poll(args) | RelayAction::Sync(args) => poll(context, args),
    }
}

fn poll(context: &Context, args: &PollArgs) -> Result<Exit> {
    context.home.check_writable()?;
    let config = context.config()?;
    let all = provider::all(&context.home, &config)?;
    let chosen = choose(all, args.provider.as_deref())?;
    let mut polled = Vec::new();
    for provider in &chosen {
        polled.push(poll::poll(&context.home, provider));
    }
    let mut out = context.out();
    if context.global.json {
        let data: Value = polled.iter().map(Polled::json).collect();
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        if chosen.is_empty() {
            context.note("no Relay is enabled");
        }
        for polled in &polled {
            tell(context, &mut out, polled)?;
        }
    }
    out.flush()?;
    let failed = polled.iter().find_map(|p| p.error.as_ref());
    Ok(failed.map_or(Exit::Done, |error| Exit::Failed(error.code)))
}

fn choose(all: Vec<Provider>, named: Option<&str>) -> error::Result<Vec<Provider>> {
    let Some(id) = named else {
        return Ok(all.into_iter().filter(|p| p.enabled).collect());
    };
    match all.into_iter().find(|p| p.id == id) {
        Some(provider) if provider.enabled => Ok(vec![provider]),
        Some(_) => Err(Error::input(format!("the Relay '{id}' is not enabled"))
            .hint("set enabled = true for it in config.toml")),
        None => Err(Error::input("there is no Relay of that name")
            .hint("'sayso relay status' lists them; 'sayso relay pair' adds one")),
    }
}

fn tell(context: &Context, out: &mut Out, polled: &Polled) -> std::io::Result<()> {
    let name = &polled.provider_id;
    if let Some(error) = &polled.error {
        to_stderr(&format!("error: {name}: {error}"));
        super::print_hint(error);
    }
    if context.global.quiet {
        return Ok(());
    }
    if let Some(why) = polled.unsent.last() {
        let count = polled.unsent.len();
        out.line(&format!(
            "{name}: {count} due and not sent: {}",
            text::line(why)
        ))?;
    }
    let (applied, fetched) = (polled.applied(), polled.fetched);
    match &polled.idle {
        Some(idle) if fetched == 0 => out.line(&format!("{name}: {idle}"))?,
        _ if polled.error.is_some() && fetched == 0 => {}
        _ => out.line(&format!("{name}: {applied} applied of {fetched} fetched"))?,
    }
    let shown = |id: &Option<String>| id.as_deref().map_or("?".to_owned(), text::line);
    if polled.unlisted > 0 {
        out.line(&format!("  {} more were not applied", polled.unlisted))?;
    }
    for answer in polled.answers.iter().filter(|a| !a.applied) {
        out.line(&format!(
            "  {} → {}: {}",
            shown(&answer.response_id),
            shown(&answer.interaction_id),
            text::line(&answer.note)
        ))?;
    }
    Ok(())
}

fn status(context: &Context, args: &StatusArgs) -> Result<Exit> {
    let mut out = context.out();
    if args.units {
        let program = std::env::current_exe()?.display().to_string();
        let named = [
            "SAYSO_HOME",
            "SAYSO_CONFIG",
            "XDG_STATE_HOME",
            "XDG_CONFIG_HOME",
        ];
        let variables: Vec<(&str, String)> = named
            .into_iter()
            .filter_map(|name| Some((name, context.var(name)?)))
            // Neither file can hold a line break in a value.
            .filter(|(_, value)| !value.chars().any(char::is_control))
            .collect();
        let text = units(&program, &variables);
        if context.global.json {
            out.line(&envelope::success(&json!({ "units": text }).to_string()))?;
        } else {
            for line in text.lines() {
                out.line(line)?;
            }
        }
        out.flush()?;
        return Ok(Exit::Done);
    }
    let config = context.config()?;
    let all = provider::all(&context.home, &config)?;
    let each: Vec<Status> = all.iter().map(Status::of).collect();
    if context.global.json {
        let data: Value = each.iter().map(Status::json).collect();
        out.line(&envelope::success(&data.to_string()))?;
    } else if each.is_empty() {
        context.note("no Relay is configured; 'sayso relay pair --url URL' adds one");
    } else {
        for status in &each {
            describe(&mut out, status)?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn describe(out: &mut Out, status: &Status) -> std::io::Result<()> {
    let now = Time::now();
    let ago = |at: Option<&String>| {
        let at = at.and_then(|at| Time::parse(at));
        at.map_or("never".to_owned(), |at| {
            format!("{} ago", span::short(now.since(at)))
        })
    };
    let enabled = if status.enabled {
        "enabled"
    } else {
        "disabled"
    };
    let paired = match &status.paired {
        Ok(()) => "paired".to_owned(),
        Err(why) => text::line(why),
    };
    out.line(&format!("{}: {enabled}, {paired}", status.provider_id))?;
    if let Some(fault) = &status.address_fault {
        out.line(&format!("  address: {}", text::line(fault)))?;
    }
    let cursor = status.cursor.as_ref();
    out.line(&format!(
        "  last poll: {}; cursor moved: {}",
        ago(cursor.and_then(|c| c.polled_at.as_ref())),
        ago(cursor.and_then(|c| c.moved_at.as_ref())),
    ))?;
    if let Some(until) = cursor.and_then(|c| c.not_before.as_ref()) {
        out.line(&format!("  not to be asked before {until}"))?;
    }
    out.line(&format!(
        "  outbox: {} due, {} sent, {} dead",
        status.count(Stage::Due),
        status.count(Stage::Sent),
        status.count(Stage::Dead)
    ))?;
    devices::describe(out, &status.devices)?;
    let waits = |e: &&Entry| e.stage == Stage::Due && e.error.is_some();
    for entry in status.outbox.iter().filter(waits) {
        out.line(&format!(
            "    {}: {}; again at {}",
            text::line(&entry.interaction_id),
            text::line(entry.error.as_deref().unwrap_or("?")),
            text::line(&entry.due_at)
        ))?;
    }
    for dead in status.dead() {
        out.line(&format!(
            "    {}: {}; 'sayso publish' tries again",
            text::line(&dead.interaction_id),
            text::line(dead.error.as_deref().unwrap_or("?"))
        ))?;
    }
    Ok(())
}

fn pair(context: &Context, args: &PairArgs) -> Result<Exit> {
    let name = match &args.name {
        Some(name) => name.trim().to_owned(),
        None => nix::unistd::gethostname()?.to_string_lossy().into_owned(),
    };
    let sound =
        (1..=NAME_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if !sound {
        let told = format!("--name must be 1 to {NAME_MAX} characters without controls");
        return Err(Error::input(told).into());
    }
    let wish = Wish {
        url: args.url.clone(),
        name,
        provider: args.provider.clone(),
        private: Private::allowed(args.allow_private),
        enable: args.enable,
    };
    let paired = pair::pair(&context.home, &context.config()?, &wish, invite)?;
    let mut out = context.out();
    if context.global.json {
        let data = json!({
            "provider_id": paired.provider_id,
            "installation_id": paired.installation_id,
            "enabled": paired.enabled,
            "config": paired.block,
            "devices": paired.devices.json(),
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        let state = if paired.enabled {
            "enabled"
        } else {
            "disabled"
        };
        context.note(&format!(
            "paired as '{}', {state}; this block in config.toml says the same and wins:",
            paired.provider_id
        ));
        for line in paired.block.lines() {
            out.line(line)?;
        }
        devices::first(context, &paired.devices);
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Without it nobody could approve: it is said even where notes are not wanted.
fn invite(invitation: &Invitation) {
    let uri = invitation
        .complete
        .as_ref()
        .unwrap_or(&invitation.verification_uri);
    to_stderr(&format!("open {}", text::line(uri)));
    to_stderr(&format!(
        "and approve this machine if the code there is {}",
        text::line(&invitation.user_code)
    ));
}
