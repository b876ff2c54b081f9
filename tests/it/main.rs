//! Everything that is tested through the binary, in one program.
#![allow(
    unreachable_pub,
    missing_docs,
    reason = "a test program has no outside"
)]

mod client;
mod fake_relay;
mod hosts;
mod library;
mod notice_world;
mod pty;
mod relayed;
mod resumable;
mod sandbox;

mod answers;
mod apart;
mod arc;
mod arc_condition;
mod arc_notice;
mod arc_place;
mod arc_schema;
mod arc_stream;
mod arc_told;
mod assets;
mod bounds;
mod choices;
mod clock;
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
mod installs;
mod keys;
mod listing;
mod mcp_approval;
mod mcp_ask;
mod mcp_manage;
mod mcp_policy;
mod mcp_serve;
mod notes;
mod notice_burst;
mod notice_command;
mod notice_hook;
mod notice_texts;
mod notice_web;
mod numbers;
mod others;
mod places;
mod policy_edit;
mod policy_places;
mod power_cut;
mod race;
mod relay_crash;
mod relay_devices;
mod relay_hostile;
mod relay_moved;
mod relay_outbox;
mod relay_pages;
mod relay_pair;
mod relay_poll;
mod relay_publish;
mod relay_secrets;
mod relay_waiting;
mod replies;
mod resumes;
mod ruled;
mod scopes;
mod secrets;
mod settled;
mod shells;
mod streams;
mod telling;
mod terminal;
mod tidy;
mod unreadable;
mod wait;
mod words;
mod workflows;
