//! `sayso get`: a record as JSON, for the one who asked.

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::find_exact;
use crate::cli::GetArgs;
use crate::model::interaction::Status;
use crate::model::record::Secrets;
use crate::render::json as envelope;
use crate::time::Time;

/// Prints the envelope, with digest and nonce.
pub fn run(context: &Context, args: &GetArgs) -> Result<Exit> {
    let (store, id) = find_exact(context, &context.asking_scopes()?, &args.id)?;
    let record = store.must_load(&id)?;
    let now = Time::now();
    let mut extra = store.beside(&record);
    if record.status_at(now) == Status::Pending {
        extra.push(("waiting", store.waiting(&id).name().into()));
    }
    let mut out = context.out();
    out.line(&envelope::success(&envelope::record(
        &record,
        now,
        Secrets::Shown,
        &extra,
    )))?;
    out.flush()?;
    Ok(Exit::Done)
}
