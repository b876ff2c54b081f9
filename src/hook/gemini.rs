//! Gemini CLI's own words for BeforeTool (from the documentation in its package, 0.61.0).

use crate::model::json::quoted;

/// The tool may run, as far as this hook goes: the host's own confirmation may still follow.
pub fn allows() -> String {
    r#"{"decision":"allow"}"#.to_owned()
}

/// The tool must not run; the model is told why.
pub fn denies(reason: &str) -> String {
    format!(r#"{{"decision":"deny","reason":{}}}"#, quoted(reason))
}
