//! Sleeping until a file changes: arm, then check, then sleep. Whatever wakes means only "look again".

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use notify::event::EventKind;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::interrupt::{Interrupts, drain};
use crate::log;

/// The longest sleep: it catches mounts without events, clock jumps and suspended machines.
pub const TICK: Duration = Duration::from_secs(1);

/// One process's watcher, and what its sleeps end on.
pub struct Watch {
    watcher: Option<RecommendedWatcher>,
    wake: UnixStream,
    polling_since: Option<Instant>,
}

/// Descriptors of the caller that also end a sleep.
#[derive(Clone, Copy)]
pub struct Also<'a> {
    /// What to look at.
    pub fd: BorrowedFd<'a>,
    /// What to look for; errors and hang-ups always end the sleep.
    pub events: PollFlags,
}

impl<'a> Also<'a> {
    /// Ends the sleep when nobody reads an output any more.
    pub fn hangup_of(output: &'a impl AsFd) -> Self {
        Self {
            fd: output.as_fd(),
            events: PollFlags::empty(),
        }
    }
}

impl Watch {
    /// Whether sleeps are short because no watcher could be had.
    pub fn is_polling(&self) -> bool {
        self.polling_since.is_some()
    }

    /// A watcher; where none can be had, sleeps are short instead.
    pub fn new() -> io::Result<Self> {
        let (wake, changed) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        changed.set_nonblocking(true)?;
        let changed = std::sync::Mutex::new(changed);
        let handler = move |event: notify::Result<notify::Event>| {
            if matches!(&event, Ok(e) if matches!(e.kind, EventKind::Access(_))) {
                return;
            }
            if let Ok(mut changed) = changed.lock() {
                let _ = changed.write(&[1]);
            }
        };
        let watcher = RecommendedWatcher::new(handler, notify::Config::default());
        let mut watch = Self {
            watcher: None,
            wake,
            polling_since: None,
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.poll_instead(&error),
        }
        Ok(watch)
    }

    /// Watches a file or a directory itself. A path that is not there is fine: the check that follows
    /// finds out.
    pub fn arm(&mut self, path: &Path) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        match watcher.watch(path, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            Err(error) if is_missing(&error) => {}
            Err(error) => {
                self.watcher = None;
                self.poll_instead(&error);
            }
        }
    }

    /// Stops watching a path.
    pub fn disarm(&mut self, path: &Path) {
        if let Some(watcher) = &mut self.watcher {
            let _ = watcher.unwatch(path);
        }
    }

    /// Sleeps until something changes, a signal comes, one of `also` is ready, or at most `limit`
    /// (never longer than [`TICK`]). Returns which of `also` are ready.
    pub fn sleep(
        &self,
        limit: Duration,
        interrupts: Option<&Interrupts>,
        also: &[Also<'_>],
    ) -> io::Result<Vec<bool>> {
        let mut fds = vec![PollFd::new(self.wake.as_fd(), PollFlags::POLLIN)];
        if let Some(interrupts) = interrupts {
            fds.push(PollFd::new(interrupts.fd(), PollFlags::POLLIN));
        }
        let own = fds.len();
        fds.extend(also.iter().map(|a| PollFd::new(a.fd, a.events)));
        let limit = limit.min(self.longest());
        // Rounded up: waking a moment early would only mean sleeping once more.
        let millis = u16::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(1000);
        match poll(&mut fds, PollTimeout::from(millis)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|r| !r.is_empty());
        let also_ready = fds[own..].iter().map(ready).collect();
        drain(&self.wake);
        if let Some(interrupts) = interrupts {
            interrupts.drain();
        }
        Ok(also_ready)
    }

    fn longest(&self) -> Duration {
        match self.polling_since {
            None => TICK,
            Some(since) if since.elapsed() < Duration::from_secs(1) => Duration::from_millis(10),
            Some(_) => Duration::from_millis(100),
        }
    }

    fn poll_instead(&mut self, error: &notify::Error) {
        log::info(|| format!("no file watch to be had, looking every 100 ms instead: {error}"));
        self.polling_since = Some(Instant::now());
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound => true,
        notify::ErrorKind::Io(e) => e.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}
