//! The MCP server entry in Codex's `config.toml`: a block of ours at the end, the rest untouched.
//!
//! TOML is only parsed, never written back: an edit is text, and is checked by parsing the result.

use std::ops::Range;

use toml::Table;

use super::block;
use super::hooks::Outcome;
use super::json::Fault;
use super::servers::{self, Foreign, Server, TOOL_LIMIT};
use crate::hook::host::Host;

const MARK: &str = "# added by `sayso harness install codex --mcp`";
const HEADER: &str = "[mcp_servers.sayso]";

/// Our block in a file.
struct Block {
    at: Range<usize>,
    /// What it says, unless somebody edited it beyond recognition.
    server: Option<Server>,
    /// Whether it holds exactly the members that we write.
    intact: bool,
}

/// The text with our entry, which names `agent`, or the host's id where none is given.
pub(super) fn install(
    text: Option<&str>,
    program: &str,
    agent: Option<&str>,
    foreign: Foreign,
) -> Result<Outcome, Fault> {
    let table = parse(text.unwrap_or_default())?;
    let old = text.and_then(find_block);
    let kept = old
        .as_ref()
        .and_then(|b| b.server.as_ref()?.agent.as_deref());
    let new = render(program, agent.or(kept));
    match &old {
        Some(block) if !block.intact && foreign == Foreign::Keep => {
            let what = "the [mcp_servers.sayso] block was edited";
            return Err(Fault::new(what, block.at.start));
        }
        None if entry(&table).is_some() => {
            let at = text.and_then(|t| block::line(t, HEADER)).unwrap_or(0);
            let what = "mcp_servers.sayso is already defined, not by sayso harness install";
            return Err(Fault::new(what, at));
        }
        _ => {}
    }
    let after = block::put(text, old.as_ref().map(|b| b.at.clone()), &new);
    if Some(after.as_str()) == text {
        return Ok(Outcome {
            text: Some(after),
            ..Outcome::default()
        });
    }
    let checked = parse(&after).ok().filter(|t| same_beside_ours(t, &table));
    if checked.is_none() {
        let what = "mcp_servers is written in a way that cannot be added to";
        return Err(Fault::new(what, 0));
    }
    let verb = if old.is_some() { "update" } else { "add" };
    Ok(outcome(Some(after), verb))
}

/// The text without our block.
pub(super) fn uninstall(text: Option<&str>, foreign: Foreign) -> Result<Outcome, Fault> {
    let found = text.and_then(|t| Some((t, find_block(t)?)));
    let Some((text, block)) = found else {
        return Ok(Outcome {
            text: text.map(str::to_owned),
            ..Outcome::default()
        });
    };
    if !block.intact && foreign == Foreign::Keep {
        let what = "the [mcp_servers.sayso] block was edited";
        return Err(Fault::new(what, block.at.start));
    }
    let table = parse(text)?;
    let after = block::cut(text, &block.at);
    let checked = parse(after.as_deref().unwrap_or_default());
    if !checked.is_ok_and(|t| same_beside_ours(&t, &table)) {
        let what = "the [mcp_servers.sayso] block cannot be taken out of its surroundings";
        return Err(Fault::new(what, block.at.start));
    }
    Ok(outcome(after, "remove"))
}

/// Our entry, if the file holds one, however it got there.
pub(super) fn find(text: &str) -> Result<Option<Server>, Fault> {
    Ok(entry(&parse(text)?).and_then(server))
}

fn outcome(text: Option<String>, verb: &str) -> Outcome {
    Outcome {
        text,
        did: vec![format!("{verb} MCP server {}", servers::NAME)],
        mentions: Vec::new(),
    }
}

fn parse(text: &str) -> Result<Table, Fault> {
    text.parse::<Table>().map_err(|e| {
        let what = e
            .message()
            .lines()
            .next()
            .unwrap_or_default()
            .to_lowercase();
        Fault::new(
            format!("not valid TOML: {what}"),
            e.span().map_or(0, |s| s.start),
        )
    })
}

fn render(program: &str, agent: Option<&str>) -> String {
    let quoted = |s: &str| toml::Value::from(s).to_string();
    let args: Vec<String> = servers::args(Host::Codex, agent)
        .iter()
        .map(|a| quoted(a))
        .collect();
    format!(
        "{MARK}\n{HEADER}\ncommand = {}\nargs = [{}]\ntool_timeout_sec = {TOOL_LIMIT}\n",
        quoted(program),
        args.join(", ")
    )
}

