//! Everything that is tested through the binary, in one program.

#![allow(
    unreachable_pub,
    reason = "one program: what is public is public to its modules"
)]

mod sandbox;

mod answers;
mod bounds;
mod choices;
mod edits;
mod first;
mod identity;
mod keys;
mod replies;
