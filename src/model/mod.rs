//! The record and its rules, as pure functions over (record, input, now): no I/O, no clock.

pub mod bare;
pub mod brief;
pub mod digest;
pub mod draft;
pub mod elicitation;
pub mod feedback;
pub mod form;
pub mod interaction;
pub mod json;
pub mod question_tool;
pub mod record;
pub mod response;
pub mod select;
pub mod transition;
pub mod view;

#[cfg(test)]
mod endings;
#[cfg(test)]
mod properties;