/// The marked lines: the mark, the header, and the members up to a blank line, a comment or a header.
fn find_block(text: &str) -> Option<Block> {
    let start = block::line(text, MARK)?;
    let header = block::line_end(text, start);
    if text[header..].lines().next()?.trim_end() != HEADER {
        return None;
    }
    let mut end = block::line_end(text, header);
    while let Some(line) = text[end..].lines().next() {
        if line.trim().is_empty() || line.starts_with(['#', '[']) {
            break;
        }
        end = block::line_end(text, end);
    }
    let own: Option<Table> = text[start..end].parse().ok();
    let entry = own.as_ref().and_then(entry);
    let ours = ["command", "args", "tool_timeout_sec"];
    let exact = |t: &Table| t.len() == ours.len() && ours.iter().all(|k| t.contains_key(*k));
    let server = entry.and_then(server);
    Some(Block {
        at: start..end,
        intact: server.is_some() && entry.is_some_and(exact),
        server,
    })
}

fn entry(table: &Table) -> Option<&Table> {
    table
        .get("mcp_servers")?
        .as_table()?
        .get(servers::NAME)?
        .as_table()
}

fn server(entry: &Table) -> Option<Server> {
    let args = entry.get("args")?.as_array()?;
    let args: Option<Vec<String>> = args.iter().map(|a| a.as_str().map(str::to_owned)).collect();
    Server::parse(entry.get("command")?.as_str()?, &args?)
}

/// Whether two documents say the same apart from our entry. Compared as text, so that NaN equals itself.
fn same_beside_ours(a: &Table, b: &Table) -> bool {
    let rest = |table: &Table| {
        let mut table = table.clone();
        if let Some(toml::Value::Table(servers)) = table.get_mut("mcp_servers") {
            servers.remove(servers::NAME);
            if servers.is_empty() {
                table.remove("mcp_servers");
            }
        }
        format!("{table:?}")
    };
    rest(a) == rest(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(text: Option<&str>) -> Result<String, Fault> {
        install(text, "/opt/my tools/sayso", None, Foreign::Keep).map(|o| o.text.unwrap())
    }

    #[test]
    fn the_block_is_as_codex_reads_it() {
        assert_eq!(
            put(Some("model = \"o3\"")).unwrap(),
            "model = \"o3\"\n\
             # added by `sayso harness install codex --mcp`\n\
             [mcp_servers.sayso]\n\
             command = \"/opt/my tools/sayso\"\n\
             args = [\"mcp\", \"serve\", \"--agent-id\", \"codex\"]\n\
             tool_timeout_sec = 3700\n"
        );
    }

    #[test]
    fn only_our_own_block_is_updated() {
        let text = put(None).unwrap();
        let more = format!("{text}\n[mcp_servers.other]\ncommand = \"x\"\n");
        let moved = install(Some(&more), "/new/sayso", Some("swe"), Foreign::Keep).unwrap();
        let moved = moved.text.unwrap();
        assert!(moved.ends_with("\n[mcp_servers.other]\ncommand = \"x\"\n"));
        let server = find(&moved).unwrap().unwrap();
        assert_eq!(server.program, "/new/sayso");
        assert_eq!(server.agent.as_deref(), Some("swe"));
        let kept = put(Some(&moved)).unwrap();
        assert_eq!(find(&kept).unwrap().unwrap().agent.as_deref(), Some("swe"));
        let gone = uninstall(Some(&kept), Foreign::Keep).unwrap().text.unwrap();
        assert_eq!(gone, "\n[mcp_servers.other]\ncommand = \"x\"\n");
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        for (text, what) in [
            ("a = \n", "not valid TOML"),
            ("[mcp_servers.sayso]\ncommand = \"x\"\n", "already defined"),
            ("mcp_servers = {}\n", "cannot be added to"),
            (
                "[mcp_servers]\nsayso = { command = \"x\" }\n",
                "already defined",
            ),
        ] {
            let fault = put(Some(text)).unwrap_err();
            assert!(fault.what.contains(what), "{text}: {}", fault.what);
        }
        let edited = put(None).unwrap() + "enabled = false\n";
        assert!(put(Some(&edited)).is_err());
        assert!(uninstall(Some(&edited), Foreign::Keep).is_err());
        assert_eq!(
            uninstall(Some(&edited), Foreign::Replace).unwrap().text,
            None
        );
        let fault = put(Some("a = 1\nb = [\n")).unwrap_err();
        assert_eq!(fault.position("a = 1\nb = [\n").0, 2);
    }

    proptest! {
        #[test]
        fn install_then_uninstall_is_the_identity(
            lines in prop::collection::vec(prop_oneof![
                Just("# note"), Just(""), Just("[a]"), Just("  x = nan # y"), Just("[[list]]"),
                Just("[mcp_servers.other]"), Just("s = '''\n# in a string\n'''"),
            ], 0..6),
            last in any::<bool>(),
            crlf in any::<bool>(),
        ) {
            let mut text = lines.join(if crlf { "\r\n" } else { "\n" });
            if last { text.push('\n'); }
            prop_assume!(text.parse::<Table>().is_ok());
            let with = put(Some(&text)).unwrap();
            prop_assert!(find(&with).unwrap().is_some());
            prop_assert_eq!(put(Some(&with)).unwrap(), with.clone());
            prop_assert_eq!(uninstall(Some(&with), Foreign::Keep).unwrap().text, Some(text));
        }
    }
}
