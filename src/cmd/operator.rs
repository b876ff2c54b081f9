//! What the operator's verbs share: finding a question by its id or prefix, and saying who answers.

use serde_json::json;

use super::context::{Context, Scopes};
use crate::broker::resume::{Resumed, WorkflowResume, guidance};
use crate::broker::{Accepted, Delivery};
use crate::error::{Code, Error, Result};
use crate::id::{Id, is_hex};
use crate::model::interaction::{Effect, Interaction, Kind};
use crate::model::record::Secrets;
use crate::model::response::{Body, Responder};
use crate::render::json as envelope;
use crate::render::question::prompt_head;
use crate::store::Store;
use crate::store::query::not_found;
use crate::text;
use crate::time::Time;

/// The variables that show an agent's session.
const AGENT_SESSIONS: [&str; 7] = [
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "CURSOR_AGENT",
    "SAYSO_AGENT",
];

/// Finds the one question that an id, or a prefix of at least 4 characters, names.
pub fn find(context: &Context, scopes: &Scopes, text: &str) -> Result<(Store, Id)> {
    let text = text.to_ascii_lowercase();
    if !is_hex(&text) || !(4..=32).contains(&text.len()) {
        return Err(Error::input(
            "an id is 32 hex characters, or a prefix of at least 4 of them",
        ));
    }
    let mut found = matching(&scopes.stores, &text)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(elsewhere(context, &text)),
        _ => Err(ambiguous(&text, &found)),
    }
}

/// Finds the scope that holds a full id.
pub fn find_exact(context: &Context, stores: &[Store], text: &str) -> Result<(Store, Id)> {
    let id = Id::parse(&text.to_ascii_lowercase())
        .ok_or_else(|| Error::input("this verb takes a full id: 32 hex characters"))?;
    match stores.iter().find(|store| store.has(&id)) {
        Some(store) => Ok((store.clone(), id)),
        None => Err(elsewhere(context, id.as_str())),
    }
}

fn matching(stores: &[Store], text: &str) -> Result<Vec<(Store, Id)>> {
    let mut found = Vec::new();
    for store in stores {
        match Id::parse(text) {
            Some(id) if store.has(&id) => found.push((store.clone(), id)),
            Some(_) => {}
            None => {
                let ids = store.ids_with_prefix(text)?;
                found.extend(ids.into_iter().map(|id| (store.clone(), id)));
            }
        }
    }
    Ok(found)
}

/// Not found here, with a hint where it is in another scope.
fn elsewhere(context: &Context, text: &str) -> Error {
    let error = not_found(text);
    let everywhere = context
        .every_scope()
        .and_then(|all| matching(&all.stores, text));
    match everywhere.as_deref() {
        Ok([(store, _), ..]) => error.hint(format!(
            "scope '{}' has it: repeat with --scope {}",
            store.scope, store.scope
        )),
        _ => error.hint("'sayso list --all' shows what there is"),
    }
}

fn ambiguous(text: &str, found: &[(Store, Id)]) -> Error {
    let mut shown = Vec::new();
    let mut details = Vec::new();
    for (store, id) in found.iter().take(20) {
        let record = store.must_load(id).ok();
        let question = record.as_ref().map(|r| &r.question);
        let project = question.and_then(|q| q.project.clone()).unwrap_or_default();
        let session = question
            .and_then(|q| q.session_id.clone())
            .unwrap_or_default();
        let head = question.map(|q| prompt_head(&q.prompt)).unwrap_or_default();
        shown.push(format!("{id} {project} {session} {head}"));
        details.push(json!({ "id": id.as_str(), "project": project, "session_id": session }));
    }
    Error::input(format!("'{text}' is the beginning of {} ids", found.len()))
        .hint(format!("name one of them:\n{}", shown.join("\n")))
        .details(json!({ "candidates": details }))
}

/// The variable that shows that this process runs inside an agent's session.
pub fn agent_session(context: &Context) -> Option<&'static str> {
    AGENT_SESSIONS
        .into_iter()
        .find(|name| context.var(name).is_some())
}

/// Who answers, as the operating system says.
///
/// # Errors
/// `self_answer` inside an agent's session without `--self-answer`.
pub fn responder(context: &Context, self_answer: bool) -> Result<Responder> {
    let session = agent_session(context);
    if let (Some(name), false) = (session, self_answer) {
        return Err(Error::new(
            Code::SelfAnswer,
            format!("an agent's session may not answer its own questions ({name} is set)"),
        )
        .hint("answer from a terminal of your own; --self-answer overrides this and is recorded"));
    }
    let tty = nix::unistd::ttyname(std::io::stdin()).ok();
    Ok(Responder {
        uid: nix::unistd::getuid().as_raw(),
        tty: tty.map(|path| path.display().to_string()),
        pid: std::process::id(),
        agent_session: session.map(str::to_owned),
    })
}

/// The login name of the user, for `answered_by`.
pub fn login_name() -> String {
    let uid = nix::unistd::getuid();
    match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => user.name,
        _ => format!("uid {uid}"),
    }
}

/// Says what became of an answer: one honest line, or the envelope.
pub fn report(context: &Context, accepted: &Accepted) -> anyhow::Result<()> {
    let mut out = context.out();
    if context.global.json {
        let mut extra = vec![("delivery_state", accepted.delivery.name().into())];
        extra.extend(
            accepted
                .resume
                .as_ref()
                .map(|r| ("workflow_resume", r.json())),
        );
        let record = envelope::record(&accepted.record, Time::now(), Secrets::Hidden, &extra);
        out.line(&envelope::success(&record))?;
    } else if !context.global.quiet {
        out.line(&text::line(&sentence(accepted)))?;
        if let Some(resume) = &accepted.resume {
            tell_resume(context, resume);
        }
    }
    out.flush()?;
    Ok(())
}

/// Says why a workflow was not resumed, and what resumes it.
pub fn tell_resume(context: &Context, resume: &WorkflowResume) {
    match &resume.outcome {
        Resumed::Yes => {}
        Resumed::No(why) => {
            context.note(&format!("workflow '{}': {why}", resume.workflow));
            context.note(&format!("hint: {}", guidance(&resume.workflow)));
        }
        Resumed::Skipped(why) => context.note(&format!("workflow '{}': {why}", resume.workflow)),
    }
}

/// What was decided, and whether it reached anyone.
pub fn sentence(accepted: &Accepted) -> String {
    let delivery = match accepted.delivery {
        Delivery::Delivered => "delivered: the waiting process took it",
        Delivery::Waiting => "waiting: someone is parked and will take it",
        Delivery::Unattended => "unattended: recorded, nobody was waiting",
        Delivery::Unknown => "unknown: whether anyone waits cannot be told here",
        Delivery::Resumed => "resumed: the suspended workflow goes on",
        Delivery::ResumeFailed => "resume failed: the answer stands, the workflow is still paused",
    };
    format!(
        "{} {} — {delivery}",
        decided(&accepted.record),
        &accepted.record.id.as_str()[..8]
    )
}

fn decided(record: &Interaction) -> &'static str {
    let declined = matches!(record.response().map(|r| &r.body), Some(Body::Declined));
    match (record.question.kind(), record.effect()) {
        (Kind::Permission, Some(Effect::Allow)) => "allowed",
        (Kind::Permission, Some(Effect::Deny)) => "denied",
        _ if declined => "declined",
        _ => "answered",
    }
}
