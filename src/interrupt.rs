//! Signals that end a wait: they are noted, and wake whoever polls.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::unistd::{Pid, getpid, getppid, getsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

/// The signals that came since [`Interrupts::listen`].
#[derive(Debug)]
pub struct Interrupts {
    parent: Pid,
    apart: bool,
    last: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    wake: UnixStream,
    signalled: UnixStream,
}

impl Interrupts {
    /// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end the process but are noted here.
    ///
    /// One that the parent chose to ignore (`nohup`, a shell's background job) stays ignored.
    pub fn listen() -> io::Result<Self> {
        let parent = getppid();
        let (wake, signalled) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let last = Arc::new(AtomicUsize::new(0));
        let ignored = ignored_signals();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            if is_ignored(ignored, signal) {
                continue;
            }
            // The flag first: who is woken must find it set.
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&last), number)?;
            signal_hook::low_level::pipe::register(signal, signalled.try_clone()?)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        Ok(Self {
            parent,
            apart: false,
            last,
            stop,
            wake,
            signalled,
        })
    }

    /// As [`Interrupts::listen`], for what may have been started to outlive its parent and its terminal:
    /// with SIGHUP ignored (`nohup`), or as the leader of a session of its own (`setsid`).
    pub fn listen_apart() -> io::Result<Self> {
        let leads = getsid(None) == Ok(getpid());
        let apart = leads || is_ignored(ignored_signals(), SIGHUP);
        Ok(Self {
            apart,
            ..Self::listen()?
        })
    }

    /// Whether it was started to outlive its parent and its terminal.
    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// From now on the terminal's stop key does not stop the process but is noted too: whoever changed
    /// the terminal's modes must restore them first.
    pub fn listen_for_stop(&self) -> io::Result<()> {
        signal_hook::flag::register(SIGTSTP, Arc::clone(&self.stop))?;
        signal_hook::low_level::pipe::register(SIGTSTP, self.signalled.try_clone()?)?;
        Ok(())
    }

    /// Whether the stop key was pressed since this was last asked.
    pub fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::SeqCst)
    }

    /// Whether the process that was the parent when this began is gone, and was not meant to be outlived.
    pub fn is_orphaned(&self) -> bool {
        !self.apart && getppid() != self.parent
    }

    /// The last signal that came, if any.
    pub fn signal(&self) -> Option<i32> {
        match self.last.load(Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }

    /// Forgets the last signal.
    pub fn clear(&self) {
        self.last.store(0, Ordering::SeqCst);
    }

    /// Readable when a signal came.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Empties what made [`Interrupts::fd`] readable.
    pub(crate) fn drain(&self) {
        drain(&self.wake);
    }
}

/// The signals that this process was started with as ignored, bit 0 for signal 1; none where the
/// system does not tell (`proc_pid_status(5)`, `SigIgn`).
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_ignored(mask: u64, signal: i32) -> bool {
    mask >> (signal - 1) & 1 == 1
}

/// Reads away what woke a poll.
pub(crate) fn drain(mut wake: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!(wake.read(&mut bytes), Ok(n) if n > 0) {}
}
