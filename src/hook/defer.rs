//! Suspending Claude Code at a tool call: the hook prints `defer`, the session ends, and when it is
//! resumed the same hook finds the recorded answer.

use sha2::{Digest, Sha256};

use super::asking::{Settings, by_policy, draft, hand_over, print};
use super::claude;
use super::payload::Payload;
use crate::broker::Lifetime;
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::model::interaction::{Interaction, State, Tool};
use crate::park::{self, Courier, Stay};
use crate::store::Store;

/// The id of a deferred call's question: the first 16 bytes of SHA-256 over `defer`, the session and the
/// call's id, LF between them.
pub fn id(session: &str, use_id: &str) -> Id {
    let hash = Sha256::digest(format!("defer\n{session}\n{use_id}"));
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    Id::from_bytes(&first)
}

/// Prints `defer` for a call that is not answered yet, and its recorded answer for one that is.
///
/// # Errors
/// Where nothing can be told: the caller then prints the gate's `ask`.
pub fn run(store: &Store, payload: &Payload, tool: &Tool, settings: &Settings) -> Result<()> {
    let missing = |name: &str| Error::input(format!("standard input has no {name}"));
    let session = payload
        .text("session_id")
        .ok_or_else(|| missing("session_id"))?;
    let use_id = tool.use_id.clone().ok_or_else(|| missing("tool_use_id"))?;
    let id = id(&session, &use_id);
    let record = match store.must_load(&id) {
        Ok(record) => record,
        Err(error) if error.code == Code::NotFound => {
            let mut draft = draft(payload, tool.clone(), settings)?;
            draft.suspended = true;
            draft.workflow_id = Some(session);
            let question = draft.check()?;
            if let Some(decision) = by_policy(store, &question, settings)? {
                return print(&decision);
            }
            let mut courier = Courier::new(Stay::Leaves);
            let (config, forever) = (&settings.config, Lifetime::Unbounded);
            park::open_as(store, id, question, forever, config, &mut courier)?;
            print(&claude::gate_defers())?;
            courier.finish();
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    check_same(&record, tool)?;
    if record.state == State::Pending {
        return print(&claude::gate_defers());
    }
    hand_over(store, settings.surface, &record, tool)
}

/// An answer is only for the call that was shown.
fn check_same(record: &Interaction, tool: &Tool) -> Result<()> {
    let asked = record.question.tool();
    let input = |tool: &Tool| {
        tool.input
            .as_ref()
            .map(super::super::model::json::Json::value)
    };
    let same = asked.is_some_and(|asked| asked.name == tool.name && input(asked) == input(tool));
    if same {
        return Ok(());
    }
    Err(Error::input("the call is not the one that was asked about"))
}
