//! A form at the key line: its questions one after the other, then one key that submits.

use super::console::{self, Console, Event, Typed};
use super::{Decision, Desk, HELP, blank, ended_decision};
use crate::error::Result;
use crate::model::form::FormAnswer;
use crate::model::interaction::FormQuestion;
use crate::model::response::Submission;
use crate::park::Wait;
use crate::text;

struct Form {
    at: usize,
    answers: Vec<Option<FormAnswer>>,
    response: Option<String>,
}

/// Takes keys until the form is submitted, declined or left.
pub(super) fn ask(
    desk: &Desk<'_>,
    console: &mut Console<'_>,
    wait: &mut Wait<'_>,
) -> Result<Decision> {
    let questions = desk.record.question.questions();
    let mut form = Form {
        at: 0,
        answers: vec![None; questions.len()],
        response: None,
    };
    loop {
        console::say(&so_far(&form, questions));
        console.say_keys(&key_line(&form, questions));
        let key = match console.next_key(wait)? {
            Event::Key(key) => key,
            Event::Again => continue,
            Event::Ended(ended) => return Ok(ended_decision(ended)),
            Event::Gone => return Ok(Decision::Gone),
        };
        if let Some(decision) = pressed(key, desk, &mut form, console, wait)? {
            return Ok(decision);
        }
    }
}

fn so_far(form: &Form, questions: &[FormQuestion]) -> String {
    let one = |(index, question): (usize, &FormQuestion)| {
        let name = question.header.as_deref().unwrap_or(&question.question);
        let answer = form.answers[index]
            .as_ref()
            .map_or_else(|| "–".into(), FormAnswer::readable);
        let mark = if index == form.at { "▸" } else { " " };
        format!(
            "{mark}#{} {}: {}",
            index + 1,
            text::cut(name, 24),
            text::cut(&answer, 40)
        )
    };
    questions
        .iter()
        .enumerate()
        .map(one)
        .collect::<Vec<_>>()
        .join("  ")
}

fn key_line(form: &Form, questions: &[FormQuestion]) -> String {
    let options = questions[form.at].options.len().min(9);
    let mut keys = vec!["a submit".to_owned()];
    if options > 0 {
        keys.push(format!("1-{options} for #{}", form.at + 1));
    }
    keys.extend(
        [
            "o other text",
            "n next",
            "t response",
            "d decline",
            "s skip",
            "x withdraw",
            "? help",
            "q quit",
        ]
        .map(str::to_owned),
    );
    keys.join("  ")
}

fn pressed(
    key: char,
    desk: &Desk<'_>,
    form: &mut Form,
    console: &mut Console<'_>,
    wait: &mut Wait<'_>,
) -> Result<Option<Decision>> {
    let questions = desk.record.question.questions();
    match key {
        's' => return Ok(Some(Decision::Skip)),
        'x' => return Ok(Some(Decision::Withdraw)),
        'q' => return Ok(Some(Decision::Quit)),
        '?' => console::say(HELP),
        'a' => return Ok(submit(desk, form)),
        'n' => form.at = (form.at + 1) % questions.len(),
        '1'..='9' => pick(key as usize - '1' as usize, form, &questions[form.at]),
        'o' | 't' | 'd' => {
            let label = match key {
                'o' => "other text: ",
                't' => "response: ",
                _ => "message (Enter for none): ",
            };
            let line = match console.read_line(label, wait)? {
                Typed::Line(line) => line,
                Typed::Abandoned => return Ok(None),
                Typed::Ended(ended) => return Ok(Some(ended_decision(ended))),
                Typed::Gone => return Ok(Some(Decision::Gone)),
            };
            match key {
                'd' => return Ok(Some(decline(desk, line))),
                't' => form.response = Some(line).filter(|l| !l.trim().is_empty()),
                _ if line.trim().is_empty() => form.answers[form.at] = None,
                _ => {
                    form.answers[form.at] = Some(FormAnswer::Other(line));
                    form.at = (form.at + 1) % questions.len();
                }
            }
        }
        _ => console::say("no such key here; ? explains"),
    }
    Ok(None)
}

fn pick(index: usize, form: &mut Form, question: &FormQuestion) {
    let Some(option) = question.options.get(index) else {
        console::say("there is no such option");
        return;
    };
    let label = option.label.clone();
    if !question.multi_select {
        form.answers[form.at] = Some(FormAnswer::One(label));
        form.at = (form.at + 1) % form.answers.len();
        return;
    }
    let mut labels: Vec<String> = match &form.answers[form.at] {
        Some(FormAnswer::One(one)) => vec![one.clone()],
        Some(FormAnswer::Many(many)) => many.clone(),
        Some(FormAnswer::Other(_)) | None => Vec::new(),
    };
    match labels.iter().position(|l| *l == label) {
        Some(at) => drop(labels.remove(at)),
        None => labels.push(label),
    }
    form.answers[form.at] = (!labels.is_empty()).then_some(FormAnswer::Many(labels));
}

fn submit(desk: &Desk<'_>, form: &Form) -> Option<Decision> {
    let questions = desk.record.question.questions();
    let answers: Vec<(String, FormAnswer)> = questions
        .iter()
        .zip(&form.answers)
        .filter_map(|(question, answer)| Some((question.question.clone(), answer.clone()?)))
        .collect();
    if answers.is_empty() && form.response.is_none() {
        console::say("nothing is answered yet");
        return None;
    }
    Some(Decision::Answer(Box::new(Submission {
        answers: (!answers.is_empty()).then_some(answers),
        response: form.response.clone(),
        ..blank(desk)
    })))
}

fn decline(desk: &Desk<'_>, message: String) -> Decision {
    Decision::Answer(Box::new(Submission {
        declined: true,
        message: Some(message),
        ..blank(desk)
    }))
}
