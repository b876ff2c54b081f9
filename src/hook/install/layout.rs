//! How a JSON document is laid out: white space, line ends, indentation, and new text that fits in.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;

/// How the document is laid out, so that what is added looks like what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Children stand on lines of their own.
    Lines {
        /// The line end in use.
        eol: &'static str,
        /// One level of indentation.
        unit: String,
    },
    /// Everything stands on one line.
    OneLine,
}

impl Style {
    /// The layout of new files.
    pub(super) fn fresh() -> Self {
        Self::Lines {
            eol: "\n",
            unit: "  ".to_owned(),
        }
    }

    /// The layout of an existing document.
    pub(super) fn of(text: &str, root: &Object<'_>) -> Self {
        let within = &text[root.start()..root.end()];
        let Some(first) = root.properties.first() else {
            return Self::Lines {
                eol: line_end(text).unwrap_or("\n"),
                unit: "  ".to_owned(),
            };
        };
        let Some(eol) = line_end(within) else {
            return Self::OneLine;
        };
        let outer = line_indent(text, root.start());
        let unit = own_line(text, first.start())
            .and_then(|indent| indent.strip_prefix(outer))
            .filter(|unit| !unit.is_empty())
            .unwrap_or("  ")
            .to_owned();
        Self::Lines { eol, unit }
    }

    /// A value as text; `indent` is the indentation of the line it starts on.
    pub(super) fn render(&self, value: &serde_json::Value, indent: &str) -> String {
        use serde_json::Value as Json;
        let items: Vec<(String, &Json)> = match value {
            Json::Object(map) => map
                .iter()
                .map(|(k, v)| (format!("{}: ", Json::from(k.as_str())), v))
                .collect(),
            Json::Array(list) => list.iter().map(|v| (String::new(), v)).collect(),
            scalar => return scalar.to_string(),
        };
        let (open, close) = if value.is_object() {
            ('{', '}')
        } else {
            ('[', ']')
        };
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let inner = self.deeper(indent);
        let body: Vec<String> = items
            .iter()
            .map(|(name, v)| format!("{name}{}", self.render(v, &inner)))
            .collect();
        match self {
            Self::Lines { eol, .. } => format!(
                "{open}{eol}{inner}{}{eol}{indent}{close}",
                body.join(&format!(",{eol}{inner}"))
            ),
            Self::OneLine => format!("{open} {} {close}", body.join(", ")),
        }
    }

    /// The separator in front of a child.
    pub(super) fn lead(&self, indent: &str) -> String {
        match self {
            Self::Lines { eol, .. } => format!("{eol}{indent}"),
            Self::OneLine => " ".to_owned(),
        }
    }

    pub(super) fn deeper(&self, indent: &str) -> String {
        match self {
            Self::Lines { unit, .. } => format!("{indent}{unit}"),
            Self::OneLine => String::new(),
        }
    }
}

pub(super) fn is_blank_char(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

pub(super) fn trailing_blanks(text: &str) -> usize {
    text.len() - text.trim_end_matches(is_blank_char).len()
}

/// The first comma between two tokens, outside comments.
pub(super) fn comma(between: &str) -> Option<usize> {
    let bytes = between.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match (bytes[i], bytes.get(i + 1)) {
            (b',', _) => return Some(i),
            (b'/', Some(b'/')) => i += between[i..].find(['\n', '\r'])?,
            (b'/', Some(b'*')) => i += between[i + 2..].find("*/")? + 4,
            _ => i += 1,
        }
    }
    None
}

pub(super) fn line_end(text: &str) -> Option<&'static str> {
    if text.contains("\r\n") {
        Some("\r\n")
    } else if text.contains('\n') {
        Some("\n")
    } else if text.contains('\r') {
        Some("\r")
    } else {
        None
    }
}

/// The white space in front of what starts at `at`, if nothing else stands before it on its line.
pub(super) fn own_line(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind(['\n', '\r'])? + 1;
    is_blank(&text[start..at]).then(|| &text[start..at])
}

/// The indentation of the line that `at` is on.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |i| i + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
