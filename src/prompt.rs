//! The key line on a terminal: one question, one key. What is decided here is bound to the record that
//! was printed; Enter alone never answers, and a question that is settled elsewhere takes no key.

mod console;
mod form;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::fsio::Held;
use crate::model::interaction::{Body, Choice, Effect, Interaction};
use crate::model::json::{INPUT_MAX, Json};
use crate::model::response::{Permissions, Submission};
use crate::model::transition::rememberable;
use crate::park::{Ended, Wait};
use crate::render::out::lines_to_stderr;
use crate::render::question::{self, Look};
use crate::text;
use console::{Console, Event, Typed};

/// A question that is put to the operator.
pub struct Desk<'a> {
    /// What is printed and answered.
    pub record: &'a Interaction,
    /// Whether anyone waits, where that is worth saying.
    pub waiting: Option<Held>,
    /// How it is drawn.
    pub look: Look,
    /// Said above the question, on one line.
    pub above: Option<String>,
    /// Who answers.
    pub answered_by: &'a str,
    /// The idempotency key of the answer.
    pub response_id: String,
    /// Whether the terminal is dumb: keys then need Enter.
    pub dumb: bool,
    /// When keys count.
    pub settle: Settle,
}

/// When the keys of a question that was just printed begin to count. A hand that was about to answer the
/// one before it must not answer this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// At once: the operator called for this question, or there was none before it.
    AtOnce,
    /// Once no key came for a moment: the one before it was answered with a key that may be held.
    AfterQuiet,
    /// After a second look: the one before it went away by itself.
    AfterLook,
}

impl Settle {
    fn least(self) -> Duration {
        match self {
            Self::AtOnce => Duration::ZERO,
            Self::AfterQuiet => Duration::from_millis(200),
            Self::AfterLook => Duration::from_millis(700),
        }
    }
}

/// What the operator, or the world, decided.
pub enum Decision {
    /// An answer to submit.
    Answer(Box<Submission>),
    /// Not now.
    Skip,
    /// Withdraw the question.
    Withdraw,
    /// Stop asking me.
    Quit,
    /// The wait ended: settled elsewhere, a signal, a hang-up.
    Ended(Ended),
    /// The terminal is gone.
    Gone,
}

/// Prints the question and takes keys until something is decided.
///
/// # Errors
/// Where standard input is no terminal, or waiting fails.
pub fn ask(desk: &Desk<'_>, wait: &mut Wait<'_>) -> Result<Decision> {
    let stdin = std::io::stdin();
    let mut console = Console::open(&stdin, desk.dumb)?;
    let mut state = State {
        remember: false,
        edited: None,
    };
    print_question(desk, &mut console)?;
    if desk.settle != Settle::AtOnce
        && let Some(ended) = console.settle(desk.settle.least(), wait)?
    {
        return Ok(ended_decision(ended));
    }
    if matches!(desk.record.question.body, Body::Form { .. }) {
        return form::ask(desk, &mut console, wait);
    }
    loop {
        console.say_keys(&key_line(desk, &state));
        let choices = desk.record.question.choices();
        let decision = match console.next_key(question::digits(choices.len()), wait)? {
            Event::Key(key) => pressed(key, desk, &mut state, &mut console, wait)?,
            Event::Number(number) => match number.checked_sub(1).and_then(|at| choices.get(at)) {
                Some(choice) => Some(choose(desk, &state, choice, None)),
                None => {
                    console::say("there is no such choice");
                    None
                }
            },
            Event::Again => None,
            Event::Ended(ended) => Some(ended_decision(ended)),
            Event::Gone => Some(Decision::Gone),
        };
        if let Some(decision) = decision {
            return Ok(decision);
        }
    }
}

struct State {
    remember: bool,
    edited: Option<Json>,
}

fn print_question(desk: &Desk<'_>, console: &mut Console<'_>) -> Result<()> {
    let mut lines = vec![String::new()];
    if let Some(above) = &desk.above {
        lines.push(desk.look.style.dim(&text::cut(above, desk.look.columns)));
    }
    lines.extend(question::record(desk.record, desk.waiting, desk.look));
    lines_to_stderr(&lines);
    console.forget_typed_ahead()
}

