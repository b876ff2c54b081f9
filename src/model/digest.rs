//! The canonical question and its digest: whatever is shown, or decides what an answer means, changes it.
//! And the digest of how a question ended.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::interaction::{Body, Choice, FormQuestion, Kind, Question, Status, Tool};
use crate::id::{Id, hex};

/// Every member that is shown or decides what an answer means, in the order of the format.
#[derive(Serialize)]
struct Canonical<'a> {
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_instance: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    prompt: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [Choice],
    #[serde(skip_serializing_if = "Option::is_none")]
    text_max_length: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    questions: &'a [FormQuestion],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suspended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
}

fn members(question: &Question) -> Canonical<'_> {
    Canonical {
        kind: question.kind(),
        host: question.host.as_deref(),
        agent: &question.agent,
        agent_instance: question.agent_instance.as_deref(),
        project: question.project.as_deref(),
        session_id: question.session_id.as_deref(),
        cwd: question.cwd.as_deref(),
        prompt: &question.prompt,
        choices: question.choices(),
        text_max_length: match question.body {
            Body::Text { max_length } => Some(max_length),
            _ => None,
        },
        questions: question.questions(),
        tool: question.tool(),
        action: question.action(),
        suspended: question.suspended,
        workflow_id: question.workflow_id.as_deref(),
        task_id: question.task_id.as_deref(),
    }
}

fn text(canonical: &Canonical<'_>) -> String {
    serde_json::to_string(canonical).expect("strings and verbatim JSON always serialize")
}

/// `sha256_hex("sayso/1\n" + id + "\n" + canonical question)`.
pub fn digest(id: &Id, question: &Question) -> String {
    lines(["sayso/1", id.as_str(), &text(&members(question))])
}

/// `sha256_hex("sayso/settled/1\n" + id + "\n" + request_digest + "\n" + canonical ending)`.
///
/// The canonical ending is the compact JSON object of how the question ended, in this order: `status,
/// answered_at, superseded_by, response`, absent members left out; of the response every member that is
/// stored, in the record's order, `updated_input` and `updated_permissions` byte for byte. The times
/// beside it (`created_at`, `updated_at`, `expires_at`) and the nonce say nothing about the outcome and
/// are not covered.
///
/// It needs no secret, so it shows that a record was damaged or edited by hand, and is no signature: a
/// process of the same user can compute it.
pub fn settled(
    id: &Id,
    request_digest: &str,
    status: Status,
    answered_at: Option<&str>,
    superseded_by: Option<&str>,
    response: Option<&impl Serialize>,
) -> String {
    let ending = Ending {
        status,
        answered_at,
        superseded_by,
        response,
    };
    let ending =
        serde_json::to_string(&ending).expect("strings and verbatim JSON always serialize");
    lines(["sayso/settled/1", id.as_str(), request_digest, &ending])
}

/// How a question ended, in the order of the format.
#[derive(Serialize)]
struct Ending<'a, R> {
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a R>,
}

fn lines<const N: usize>(parts: [&str; N]) -> String {
    hex(&Sha256::digest(parts.join("\n")))
}

/// Whether two questions under one key are the same: where they were asked from does not count.
pub fn same_question(a: &Question, b: &Question) -> bool {
    let without_place = |question| {
        let canonical = Canonical {
            cwd: None,
            session_id: None,
            agent_instance: None,
            ..members(question)
        };
        text(&canonical)
    };
    without_place(a) == without_place(b)
}
