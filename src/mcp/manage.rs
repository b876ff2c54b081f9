//! The tools `interactions_list` and `interactions_answer`, for the operator's own assistant.

use std::path::Path;

use rand::RngExt;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Settings, replies, tools};
use crate::broker;
use crate::error::{Code, Error, Result};
use crate::id::{Id, hex, is_hex};
use crate::model::form::AnswerMap;
use crate::model::interaction::{Effect, Interaction, Status};
use crate::model::json::{INPUT_MAX, SUGGESTIONS_MAX};
use crate::model::record::Secrets;
use crate::model::response::{Answer, Permissions, Submission};
use crate::model::{select, view};
use crate::store::Store;
use crate::store::query::{Entry, not_found};
use crate::time::Time;

/// How many questions of every status are listed where the call does not say.
const LIMIT_ALL: usize = 50;

/// The questions, oldest first, without nonces.
///
/// # Errors
/// `invalid_input`; `unavailable` where the store cannot be read.
pub(super) fn list(arguments: &Arguments, settings: &Settings) -> Result<Value> {
    arguments.only(&tools::parameters("interactions_list"))?;
    let store = store(arguments, settings)?;
    let all = arguments.flag("all")?;
    let agent = arguments.text("agent_id")?;
    let limit: Option<usize> = arguments.read("limit", "a whole number of questions, 0 or more")?;
    let entries = if all { store.all()? } else { store.pending()? };
    let now = Time::now();
    let mut records: Vec<Interaction> = entries
        .into_iter()
        .filter_map(Entry::current)
        .filter(|r| all || r.status_at(now) == Status::Pending)
        .filter(|r| agent.as_ref().is_none_or(|a| *a == r.question.agent))
        .collect();
    records.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let limit = limit.unwrap_or(if all { LIMIT_ALL } else { usize::MAX });
    records.drain(..records.len().saturating_sub(limit));
    let each: Vec<Value> = records.iter().map(|r| shown(&store, r, now)).collect();
    Ok(json!({ "count": each.len(), "interactions": each }))
}

fn shown(store: &Store, record: &Interaction, now: Time) -> Value {
    let mut extra = store.beside(record);
    if record.status_at(now) == Status::Pending {
        extra.push(("waiting", store.waiting(&record.id).name().into()));
    }
    let text = view::record(record, now, Secrets::Hidden, &extra);
    serde_json::from_str(&text).unwrap_or_default()
}

/// Answers a question; the answer is marked as given from inside an agent's session.
///
/// # Errors
/// Those of the answer rules.
pub(super) fn answer(arguments: &Arguments, settings: &Settings) -> Result<Value> {
    let Some(operator) = &settings.operator else {
        return Err(Error::new(Code::Internal, "this server does not manage"));
    };
    arguments.only(&tools::parameters("interactions_answer"))?;
    let store = store(arguments, settings)?;
    let id = arguments.text("id")?;
    let id = find(&store, &id.ok_or_else(|| Error::input("id is required"))?)?;
    let record = store.must_load(&id)?;
    let base = Submission {
        response_id: arguments
            .text("response_id")?
            .unwrap_or_else(|| hex(&rand::rng().random::<[u8; 16]>())),
        digest: Some(arguments.text("digest")?.unwrap_or(record.digest.clone())),
        nonce: Some(record.nonce.expose().to_owned()),
        message: arguments.text("message")?,
        updated_input: arguments.object("updated_input", INPUT_MAX)?,
        permissions: permissions(arguments)?,
        source: "mcp".into(),
        answered_by: arguments
            .text("answered_by")?
            .unwrap_or_else(|| operator.answered_by.clone()),
        ..Submission::default()
    };
    let answer = Answer::try_from(submission(arguments, &record, base)?)?;
    let answer = select::read(&record.question, answer);
    let accepted = broker::answer(&store, &id, &answer, &operator.responder)?;
    let mut extra = vec![("delivery_state", accepted.delivery.name().into())];
    extra.extend(
        accepted
            .resume
            .as_ref()
            .map(|r| ("workflow_resume", r.json())),
    );
    let text = view::record(&accepted.record, Time::now(), Secrets::Hidden, &extra);
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

/// Everything that was given; what does not fit is refused by the rules, nothing is dropped.
fn submission(arguments: &Arguments, record: &Interaction, base: Submission) -> Result<Submission> {
    let given = Submission {
        choice_id: arguments.text("choice_id")?,
        text: arguments.read("text", "a string")?,
        answers: arguments
            .object("answers", INPUT_MAX)?
            .map(|json| AnswerMap::parse(json.as_str()).map(|map| map.0))
            .transpose()?,
        response: arguments.text("response")?,
        ..base
    };
    let answers = [
        given.choice_id.is_some(),
        given.text.is_some(),
        given.answers.is_some() || given.response.is_some(),
    ];
    if let Some(decision) = arguments.word("decision", "`allow` or `deny`")? {
        let effect = match decision.as_str() {
            "allow" => Effect::Allow,
            "deny" => Effect::Deny,
            _ => return Err(Error::input("decision must be \"allow\" or \"deny\"")),
        };
        if answers.contains(&true) {
            return Err(Error::input(
                "an answer is exactly one of decision, choice_id, text, answers and/or response",
            ));
        }
        return select::with_effect(&record.question, effect, given);
    }
    Ok(given)
}

fn permissions(arguments: &Arguments) -> Result<Permissions> {
    let rules = arguments.array("updated_permissions", SUGGESTIONS_MAX)?;
    match (arguments.flag("remember")?, rules) {
        (true, Some(_)) => Err(Error::input(
            "give either remember or updated_permissions, not both",
        )),
        (true, None) => Ok(Permissions::Remember),
        (false, Some(rules)) => Ok(Permissions::These(rules)),
        (false, None) => Ok(Permissions::None),
    }
}

/// The server's own scope, or that of the repository around a directory.
fn store(arguments: &Arguments, settings: &Settings) -> Result<Store> {
    match arguments.text("project_root")? {
        Some(root) => Store::around(&settings.store.home, Path::new(&root)),
        None => Ok(settings.store.clone()),
    }
}

fn find(store: &Store, text: &str) -> Result<Id> {
    let text = text.trim().to_ascii_lowercase();
    if !is_hex(&text) || !(4..=32).contains(&text.len()) {
        return Err(Error::input(
            "an id is 32 hex characters, or a prefix of at least 4 of them",
        ));
    }
    if let Some(id) = Id::parse(&text) {
        return if store.has(&id) {
            Ok(id)
        } else {
            Err(not_found(&text))
        };
    }
    match store.ids_with_prefix(&text)?.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(not_found(&text)),
        several => Err(Error::input(format!(
            "'{text}' is the beginning of {} ids",
            several.len()
        ))),
    }
}

/// A call that was refused: code, message and particulars.
pub(super) fn refused(error: &Error) -> CallToolResult {
    let mut value = json!({ "error": super::call::words(error), "code": error.code.name() });
    if let (Some(members), Some(details)) = (value.as_object_mut(), &error.details) {
        members.insert("details".into(), (**details).clone());
    }
    replies::structured(value, true)
}
