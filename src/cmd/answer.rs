//! `sayso answer`: answers as a person does, with flags or at the terminal.

use std::io::IsTerminal;

use anyhow::Result;
use rand::RngExt;

use super::context::Context;
use super::exit::Exit;
use super::operator::{find, login_name, report, responder};
use super::request::json_argument;
use crate::broker;
use crate::cli::AnswerArgs;
use crate::error::{Code, Error, Result as Checked};
use crate::id::hex;
use crate::model::interaction::{Body, Effect, Interaction};
use crate::model::response::{Answer, Permissions, Submission};
use crate::model::select::{self, Pick};
use crate::model::transition;
use crate::time::Time;

/// Answers with the flags, or asks at the terminal.
pub fn run(context: &Context, args: &AnswerArgs) -> Result<Exit> {
    let who = responder(context, args.self_answer)?;
    let flags = has_answer(args);
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let Some(id) = args.id.as_deref().filter(|_| flags || terminal) else {
        if !flags && terminal {
            return super::inbox::walk(context, args.by.as_deref(), &who);
        }
        return Err(
            Error::input("without a terminal both an id and an answer are required")
                .hint("such as: sayso answer ID --allow; 'sayso list' shows the ids")
                .into(),
        );
    };
    let scopes = context.operator_scopes()?;
    let (store, id) = find(context, &scopes, id)?;
    if !flags {
        return super::inbox::answer_one(context, &store, &id, args.by.as_deref(), &who);
    }
    let record = store.must_load(&id)?;
    let submission = submission(args, &record).map_err(|misfit| {
        // Whether the flags fit is only asked of a question that can still be answered.
        let digest = args.digest.as_ref().unwrap_or(&record.digest);
        transition::refusal(&record, Some(digest), Time::now()).unwrap_or(misfit)
    })?;
    let response_id = submission.response_id.clone();
    let answer = Answer::try_from(submission)?;
    let accepted = broker::answer(&store, &id, &answer, &who).map_err(|e| match e.code {
        Code::Unavailable => retry_hint(e, &response_id),
        _ => e,
    })?;
    report(context, &accepted)?;
    Ok(Exit::Done)
}

fn has_answer(args: &AnswerArgs) -> bool {
    args.allow
        || args.deny
        || args.choice.is_some()
        || args.text.is_some()
        || !args.select.is_empty()
        || !args.other.is_empty()
        || !args.note.is_empty()
}

fn retry_hint(error: Error, response_id: &str) -> Error {
    error.hint(format!(
        "the outcome is unknown: repeat the same answer with --response-id {response_id}"
    ))
}

/// A fresh idempotency key.
pub(super) fn random_response_id() -> String {
    hex(&rand::rng().random::<[u8; 16]>())
}

fn submission(args: &AnswerArgs, record: &Interaction) -> Checked<Submission> {
    let input = args.updated_input.as_deref();
    let base = Submission {
        response_id: args.response_id.clone().unwrap_or_else(random_response_id),
        // Those of the record that the flags were matched with, never of a later one.
        digest: Some(args.digest.as_ref().unwrap_or(&record.digest).clone()),
        nonce: Some(record.nonce.expose().to_owned()),
        message: args.message.clone(),
        updated_input: input
            .map(|t| json_argument("--updated-input", t))
            .transpose()?,
        permissions: if args.remember {
            Permissions::Remember
        } else {
            Permissions::None
        },
        source: "cli".into(),
        answered_by: args.by.clone().unwrap_or_else(login_name),
        ..Submission::default()
    };
    let question = &record.question;
    if args.allow || args.deny {
        let effect = if args.allow {
            Effect::Allow
        } else {
            Effect::Deny
        };
        return select::with_effect(question, effect, base);
    }
    if let Some(choice) = &args.choice {
        return Ok(Submission {
            choice_id: Some(choice.clone()),
            ..base
        });
    }
    let labels = args.select.iter().cloned().map(Pick::Label);
    let others = args.other.iter().cloned().map(Pick::Other);
    let notes = args.note.iter().cloned().map(Pick::Note);
    let picks: Vec<Pick> = labels.chain(others).chain(notes).collect();
    match &question.body {
        Body::Form { questions, .. } => select::reply(questions, &picks, args.text.clone(), base),
        _ if !picks.is_empty() => Err(Error::new(
            Code::InvalidAnswer,
            "--select, --other and --note fit a form only",
        )),
        _ => Ok(Submission {
            text: args.text.clone(),
            ..base
        }),
    }
}
