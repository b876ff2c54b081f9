//! Requests: from what an asker gives to a question within its bounds. Nothing is cut; what does not
//! fit is refused with the member's name and its bound.

use std::time::Duration;

use super::interaction::{Body, Choice, Effect, FormOption, FormQuestion, Kind, Question, Tool};
use super::response::is_name;
use crate::error::{Error, Result};

/// The bound of a prompt, in characters.
pub const PROMPT_MAX: usize = 2000;
/// The bound of a text's answer where none is given, in characters.
pub const TEXT_DEFAULT: u64 = 500;
/// The default time to live of a request.
pub const TTL_DEFAULT: Duration = Duration::from_secs(600);
/// The bounds into which a request's time to live is clamped, in seconds.
pub const TTL_BOUNDS: (u64, u64) = (30, 3600);

/// A request as it was made: nothing is checked yet.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The logical name, 1–200 characters.
    pub key: Option<String>,
    /// Default `permission`.
    pub kind: Option<Kind>,
    /// Who asks, at most 100 characters; default `unknown`.
    pub agent: Option<String>,
    /// The host whose prompt a hook caught.
    pub host: Option<String>,
    /// At most 100 characters.
    pub agent_instance: Option<String>,
    /// At most 200 characters.
    pub project: Option<String>,
    /// At most 200 characters.
    pub session_id: Option<String>,
    /// At most 200 characters.
    pub turn_id: Option<String>,
    /// At most 200 characters.
    pub native_request_id: Option<String>,
    /// At most 200 characters.
    pub workflow_id: Option<String>,
    /// At most 200 characters.
    pub task_id: Option<String>,
    /// The asker's absolute directory.
    pub cwd: Option<String>,
    /// 1–2000 characters.
    pub prompt: String,
    /// 2–12 for a permission and a single choice.
    pub choices: Vec<Choice>,
    /// For a text; clamped into 1–2000, default [`TEXT_DEFAULT`].
    pub text_max_length: Option<u64>,
    /// 1–12 for a form.
    pub questions: Vec<FormQuestion>,
    /// The tool call that a permission is about, or the form's question tool.
    pub tool: Option<Tool>,
    /// What a voluntary approval is about; at most 2000 characters.
    pub action: Option<String>,
    /// Nobody parks on it.
    pub suspended: bool,
}

impl Draft {
    /// The question, if all of it is within bounds.
    pub fn check(self) -> Result<Question> {
        let kind = self.kind.unwrap_or(Kind::Permission);
        let body = self.body(kind)?;
        if let Some(host) = &self.host
            && !is_name(host)
        {
            return Err(Error::input(
                "host must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'",
            ));
        }
        let cwd = self.cwd.filter(|cwd| !cwd.is_empty());
        if let Some(cwd) = &cwd
            && !(cwd.starts_with('/') && cwd.len() <= 4096)
        {
            return Err(Error::input(
                "cwd must be an absolute path of at most 4096 bytes",
            ));
        }
        Ok(Question {
            key: optional("key", self.key, 200)?,
            agent: optional("agent", self.agent, 100)?.unwrap_or_else(|| "unknown".into()),
            host: self.host,
            agent_instance: optional("agent_instance", self.agent_instance, 100)?,
            project: optional("project", self.project, 200)?,
            session_id: optional("session_id", self.session_id, 200)?,
            turn_id: optional("turn_id", self.turn_id, 200)?,
            native_request_id: optional("native_request_id", self.native_request_id, 200)?,
            workflow_id: optional("workflow_id", self.workflow_id, 200)?,
            task_id: optional("task_id", self.task_id, 200)?,
            cwd,
            prompt: required("prompt", &self.prompt, PROMPT_MAX)?,
            body,
            suspended: self.suspended,
        })
    }

    fn body(&self, kind: Kind) -> Result<Body> {
        let only = |name: &str, present: bool, fits: bool| {
            if present && !fits {
                return Err(Error::input(format!(
                    "{name} does not fit the kind {}",
                    kind.name()
                )));
            }
            Ok(())
        };
        let has_choices = matches!(kind, Kind::Permission | Kind::SingleChoice);
        only("choices", !self.choices.is_empty(), has_choices)?;
        only(
            "text_max_length",
            self.text_max_length.is_some(),
            kind == Kind::Text,
        )?;
        only("questions", !self.questions.is_empty(), kind == Kind::Form)?;
        let has_tool = matches!(kind, Kind::Permission | Kind::Form);
        only("tool", self.tool.is_some(), has_tool)?;
        only("action", self.action.is_some(), kind == Kind::Permission)?;
        Ok(match kind {
            Kind::Permission => Body::Permission {
                choices: permission_choices(&self.choices)?,
                tool: self.tool.as_ref().map(tool).transpose()?,
                action: optional("action", self.action.clone(), 2000)?,
            },
            Kind::SingleChoice => Body::SingleChoice {
                choices: choices(&self.choices)?,
            },
            Kind::Text => Body::Text {
                max_length: self.text_max_length.unwrap_or(TEXT_DEFAULT).clamp(1, 2000) as u32,
            },
            Kind::Form => Body::Form {
                questions: form(&self.questions, self.tool.is_some())?,
                tool: self.tool.as_ref().map(tool).transpose()?,
            },
        })
    }
}

