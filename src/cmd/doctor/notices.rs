//! The doctor's look at `[[notify]]`: where each entry's notices would go, and what became of the last.

use super::{Finding, push};
use crate::cmd::context::Context;
use crate::cmd::harness::runs;
use crate::config::Config;
use crate::notice;
use crate::render::span;
use crate::time::Time;

/// Checks every entry.
pub(super) fn check(context: &Context, config: &Config, findings: &mut Vec<Finding>) {
    for entry in &config.notify {
        let notify = entry.get_ref();
        let line = config.source.place(entry.span().start).line;
        let name = format!("[[notify]] in line {line} ({})", notice::title(notify));
        let last = notice::last(&context.home, notify);
        let ago = last
            .as_ref()
            .and_then(|last| Time::parse(&last.at))
            .map(|at| span::age(Time::now(), at));
        let failed = last.and_then(|last| last.error).map(|why| {
            format!(
                "the last notice, {} ago, failed: {why}",
                ago.as_deref().unwrap_or("?")
            )
        });
        let fault = notice::fault(notify, runs).or(failed);
        let fine = match ago {
            Some(ago) => format!("{name}: the last notice went out {ago} ago"),
            None => format!("{name}: can be used, nothing was sent yet"),
        };
        let fault = fault.map(|why| format!("{name}: {why}"));
        push(findings, "notices", fault, fine);
    }
}
