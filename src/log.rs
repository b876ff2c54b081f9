//! Warnings and, on request, what the store does. Whoever runs the process decides where they go;
//! nothing here ever holds a prompt, an answer, a digest or a nonce.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

static VERBOSITY: AtomicU8 = AtomicU8::new(0);
static SINK: OnceLock<fn(&str)> = OnceLock::new();

/// Sends what is logged to `sink`, with details up to `verbosity` (0 warnings, 1 `-v`, 2 `-vv`).
pub fn start(sink: fn(&str), verbosity: u8) {
    let _ = SINK.set(sink);
    VERBOSITY.store(verbosity, Ordering::Relaxed);
}

/// Something is wrong that does not stop the work.
pub fn warn(text: &str) {
    if let Some(sink) = SINK.get() {
        sink(&format!("warning: {text}"));
    }
}

/// Something that `-v` shows.
pub fn info(text: impl FnOnce() -> String) {
    detail(1, text);
}

/// Something that `-vv` shows: ids and kinds only.
pub fn debug(text: impl FnOnce() -> String) {
    detail(2, text);
}

fn detail(level: u8, text: impl FnOnce() -> String) {
    if VERBOSITY.load(Ordering::Relaxed) >= level
        && let Some(sink) = SINK.get()
    {
        sink(&text());
    }
}
