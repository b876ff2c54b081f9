//! sayso puts a durable question in front of a human and brings the answer back.

pub mod broker;
pub mod cli;
pub mod cmd;
pub mod completion;
pub mod config;
pub mod error;
pub mod events;
pub mod fsio;
pub mod hook;
pub mod id;
pub mod interrupt;
pub mod log;
pub mod mcp;
pub mod model;
pub mod park;
pub mod prompt;
pub mod render;
pub mod repo;
pub mod secret;
pub mod store;
pub mod terminal;
pub mod time;
pub mod watch;
