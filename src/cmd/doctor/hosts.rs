//! The doctor's look at the hosts: what is installed must run, outlast our own wait, be trusted, and be
//! where a policy's agent is asked.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Finding, push};
use crate::cmd::context::Context;
use crate::cmd::harness::{runs, surroundings};
use crate::config::Config;
use crate::error::{Code, Result};
use crate::hook::Host;
use crate::hook::install::status::{self, Hook, Status};
use crate::hook::install::{Audience, disk, targets, trust};

/// Checks every host that something is installed for.
pub(super) fn check(context: &Context, findings: &mut Vec<Finding>) {
    let mut agents: BTreeSet<String> = BTreeSet::new();
    let mut captures = false;
    for host in Host::ALL {
        for audience in [Audience::User, Audience::Project] {
            match read(host, audience) {
                Ok(status) => {
                    captures |= status.captures.ask || status.captures.gate;
                    agents.extend(asked_for(host, &status));
                    check_status(host, &status, findings);
                }
                // A host that has nothing for this audience is no fault.
                Err(error) if error.code == Code::InvalidInput => {}
                Err(error) => {
                    let fault = format!("{}: {error}", host.title());
                    push(findings, "hosts", Some(fault), String::new());
                }
            }
        }
    }
    if let Ok(config) = context.config() {
        check_routes(&config, &agents, findings);
        super::notices::check(context, &config, findings);
        if captures && config.notify.is_empty() {
            let detail = "questions appear in 'sayso inbox', 'sayso list' and 'sayso watch'";
            push(findings, "notices", None, detail.into());
        }
    }
}

fn read(host: Host, audience: Audience) -> Result<Status> {
    let around = surroundings()?;
    let request = status::request(host, audience, None);
    let files = targets(&request, &around)?;
    // A crontab is looked at only where OpenClaw is asked about by name.
    let files: Vec<_> = files
        .into_iter()
        .filter(|t| t.name() != "crontab")
        .collect();
    let found = disk::read(&files, Path::new("crontab"))?;
    status::status(host, audience, None, &around, &found, &runs)
}

/// The agents under whose names a host's hooks and server ask.
fn asked_for(host: Host, status: &Status) -> Vec<String> {
    let named = |agent: &Option<String>| agent.clone().unwrap_or_else(|| host.id().to_owned());
    let waiting = status.hooks.iter().filter(|hook| hook.own_limit.is_some());
    let mut agents: Vec<String> = waiting.map(|hook| named(&hook.agent)).collect();
    agents.extend(status.server.iter().map(|server| named(&server.agent)));
    if !status.plugins.is_empty() {
        agents.push(host.id().to_owned());
    }
    agents
}

fn check_status(host: Host, status: &Status, findings: &mut Vec<Finding>) {
    if !status.installed() {
        return;
    }
    let mut faults: Vec<String> = status.hooks.iter().filter_map(hook_fault).collect();
    for plugin in status.plugins.iter().filter(|p| !p.exists) {
        faults.push(format!("{} runs a program that is not there", plugin.file));
    }
    for server in status.server.iter().filter(|s| !s.exists) {
        faults.push(format!(
            "{} starts {}, which is not there",
            server.file, server.program
        ));
    }
    faults.extend(status.faults.iter().cloned());
    if host == Host::Codex && faults.is_empty() && runs("codex") {
        faults.extend(trust_faults());
    }
    let fine = faults.is_empty();
    for fault in faults {
        push(
            findings,
            "hosts",
            Some(format!("{}: {fault}", host.title())),
            String::new(),
        );
    }
    if fine {
        push(
            findings,
            "hosts",
            None,
            format!("{}: installed", host.title()),
        );
    }
}

fn hook_fault(hook: &Hook) -> Option<String> {
    if !hook.exists {
        return Some(format!(
            "{} {} runs {}, which is not there",
            hook.file, hook.native, hook.program
        ));
    }
    match (hook.host_limit, hook.own_limit) {
        (Some(host), Some(own)) if host <= own as f64 => Some(format!(
            "{} {}: the host gives up after {host} s, before our {own} s",
            hook.file, hook.native
        )),
        (None, Some(_)) => Some(format!(
            "{} {} has no timeout of its own",
            hook.file, hook.native
        )),
        _ => None,
    }
}

fn trust_faults() -> Vec<String> {
    let Ok(here) = crate::repo::current_dir() else {
        return Vec::new();
    };
    match trust::of_codex(&here) {
        Ok(hooks) => hooks
            .iter()
            .filter(|hook| hook.trust != "trusted" || !hook.enabled)
            .map(|hook| format!("{} is {}: review it with /hooks", hook.event, hook.trust))
            .collect(),
        Err(why) => vec![why],
    }
}

/// A policy for an agent under whose name nobody asks decides nothing.
fn check_routes(config: &Config, agents: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    for (name, agent) in &config.agents {
        let name = name.get_ref();
        let routed = name == "*" || agents.iter().any(|a| a.eq_ignore_ascii_case(name));
        if agent.approval_policy.is_some() && !routed {
            let detail =
                format!("no installed hook or MCP entry asks as the agent '{name}' of the policy");
            push(findings, "policy", Some(detail), String::new());
        }
    }
}
