//! Everything that is tested through the binary, in one program.
#![allow(
    unreachable_pub,
    missing_docs,
    reason = "a test program has no outside"
)]

mod client;
mod hosts;
mod library;
mod pty;
mod resumable;
mod sandbox;

mod answers;
mod assets;
mod bounds;
mod choices;
mod completion;
mod corrupt;
mod crash;
mod edits;
mod envelopes;
mod escapes;
mod exits;
mod first;
mod gates;
mod hooks;
mod identity;
mod keys;
mod listing;
mod mcp_approval;
mod mcp_ask;
mod mcp_manage;
mod mcp_policy;
mod mcp_serve;
mod others;
mod places;
mod race;
mod replies;
mod resumes;
mod ruled;
mod scopes;
mod secrets;
mod streams;
mod telling;
mod terminal;
mod tidy;
mod wait;
mod workflows;
