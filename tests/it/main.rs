//! Everything that is tested through the binary, in one program.

#![allow(
    unreachable_pub,
    reason = "one program: what is public is public to its modules"
)]

mod sandbox;

mod bounds;
mod first;
mod identity;
