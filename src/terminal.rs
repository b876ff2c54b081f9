//! The terminal as a source of single keys, and always given back as it was found.
//!
//! Nothing here asks the terminal anything: no query is written, no reply is awaited. Signals stay
//! with the caller; Ctrl-C and Ctrl-Z keep their meaning in single-key mode.

mod decode;
#[cfg(test)]
mod tests;

pub use decode::{Decoder, Key};

use std::io;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::sys::signal::{Signal, raise};
use nix::sys::termios::{
    FlushArg, LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcflush, tcgetattr, tcsetattr,
};
use nix::unistd::{getpgrp, getppid, getsid, read, tcgetpgrp};
use terminal_size::{Width, terminal_size_of};

/// Single-key mode of a terminal: keys come at once and are not echoed, signals and output are
/// processed as before. Dropping it restores the terminal, also while a panic unwinds.
///
/// A process in the background must not touch the terminal's modes (it would be stopped), so the
/// mode may be off while this exists; see [`Keys::ready`].
#[derive(Debug)]
pub struct Keys<'fd> {
    fd: BorrowedFd<'fd>,
    /// Taken when first in the foreground: before that, a shell's own line editor has set it.
    found: Option<Termios>,
    on: bool,
}

/// How a suspension ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// In the foreground: single-key mode is on again, the question should be printed again.
    Foreground,
    /// In the background: no keys until [`Keys::ready`] says so.
    Background,
    /// Not stopped at all, since nobody could ever continue this process.
    NotStopped,
}

/// What reading brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Keys in the order they came; none where only a part of a sequence has come so far. Several
    /// at once are a paste or were typed while nobody read; a person gives one at a time.
    Keys(Vec<Key>),
    /// End of input, or the terminal is gone.
    Closed,
}

impl<'fd> Keys<'fd> {
    /// Enters single-key mode, unless in the background.
    ///
    /// # Errors
    /// Where `fd` is no terminal, or refuses.
    pub fn enter(fd: BorrowedFd<'fd>) -> io::Result<Self> {
        tcgetattr(fd)?;
        let mut keys = Self {
            fd,
            found: None,
            on: false,
        };
        keys.resume()?;
        Ok(keys)
    }

    /// Enters single-key mode again after SIGCONT, from whatever state a shell left the terminal
    /// in; `false` when in the background, where keys cannot be had.
    ///
    /// # Errors
    /// Where the terminal refuses.
    pub fn resume(&mut self) -> io::Result<bool> {
        self.on = false;
        if !is_foreground(self.fd) {
            return Ok(false);
        }
        let found = match self.found.take() {
            Some(found) => found,
            None => tcgetattr(self.fd)?,
        };
        let mut mode = self.found.insert(found).clone();
        mode.local_flags
            .remove(LocalFlags::ICANON | LocalFlags::ECHO);
        mode.local_flags.insert(LocalFlags::ISIG);
        mode.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        mode.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        tcsetattr(self.fd, SetArg::TCSANOW, &mode)?;
        self.on = true;
        Ok(true)
    }

    /// Whether keys can be had now. Enters single-key mode if this process has come into the
    /// foreground, and notes if it has left it. While it is `false`, ask again about once a second
    /// (a shell's `fg` need not send a signal) and do not poll the terminal: its input is for others.
    ///
    /// # Errors
    /// Where the terminal refuses.
    pub fn ready(&mut self) -> io::Result<bool> {
        if self.on && is_foreground(self.fd) {
            return Ok(true);
        }
        self.resume()
    }

    /// Does something with the terminal as it was found (a line to type, an editor), then enters
    /// single-key mode again.
    ///
    /// # Errors
    /// Where the terminal refuses; what `action` did has happened all the same.
    pub fn paused<T>(&mut self, action: impl FnOnce() -> T) -> io::Result<T> {
        self.restore();
        let outcome = action();
        self.resume()?;
        Ok(outcome)
    }

    /// What a caught SIGTSTP asks for: gives the terminal back, stops this process, and enters
    /// single-key mode again once it is continued. The terminal has sent the signal to the rest of
    /// the process group itself.
    ///
    /// # Errors
    /// Where the terminal refuses afterwards.
    pub fn suspend(&mut self) -> io::Result<Resumed> {
        if is_orphaned() {
            return Ok(Resumed::NotStopped);
        }
        self.restore();
        raise(Signal::SIGSTOP)?;
        Ok(if self.resume()? {
            Resumed::Foreground
        } else {
            Resumed::Background
        })
    }

    /// Best effort: a terminal that is gone needs no restoring, and one that belongs to another
    /// process group by now is that group's to set.
    fn restore(&mut self) {
        if let Some(found) = &self.found
            && self.on
            && is_foreground(self.fd)
        {
            let _ = tcsetattr(self.fd, SetArg::TCSANOW, found);
        }
        self.on = false;
    }
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Whether this process may read the terminal and set its modes without being stopped. Job control
/// knows only the controlling terminal; for any other `fd` (ENOTTY) nobody is stopped.
pub fn is_foreground(fd: BorrowedFd<'_>) -> bool {
    match tcgetpgrp(fd) {
        Ok(group) => group == getpgrp(),
        Err(error) => error == Errno::ENOTTY,
    }
}

/// Whether this process group has no job-control shell above it. The kernel drops the stop signals
/// of a terminal for such groups; ours would stop it for ever. A group led by a session's leader is
/// one, and so is a group whose parent lives in another session (`setpgid(2)`, `credentials(7)`).
fn is_orphaned() -> bool {
    let Ok(session) = getsid(None) else {
        return true;
    };
    getpgrp() == session || getsid(Some(getppid())) != Ok(session)
}

/// Forgets what was typed but not read yet, so that it cannot answer what is printed next.
///
/// # Errors
/// Where `fd` is no terminal.
pub fn discard_typed_ahead(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(tcflush(fd, FlushArg::TCIFLUSH)?)
}

/// The keys that one `read` brings. It blocks unless the caller has seen that `fd` is readable.
///
/// # Errors
/// Those of `read(2)` but EINTR (repeated), EAGAIN (no keys) and EIO (the terminal is gone).
pub fn read_keys(fd: BorrowedFd<'_>, decoder: &mut Decoder) -> io::Result<Input> {
    let mut bytes = [0; 1024];
    loop {
        return match read(fd, &mut bytes) {
            Ok(0) | Err(Errno::EIO) => Ok(Input::Closed),
            Ok(count) => Ok(Input::Keys(decoder.decode(&bytes[..count]))),
            Err(Errno::EAGAIN) => Ok(Input::Keys(Vec::new())),
            Err(Errno::EINTR) => continue,
            Err(error) => Err(error.into()),
        };
    }
}

/// Display columns: the value of `COLUMNS` where it is a positive number, else what the terminal
/// says; `None` where `fd` is none or does not know.
pub fn columns(fd: BorrowedFd<'_>, variable: Option<&str>) -> Option<usize> {
    let given = variable.and_then(|text| text.trim().parse().ok());
    let known = || terminal_size_of(fd).map(|(Width(columns), _)| usize::from(columns));
    let some = |columns: &usize| *columns > 0;
    given.filter(some).or_else(|| known().filter(some))
}
