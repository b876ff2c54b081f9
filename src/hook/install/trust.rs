//! Whether Codex trusts our hooks, as `codex app-server`'s `hooks/list` says. Trust is only read, never forged.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

/// How long Codex may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// One of our hooks, as Codex sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// Codex's name for the event, such as `permissionRequest`.
    pub event: String,
    /// Codex's word: `trusted`, `untrusted`, `modified`, …
    pub trust: String,
    /// Whether it is switched on.
    pub enabled: bool,
}

/// Asks Codex about the hooks that hold in a directory; only those that call `sayso hook codex`.
///
/// # Errors
/// One clause: Codex is not there, or does not say.
pub fn of_codex(cwd: &Path) -> Result<Vec<Trust>, String> {
    let mut server = Command::new("codex")
        .arg("app-server")
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("codex cannot be started: {e}"))?;
    let answer = converse(&mut server, cwd);
    let _ = server.kill();
    let _ = server.wait();
    answer.map(|list| ours(&list))
}

fn converse(server: &mut std::process::Child, cwd: &Path) -> Result<Value, String> {
    let gone = || "codex app-server ended early".to_owned();
    let mut input = server.stdin.take().ok_or_else(gone)?;
    let output = server.stdout.take().ok_or_else(gone)?;
    let (lines, received) = mpsc::channel();
    std::thread::spawn(move || {
        let read = BufReader::new(output).lines().map_while(Result::ok);
        for line in read {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    let client = json!({ "name": "sayso", "title": "sayso", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } });
    let list = json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [cwd] } });
    let until = Instant::now() + LIMIT;
    let mut say = |message: &Value| writeln!(input, "{message}").map_err(|_| gone());
    say(&hello)?;
    answer_to(1, &received, until)?;
    say(&json!({ "method": "initialized" }))?;
    say(&list)?;
    answer_to(2, &received, until)
}

fn answer_to(id: u64, received: &mpsc::Receiver<String>, until: Instant) -> Result<Value, String> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let line = received
            .recv_timeout(left)
            .map_err(|_| "codex app-server does not answer".to_owned())?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if message.get("id").and_then(Value::as_u64) == Some(id) && message.get("method").is_none()
        {
            let result = message.get("result").cloned();
            return result.ok_or_else(|| "codex app-server refuses to list its hooks".to_owned());
        }
    }
}

/// Our hooks in the answer to `hooks/list`.
fn ours(list: &Value) -> Vec<Trust> {
    let entries = list.get("data").and_then(Value::as_array);
    let hooks = entries
        .into_iter()
        .flatten()
        .filter_map(|e| e.get("hooks")?.as_array())
        .flatten();
    hooks
        .filter(|hook| {
            text(hook, "command").contains("sayso") && text(hook, "command").contains("hook codex")
        })
        .map(|hook| Trust {
            event: text(hook, "eventName").to_owned(),
            trust: text(hook, "trustStatus").to_owned(),
            enabled: hook.get("enabled").and_then(Value::as_bool).unwrap_or(true),
        })
        .collect()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_hooks_count() {
        let hook = |command: &str, trust: &str| json!({ "eventName": "permissionRequest", "command": command, "trustStatus": trust, "enabled": true });
        let list = json!({ "data": [{ "cwd": "/", "hooks": [
            hook("/opt/other hook codex permission-request", "trusted"),
            hook("'/opt/my tools/sayso' hook codex permission-request --timeout 590", "untrusted"),
        ] }] });
        let expected = Trust {
            event: "permissionRequest".into(),
            trust: "untrusted".into(),
            enabled: true,
        };
        assert_eq!(ours(&list), [expected]);
        assert_eq!(ours(&json!({})), []);
    }
}
