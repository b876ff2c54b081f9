//! The MCP server entry in a host's JSON settings: ours is added, put right and taken out.
//!
//! It is the one named `sayso`, and ours only if it runs `sayso mcp serve`; whatever else stands under
//! that name is refused, because the names of the tools that the host sees depend on it.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use serde_json::{Value as Json, json};

use super::entries::{as_object, member};
use super::hooks::Outcome;
use super::json::{self, Fault, Left, Step};
use super::layout::Style;
use crate::hook::host::Host;

/// How long a host waits for a tool call, in seconds: longer than the longest wait that a call can ask for.
pub const TOOL_LIMIT: u64 = 3700;
/// The name of the entry.
pub(super) const NAME: &str = "sayso";

/// What to do with another server under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// Refuse.
    Keep,
    /// Put ours in its place.
    Replace,
}

/// Our entry as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// The program it starts.
    pub(super) program: String,
    /// The pinned agent.
    pub(super) agent: Option<String>,
    args: Vec<String>,
}

impl Server {
    /// Reads a command line that starts our server.
    pub(super) fn parse(program: &str, args: &[String]) -> Option<Self> {
        let serves = args.windows(2).any(|w| w == ["mcp", "serve"]);
        if program.rsplit('/').next() != Some("sayso") || !serves {
            return None;
        }
        let named = |i: usize, arg: &String| match arg.strip_prefix("--agent-id") {
            Some("") => args.get(i + 1).cloned(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        Some(Self {
            program: program.to_owned(),
            agent: args.iter().enumerate().find_map(|(i, a)| named(i, a)),
            args: args.to_vec(),
        })
    }

    /// The arguments with the agent put right; an agent that was not asked for stays.
    fn args_for(&self, host: Host, agent: Option<&str>) -> Vec<String> {
        if self.agent.is_some() && agent.is_none_or(|a| self.agent.as_deref() == Some(a)) {
            return self.args.clone();
        }
        let mut args = Vec::new();
        let mut old = self.args.iter();
        while let Some(arg) = old.next() {
            match arg.strip_prefix("--agent-id") {
                Some("") => drop(old.next()),
                Some(rest) if rest.starts_with('=') => {}
                _ => args.push(arg.clone()),
            }
        }
        args.extend([
            "--agent-id".to_owned(),
            agent.unwrap_or(host.id()).to_owned(),
        ]);
        args
    }
}

/// The arguments of a new entry.
pub(super) fn args(host: Host, agent: Option<&str>) -> Vec<String> {
    ["mcp", "serve", "--agent-id", agent.unwrap_or(host.id())]
        .map(str::to_owned)
        .to_vec()
}

/// Where the servers stand, in hosts that keep them in JSON.
fn container(host: Host) -> Option<&'static str> {
    match host {
        Host::Claude | Host::Gemini | Host::Copilot | Host::Cursor => Some("mcpServers"),
        Host::OpenCode => Some("mcp"),
        Host::Codex | Host::Hermes | Host::OpenClaw | Host::Pi => None,
    }
}

/// Whether the limit on tool calls is written, in milliseconds. Claude Code's is long by default and
/// Cursor documents none.
fn limited(host: Host) -> bool {
    matches!(host, Host::Gemini | Host::Copilot | Host::OpenCode)
}

fn entry(host: Host, program: &str, args: &[String]) -> Json {
    let limit = TOOL_LIMIT * 1000;
    match host {
        Host::Claude => json!({"type": "stdio", "command": program, "args": args}),
        Host::Gemini => json!({"command": program, "args": args, "timeout": limit}),
        Host::Copilot => json!({
            "type": "local", "command": program, "args": args, "tools": ["*"], "timeout": limit
        }),
        Host::OpenCode => json!({
            "type": "local", "command": command_line(program, args), "enabled": true, "timeout": limit
        }),
        _ => json!({"command": program, "args": args}),
    }
}

fn command_line(program: &str, args: &[String]) -> Vec<String> {
    [&[program.to_owned()], args].concat()
}

/// The text with our entry, which names `agent`, or the host's id where none is given.
pub(super) fn install(
    text: Option<&str>,
    host: Host,
    program: &str,
    agent: Option<&str>,
    foreign: Foreign,
) -> Result<Outcome, Fault> {
    let Some(under) = container(host) else {
        return Ok(Outcome::default());
    };
    let new = entry(host, program, &args(host, agent));
    let done = |text: String, verb: &str| Outcome {
        text: Some(text),
        did: vec![format!("{verb} MCP server {NAME}")],
        mentions: Vec::new(),
    };
    let Some(text) = text else {
        let text = Style::fresh().render(&json!({under: {NAME: new}}), "") + "\n";
        return Ok(done(text, "add"));
    };
    let root = json::object(text)?;
    let path = [member(under), member(NAME)];
    let Some(servers) = json::member(&root, under)? else {
        let text = json::append(text, &[], Some(under), &json!({NAME: new}))?;
        return Ok(done(text, "add"));
    };
    let Some(found) = json::member(as_object(servers, under)?, NAME)? else {
        let text = json::append(text, &path[..1], Some(NAME), &new)?;
        return Ok(done(text, "add"));
    };
    let updated = match (read(found, host), foreign) {
        (Some(server), _) => refresh(text, &path, &server, host, program, agent)?,
        (None, Foreign::Replace) => json::set(text, &path, &new)?,
        (None, Foreign::Keep) => {
            let what = format!("{under}.{NAME} is another server");
            return Err(Fault::new(what, found.start()));
        }
    };
    if updated == text {
        return Ok(Outcome {
            text: Some(updated),
            ..Outcome::default()
        });
    }
    Ok(done(updated, "update"))
}

/// The text without our entry; another server under our name stays.
pub(super) fn uninstall(text: Option<&str>, host: Host) -> Result<Outcome, Fault> {
    let untouched = Outcome {
        text: text.map(str::to_owned),
        ..Outcome::default()
    };
    let (Some(text), Some(under)) = (text, container(host)) else {
        return Ok(untouched);
    };
    if find(text, host)?.is_none() {
        return Ok(untouched);
    }
    let left = json::remove(text, &[member(under), member(NAME)], 0)?;
    Ok(Outcome {
        text: match left {
            Left::Text(text) => Some(text),
            Left::Nothing => None,
        },
        did: vec![format!("remove MCP server {NAME}")],
        mentions: Vec::new(),
    })
}

/// Our entry, if the file holds one.
pub(super) fn find(text: &str, host: Host) -> Result<Option<Server>, Fault> {
    let Some(under) = container(host) else {
        return Ok(None);
    };
    let root = json::object(text)?;
    let Some(servers) = json::member(&root, under)? else {
        return Ok(None);
    };
    let found = json::member(as_object(servers, under)?, NAME)?;
    Ok(found.and_then(|value| read(value, host)))
}

fn refresh(
    text: &str,
    path: &[Step],
    server: &Server,
    host: Host,
    program: &str,
    agent: Option<&str>,
) -> Result<String, Fault> {
    let args = server.args_for(host, agent);
    let field = |name: &str| [path, &[member(name)]].concat();
    let mut text = text.to_owned();
    if host == Host::OpenCode {
        if (&server.program, &server.args) != (&program.to_owned(), &args) {
            let line = command_line(program, &args);
            text = json::set(&text, &field("command"), &json!(line))?;
        }
    } else {
        if server.program != program {
            text = json::set(&text, &field("command"), &json!(program))?;
        }
        if server.args != args {
            text = json::set(&text, &field("args"), &json!(args))?;
        }
    }
    if !limited(host) {
        return Ok(text);
    }
    let limit = json!(TOOL_LIMIT * 1000);
    let root = Value::Object(json::object(&text)?);
    let found = json::member(as_object(json::follow(&root, path)?, NAME)?, "timeout")?;
    match found.map(|v| v.as_number_lit().and_then(|n| n.value.parse::<f64>().ok())) {
        Some(Some(ms)) if ms >= 1000.0 * 3600.0 => Ok(text),
        Some(_) => json::set(&text, &field("timeout"), &limit),
        None => json::append(&text, path, Some("timeout"), &limit),
    }
}

fn read(value: &Value<'_>, host: Host) -> Option<Server> {
    let object = value.as_object()?;
    if host == Host::OpenCode {
        let line = strings(object.get_array("command")?)?;
        let (program, args) = line.split_first()?;
        return Server::parse(program, args);
    }
    let args = strings(object.get_array("args")?)?;
    Server::parse(&object.get_string("command")?.value, &args)
}

fn strings(array: &jsonc_parser::ast::Array<'_>) -> Option<Vec<String>> {
    let text = |v: &Value<'_>| v.as_string_lit().map(|s| s.value.to_string());
    array.elements.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::install::samples;
    use proptest::prelude::*;

    const PROGRAM: &str = "/usr/local/bin/sayso";

    fn put(text: Option<&str>, host: Host, agent: Option<&str>) -> String {
        let done = install(text, host, PROGRAM, agent, Foreign::Keep);
        done.unwrap().text.unwrap()
    }

    #[test]
    fn a_fresh_entry_is_what_the_host_expects_and_pins_the_agent() {
        for (host, expected) in [
            (
                Host::Claude,
                json!({"mcpServers": {"sayso": {"type": "stdio", "command": PROGRAM,
                    "args": ["mcp", "serve", "--agent-id", "claude"]}}}),
            ),
            (
                Host::Gemini,
                json!({"mcpServers": {"sayso": {"command": PROGRAM,
                    "args": ["mcp", "serve", "--agent-id", "gemini"], "timeout": 3_700_000}}}),
            ),
            (
                Host::Cursor,
                json!({"mcpServers": {"sayso": {"command": PROGRAM,
                    "args": ["mcp", "serve", "--agent-id", "cursor"]}}}),
            ),
            (
                Host::Copilot,
                json!({"mcpServers": {"sayso": {"type": "local", "command": PROGRAM,
                    "args": ["mcp", "serve", "--agent-id", "copilot"], "tools": ["*"],
                    "timeout": 3_700_000}}}),
            ),
            (
                Host::OpenCode,
                json!({"mcp": {"sayso": {"type": "local", "enabled": true, "timeout": 3_700_000,
                    "command": [PROGRAM, "mcp", "serve", "--agent-id", "opencode"]}}}),
            ),
        ] {
            let text = put(None, host, None);
            assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), expected);
            assert_eq!(put(Some(&text), host, None), text);
            let pinned = find(&text, host).unwrap().unwrap();
            assert_eq!(pinned.agent.as_deref(), Some(host.id()));
            assert_eq!(uninstall(Some(&text), host).unwrap().text, None);
        }
    }

    #[test]
    fn a_stale_entry_is_put_right_and_its_extras_stay() {
        let text = r#"{"mcpServers": {"sayso": {"command": "/old/sayso", "args": ["-v", "mcp", "serve"], "trust": false, "timeout": 5}}}"#;
        let after = put(Some(text), Host::Gemini, None);
        let right = json!({"mcpServers": {"sayso": {"command": PROGRAM,
            "args": ["-v", "mcp", "serve", "--agent-id", "gemini"], "trust": false,
            "timeout": 3_700_000}}});
        assert_eq!(serde_json::from_str::<Json>(&after).unwrap(), right);
        let named = put(Some(&after), Host::Gemini, Some("swe"));
        assert_eq!(
            find(&named, Host::Gemini)
                .unwrap()
                .unwrap()
                .agent
                .as_deref(),
            Some("swe")
        );
        assert_eq!(put(Some(&named), Host::Gemini, None), named);
        let equals = named.replace("\"--agent-id\",\"swe\"", "\"--agent-id=swe\"");
        assert_eq!(put(Some(&equals), Host::Gemini, Some("swe")), equals);
    }

    /// Case A42: only the server of our name says which agent is pinned.
    #[test]
    fn another_server_under_our_name_is_refused_and_others_do_not_count() {
        let text = r#"{"mcpServers": {"sayso": {"command": "npx", "args": ["mcp", "serve"]}}}"#;
        let fault = install(Some(text), Host::Claude, PROGRAM, None, Foreign::Keep).unwrap_err();
        assert_eq!(fault.position(text), (1, 26));
        assert_eq!(
            uninstall(Some(text), Host::Claude).unwrap().text.as_deref(),
            Some(text)
        );
        let forced = install(Some(text), Host::Claude, PROGRAM, None, Foreign::Replace).unwrap();
        assert!(find(&forced.text.unwrap(), Host::Claude).unwrap().is_some());
        let other = r#"{"mcpServers": {"human": {"command": "sayso", "args": ["mcp", "serve", "--agent-id", "lax"]}}}"#;
        assert_eq!(find(other, Host::Claude).unwrap(), None);
    }

    fn hosts() -> impl Strategy<Value = Host> {
        let hosts = [
            Host::Claude,
            Host::Gemini,
            Host::Cursor,
            Host::Copilot,
            Host::OpenCode,
        ];
        prop::sample::select(hosts.to_vec())
    }

    proptest! {
        #[test]
        fn install_then_uninstall_is_the_identity(host in hosts(), text in samples::settings(Host::Claude), nest in any::<bool>()) {
            let text = if nest { text.replacen("other0", container(host).unwrap(), 1) } else { text };
            let Ok(done) = install(Some(&text), host, PROGRAM, None, Foreign::Keep) else {
                return Ok(());
            };
            let done = done.text.unwrap();
            prop_assert!(find(&done, host).unwrap().is_some());
            let undone = uninstall(Some(&done), host).unwrap().text;
            prop_assert_eq!(undone.as_deref(), Some(text.as_str()));
        }
    }
}