fn ended_decision(ended: Ended) -> Decision {
    if let Ended::Settled(record) = &ended {
        let by = record
            .response()
            .map_or(String::new(), |r| format!(" by {}", r.answered_by));
        console::say(&format!("{} elsewhere{by}", record.status().name()));
    }
    Decision::Ended(ended)
}

fn key_line(desk: &Desk<'_>, state: &State) -> String {
    let q = &desk.record.question;
    let mut keys: Vec<String> = Vec::new();
    match &q.body {
        Body::Permission { choices, .. } => {
            if only(choices, Effect::Allow).is_some() {
                keys.push(
                    if state.edited.is_some() {
                        "a allow edited"
                    } else {
                        "a allow"
                    }
                    .into(),
                );
            }
            if only(choices, Effect::Deny).is_some() {
                keys.push("d deny".into());
            }
            keys.push(format!("{} choice", question::numbers(choices.len())));
            if can_remember(desk) {
                keys.push(format!(
                    "r remember:{}",
                    if state.remember { "on" } else { "off" }
                ));
            }
            if can_edit(desk) {
                keys.push("e edit".into());
            }
        }
        Body::SingleChoice { choices } => {
            keys.push(format!("{} choice", question::numbers(choices.len())));
        }
        Body::Text { .. } => keys.push("t type".into()),
        Body::Form { .. } => {}
    }
    keys.push("s skip".into());
    keys.push("x withdraw".into());
    keys.push("? help".into());
    keys.push("q quit".into());
    on_lines(&keys, desk.look.columns).join("\n")
}

