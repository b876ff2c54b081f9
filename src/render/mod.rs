//! The only writers of human output: whatever a person reads on a terminal passes through here.

pub mod json;
pub mod out;
pub mod question;
pub mod span;
pub mod style;
pub mod table;
