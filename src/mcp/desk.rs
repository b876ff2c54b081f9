//! One thread that looks at everything that can end a wait: standard input, signals, question files.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

use nix::poll::PollFlags;
use tokio::sync::{mpsc::UnboundedSender, oneshot};

use super::parked::{Ending, Parked};
use super::{CLOSE_WAIT, Ended};
use crate::interrupt::{Interrupts, drain};
use crate::log;
use crate::time::Time;
use crate::watch::{Also, TICK, Watch};

/// The bound of one message, in bytes.
const LINE_MAX: usize = 16 << 20;
/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// What the thread holds.
pub(super) struct Desk {
    parked: Arc<Parked>,
    bell: UnixStream,
    interrupts: Interrupts,
    watch: Watch,
    lines: UnboundedSender<Vec<u8>>,
    line: Vec<u8>,
    too_long: bool,
}

impl Desk {
    /// A desk for these questions; lines of standard input go to `lines`.
    pub(super) fn new(
        parked: Arc<Parked>,
        bell: UnixStream,
        interrupts: Interrupts,
        lines: UnboundedSender<Vec<u8>>,
    ) -> io::Result<Self> {
        Ok(Self {
            parked,
            bell,
            interrupts,
            watch: Watch::new()?,
            lines,
            line: Vec::new(),
            too_long: false,
        })
    }

    /// Runs until the client is gone or a signal comes; tells that, withdraws everything, tells that too.
    pub(super) fn run(mut self, begun: oneshot::Sender<Ended>, done: oneshot::Sender<()>) {
        let ended = self.work();
        let _ = begun.send(ended);
        let endings = self.parked.close(Instant::now() + CLOSE_WAIT);
        if ended == Ended::Closed {
            // Whoever closed only the input may still read what became of the calls.
            endings.into_iter().for_each(Ending::tell);
        } else {
            // After a signal no result goes out: the calls wait on until the process is gone.
            std::mem::forget(endings);
        }
        let _ = done.send(());
    }

    fn work(&mut self) -> Ended {
        loop {
            for file in self.parked.take_fresh() {
                self.watch.arm(&file);
            }
            for file in self.parked.look() {
                self.watch.disarm(&file);
            }
            if let Some(ended) = self.sleep() {
                return ended;
            }
        }
    }

    /// Sleeps until there is something to look at; the end, if that is it.
    fn sleep(&mut self) -> Option<Ended> {
        let deadline = self.parked.next_deadline();
        let limit = deadline.map_or(TICK, |d| d.since(Time::now()).min(TICK));
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let readable = |fd| Also {
            fd,
            events: PollFlags::POLLIN,
        };
        use std::os::fd::AsFd;
        let also = [
            readable(stdin.as_fd()),
            readable(self.bell.as_fd()),
            Also::hangup_of(&stdout),
        ];
        let ready = self.watch.sleep(limit, Some(&self.interrupts), &also);
        drain(&self.bell);
        if let Some(signal) = self.interrupts.signal() {
            return Some(Ended::Signal(signal));
        }
        match ready {
            Ok(_) if self.interrupts.is_orphaned() => Some(Ended::Closed),
            Ok(ready) if ready[2] => Some(Ended::Closed),
            Ok(ready) if ready[0] => self.read(),
            Ok(_) => None,
            Err(error) => {
                log::warn(&format!("cannot wait for input: {error}"));
                Some(Ended::Closed)
            }
        }
    }

    fn read(&mut self) -> Option<Ended> {
        let mut chunk = vec![0; CHUNK];
        match nix::unistd::read(io::stdin(), &mut chunk) {
            Ok(0) => Some(Ended::Closed),
            Ok(length) => self.take(&chunk[..length]),
            Err(nix::errno::Errno::EINTR | nix::errno::Errno::EAGAIN) => None,
            Err(_) => Some(Ended::Closed),
        }
    }

    fn take(&mut self, mut bytes: &[u8]) -> Option<Ended> {
        while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
            self.append(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            let too_long = std::mem::take(&mut self.too_long);
            if !too_long && self.lines.send(line).is_err() {
                return Some(Ended::Closed);
            }
        }
        self.append(bytes);
        None
    }

    fn append(&mut self, bytes: &[u8]) {
        if !self.too_long && self.line.len() + bytes.len() > LINE_MAX {
            log::warn(&format!(
                "a message of more than {LINE_MAX} bytes was dropped"
            ));
            self.too_long = true;
            self.line = Vec::new();
        }
        if !self.too_long {
            self.line.extend_from_slice(bytes);
        }
    }
}
