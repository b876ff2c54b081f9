//! A pseudo-terminal of its own for a process: what it prints is collected, keys are written to it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::sandbox::{Ran, Sandbox, finish, until};

/// A process on a terminal.
pub struct Terminal {
    master: Option<File>,
    slave: OwnedFd,
    printed: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Terminal {
    /// Starts the binary on a terminal of that many columns. Standard output goes there too.
    pub fn start(world: &Sandbox, columns: u16, term: &str, args: &[&str]) -> Self {
        Self::dressed(world, columns, term, args, |_| {})
    }

    /// As [`Terminal::start`], with more said about the command.
    pub fn dressed(
        world: &Sandbox,
        columns: u16,
        term: &str,
        args: &[&str],
        more: impl FnOnce(&mut Command),
    ) -> Self {
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(Some(&size), None).unwrap();
        // util-linux's setsid makes the terminal the controlling one, so that its keys send signals.
        let mut command = Command::new("setsid");
        world.dress(&mut command);
        command
            .args(["--ctty", "--wait", crate::sandbox::binary()])
            .args(args)
            .env("TERM", term);
        more(&mut command);
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        command
            .stdin(end(&pty.slave))
            .stdout(end(&pty.slave))
            .stderr(end(&pty.slave));
        let child = command.spawn().unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let mut reader = File::from(pty.master.try_clone().unwrap());
        let sink = Arc::clone(&printed);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                sink.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self {
            master: Some(File::from(pty.master)),
            slave: pty.slave,
            printed,
            child,
        }
    }

    /// Everything printed so far.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }

    /// Waits until a text was printed.
    pub fn expect(&self, text: &str) {
        self.expect_times(text, 1);
    }

    /// Waits until a text was printed that often.
    pub fn expect_times(&self, text: &str, times: usize) {
        let count = || self.screen().matches(text).count();
        let start = std::time::Instant::now();
        while count() < times {
            assert!(
                start.elapsed() < crate::sandbox::DEADLINE,
                "waited for {text:?} ×{times}; screen:\n{}",
                self.screen()
            );
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.master
            .as_mut()
            .unwrap()
            .write_all(keys.as_bytes())
            .unwrap();
    }

    /// Whether the terminal echoes and edits lines, as a shell left it.
    pub fn is_sane(&self) -> bool {
        let mode = tcgetattr(self.slave.as_fd()).unwrap();
        mode.local_flags
            .contains(LocalFlags::ECHO | LocalFlags::ICANON)
    }

    /// Waits until the process takes single keys.
    pub fn expect_keys(&self) {
        until("single keys", || (!self.is_sane()).then_some(()));
    }

    /// The process's own children; `setsid --wait` may stand in between.
    pub fn pid(&self) -> u32 {
        let path = format!("/proc/{0}/task/{0}/children", self.child.id());
        let children = std::fs::read_to_string(path).unwrap_or_default();
        children
            .split_whitespace()
            .next()
            .map_or(self.child.id(), |pid| pid.parse().unwrap())
    }

    /// Waits for the end of the process.
    pub fn finish(self) -> Ran {
        let ran = finish(self.child);
        Ran {
            code: ran.code,
            stdout: String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned(),
            stderr: String::new(),
        }
    }
}
