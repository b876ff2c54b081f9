//! sayso puts a durable question in front of a human and brings the answer back.

pub mod config;
pub mod error;
pub mod id;
pub mod policy;
pub mod repo;
pub mod secret;
pub mod time;
