//! What the plugin shipped for OpenCode sends and takes (exercised against 1.18.33).

use super::payload::Payload;
use crate::error::{Error, Result};
use crate::model::interaction::Tool;
use crate::model::json::{INPUT_MAX, Json, object};

/// `allow` or `deny`; the plugin takes silence for "ask your own user".
pub fn decides(status: &str) -> String {
    format!(r#"{{"status":"{status}"}}"#)
}

/// The permission that is asked for, as a tool call: its patterns and its metadata, verbatim.
///
/// # Errors
/// Where there is none in the payload.
pub fn tool(payload: &Payload) -> Result<Tool> {
    let request = payload
        .get("request")
        .ok_or_else(|| Error::input("standard input has no request"))?;
    let members = request.members();
    let member = |name: &str| {
        members
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value)
    };
    let name = request.string("permission").unwrap_or_default();
    let mut input: Vec<(&str, String)> = Vec::new();
    let metadata = member("metadata").map(Json::members).unwrap_or_default();
    input.extend(
        metadata
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().to_owned())),
    );
    if let Some(patterns) = member("patterns")
        && !metadata.iter().any(|(name, _)| name == "patterns")
    {
        input.push(("patterns", patterns.as_str().to_owned()));
    }
    let input = Json::parse("the request", &object(input), INPUT_MAX)?;
    let mut tool = payload.call(&name, Some(&input))?;
    tool.use_id = request.string("id");
    Ok(tool)
}
