//! Cursor's own words for beforeShellExecution and beforeMCPExecution (cursor.com/docs/hooks).

use super::payload::Payload;
use crate::error::{Error, Result};
use crate::model::interaction::Tool;
use crate::model::json::{INPUT_MAX, Json, object, quoted};

/// `allow`, `deny` or `ask`; the reason goes to the user and to the agent.
pub fn decides(permission: &str, reason: &str) -> String {
    let reason = quoted(reason);
    format!(r#"{{"permission":"{permission}","user_message":{reason},"agent_message":{reason}}}"#)
}

/// The command that is to run, as a call of a tool `Shell`.
///
/// # Errors
/// Where there is none in the payload.
pub fn shell(payload: &Payload) -> Result<Tool> {
    let command = payload
        .get("command")
        .ok_or_else(|| Error::input("standard input has no command"))?;
    let mut members = vec![("command", command.as_str().to_owned())];
    members.extend(
        payload
            .get("cwd")
            .map(|cwd| ("cwd", cwd.as_str().to_owned())),
    );
    let input = Json::parse("the tool's input", &object(members), INPUT_MAX)?;
    payload.call("Shell", Some(&input))
}

/// The MCP call; which server is meant stands in its `command` or `url`, and is shown with it.
///
/// # Errors
/// Where there is none in the payload.
pub fn mcp(payload: &Payload) -> Result<Tool> {
    let name = payload.text("tool_name").unwrap_or_default();
    let mut tool = payload.call(&name, payload.get("tool_input"))?;
    let server = ["url", "command"]
        .iter()
        .find_map(|member| Some((*member, payload.get(member)?)));
    if let Some((member, server)) = server {
        let arguments = tool.input.as_ref().map_or("null", Json::as_str).to_owned();
        let label = if member == "url" {
            "server_url"
        } else {
            "server_command"
        };
        let members = vec![
            (label, server.as_str().to_owned()),
            ("arguments", arguments),
        ];
        tool.input = Some(Json::parse(
            "the tool's input",
            &object(members),
            INPUT_MAX,
        )?);
    }
    Ok(tool)
}
