//! The user's Relay services: questions go out sealed for paired phones, answers come back.
//!
//! Promise: Relay is trusted for liveness and order, never for authorization: every answer that it brings
//! passes the same rules as any other. A Relay that is dead, slow or hostile changes no question and
//! fails no asker. No token, nonce, digest, prompt or answer is in any error or file of this room.

mod client;
pub mod courier;
pub mod cursor;
pub mod devices;
mod envelope;
mod item;
mod looker;
pub mod outbox;
pub mod pair;
pub mod poll;
pub mod provider;
pub mod publish;
mod seal;
mod state;
pub mod status;
pub mod units;
