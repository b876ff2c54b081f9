//! sayso puts a durable question in front of a human and brings the answer back.
//!
//! There is no resident process: every verb is a short-lived one that reads and writes the same plain
//! files. Three things come before everything else. No wrong allow: whatever fails, is late, stale,
//! malformed or hostile ends in no answer or in a deny. No lost answer: what was acknowledged is on
//! disk. What is shown is what runs: an answer applies to exactly the bytes that were displayed.
//!
//! # Layers
//!
//! Imports point down; a module may use any lower layer, and a sibling only along an arrow.
//! `tests/it/tidy.rs` keeps it so.
//!
//! ```text
//! L5   main → cmd → cli → render; cmd → prompt → render; cmd → completion → cli
//! L4   hook; mcp; arc             what an asker is; none imports another
//! L3b  park                       open, let it be known, wait, hand the answer over or give up
//! L3a  relay; notice              who else is told of a question; answers from phones
//! L2   broker                     the verbs of the domain: decide, open, answer, cancel, resume
//! L1b  store → events; watch      files; arm, check, sleep
//! L1a  model; policy              pure: no I/O, no clock; `now` is a value
//! L0   config → error; repo → id  fsio alone syncs, renames and locks
//! L0   http → error, secret       http alone opens connections
//! L0   text → words               words alone knows which characters are shown as escapes
//! L0   time secret fsio log interrupt process terminal diff
//! ```
//!
//! # What a crash leaves
//!
//! A writer holds the scope's lock, so no two of these are under way at once. A crash is a kill at any
//! system call or a power cut; what it leaves, and who repairs it:
//!
//! | it falls between | what is left | who repairs it |
//! |---|---|---|
//! | **a new scope**: directories → `scope.json` | a scope without it | the next writer: where that file is, everything else is |
//! | **create**: write in `tmp/` → rename into `pending/` | a file in `tmp/` | the next holder of the lock empties `tmp/` |
//! | resume mark → rename (suspended only) | a mark without a question | nobody needs to: the host asks again under the same id |
//! | rename → fsync of `pending/` | a complete question, after a power cut possibly none; nobody was told of it | nobody needs to: its lease died with the asker, so it is shown as not waited for, and expires; who asks again under its key has it synced first |
//! | fsync → key's index, event | a question without its `interaction_created` | nobody needs to: keys are found in the questions, no state is read from events |
//! | event → superseding the older | two questions under one key | the next request under that key keeps the newest |
//! | **settle**: `awaited/` mark → commit | a mark without an answer | whoever takes the lock once the question is settled |
//! | write in `tmp/` → rename into `settled/` | a file in `tmp/`; the question is still open | the next holder of the lock; the answer may be given again |
//! | rename (the commit) → fsync of `settled/` | the settled record beside its question; after a power cut possibly only the question; nobody was told of it | readers take the settled one; the next writer that meets it syncs, appends the event and unlinks the question |
//! | the fsync fails | the same; the verb says "durability unknown" | the next writer syncs again before it acknowledges a replay |
//! | fsync → event | the same, the event missing | the next writer that meets it |
//! | event → unlink in `pending/` | the settled record beside its question | the next writer that meets it |
//! | event → its line on the disk, which nobody waits for | after a power cut possibly the change without its event | nobody: no state is read from events |
//! | unlink → the waiter's output | an answer that was not picked up | the waiter, if it lives: it was woken by the unlink, or looks within a second |
//! | output → `marks/` | an answer that was picked up and counts as waited for | nobody: the mark is about the past |
//! | mark → `interaction_delivered` | the `awaited/` mark | the next holder of the lock appends the event, for ten minutes |
//! | **arc**: entry of the event → answer, withdrawal | the entry, the question still open | the same event again does what is left, to the question that it was for |
//! | question → entry of the event | a question without its event's entry, whose file is empty | the same event again: its question has an id that is derived from the event's |
//! | a condition's file → notice, entry of the event | a condition that stands, or is over, without its event's entry | the same event again tells once more, or ends what is over |
//! | notice → entry of the event | the same, without a question | the same event again tells once more |
//! | **resume**: mark `starting` → the command's end | a mark whose lease died with the resumer | nobody by itself, so that nothing runs twice: `workflow list` shows it, `workflow resume` goes on |
//! | **notice**: queued → sent → taken out of the queue | something queued, that may have been sent | the next question's sender; what was settled meanwhile is not told |
//! | **publish**: question → outbox entry | a question that no Relay was told of | the next poll, and the next process that waits, make the entry |
//! | the Relay took it → the entry says `sent` | an entry that is due | whoever sends it again: under the same id the Relay takes it for the same |
//! | **poll**: answers applied → cursor written | a cursor before answers that count already | the next poll: the page replays, and replays change nothing |
//! | **pair**: old token gone (another address only) → `provider.json` → `devices.json` → cursor gone → `credentials.json` | a Relay that is not paired, or the old token with the old address | pairing again; a cursor of another installation counts as none |
//! | **devices**: the Relay's list → `devices.json` | a list as it was | whoever publishes next, and `relay devices`, ask again |
//! | **prune**: unlink and fsync in `pending/` → marks → record | a record without its marks | the next prune |
//! | unlink → fsync of `settled/` | after a power cut possibly the record; nobody was told that it is gone | the next prune |

pub mod arc;
pub mod broker;
pub mod cli;
pub mod cmd;
pub mod completion;
pub mod config;
pub mod diff;
pub mod error;
pub mod events;
pub mod fsio;
pub mod hook;
pub mod http;
pub mod id;
pub mod interrupt;
pub mod log;
pub mod mcp;
pub mod model;
pub mod notice;
pub mod park;
pub mod policy;
pub mod process;
pub mod prompt;
pub mod relay;
pub mod render;
pub mod repo;
pub mod secret;
pub mod store;
pub mod terminal;
pub mod text;
pub mod time;
pub mod watch;
pub mod words;
