//! OpenClaw's approvals are polled from cron: one line of ours in the user's crontab.
//!
//! The line is recognised by its command. In a crontab an unescaped `%` ends the command, so it is written
//! as `\%`.

use super::command::{self, Own};
use super::hooks::Outcome;
use crate::hook::host::Host;

const SCHEDULE: &str = "* * * * *";
const EVENT: &str = "poll";

/// The line, without its line end.
pub(super) fn line(program: &str, agent: Option<&str>) -> String {
    let command = command::hook(program, Host::OpenClaw, EVENT, None, agent);
    format!("{SCHEDULE} {}", command.replace('%', "\\%"))
}

/// The crontab with our line. A schedule that the user gave it stays.
pub(super) fn install(text: Option<&str>, program: &str, agent: Option<&str>) -> Outcome {
    let old = text.unwrap_or_default();
    let mut did = Vec::new();
    let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
    match lines.iter().position(|l| own(l).is_some()) {
        Some(at) => {
            let Some((schedule, command, own)) = own(&lines[at]) else {
                return Outcome::default();
            };
            let command = own.refreshed(&command, program, None, agent);
            let new = format!("{schedule}{}", command.replace('%', "\\%"));
            if new != lines[at] {
                did.push("update crontab line".to_owned());
                lines[at] = new;
            }
        }
        None => {
            did.push("add crontab line".to_owned());
            lines.push(line(program, agent));
        }
    }
    let unchanged = did.is_empty().then(|| old.to_owned());
    Outcome {
        text: unchanged.or_else(|| Some(lines.join("\n") + "\n")),
        did,
        mentions: Vec::new(),
    }
}

/// The crontab without any line of ours; `None` if nothing is left.
pub(super) fn uninstall(text: Option<&str>) -> Outcome {
    let Some(old) = text else {
        return Outcome::default();
    };
    let kept: String = old
        .split_inclusive('\n')
        .filter(|l| own(l).is_none())
        .collect();
    let changed = kept != old;
    Outcome {
        text: (!kept.is_empty() || !changed).then_some(kept),
        did: changed
            .then(|| "remove crontab line".to_owned())
            .into_iter()
            .collect(),
        mentions: Vec::new(),
    }
}

/// The command of our line, if there is one.
pub(super) fn find(text: &str) -> Option<Own> {
    text.lines().find_map(|l| own(l).map(|(_, _, own)| own))
}

/// Schedule with the blanks after it, command, and what it says, of a line of ours.
fn own(line: &str) -> Option<(&str, String, Own)> {
    let line = line.trim_end_matches(['\n', '\r']);
    let fields = if line.trim_start().starts_with('@') {
        1
    } else {
        5
    };
    let mut rest = line;
    for _ in 0..fields {
        rest = rest.trim_start_matches([' ', '\t']);
        rest = &rest[rest.find([' ', '\t'])?..];
    }
    let command = rest.trim_start_matches([' ', '\t']);
    let schedule = &line[..line.len() - command.len()];
    if schedule.starts_with('#') {
        return None;
    }
    let command = command.replace("\\%", "%");
    let own = Own::parse(&command, Host::OpenClaw)?;
    (own.event == EVENT).then_some((schedule, command, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_comes_and_goes_and_others_stay() {
        for old in [None, Some("MAILTO=me\n*/5 * * * * backup # nightly\n")] {
            let with = install(old, "/opt/50% off/sayso", None).text.unwrap();
            let line = "* * * * * '/opt/50\\% off/sayso' hook openclaw poll\n";
            assert_eq!(with, format!("{}{line}", old.unwrap_or_default()));
            let again = install(Some(&with), "/opt/50% off/sayso", None);
            assert_eq!(
                (again.did, again.text.as_deref()),
                (Vec::new(), Some(with.as_str()))
            );
            assert_eq!(uninstall(Some(&with)).text.as_deref(), old);
        }
    }

    #[test]
    fn a_users_schedule_stays_and_a_stale_path_is_put_right() {
        let old = "@hourly  /old/sayso hook openclaw poll --agent a\n# * * * * * sayso hook openclaw poll\n";
        let new = install(Some(old), "/new/sayso", Some("b")).text.unwrap();
        assert!(
            new.starts_with("@hourly  /new/sayso hook openclaw poll --agent b\n#"),
            "{new}"
        );
        assert_eq!(find(&new).unwrap().program, "/new/sayso");
        assert_eq!(uninstall(Some("1 2\n")).text.as_deref(), Some("1 2\n"));
    }
}
