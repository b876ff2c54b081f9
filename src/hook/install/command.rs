//! Our own command lines: written for a POSIX shell, and recognised again whatever a user did around them.
//!
//! An entry is ours if its command is one simple command that runs a program named `sayso` with
//! `hook HOST EVENT`: under any path, quoted in any way, after variable assignments, and with any flags.
//! A compound command that merely contains such a call is somebody else's.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::hook::host::Host;

/// A word of a command line, unquoted, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    value: String,
    range: Range<usize>,
}

/// A hook command of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    /// The event, by its present name.
    pub(super) event: String,
    /// The program as the command names it, unquoted.
    pub(super) program: String,
    /// Our own wait in seconds, if the command sets it.
    pub(super) wait: Option<u64>,
    /// The agent that the command names.
    pub(super) agent: Option<String>,
    words: Vec<Word>,
    program_at: usize,
}

/// A word for a POSIX shell. Paths that are safe stay bare.
pub(super) fn quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command of an entry. `wait` is our own limit in seconds; `agent` names the policy's agent.
pub(super) fn hook(
    program: &str,
    host: Host,
    event: &str,
    wait: Option<u64>,
    agent: Option<&str>,
) -> String {
    let mut command = format!("{} hook {} {event}", quote(program), host.id());
    if let Some(agent) = agent {
        command.push_str(" --agent ");
        command.push_str(&quote(agent));
    }
    if let Some(wait) = wait {
        command.push_str(&format!(" --timeout {wait}"));
    }
    command
}

/// The program as text. JSON and shells need it to be valid Unicode without control characters.
pub(super) fn program_text(path: &std::path::Path) -> Result<&str> {
    let text = path
        .to_str()
        .filter(|t| !t.chars().any(char::is_control))
        .ok_or_else(|| Error::input("the path of this binary is not printable text"))?;
    if path.is_absolute() {
        Ok(text)
    } else {
        Err(Error::input(format!(
            "the path of this binary is not absolute: {text}"
        )))
    }
}

impl Own {
    /// Recognises a command for `host`.
    pub(super) fn parse(command: &str, host: Host) -> Option<Self> {
        let words = words(command)?;
        let program_at = program_index(&words)?;
        let rest = &words[program_at + 1..];
        let verb = rest.iter().position(|w| w.value == "hook")?;
        if !options_only(&rest[..verb]) {
            return None;
        }
        let [named, event, flags @ ..] = &rest[verb + 1..] else {
            return None;
        };
        if Host::parse(&named.value).ok()? != host || event.value.starts_with('-') {
            return None;
        }
        let event = match event.value.as_str() {
            "ask-permission" => "permission-request",
            other => other,
        };
        Some(Self {
            event: event.to_owned(),
            program: words[program_at].value.clone(),
            wait: option(flags, "--timeout").and_then(|(_, v)| v.parse().ok()),
            agent: option(flags, "--agent").map(|(_, v)| v),
            words,
            program_at,
        })
    }

    /// The same command with the program, the wait and, where one is given, the agent put right.
    /// Everything else that a user added stays.
    pub(super) fn refreshed(
        &self,
        command: &str,
        program: &str,
        wait: Option<u64>,
        agent: Option<&str>,
    ) -> String {
        let mut edits = Vec::new();
        let mut appended = String::new();
        if self.program != program {
            let word = &self.words[self.program_at];
            edits.push((word.range.clone(), quote(program)));
        }
        let wait = wait.map(|w| w.to_string());
        for (name, wanted) in [("--agent", agent), ("--timeout", wait.as_deref())] {
            let Some(wanted) = wanted else { continue };
            match option(&self.words, name) {
                Some((_, found)) if found == wanted => {}
                Some((range, _)) => edits.push((range, format!("{name} {}", quote(wanted)))),
                None => appended.push_str(&format!(" {name} {}", quote(wanted))),
            }
        }
        let end = self.words.last().map_or(command.len(), |w| w.range.end);
        edits.push((end..end, appended));
        super::json::splice(command, edits)
    }
}

/// Whether a command that is not ours calls us all the same, as part of something larger.
pub(super) fn mentions(command: &str, host: Host) -> bool {
    Own::parse(command, host).is_none()
        && command.contains("sayso")
        && command.contains(&format!("hook {}", host.id()))
}

/// `--name VALUE` or `--name=VALUE`: where it stands and the value. The last one counts.
fn option(words: &[Word], name: &str) -> Option<(Range<usize>, String)> {
    words.iter().enumerate().rev().find_map(|(i, word)| {
        if word.value == name {
            let value = words.get(i + 1)?;
            return Some((word.range.start..value.range.end, value.value.clone()));
        }
        let value = word.value.strip_prefix(name)?.strip_prefix('=')?;
        Some((word.range.clone(), value.to_owned()))
    })
}

