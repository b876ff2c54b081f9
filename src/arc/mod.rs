//! ARC 0.2, the Attention Request Contract: questions, their answers and their ends as events that any
//! program can write and read.
//!
//! Promise: an event that the contract's schema does not allow is refused, by the name of the member and
//! its bound; one that it allows is applied, or refused for a reason that is told. An event that was
//! applied before is not applied again: its first result is looked up. What an answer needs in order to
//! be accepted is the same as everywhere else.

mod applied;
mod apply;
mod condition;
mod emit;
mod event;
mod headline;
mod members;
mod request;
mod target;

pub use applied::{Wanted, prune};
pub use apply::{Applied, Place, apply};
pub use emit::{is_told, told};
pub use event::{Body, EVENT_MAX, Event, Type, parse};
pub use headline::Kind;
pub use request::{Asked, Request, Sender};
