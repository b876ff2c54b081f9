//! The doctor's look at Relay: what is enabled must be paired, usable, have devices that are the
//! user's and no others, and get its questions out.

use std::time::Duration;

use super::{Finding, push};
use crate::cmd::context::Context;
use crate::relay::devices::{self, State};
use crate::relay::outbox::Stage;
use crate::relay::provider::{self, Provider};
use crate::relay::status::{Status, check_online};

/// How long a Relay may take to say whether it knows this machine.
const WITHIN: Duration = Duration::from_secs(10);

/// Checks every provider that is enabled; asks it only if `online` says so.
pub(super) fn check(context: &Context, online: bool, findings: &mut Vec<Finding>) {
    let Ok(config) = context.config() else {
        return;
    };
    let providers = match provider::enabled(&context.home, &config) {
        Ok(providers) => providers,
        Err(error) => return push(findings, "relay", Some(error.to_string()), String::new()),
    };
    for provider in &providers {
        let fault = fault(provider, online);
        let id = &provider.id;
        let detail = fault.map(|fault| format!("{id}: {fault}"));
        let fine = if online {
            format!("{id}: reached, and it knows this machine")
        } else {
            format!("{id}: paired; --online asks it")
        };
        push(findings, "relay", detail, fine);
    }
}

fn fault(provider: &Provider, online: bool) -> Option<String> {
    let status = Status::of(provider);
    if let Some(fault) = status.address_fault {
        return Some(fault);
    }
    if let Err(why) = &status.paired {
        return Some(why.clone());
    }
    if online {
        let asked = check_online(provider, WITHIN).and_then(|()| devices::look(provider, WITHIN));
        if let Err(error) = asked {
            return Some(error.message);
        }
    }
    if let Some(fault) = devices_fault(provider) {
        return Some(fault);
    }
    let dead = status
        .outbox
        .iter()
        .filter(|e| e.stage == Stage::Dead)
        .count();
    (dead > 0).then(|| format!("{dead} questions could not be sent; 'sayso relay status' says why"))
}

/// A device that nobody accepted is somebody's phone that gets nothing, or nobody's that wants to.
fn devices_fault(provider: &Provider) -> Option<String> {
    let devices = match devices::known(provider) {
        Ok(devices) => devices?,
        Err(error) => return Some(error.message),
    };
    match (devices.waiting(), devices.count(State::Accepted)) {
        (0, 0) => Some("no_devices_accepted: 'sayso help phones' says how a phone is added".into()),
        (0, _) => None,
        (count, _) => Some(format!(
            "{count} devices are named and not accepted: 'sayso relay devices' lists them"
        )),
    }
}
