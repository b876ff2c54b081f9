//! Where output goes: data to standard output, everything else to standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};

use super::style::Style;
use crate::text;

/// Standard output, buffered. [`Out::flush`] says whether all of it arrived.
pub struct Out {
    stdout: BufWriter<Direct>,
    /// Its colours.
    pub style: Style,
    /// Its width.
    pub columns: usize,
    terminal: bool,
}

impl Out {
    /// Standard output in a style, `columns` wide.
    pub fn new(style: Style, columns: usize) -> Self {
        Self {
            stdout: BufWriter::new(Direct {
                stdout: io::stdout(),
                failed: false,
            }),
            style,
            columns,
            terminal: io::stdout().is_terminal(),
        }
    }

    /// A text made safe as one line: cut to the width on a terminal, whole for any other reader.
    pub fn fit(&self, text: &str) -> String {
        if self.terminal {
            text::cut(text, self.columns)
        } else {
            text::line(text)
        }
    }

    /// Writes a line that is safe already, or data.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.stdout.write_all(text.as_bytes())?;
        self.stdout.write_all(b"\n")
    }

    /// Writes lines that are safe already.
    pub fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Hands everything over.
    pub fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Standard output without a buffer of its own. After a failure it takes nothing more: a buffer that is
/// dropped would otherwise write, as a success, what was just reported as a failure.
struct Direct {
    stdout: Stdout,
    failed: bool,
}

impl Write for Direct {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(ErrorKind::Other.into());
        }
        let written = nix::unistd::write(&self.stdout, bytes).map_err(io::Error::from);
        self.failed = written
            .as_ref()
            .is_err_and(|e| e.kind() != ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes one safe line to standard error; one that is gone is no reason to fail.
pub fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text::line(text));
}

/// Writes lines that are safe already to standard error.
pub fn lines_to_stderr(lines: &[String]) {
    let mut stderr = io::stderr().lock();
    for line in lines {
        let _ = writeln!(stderr, "{line}");
    }
}
