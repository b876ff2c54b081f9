//! Everything that is tested through the binary, in one program.
#![allow(unreachable_pub, reason = "a test program has no reach")]

mod hosts;
mod pty;
mod sandbox;

mod answers;
mod bounds;
mod choices;
mod edits;
mod envelopes;
mod exits;
mod first;
mod gates;
mod hooks;
mod identity;
mod keys;
mod listing;
mod replies;
mod streams;
mod telling;
mod terminal;
