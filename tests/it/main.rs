//! Everything that is tested through the binary, in one program.
#![allow(unreachable_pub, reason = "a test program has no reach")]

mod hosts;
mod pty;
mod sandbox;

mod assets;
mod completion;
mod first;
mod gates;
mod hooks;
mod terminal;
mod tidy;
