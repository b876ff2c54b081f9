//! The record's file form: flat JSON in one order, checked on the way in.
//!
//! A record that does not hold together (a digest that is not its content's, a settled status without
//! its outcome, an answer that does not fit) is an error here and never becomes an [`Interaction`].

mod ending;

use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::form::{AnswerMap, FormAnswer};
use super::interaction::{
    Body, Choice, FormQuestion, Interaction, Kind, Outcome, Question, SCHEMA, State, Status, Tool,
};
use super::json::Json;
use super::response::{
    Answer, Body as Answered, Permissions, Responder, Response, Submission, is_name,
};
use super::transition;
use crate::id::Id;
use crate::secret::{Nonce, same};
use crate::time::Time;

/// The bound of a record's file, in bytes.
pub const RECORD_MAX: usize = 4 << 20;

/// Whether the nonce is part of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// For the record's file and for the one who asked.
    Shown,
    /// For everyone else.
    Hidden,
}

/// A record as it was found.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// One that this program understands.
    Current(Box<Interaction>),
    /// One that a newer program wrote: it can be listed and shown, never changed.
    Newer(Newer),
}

/// What can be told of a record of a newer format.
#[derive(Clone, Debug)]
pub struct Newer {
    /// Its id.
    pub id: Id,
    /// The version of its format.
    pub schema: u64,
    /// The prompt, if it still has one.
    pub prompt: Option<String>,
    /// Its status, as it spells it.
    pub status: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    schema: u64,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    kind: Kind,
    status: Status,
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_instance: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    native_request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workflow_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    prompt: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text_max_length: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<FormQuestion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<Tool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    suspended: bool,
    request_digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    created_at: String,
    updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<WireResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settled_digest: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireResponse {
    response_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<AnswerMap>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unanswered: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_input: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_permissions: Option<Json>,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device_id: Option<String>,
    answered_by: String,
    responder: Responder,
    created_at: String,
}

#[derive(Deserialize)]
struct Probe {
    schema: u64,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

/// The record as one line of JSON.
pub fn to_json(record: &Interaction, secrets: Secrets) -> String {
    serde_json::to_string(&wire(record, secrets)).expect("a record always serializes")
}

fn wire(record: &Interaction, secrets: Secrets) -> Wire {
    let q = &record.question;
    let outcome = match &record.state {
        State::Pending => None,
        State::Settled { outcome, .. } => Some(outcome),
    };
    let mut wire = Wire {
        schema: least_schema(record),
        id: record.id.to_string(),
        key: q.key.clone(),
        kind: q.kind(),
        status: record.status(),
        agent: q.agent.clone(),
        host: q.host.clone(),
        agent_instance: q.agent_instance.clone(),
        project: q.project.clone(),
        session_id: q.session_id.clone(),
        turn_id: q.turn_id.clone(),
        native_request_id: q.native_request_id.clone(),
        workflow_id: q.workflow_id.clone(),
        task_id: q.task_id.clone(),
        cwd: q.cwd.clone(),
        prompt: q.prompt.clone(),
        choices: q.choices().to_vec(),
        text_max_length: match q.body {
            Body::Text { max_length } => Some(max_length),
            _ => None,
        },
        questions: q.questions().to_vec(),
        tool: q.tool().cloned(),
        action: q.action().map(str::to_owned),
        suspended: q.suspended,
        request_digest: record.digest.clone(),
        nonce: (secrets == Secrets::Shown).then(|| record.nonce.expose().to_owned()),
        created_at: record.created_at.to_string(),
        updated_at: record.updated_at().to_string(),
        expires_at: record.expires_at.map(|t| t.to_string()),
        answered_at: record.response().map(|r| r.created_at.to_string()),
        superseded_by: match outcome {
            Some(Outcome::Superseded(by)) => Some(by.to_string()),
            _ => None,
        },
        response: record.response().map(wire_response),
        settled_digest: None,
    };
    wire.settled_digest = ending::digest(&record.id, &wire);
    wire
}

/// The oldest version of the format that can hold a record.
fn least_schema(record: &Interaction) -> u64 {
    let answers = match record.response().map(|response| &response.body) {
        Some(Answered::Form(reply)) => reply.answers.as_deref().unwrap_or_default(),
        _ => &[],
    };
    let newer = |answer: &FormAnswer| {
        answer.note.is_some() || (answer.labels.is_some() && answer.other.is_some())
    };
    if answers.iter().any(|(_, answer)| newer(answer)) {
        SCHEMA
    } else {
        1
    }
}

fn wire_response(response: &Response) -> WireResponse {
    let mut wire = WireResponse {
        response_id: response.response_id.clone(),
        choice_id: None,
        text: None,
        answers: None,
        declined: false,
        response: None,
        unanswered: None,
        message: response.message.clone(),
        updated_input: response.updated_input.clone(),
        updated_permissions: response.updated_permissions.clone(),
        source: response.source.clone(),
        device_id: response.device_id.clone(),
        answered_by: response.answered_by.clone(),
        responder: response.responder.clone(),
        created_at: response.created_at.to_string(),
    };
    match &response.body {
        Answered::Choice(id) => wire.choice_id = Some(id.clone()),
        Answered::Text(text) => wire.text = Some(text.clone()),
        Answered::Declined => wire.declined = true,
        Answered::Form(reply) => {
            wire.answers = reply.answers.clone().map(AnswerMap);
            wire.response.clone_from(&reply.response);
            wire.unanswered = Some(reply.unanswered.clone());
        }
    }
    wire
}

/// Reads a record's file and checks it against the name that it stood under.
///
/// # Errors
/// One clause that says what does not hold, without any of the record's text.
pub fn parse(id: &Id, bytes: &[u8]) -> Result<Loaded, String> {
    if bytes.is_empty() {
        return Err("it is empty".into());
    }
    let broken = |e: &serde_json::Error| super::json::reason(e);
    let wire = match serde_json::from_slice::<Wire>(bytes) {
        Ok(wire) if wire.schema <= SCHEMA => wire,
        other => {
            let probe: Probe = match serde_json::from_slice(bytes) {
                Ok(probe) => probe,
                Err(e) => return Err(broken(&e)),
            };
            if probe.schema > SCHEMA {
                return Ok(Loaded::Newer(Newer {
                    id: id.clone(),
                    schema: probe.schema,
                    prompt: probe.prompt,
                    status: probe.status,
                }));
            }
            return Err(other.err().map_or("bad schema".into(), |e| broken(&e)));
        }
    };
    ending::check(id, &wire)?;
    let written_as = wire.schema;
    let record = interaction(id, wire)?;
    if written_as < least_schema(&record) {
        return Err("its schema does not have what it holds".into());
    }
    if !same(
        record.digest.as_bytes(),
        digest(id, &record.question).as_bytes(),
    ) {
        return Err("its digest is not that of its content".into());
    }
    if let Some(response) = record.response() {
        check_response(&record.question, response)?;
    }
    Ok(Loaded::Current(Box::new(record)))
}

fn interaction(id: &Id, wire: Wire) -> Result<Interaction, String> {
    if wire.schema == 0 || wire.id != id.as_str() {
        return Err("its id is not its name".into());
    }
    if wire.expires_at.is_none() != wire.suspended {
        return Err("its deadline does not fit".into());
    }
    let updated_at = time(&wire.updated_at)?;
    let state = state(&wire, updated_at)?;
    let created_at = time(&wire.created_at)?;
    let expires_at = wire.expires_at.as_deref().map(time).transpose()?;
    let nonce = wire.nonce.as_deref().and_then(Nonce::parse);
    // They stand in commands that are offered for running.
    if !wire.choices.iter().all(|choice| is_name(&choice.id)) {
        return Err("a choice's id is malformed".into());
    }
    let body = match (wire.kind, wire.text_max_length, wire.questions.is_empty()) {
        (Kind::Permission, None, true) => Body::Permission {
            choices: wire.choices,
            tool: wire.tool,
            action: wire.action,
        },
        (Kind::SingleChoice, None, true) if wire.tool.is_none() && wire.action.is_none() => {
            Body::SingleChoice {
                choices: wire.choices,
            }
        }
        (Kind::Text, Some(max_length), true)
            if wire.choices.is_empty() && wire.tool.is_none() && wire.action.is_none() =>
        {
            Body::Text { max_length }
        }
        (Kind::Form, None, false) if wire.choices.is_empty() && wire.action.is_none() => {
            Body::Form {
                questions: wire.questions,
                tool: wire.tool,
            }
        }
        _ => return Err("its members do not fit its kind".into()),
    };
    let question = Question {
        key: wire.key,
        agent: wire.agent,
        host: wire.host,
        agent_instance: wire.agent_instance,
        project: wire.project,
        session_id: wire.session_id,
        turn_id: wire.turn_id,
        native_request_id: wire.native_request_id,
        workflow_id: wire.workflow_id,
        task_id: wire.task_id,
        cwd: wire.cwd,
        prompt: wire.prompt,
        body,
        suspended: wire.suspended,
    };
    Ok(Interaction {
        id: id.clone(),
        question,
        digest: wire.request_digest,
        nonce: nonce.ok_or("its nonce is malformed")?,
        created_at,
        expires_at,
        state,
    })
}

fn state(wire: &Wire, at: Time) -> Result<State, String> {
    let outcome = match (wire.status, &wire.response, &wire.superseded_by) {
        (Status::Pending, None, None) if wire.answered_at.is_none() => return Ok(State::Pending),
        (Status::Answered, Some(given), None)
            if wire.answered_at.as_deref() == Some(given.created_at.as_str()) =>
        {
            Outcome::Answered(Box::new(response(given)?))
        }
        (Status::Expired, None, None) if wire.answered_at.is_none() => Outcome::Expired,
        (Status::Cancelled, None, None) if wire.answered_at.is_none() => Outcome::Cancelled,
        (Status::Superseded, None, Some(by)) if wire.answered_at.is_none() => {
            Outcome::Superseded(Id::parse(by).ok_or("its successor is no id")?)
        }
        _ => return Err("its status and its outcome do not fit together".into()),
    };
    Ok(State::Settled { at, outcome })
}

fn response(wire: &WireResponse) -> Result<Response, String> {
    let form = wire.answers.is_some() || wire.response.is_some();
    let body = match (&wire.choice_id, &wire.text, form, wire.declined) {
        (Some(id), None, false, false) => Answered::Choice(id.clone()),
        (None, Some(text), false, false) => Answered::Text(text.clone()),
        (None, None, false, true) => Answered::Declined,
        (None, None, true, false) => Answered::Form(super::form::FormReply {
            answers: wire.answers.clone().map(|a| a.0),
            response: wire.response.clone(),
            unanswered: wire.unanswered.clone().unwrap_or_default(),
        }),
        _ => return Err("its response is not exactly one answer".into()),
    };
    Ok(Response {
        response_id: wire.response_id.clone(),
        body,
        message: wire.message.clone(),
        updated_input: wire.updated_input.clone(),
        updated_permissions: wire.updated_permissions.clone(),
        source: wire.source.clone(),
        device_id: wire.device_id.clone(),
        answered_by: wire.answered_by.clone(),
        responder: wire.responder.clone(),
        created_at: time(&wire.created_at)?,
    })
}

/// An accepted answer must be one that the rules would accept, and in the form in which they keep it.
fn check_response(question: &Question, response: &Response) -> Result<(), String> {
    let mut given = Submission {
        response_id: response.response_id.clone(),
        message: response.message.clone(),
        updated_input: response.updated_input.clone(),
        permissions: match &response.updated_permissions {
            Some(rules) => Permissions::These(rules.clone()),
            None => Permissions::None,
        },
        source: response.source.clone(),
        device_id: response.device_id.clone(),
        answered_by: response.answered_by.clone(),
        ..Submission::default()
    };
    match &response.body {
        Answered::Choice(id) => given.choice_id = Some(id.clone()),
        Answered::Text(text) => given.text = Some(text.clone()),
        Answered::Declined => given.declined = true,
        Answered::Form(reply) => {
            given.answers.clone_from(&reply.answers);
            given.response.clone_from(&reply.response);
        }
    }
    let answer = Answer::try_from(given).map_err(|_| "its response is malformed")?;
    match transition::fit(question, &answer) {
        Ok(fitted) if fitted.body == response.body && answer.message == response.message => Ok(()),
        _ => Err("its response does not fit its question".into()),
    }
}

fn time(text: &str) -> Result<Time, String> {
    Time::parse(text).ok_or_else(|| "a time is malformed".into())
}