/// A request's time to live: clamped into 30–3600 s, default 600 s.
pub fn ttl(seconds: Option<u64>) -> Duration {
    seconds.map_or(TTL_DEFAULT, |s| {
        Duration::from_secs(s.clamp(TTL_BOUNDS.0, TTL_BOUNDS.1))
    })
}

/// What an id means where the asker did not say: by its first word.
pub fn effect_of(id: &str) -> Option<Effect> {
    let word = id.split(['-', '_']).next().unwrap_or_default();
    match word {
        "allow" | "approve" | "accept" | "yes" | "ok" | "grant" => Some(Effect::Allow),
        "deny" | "reject" | "refuse" | "no" | "cancel" | "block" | "abort" | "stop" => {
            Some(Effect::Deny)
        }
        _ => None,
    }
}

fn permission_choices(given: &[Choice]) -> Result<Vec<Choice>> {
    let choice = |id: &str, label: &str| Choice {
        id: id.into(),
        label: label.into(),
        detail: None,
        effect: effect_of(id),
    };
    if given.is_empty() {
        return Ok(vec![
            choice("allow-once", "Allow once"),
            choice("deny", "Deny"),
        ]);
    }
    let mut choices = choices(given)?;
    for choice in &mut choices {
        choice.effect = choice.effect.or_else(|| effect_of(&choice.id));
    }
    Ok(choices)
}

fn choices(given: &[Choice]) -> Result<Vec<Choice>> {
    if !(2..=12).contains(&given.len()) {
        return Err(Error::input(format!(
            "choices must contain 2 to 12 entries, not {}",
            given.len()
        )));
    }
    let mut choices: Vec<Choice> = Vec::with_capacity(given.len());
    for choice in given {
        let id = choice.id.trim();
        if !is_name(id) {
            return Err(Error::input(
                "a choice id must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'",
            ));
        }
        if choices.iter().any(|c| c.id == id) {
            return Err(Error::input("choice ids must be unique"));
        }
        let label = one_line(
            "a choice's label",
            required("a choice's label", &choice.label, 200)?,
        )?;
        let detail = optional("a choice's detail", choice.detail.clone(), 500)?
            .map(|d| one_line("a choice's detail", d))
            .transpose()?;
        choices.push(Choice {
            id: id.to_owned(),
            label,
            detail,
            effect: choice.effect,
        });
    }
    Ok(choices)
}

fn one_line(name: &str, text: String) -> Result<String> {
    let breaks = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    if text.contains(breaks) {
        return Err(Error::input(format!("{name} must be one line")));
    }
    Ok(text)
}

fn tool(given: &Tool) -> Result<Tool> {
    Ok(Tool {
        name: required("the tool's name", &given.name, 200)?,
        input: given.input.clone(),
        use_id: optional("the tool's use_id", given.use_id.clone(), 200)?,
        suggestions: given.suggestions.clone(),
    })
}

/// Texts that came from a tool's input are kept as they are; others are trimmed.
fn form(given: &[FormQuestion], from_tool: bool) -> Result<Vec<FormQuestion>> {
    if !(1..=12).contains(&given.len()) {
        return Err(Error::input(format!(
            "questions must contain 1 to 12 entries, not {}",
            given.len()
        )));
    }
    let keep = |name: &str, text: &str, max: usize| {
        let trimmed = required(name, text, max)?;
        Ok(if from_tool { text.to_owned() } else { trimmed })
    };
    let maybe = |name: &str, text: &Option<String>, max: usize| {
        let trimmed = optional(name, text.clone(), max)?;
        Ok(if from_tool {
            text.clone().filter(|t| !t.trim().is_empty())
        } else {
            trimmed
        })
    };
    let mut questions: Vec<FormQuestion> = Vec::with_capacity(given.len());
    for question in given {
        let text = keep("a question", &question.question, 2000)?;
        if questions.iter().any(|q| q.question == text) {
            return Err(Error::input(
                "question texts must be unique within the form",
            ));
        }
        if question.options.len() > 50 {
            return Err(Error::input("a question must have at most 50 options"));
        }
        let mut options: Vec<FormOption> = Vec::with_capacity(question.options.len());
        for option in &question.options {
            let label = keep("an option's label", &option.label, 200)?;
            if options.iter().any(|o| o.label == label) {
                return Err(Error::input(
                    "option labels must be unique within their question",
                ));
            }
            let description = maybe("an option's description", &option.description, 500)?;
            options.push(FormOption { label, description });
        }
        questions.push(FormQuestion {
            header: maybe("a header", &question.header, 100)?,
            question: text,
            options,
            multi_select: question.multi_select,
        });
    }
    Ok(questions)
}

fn required(name: &str, text: &str, max: usize) -> Result<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::input(format!("{name} is required")));
    }
    let length = text.chars().count();
    if length > max {
        return Err(Error::input(format!(
            "{name} must be at most {max} characters, not {length}"
        )));
    }
    Ok(text.to_owned())
}

fn optional(name: &str, text: Option<String>, max: usize) -> Result<Option<String>> {
    match text {
        Some(text) if !text.trim().is_empty() => required(name, &text, max).map(Some),
        _ => Ok(None),
    }
}
