//! What a host says through its hooks and plugins, and what it is told.

pub mod install;
