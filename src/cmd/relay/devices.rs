//! `sayso relay devices`: which devices a Relay names, and which of them are the user's.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::DevicesArgs;
use crate::cmd::context::Context;
use crate::cmd::exit::Exit;
use crate::error::{self, Error};
use crate::relay::devices::{self, Devices, Known, State};
use crate::relay::provider::{self, Provider};
use crate::render::json as envelope;
use crate::render::out::{Out, to_stderr};
use crate::text;

/// How long a Relay may take to list its devices.
const WITHIN: Duration = Duration::from_secs(10);
/// What to do with one that is not accepted.
const HINT: &str =
    "'sayso relay devices --accept ID' if it is yours, 'sayso relay devices --remove ID' if not";

/// Lists the devices, or changes one.
pub(super) fn run(context: &Context, args: &DevicesArgs) -> Result<Exit> {
    let config = context.config()?;
    let mut all = provider::all(&context.home, &config)?;
    if let Some(id) = &args.provider {
        all.retain(|p| p.id == *id);
        if all.is_empty() {
            return Err(Error::input("there is no Relay of that name")
                .hint("'sayso relay status' lists them; 'sayso relay pair' adds one")
                .into());
        }
    }
    match (&args.accept, &args.remove) {
        (Some(name), _) => change(context, &all, name, State::Accepted),
        (None, Some(name)) => change(context, &all, name, State::Removed),
        (None, None) => list(context, &all),
    }
}

/// What each Relay names now; what was known before where it cannot be asked.
fn list(context: &Context, all: &[Provider]) -> Result<Exit> {
    let mut out = context.out();
    let mut failed = None;
    let mut data = Vec::new();
    for provider in all {
        let looked = devices::look(provider, WITHIN);
        let known = match &looked {
            Ok(devices) => Ok(Some(devices.clone())),
            Err(_) => devices::known(provider),
        };
        let known = known.ok().flatten();
        let mut one = json!({
            "provider_id": provider.id,
            "devices": known.as_ref().map(Devices::json),
            "not_accepted": known.as_ref().map(Devices::waiting),
        });
        if let Err(error) = &looked {
            one["error"] = json!({ "code": error.code.name(), "message": error.message });
            failed.get_or_insert(error.code);
            if !context.global.json {
                tell_failure(provider, error);
            }
        }
        if let Some(known) = known.filter(|_| !context.global.json) {
            print(&mut out, provider, &known)?;
        }
        data.push(one);
    }
    if context.global.json {
        out.line(&envelope::success(&Value::Array(data).to_string()))?;
    } else if all.is_empty() {
        context.note("no Relay is configured; 'sayso relay pair --url URL' adds one");
    }
    out.flush()?;
    Ok(failed.map_or(Exit::Done, Exit::Failed))
}

fn tell_failure(provider: &Provider, error: &Error) {
    to_stderr(&format!("error: {}: {error}", provider.id));
    if let Some(hint) = &error.hint {
        to_stderr(&format!("hint: {hint}"));
    }
}

fn print(out: &mut Out, provider: &Provider, devices: &Devices) -> std::io::Result<()> {
    if devices.all().is_empty() {
        out.line(&format!("{}: no devices", provider.id))?;
    }
    for device in devices.all() {
        out.line(&format!("{}: {}", provider.id, line(devices, device)))?;
    }
    if devices.unlisted() > 0 {
        let count = devices.unlisted();
        out.line(&format!("{}: {count} more are not accepted", provider.id))?;
    }
    if devices.waiting() > 0 {
        to_stderr(&format!("hint: {HINT}"));
    }
    Ok(())
}

/// A device in one line: its state, its id, its key's fingerprint.
fn line(devices: &Devices, device: &Known) -> String {
    format!(
        "{} {} (fingerprint {})",
        devices.word(device),
        text::line(&device.device_id),
        device.fingerprint()
    )
}

/// Changes the device that a name means. What was announced before is what is changed; a Relay is asked
/// only where nothing of that name is known that could be.
fn change(context: &Context, all: &[Provider], name: &str, state: State) -> Result<Exit> {
    context.home.check_writable()?;
    let unknown =
        || Error::input("no Relay names such a device").hint("'sayso relay devices' lists them");
    let mut failure = None;
    let mut found = holder(all, name, |d| d.state != state)?;
    if found.is_none() {
        for provider in all.iter().filter(|p| p.is_paired()) {
            failure = devices::look(provider, WITHIN).err().or(failure);
        }
        found = holder(all, name, |d| d.state != state)?;
    }
    if found.is_none() {
        found = holder(all, name, |d| d.state == state)?;
    }
    let provider = found.ok_or_else(|| failure.unwrap_or_else(unknown))?;
    let changed = match state {
        State::Accepted => devices::accept(provider, name),
        _ => devices::remove(provider, name),
    };
    let device = changed?.ok_or_else(unknown)?;
    let state = match state {
        State::Accepted => "accepted",
        _ => "removed",
    };
    let mut out = context.out();
    if context.global.json {
        let data = json!({
            "provider_id": provider.id, "device_id": device.device_id,
            "fingerprint": device.fingerprint(), "state": state,
        });
        out.line(&envelope::success(&data.to_string()))?;
    } else {
        out.line(&format!(
            "{}: {state} {} (fingerprint {})",
            provider.id,
            text::line(&device.device_id),
            device.fingerprint()
        ))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The one Relay that has a device of this name.
fn holder<'a>(
    all: &'a [Provider],
    name: &str,
    wanted: impl Fn(&Known) -> bool,
) -> error::Result<Option<&'a Provider>> {
    let mut found = None;
    for provider in all {
        let known = devices::known(provider)?.unwrap_or_default();
        if !known.has(name, &wanted) {
            continue;
        }
        if found.is_some() {
            return Err(Error::input("several Relays have a device of this name")
                .hint("say which with --provider ID"));
        }
        found = Some(provider);
    }
    Ok(found)
}

/// The devices' part of `relay status`.
pub(super) fn describe(
    out: &mut Out,
    devices: &std::result::Result<Option<Devices>, String>,
) -> std::io::Result<()> {
    let devices = match devices {
        Ok(Some(devices)) => devices,
        Ok(None) => return out.line("  devices: the Relay was not asked yet"),
        Err(why) => return out.line(&format!("  devices: {}", text::line(why))),
    };
    let (accepted, waiting) = (devices.count(State::Accepted), devices.waiting());
    out.line(&format!(
        "  devices: {accepted} accepted, {waiting} not accepted"
    ))?;
    for device in devices.all().iter().filter(|d| d.state == State::New) {
        out.line(&format!("    {}", line(devices, device)))?;
    }
    match (accepted, waiting) {
        (_, 1..) => out.line(&format!("    {HINT}")),
        (0, 0) => out.line(&format!("    {NONE}")),
        _ => Ok(()),
    }
}

/// What to do where there is no device yet.
const NONE: &str =
    "pair a phone with the Relay, then accept it here: sayso relay devices --accept ID";

/// What pairing found of devices.
pub(super) fn first(context: &Context, devices: &Devices) {
    for device in devices.all() {
        context.note(&line(devices, device));
    }
    match (devices.count(State::Accepted), devices.waiting()) {
        (_, 1..) => context.note(HINT),
        (0, 0) => context.note(&format!("no device is there yet: {NONE}")),
        _ => context.note(
            "are all of them yours? later ones have to be accepted: sayso relay devices --accept ID",
        ),
    }
}
