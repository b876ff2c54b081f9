//! Running another program to its end, which is enforced: no shell, a group of its own, bounded output.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The pause between looks at it.
const PAUSE: Duration = Duration::from_millis(10);

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program's own; what it started may go on.
    Own,
    /// That of everything that it started, too: what is left at the limit is killed.
    Everything,
}

/// What a program may do.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may run.
    pub time: Duration,
    /// How much it may print, in bytes; with 0 its output goes nowhere.
    pub output: usize,
    /// What is waited for.
    pub end: End,
}

/// Why a program did not come to its end.
#[derive(Debug)]
pub enum Failure {
    /// There is none of that name.
    Missing,
    /// It cannot be started.
    Start(io::Error),
    /// It was killed at its limit.
    Killed,
    /// It prints more than it may, and was killed.
    TooMuch,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such program"),
            Self::Start(error) => write!(f, "it cannot be started: {error}"),
            Self::Killed => f.write_str("it took too long and was killed"),
            Self::TooMuch => f.write_str("it printed too much and was killed"),
        }
    }
}

/// Runs a program, at most as long as its bounds say: then it is killed with its whole process group. It
/// gets `input`, and nobody sees its errors.
///
/// # Errors
/// Unless it came to its own end in time; what its status says is the caller's to judge.
pub fn run(
    mut command: Command,
    input: Vec<u8>,
    bounds: &Bounds,
) -> Result<(ExitStatus, Vec<u8>), Failure> {
    let until = Instant::now() + bounds.time;
    let piped = |wanted: bool| {
        if wanted {
            Stdio::piped()
        } else {
            Stdio::null()
        }
    };
    command
        .process_group(0)
        .stdin(piped(!input.is_empty()))
        .stdout(piped(bounds.output > 0))
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::Missing,
        _ => Failure::Start(e),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read must not hold this up; the write fails when it ends.
        let writer = std::thread::Builder::new();
        let _ = writer.spawn(move || drop(stdin.write_all(&input)));
    }
    let mut printed = Printed::of(&mut child, bounds.output);
    let ended = end(&mut child, &mut printed, bounds.end, until);
    ended.map(|status| (status, printed.bytes))
}

/// Waits for the program, and for what it left behind where that is wanted.
fn end(
    child: &mut Child,
    printed: &mut Printed,
    wanted: End,
    until: Instant,
) -> Result<ExitStatus, Failure> {
    // It leads its group, so its id is the group's for as long as any of them lives.
    let group = i32::try_from(child.id()).ok().map(Pid::from_raw);
    let lives = || group.is_some_and(|group| killpg(group, None).is_ok());
    let mut ended = None;
    loop {
        if ended.is_none() {
            ended = child.try_wait().ok().flatten();
        }
        // After its end, what it printed is there to be read, whoever else holds the pipe.
        let fits = printed.take();
        match ended {
            Some(status) if fits && (wanted == End::Own || !lives()) => return Ok(status),
            _ => {}
        }
        if !fits || Instant::now() >= until {
            if let Some(group) = group {
                let _ = killpg(group, Signal::SIGKILL);
            }
            if ended.is_none() {
                let _ = child.wait();
            }
            let failure = if fits {
                Failure::Killed
            } else {
                Failure::TooMuch
            };
            return ended.filter(|_| fits).ok_or(failure);
        }
        std::thread::sleep(PAUSE);
    }
}

/// What a program printed so far.
struct Printed {
    pipe: Option<ChildStdout>,
    bytes: Vec<u8>,
    max: usize,
}

impl Printed {
    fn of(child: &mut Child, max: usize) -> Self {
        let pipe = child.stdout.take().filter(|pipe| {
            let flags = fcntl(pipe, FcntlArg::F_GETFL).unwrap_or_default();
            let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
            fcntl(pipe, FcntlArg::F_SETFL(flags)).is_ok()
        });
        Self {
            pipe,
            bytes: Vec::new(),
            max,
        }
    }

    /// Takes what is there to be read; whether it fits.
    fn take(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else {
            return true;
        };
        let mut part = [0; 8192];
        loop {
            match pipe.read(&mut part) {
                Ok(0) => break,
                Ok(count) => self.bytes.extend_from_slice(&part[..count]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
            if self.bytes.len() > self.max {
                return false;
            }
        }
        self.pipe = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str, bounds: Bounds) -> Result<(ExitStatus, Vec<u8>), Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        run(command, b"input".to_vec(), &bounds)
    }

    fn bounds(end: End) -> Bounds {
        Bounds {
            time: Duration::from_millis(1500),
            output: 100_000,
            end,
        }
    }

    #[test]
    fn what_a_program_prints_is_what_it_printed_before_its_end() {
        let start = Instant::now();
        // Somebody else holds the pipe for much longer.
        let (status, printed) = script("cat; sleep 60 & exit 3", bounds(End::Own)).unwrap();
        assert_eq!((status.code(), &*printed), (Some(3), &b"input"[..]));
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
        let all = "i=0; while [ $i -lt 90000 ]; do printf 0123456789; i=$((i+10)); done";
        let long = Bounds {
            time: Duration::from_secs(20),
            ..bounds(End::Own)
        };
        assert_eq!(script(all, long).unwrap().1.len(), 90_000);
    }

    #[test]
    fn whatever_a_program_does_it_comes_to_an_end() {
        let start = Instant::now();
        let killed = |text: &str, end| matches!(script(text, bounds(end)), Err(Failure::Killed));
        assert!(killed("sleep 60", End::Own));
        assert!(killed(
            "trap '' TERM INT HUP; sleep 60 & wait",
            End::Everything
        ));
        // Done itself, with something left that is killed at the limit.
        let (status, _) = script("sleep 60 & exit 0", bounds(End::Everything)).unwrap();
        assert!(status.success());
        let flood = script("while :; do echo 0123456789; done", bounds(End::Own));
        assert!(matches!(flood, Err(Failure::TooMuch)));
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        let missing = run(
            Command::new("no-such-program-here"),
            Vec::new(),
            &bounds(End::Own),
        );
        assert!(matches!(missing, Err(Failure::Missing)));
    }
}