/// The parts on as many lines as they take, none of them broken, with three columns left on each.
fn on_lines(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if text::width(line) + 2 + text::width(part) + 3 <= columns => {
                line.push_str("  ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

fn can_edit(desk: &Desk<'_>) -> bool {
    desk.record
        .question
        .tool()
        .is_some_and(|t| t.input.is_some())
        && desk.record.question.takes_edits()
}

fn can_remember(desk: &Desk<'_>) -> bool {
    rememberable(&desk.record.question).is_some() && desk.record.question.takes_edits()
}

fn only(choices: &[Choice], effect: Effect) -> Option<&Choice> {
    let mut with = choices.iter().filter(|c| c.effect == Some(effect));
    match (with.next(), with.next()) {
        (Some(choice), None) => Some(choice),
        _ => None,
    }
}

/// What a key does; none if nothing is decided yet.
fn pressed(
    key: char,
    desk: &Desk<'_>,
    state: &mut State,
    console: &mut Console<'_>,
    wait: &mut Wait<'_>,
) -> Result<Option<Decision>> {
    let q = &desk.record.question;
    let permission = matches!(q.body, Body::Permission { .. });
    match key {
        's' => return Ok(Some(Decision::Skip)),
        'x' => return Ok(Some(Decision::Withdraw)),
        'q' => return Ok(Some(Decision::Quit)),
        '?' => console::say(HELP),
        'a' if permission => match only(q.choices(), Effect::Allow) {
            Some(choice) => return Ok(Some(choose(desk, state, choice, None))),
            None => console::say("several choices allow, or none: press a choice's number"),
        },
        'd' if permission => match only(q.choices(), Effect::Deny) {
            Some(choice) => {
                return Ok(
                    match console.read_line("message (Enter for none): ", wait)? {
                        Typed::Line(message) => Some(choose(desk, state, choice, Some(message))),
                        Typed::Abandoned => None,
                        Typed::Ended(ended) => Some(ended_decision(ended)),
                        Typed::Gone => Some(Decision::Gone),
                    },
                );
            }
            None => console::say("several choices deny, or none: press a choice's number"),
        },
        't' => return type_text(desk, console, wait),
        'r' if permission && can_remember(desk) => state.remember = !state.remember,
        'e' if permission && can_edit(desk) => edit(desk, state, console)?,
        _ => console::say("no such key here; ? explains"),
    }
    Ok(None)
}

const HELP: &str = "a allow, submit a form · d deny with a message, decline a form · 1-9 (01-50 where there are more than nine) pick a choice or a form's option · t type text · o other text · n note to a form's question · j k next and previous question · e edit the tool input · r toggle remember · s skip · x withdraw · q quit";

fn type_text(
    desk: &Desk<'_>,
    console: &mut Console<'_>,
    wait: &mut Wait<'_>,
) -> Result<Option<Decision>> {
    let choices = desk.record.question.choices();
    let label = if choices.is_empty() {
        "text: "
    } else {
        "choice id: "
    };
    let text = match console.read_line(label, wait)? {
        Typed::Line(text) if text.trim().is_empty() => return Ok(None),
        Typed::Line(text) => text,
        Typed::Abandoned => return Ok(None),
        Typed::Ended(ended) => return Ok(Some(ended_decision(ended))),
        Typed::Gone => return Ok(Some(Decision::Gone)),
    };
    if choices.is_empty() {
        let submission = Submission {
            text: Some(text),
            ..blank(desk)
        };
        return Ok(Some(Decision::Answer(Box::new(submission))));
    }
    let submission = Submission {
        choice_id: Some(text.trim().to_owned()),
        ..blank(desk)
    };
    Ok(Some(Decision::Answer(Box::new(submission))))
}

/// An answer to what was printed, still without what it says.
fn blank(desk: &Desk<'_>) -> Submission {
    Submission {
        response_id: desk.response_id.clone(),
        digest: Some(desk.record.digest.clone()),
        nonce: Some(desk.record.nonce.expose().to_owned()),
        source: "cli".into(),
        answered_by: desk.answered_by.to_owned(),
        ..Submission::default()
    }
}

fn choose(desk: &Desk<'_>, state: &State, choice: &Choice, message: Option<String>) -> Decision {
    let allows = choice.effect == Some(Effect::Allow);
    Decision::Answer(Box::new(Submission {
        choice_id: Some(choice.id.clone()),
        message,
        updated_input: state.edited.clone().filter(|_| allows),
        permissions: if state.remember && allows {
            Permissions::Remember
        } else {
            Permissions::None
        },
        ..blank(desk)
    }))
}

/// Lets the operator edit the tool's input; what comes back is shown, and allowed only by a further key.
fn edit(desk: &Desk<'_>, state: &mut State, console: &mut Console<'_>) -> Result<()> {
    let Some(input) = desk.record.question.tool().and_then(|t| t.input.as_ref()) else {
        return Ok(());
    };
    let before = state.edited.as_ref().unwrap_or(input);
    let pretty = serde_json::to_string_pretty(&before.value()).map_err(|e| {
        Error::input(format!(
            "cannot show the input: {}",
            crate::model::json::reason(&e)
        ))
    })?;
    let edited = match console.edit(&pretty) {
        Ok(edited) => edited,
        Err(why) => {
            console::say(&format!("not edited: {why}"));
            return Ok(());
        }
    };
    if edited.trim() == pretty.trim() {
        console::say("unchanged");
        return Ok(());
    }
    match Json::parse("the edited input", &edited, INPUT_MAX) {
        Ok(json) if json.is_object() => {
            let block = text::block(&edited, desk.look.columns);
            lines_to_stderr(&["edited input".to_owned()]);
            lines_to_stderr(&block.lines);
            lines_to_stderr(&block.notes);
            let tool = desk.record.question.tool();
            let tool = tool.map(|tool| (tool.name.as_str(), Some(&json)));
            let mark = question::no_way_back(tool, None, desk.look);
            lines_to_stderr(mark.as_slice());
            state.edited = Some(json);
        }
        Ok(_) => console::say("not edited: the input must stay a JSON object"),
        Err(error) => console::say(&format!("not edited: {error}")),
    }
    console.forget_typed_ahead()
}
