//! `sayso respond`: answers as a program does, with digest and nonce.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::{find, login_name, report, responder};
use super::request::{json_argument, read_file};
use crate::broker::{self, Accepted};
use crate::cli::RespondArgs;
use crate::error;
use crate::model::form::AnswerMap;
use crate::model::response::{Answer, Permissions, Submission};
use crate::model::select;

/// Submits the answer and says what became of it.
pub fn run(context: &Context, args: &RespondArgs) -> Result<Exit> {
    report(context, &accept(context, args)?)?;
    Ok(Exit::Done)
}

/// Submits the answer.
pub(super) fn accept(context: &Context, args: &RespondArgs) -> error::Result<Accepted> {
    let who = responder(context, args.self_answer)?;
    let answer = Answer::try_from(submission(args)?)?;
    let scopes = context.operator_scopes()?;
    let (store, id) = find(context, &scopes, &args.id)?;
    let answer = select::read(&store.must_load(&id)?.question, answer);
    broker::answer(&store, &id, &answer, &who)
}

fn submission(args: &RespondArgs) -> error::Result<Submission> {
    let from_file = |name: &str, path: &Option<std::path::PathBuf>| {
        path.as_ref().map(|path| read_file(name, path)).transpose()
    };
    let nonce = from_file("--nonce-file", &args.nonce_file)?.map(|t| t.trim().to_owned());
    let text = from_file("--text-file", &args.text_file)?;
    let answers = match &args.answers {
        Some(given) => Some(AnswerMap::parse(json_argument("--answers", given)?.as_str())?.0),
        None => None,
    };
    let input = &args.updated_input;
    Ok(Submission {
        response_id: args.response_id.clone(),
        digest: args.digest.clone(),
        nonce: nonce.or_else(|| args.nonce.clone()),
        choice_id: args.choice.clone(),
        text: text.or_else(|| args.text.clone()),
        answers,
        response: args.response.clone(),
        declined: args.declined,
        message: args.message.clone(),
        updated_input: input
            .as_deref()
            .map(|t| json_argument("--updated-input", t))
            .transpose()?,
        permissions: if args.remember {
            Permissions::Remember
        } else {
            Permissions::None
        },
        source: args.source.clone().unwrap_or_else(|| "cli".into()),
        device_id: args.device.clone(),
        answered_by: args.by.clone().unwrap_or_else(login_name),
    })
}
