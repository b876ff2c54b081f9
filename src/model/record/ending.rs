//! `settled_digest`: that a record ended as it says.
//!
//! It is computed from the state that is written, so nothing settled can be written without it, and
//! checked whenever a record is read. A settled record without one does not hold together either,
//! whoever wrote it: whoever can edit an answer can also leave the member out.

use super::{Status, Wire};
use crate::id::Id;
use crate::model::digest::settled;
use crate::secret::same;

/// The digest of how a question ended, of the members as they stand in the file; none for an open one.
pub(super) fn digest(id: &Id, wire: &Wire) -> Option<String> {
    let response = wire.response.as_ref();
    let (at, by) = (wire.answered_at.as_deref(), wire.superseded_by.as_deref());
    let digest = || settled(id, &wire.request_digest, wire.status, at, by, response);
    (wire.status != Status::Pending).then(digest)
}

/// Checks that the digest is there where it must be, and is that of the ending.
pub(super) fn check(id: &Id, wire: &Wire) -> Result<(), String> {
    match (&wire.settled_digest, digest(id, wire)) {
        (None, None) => Ok(()),
        (Some(told), Some(found)) if same(told.as_bytes(), found.as_bytes()) => Ok(()),
        (None, Some(_)) => Err("its ending has no digest".into()),
        _ => Err("its ending is not the one that was recorded".into()),
    }
}
