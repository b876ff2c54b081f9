//! A form at the key line: its questions one after the other, then one key that submits.

use super::console::{self, Console, Event, Typed};
use super::{Decision, Desk, HELP, blank, ended_decision, on_lines};
use crate::error::Result;
use crate::model::form::{FormAnswer, Labels};
use crate::model::interaction::FormQuestion;
use crate::model::response::Submission;
use crate::park::Wait;
use crate::render::out::lines_to_stderr;
use crate::render::question;
use crate::text;

struct Form {
    at: usize,
    answers: Vec<FormAnswer>,
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
        answers: vec![FormAnswer::default(); questions.len()],
        response: None,
    };
    loop {
        lines_to_stderr(&so_far(&form, questions, desk.look.columns));
        console.say_keys(&key_line(&form, questions, desk.look.columns));
        let asked = &questions[form.at];
        let decision = match console.next_key(question::digits(asked.options.len()), wait)? {
            Event::Key(key) => pressed(key, desk, &mut form, console, wait)?,
            Event::Number(number) => {
                pick(number, &mut form, asked);
                None
            }
            Event::Again => None,
            Event::Ended(ended) => Some(ended_decision(ended)),
            Event::Gone => Some(Decision::Gone),
        };
        if let Some(decision) = decision {
            return Ok(decision);
        }
    }
}

/// The answers so far; no row of it begins with a text of the asker's.
fn so_far(form: &Form, questions: &[FormQuestion], columns: usize) -> Vec<String> {
    // Beside mark, number, colon and note.
    let room = columns.saturating_sub("▸#12 :  +note".chars().count());
    let name_room = (room / 2).min(24);
    let one = |(index, question): (usize, &FormQuestion)| {
        let name = question.header.as_deref().unwrap_or(&question.question);
        let name = text::cut(name, name_room);
        let answer = &form.answers[index];
        let readable = match answer.texts().is_empty() {
            true => "–".to_owned(),
            false => text::cut(&answer.readable(), (room - name_room).min(40)),
        };
        let mark = if index == form.at { "▸" } else { " " };
        let note = if answer.note.is_some() { " +note" } else { "" };
        format!("{mark}#{} {name}: {readable}{note}", index + 1)
    };
    let each: Vec<String> = questions.iter().enumerate().map(one).collect();
    on_lines(&each, columns)
}

fn key_line(form: &Form, questions: &[FormQuestion], columns: usize) -> String {
    let options = questions[form.at].options.len();
    let mut keys = vec!["a submit".to_owned()];
    if options > 0 {
        let numbers = question::numbers(options);
        keys.push(format!("{numbers} for #{}", form.at + 1));
    }
    keys.extend(
        [
            "o other text",
            "n note",
            "j next",
            "t response",
            "d decline",
            "s skip",
            "x withdraw",
            "? help",
            "q quit",
        ]
        .map(str::to_owned),
    );
    on_lines(&keys, columns).join("\n")
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
        'j' => form.at = (form.at + 1) % questions.len(),
        'k' => form.at = (form.at + questions.len() - 1) % questions.len(),
        'o' | 'n' | 't' | 'd' => {
            let label = match key {
                'o' => "other text: ",
                'n' => "note: ",
                't' => "response: ",
                _ => "message (Enter for none): ",
            };
            let line = match console.read_line(label, wait)? {
                Typed::Line(line) => line,
                Typed::Abandoned => return Ok(None),
                Typed::Ended(ended) => return Ok(Some(ended_decision(ended))),
                Typed::Gone => return Ok(Some(Decision::Gone)),
            };
            if key == 'd' {
                return Ok(Some(decline(desk, line)));
            }
            let given = Some(line).filter(|line| !line.trim().is_empty());
            match key {
                'o' => other(given, form, &questions[form.at]),
                'n' => form.answers[form.at].note = given,
                _ => form.response = given,
            }
        }
        _ => console::say("no such key here; ? explains"),
    }
    Ok(None)
}

/// Takes an option, or back the one of several; the text beside it stays where it may.
fn pick(number: usize, form: &mut Form, question: &FormQuestion) {
    let option = number
        .checked_sub(1)
        .and_then(|at| question.options.get(at));
    let Some(option) = option else {
        console::say("there is no such option");
        return;
    };
    let label = option.label.clone();
    let answer = &mut form.answers[form.at];
    if !question.multi_select {
        answer.other = None;
        answer.labels = Some(Labels::One(label));
        form.at = (form.at + 1) % form.answers.len();
        return;
    }
    let mut labels = answer.labels().to_vec();
    match labels.iter().position(|l| *l == label) {
        Some(at) => drop(labels.remove(at)),
        None => labels.push(label),
    }
    answer.labels = (!labels.is_empty()).then_some(Labels::List(labels));
}

/// Takes a text: beside the labels of a question that takes several answers, else in their place.
fn other(given: Option<String>, form: &mut Form, question: &FormQuestion) {
    let answer = &mut form.answers[form.at];
    answer.other = given;
    if answer.other.is_some() && !question.multi_select {
        answer.labels = None;
        form.at = (form.at + 1) % form.answers.len();
    }
}

fn submit(desk: &Desk<'_>, form: &Form) -> Option<Decision> {
    let questions = desk.record.question.questions();
    let given = |answer: &FormAnswer| *answer != FormAnswer::default();
    let answers: Vec<(String, FormAnswer)> = questions
        .iter()
        .zip(&form.answers)
        .filter(|(_, answer)| given(answer))
        .map(|(question, answer)| (question.question.clone(), answer.clone()))
        .collect();
    let noted = |a: &FormAnswer| a.note.is_some() && a.texts().is_empty();
    if let Some(at) = form.answers.iter().position(noted) {
        let number = at + 1;
        console::say(&format!("#{number} has a note, but no answer beside it"));
        return None;
    }
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
