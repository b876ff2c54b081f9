//! Everything that is tested through the binary, in one program.

mod sandbox;

mod first;