/// The index of the word that names our program, if it is what the command runs.
fn program_index(words: &[Word]) -> Option<usize> {
    let at = words
        .iter()
        .position(|w| !is_assignment(&w.value) && w.value != "env" && w.value != "exec")?;
    let name = words[at].value.rsplit('/').next()?;
    (name == "sayso").then_some(at)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether the words are options and their values.
fn options_only(words: &[Word]) -> bool {
    let mut value_may_follow = false;
    words.iter().all(|word| {
        let is_option = word.value.starts_with('-');
        let ok = is_option || value_may_follow;
        value_may_follow = is_option && !word.value.contains('=');
        ok
    })
}

/// The words of one simple command; `None` for anything that a shell would treat as more than that.
fn words(command: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut word: Option<(usize, String)> = None;
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == ' ' || c == '\t' {
            if let Some((start, value)) = word.take() {
                words.push(Word {
                    value,
                    range: start..at,
                });
            }
            continue;
        }
        if ";|&<>()\n\r`".contains(c) || (c == '#' && word.is_none()) {
            return None;
        }
        let value = &mut word.get_or_insert((at, String::new())).1;
        match c {
            '\'' => loop {
                match chars.next()?.1 {
                    '\'' => break,
                    inner => value.push(inner),
                }
            },
            '"' => loop {
                match (chars.next()?.1, chars.peek().map(|p| p.1)) {
                    ('"', _) => break,
                    ('`', _) | ('$', Some('(')) => return None,
                    ('\\', Some(next)) if "\"\\$`".contains(next) => {
                        value.push(next);
                        chars.next();
                    }
                    (inner, _) => value.push(inner),
                }
            },
            '\\' => value.push(chars.next()?.1),
            '$' if chars.peek().is_some_and(|p| p.1 == '(') => return None,
            other => value.push(other),
        }
    }
    if let Some((start, value)) = word {
        words.push(Word {
            value,
            range: start..command.len(),
        });
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own(command: &str) -> Option<(String, String, Option<u64>)> {
        Own::parse(command, Host::Claude).map(|o| (o.program, o.event, o.wait))
    }

    /// Case 97.
    #[test]
    fn recognises_ours_whatever_stands_around_it() {
        for (command, program, wait) in [
            ("sayso hook claude stop", "sayso", None),
            ("/usr/bin/sayso hook claude stop", "/usr/bin/sayso", None),
            (
                "'/Users/me/My Repo/sayso' hook claude stop --timeout 590",
                "/Users/me/My Repo/sayso",
                Some(590),
            ),
            (
                r#""/opt/it's/sayso" hook claude-code stop --timeout=7 --remember"#,
                "/opt/it's/sayso",
                Some(7),
            ),
            (
                r"/opt/a\ b/sayso hook CLAUDE stop -v",
                "/opt/a b/sayso",
                None,
            ),
            ("A=1 B='x y' /x/sayso hook claude stop", "/x/sayso", None),
            ("exec env A=1 /x/sayso hook claude stop", "/x/sayso", None),
            ("/x/sayso --scope s -v hook claude stop", "/x/sayso", None),
            (
                r#""$HOME/bin/sayso" hook claude stop"#,
                "$HOME/bin/sayso",
                None,
            ),
        ] {
            assert_eq!(
                own(command),
                Some((program.to_owned(), "stop".to_owned(), wait)),
                "{command}"
            );
        }
        assert_eq!(
            own("sayso hook claude ask-permission --timeout 590").map(|o| o.1),
            Some("permission-request".to_owned())
        );
    }

    #[test]
    fn leaves_alone_what_is_not_ours() {
        for command in [
            "",
            "sayso",
            "sayso hook",
            "sayso hook claude",
            "sayso hook codex stop",
            "sayso hook claude --help",
            "sayso list hook claude stop",
            "/opt/notsayso hook claude stop",
            "/opt/sayso-old hook claude stop",
            "sayso.sh hook claude stop",
            "echo sayso hook claude stop",
            "echo 'sayso hook claude stop'",
            "cd /x && sayso hook claude stop",
            "sayso hook claude stop; rm -rf /",
            "sayso hook claude stop | tee log",
            "sayso hook claude stop > log",
            "sayso hook claude stop &",
            "$(which sayso) hook claude stop",
            "sayso hook claude 'unclosed",
            "# sayso hook claude stop",
        ] {
            assert_eq!(own(command), None, "{command}");
        }
    }

    #[test]
    fn a_refresh_touches_only_what_is_stale() {
        let fix = |command: &str| {
            Own::parse(command, Host::Claude).unwrap().refreshed(
                command,
                "/new dir/sayso",
                Some(590),
                None,
            )
        };
        assert_eq!(
            fix("A=1  /old/sayso hook claude stop --remember --timeout 5"),
            "A=1  '/new dir/sayso' hook claude stop --remember --timeout 590"
        );
        assert_eq!(
            fix("'/new dir/sayso' hook claude stop --timeout=590"),
            "'/new dir/sayso' hook claude stop --timeout=590"
        );
        assert_eq!(
            fix("sayso hook claude stop --agent x"),
            "'/new dir/sayso' hook claude stop --agent x --timeout 590"
        );
        let command = "/a/sayso hook claude stop --agent swe";
        let own = Own::parse(command, Host::Claude).unwrap();
        assert_eq!(
            own.refreshed(command, "/a/sayso", None, Some("ops")),
            "/a/sayso hook claude stop --agent ops"
        );
    }

    #[test]
    fn a_call_inside_something_larger_is_noticed() {
        assert!(mentions("cd /x && sayso hook claude stop", Host::Claude));
        assert!(!mentions("sayso hook claude stop", Host::Claude));
        assert!(!mentions("./format.sh", Host::Claude));
    }

    proptest! {
        #[test]
        fn any_path_survives_quoting(dir in "/[^\\x00-\\x1f\\x7f]{0,20}") {
            let program = format!("{dir}/sayso");
            let command = hook(&program, Host::Codex, "stop", Some(590), None);
            let own = Own::parse(&command, Host::Codex).unwrap();
            prop_assert_eq!(&own.program, &program);
            prop_assert_eq!(own.refreshed(&command, &program, Some(590), None), command);
        }

        #[test]
        fn no_command_panics(command in "\\PC{0,40}") {
            if let Some(own) = Own::parse(&command, Host::Claude) {
                own.refreshed(&command, "/x/sayso", Some(1), Some("a"));
            }
        }
    }
}
