//! What a resumed workflow is told: what was asked, what was answered, and to go on.

use super::interaction::{Effect, Interaction, Outcome, Question, State};
use super::response::{Body, Response};

/// The feedback of some settled questions, in their order.
pub fn text(records: &[Interaction]) -> String {
    let mut lines: Vec<String> = records.iter().flat_map(lines).collect();
    lines.push("continue\n".to_owned());
    lines.join("\n")
}

fn lines(record: &Interaction) -> Vec<String> {
    let q = &record.question;
    match &record.state {
        State::Settled {
            outcome: Outcome::Answered(response),
            ..
        } => answered(record, response),
        _ => vec![format!(
            "The question was withdrawn without an answer: {}",
            q.prompt
        )],
    }
}

fn answered(record: &Interaction, response: &Response) -> Vec<String> {
    let q = &record.question;
    let message = response.message.as_deref();
    let mut lines = match &response.body {
        Body::Choice(id) => match q.effect(id) {
            Some(effect) => return approval(q, effect, response),
            None => {
                let label = q.choices().iter().find(|c| c.id == *id);
                let label = label.map_or(id.as_str(), |c| &c.label);
                vec![format!("{}: {label}", q.prompt)]
            }
        },
        Body::Text(text) => vec![format!("{}: {text}", q.prompt)],
        Body::Declined => vec![format!("The questions were declined: {}", q.prompt)],
        Body::Form(reply) => {
            let each = reply.answers.iter().flatten();
            let answered = each.map(|(question, a)| format!("{question}: {}", a.with_note()));
            answered.chain(reply.response.clone()).collect()
        }
    };
    lines.extend(message.map(str::to_owned));
    lines
}

fn approval(q: &Question, effect: Effect, response: &Response) -> Vec<String> {
    let word = match effect {
        Effect::Allow => "granted",
        Effect::Deny => "denied",
    };
    // A host's prompt is worded for people; any other says what the asker wants to do.
    let about = match q.tool().filter(|_| q.host.is_some()) {
        Some(tool) => format!("use tool {}", tool.name),
        None => q.action().unwrap_or(&q.prompt).to_owned(),
    };
    let decided = match &response.message {
        Some(message) => format!("Approval {word} for {about}: {message}"),
        None => format!("Approval {word} for {about}"),
    };
    // Without these lines the asker would do what it asked for, which is not what was allowed.
    let input = response.updated_input.as_ref();
    let input = input.map(|input| format!("Only with this input instead: {}", input.as_str()));
    let rules = response.updated_permissions.as_ref();
    let rules = rules.map(|rules| format!("Also allowed from now on: {}", rules.as_str()));
    [Some(decided), input, rules]
        .into_iter()
        .flatten()
        .collect()
}
