//! Which version of the format a record needs.

use crate::model::form::FormAnswer;
use crate::model::interaction::{Interaction, SCHEMA};
use crate::model::response::Body as Answered;

/// The oldest version of the format that can hold a record.
pub(super) fn least_schema(record: &Interaction) -> u64 {
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
