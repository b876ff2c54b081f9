//! Everything that is tested through the binary, in one program.

#![allow(
    unreachable_pub,
    missing_docs,
    reason = "a test program has no outside"
)]

mod library;
mod sandbox;

mod crash;
mod first;
mod race;
