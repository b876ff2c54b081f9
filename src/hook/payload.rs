//! What a host sends: one JSON object on standard input, kept verbatim.

use std::io::Read;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::model::interaction::Tool;
use crate::model::json::Json;

/// The bound of a payload, in bytes.
pub const PAYLOAD_MAX: usize = 16 << 20;

/// A host's call of a hook.
#[derive(Debug)]
pub struct Payload(Vec<(String, Json)>);

impl Payload {
    /// Reads all of an input.
    ///
    /// # Errors
    /// `invalid_input` unless it is one JSON object of at most 16 MiB in UTF-8.
    pub fn read(input: impl Read) -> Result<Self> {
        let mut bytes = Vec::new();
        input
            .take(PAYLOAD_MAX as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::input(format!("cannot read standard input: {e}")))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Error::input("standard input is not UTF-8"))?;
        Self::parse(&text)
    }

    /// From text.
    ///
    /// # Errors
    /// As [`Payload::read`].
    pub fn parse(text: &str) -> Result<Self> {
        let json = Json::parse("standard input", text, PAYLOAD_MAX)?;
        if !json.is_object() {
            return Err(Error::input("standard input is not a JSON object"));
        }
        Ok(Self(json.members()))
    }

    /// A member, verbatim; none where it is absent or `null`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let (_, value) = self.0.iter().find(|(n, _)| n == name)?;
        (value.as_str() != "null").then_some(value)
    }

    /// A string member; one that is no string counts as absent.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.as_str()).ok()
    }

    /// The tool call.
    ///
    /// # Errors
    /// `invalid_input` without a tool's name, or where its parts are too large.
    pub fn tool(&self) -> Result<Tool> {
        let name = self
            .text("tool_name")
            .filter(|name| !name.trim().is_empty())
            .ok_or_else(|| Error::input("standard input names no tool (tool_name)"))?;
        let bounded = |member: &str, max| match self.get(member) {
            Some(json) => Json::parse(member, json.as_str(), max).map(Some),
            None => Ok(None),
        };
        Ok(Tool {
            name,
            input: bounded("tool_input", crate::model::json::INPUT_MAX)?,
            use_id: self
                .text("tool_use_id")
                .or_else(|| self.text("tool_call_id")),
            suggestions: bounded(
                "permission_suggestions",
                crate::model::json::SUGGESTIONS_MAX,
            )?,
        })
    }

    /// An MCP server's elicitation, as the call that a form is about: the server, its message and the
    /// schema of what it wants.
    ///
    /// # Errors
    /// As [`Payload::tool`].
    pub fn elicitation(&self) -> Result<Tool> {
        let members = ["mcp_server_name", "message", "requested_schema"];
        let given = members.iter().filter_map(|name| {
            let value = self.get(name)?.as_str();
            Some(format!("{}:{value}", crate::model::json::quoted(name)))
        });
        let input = format!("{{{}}}", given.collect::<Vec<_>>().join(","));
        Ok(Tool {
            name: crate::model::elicitation::TOOL.to_owned(),
            input: Some(Json::parse(
                "the elicitation",
                &input,
                crate::model::json::INPUT_MAX,
            )?),
            use_id: None,
            suggestions: None,
        })
    }

    /// The asker's session, as the hosts call it.
    pub fn session(&self) -> Option<String> {
        let names = ["session_id", "sessionId", "conversation_id"];
        names.iter().find_map(|name| self.text(name))
    }

    /// The asker's directory as it is given: an absolute path.
    pub fn cwd(&self) -> Option<String> {
        let root = || {
            let roots = self.get("workspace_roots")?.elements();
            serde_json::from_str(roots.first()?.as_str()).ok()
        };
        let given = self.text("cwd").filter(|cwd| !cwd.is_empty()).or_else(root);
        given.filter(|cwd: &String| cwd.starts_with('/'))
    }

    /// The asker's directory, where it is there.
    pub fn directory(&self) -> Option<PathBuf> {
        self.cwd().map(PathBuf::from).filter(|cwd| cwd.is_dir())
    }

    /// A tool call from its name and its input, which some hosts send as JSON in a string.
    ///
    /// # Errors
    /// As [`Payload::tool`].
    pub fn call(&self, name: &str, input: Option<&Json>) -> Result<Tool> {
        if name.trim().is_empty() {
            return Err(Error::input("standard input names no tool"));
        }
        let max = crate::model::json::INPUT_MAX;
        let input = match input {
            None => None,
            Some(json) => match serde_json::from_str::<String>(json.as_str()) {
                Ok(text) if text.trim_start().starts_with('{') => {
                    Some(Json::parse("the tool's input", &text, max)?)
                }
                _ => Some(Json::parse("the tool's input", json.as_str(), max)?),
            },
        };
        Ok(Tool {
            name: name.to_owned(),
            input,
            use_id: self
                .text("tool_use_id")
                .or_else(|| self.text("tool_call_id")),
            suggestions: None,
        })
    }

    /// The sub-agent that calls, by type and id, as far as it fits.
    pub fn sub_agent(&self) -> Option<String> {
        let id = self.text("agent_id").filter(|id| !id.trim().is_empty());
        let kind = self
            .text("agent_type")
            .filter(|kind| !kind.trim().is_empty());
        let both = match (kind, id.clone()) {
            (Some(kind), Some(id)) => Some(format!("{kind} {id}")),
            (kind, id) => kind.or(id),
        };
        let fits = |text: &String| text.chars().count() <= 100;
        both.filter(fits).or(id.filter(fits))
    }
}
