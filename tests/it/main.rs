//! Everything that is tested through the binary, in one program.
#![allow(
    unreachable_pub,
    missing_docs,
    reason = "a test program has no outside"
)]

mod hosts;
mod library;
mod pty;
mod sandbox;

mod answers;
mod bounds;
mod choices;
mod crash;
mod edits;
mod first;
mod gates;
mod hooks;
mod identity;
mod keys;
mod race;
mod replies;
mod terminal;
