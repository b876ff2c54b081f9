//! What the extension shipped for Pi takes (exercised against 0.73.1). It takes silence for "ask your
//! own user".

use crate::model::json::quoted;

/// The tool may run.
pub fn allows() -> String {
    r#"{"block":false}"#.to_owned()
}

/// The tool must not run; the model is told why.
pub fn denies(reason: &str) -> String {
    format!(r#"{{"block":true,"reason":{}}}"#, quoted(reason))
}
