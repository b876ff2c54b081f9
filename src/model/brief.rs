//! What is asked, in short, and the commands that answer it. Nothing here is escaped: whoever shows it
//! to people passes it through `text` first.

use super::interaction::{Body, Effect, FormQuestion, Interaction, Question};
use super::json::Json;
use super::transition::rememberable;

/// The bound of [`whole`], in characters, the mark of what was cut aside.
pub const WHOLE_MAX: usize = 4000;

/// The member that says what a tool is about to do, by its usual names.
const PRINCIPALS: [&str; 8] = [
    "command",
    "cmd",
    "script",
    "file_path",
    "path",
    "url",
    "query",
    "pattern",
];

/// What a question is about, for one line of a listing.
pub fn summary(question: &Question) -> String {
    let Some(tool) = question.tool().filter(|_| question.questions().is_empty()) else {
        return match question.action() {
            Some(action) if action != question.prompt => format!("{} · {action}", question.prompt),
            _ => question.prompt.clone(),
        };
    };
    let input = tool.input.as_ref();
    let principal = input
        .and_then(principal)
        .and_then(|name| input?.string(name));
    let what = principal.unwrap_or_else(|| input.map_or("", Json::as_str).to_owned());
    if question.host.is_some() {
        format!("{}: {what}", tool.name)
    } else {
        format!("{} · {}: {what}", question.prompt, tool.name)
    }
}

/// The summary and, on further lines, what it leaves out: the rest of a tool's input, a form's
/// questions. At most [`WHOLE_MAX`] characters; where that is not enough, it ends in `…+N`, N characters
/// that are left out.
pub fn whole(question: &Question) -> String {
    let mut lines = vec![summary(question)];
    for (index, part) in question.questions().iter().enumerate() {
        lines.push(format!("#{} {}", index + 1, part.question));
    }
    let input = question.tool().and_then(|tool| tool.input.as_ref());
    if let Some(input) = input.filter(|_| question.questions().is_empty())
        && let Some(shown) = principal(input)
    {
        let rest = input
            .members()
            .into_iter()
            .filter(|(name, _)| name != shown);
        lines.extend(rest.map(|(name, value)| format!("{name}: {}", readable(&value))));
    }
    bounded(&lines.join("\n"), WHOLE_MAX)
}

/// A text of at most `max` characters; what is cut is counted at its end: `…+N`.
pub fn bounded(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…+{}", &text[..end], text[end..].chars().count()),
        None => text.to_owned(),
    }
}

fn principal(input: &Json) -> Option<&'static str> {
    PRINCIPALS
        .into_iter()
        .find(|name| input.string(name).is_some())
}

fn readable(value: &Json) -> String {
    serde_json::from_str(value.as_str()).unwrap_or_else(|_| value.as_str().to_owned())
}

/// Commands that answer the question, ready to run.
pub fn how_to_answer(record: &Interaction) -> Vec<String> {
    let id = &record.id;
    let mut lines = Vec::new();
    match &record.question.body {
        Body::Permission { choices, .. } => {
            let with = |effect| choices.iter().filter(|c| c.effect == Some(effect)).count();
            if with(Effect::Allow) == 1 {
                lines.push(format!("sayso answer {id} --allow"));
            }
            if with(Effect::Deny) == 1 {
                lines.push(format!("sayso answer {id} --deny --message '…'"));
            }
            if with(Effect::Allow) != 1 || with(Effect::Deny) != 1 || choices.len() > 2 {
                lines.extend(
                    choices
                        .iter()
                        .map(|c| format!("sayso answer {id} --choice {}", c.id)),
                );
            }
            if rememberable(&record.question).is_some() && record.question.takes_edits() {
                lines.push(format!("sayso answer {id} --allow --remember"));
            }
        }
        Body::SingleChoice { choices } => {
            lines.extend(
                choices
                    .iter()
                    .map(|c| format!("sayso answer {id} --choice {}", c.id)),
            );
        }
        Body::Text { .. } => lines.push(format!("sayso answer {id} --text '…'")),
        Body::Form { questions, .. } => {
            let one = |(i, q): (usize, &FormQuestion)| match q.options.first() {
                Some(first) => format!(
                    "--select {}",
                    shell_quoted(&format!("#{}={}", i + 1, first.label))
                ),
                None => format!("--other '#{}=…'", i + 1),
            };
            let picks: Vec<String> = questions.iter().enumerate().map(one).collect();
            lines.push(format!("sayso answer {id} {}", picks.join(" ")));
            lines.push(format!("sayso answer {id} --deny"));
        }
    }
    lines
}

/// A word as any shell takes it whole.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::draft::Draft;
    use crate::model::interaction::Tool;
    use crate::model::json::INPUT_MAX;

    fn of_tool(input: &str) -> Question {
        let draft = Draft {
            host: Some("claude".into()),
            prompt: "Claude Code wants to run Write".into(),
            tool: Some(Tool {
                name: "Write".into(),
                input: Some(Json::parse("input", input, INPUT_MAX).unwrap()),
                use_id: None,
                suggestions: None,
            }),
            ..Draft::default()
        };
        draft.check().unwrap()
    }

    #[test]
    fn the_whole_says_what_the_summary_leaves_out() {
        let question = of_tool(r#"{"content":"one\ntwo","file_path":"/x","mode":[7]}"#);
        assert_eq!(summary(&question), "Write: /x");
        assert_eq!(whole(&question), "Write: /x\ncontent: one\ntwo\nmode: [7]");
        let bare = of_tool(r#"{"a":1}"#);
        assert_eq!(whole(&bare), r#"Write: {"a":1}"#);
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(bounded("äöü", 3), "äöü");
        assert_eq!(bounded("äöüß", 2), "äö…+2");
        let long = of_tool(&format!(
            r#"{{"path":"/x","content":"{}"}}"#,
            "é".repeat(9000)
        ));
        let text = whole(&long);
        assert!(text.ends_with("…+5019"), "{}", &text[text.len() - 12..]);
    }
}
