//! Running another program for a notice: no shell, no output, its end enforced.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How long a program and whatever it started may run.
const LIMIT: Duration = Duration::from_secs(5);
/// The pause between looks at it.
const PAUSE: Duration = Duration::from_millis(10);
/// The variables of ours that a program keeps: where the store and the configuration are.
const KEPT: [&str; 2] = ["SAYSO_HOME", "SAYSO_CONFIG"];

/// Why a program did not do its work.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is none of that name.
    Missing,
    /// It did not start, ended badly, or took too long; for people.
    Bad(String),
}

/// Runs a program to its end, at most 5 s: then it is killed with its whole process group.
///
/// It is led into a group of its own, gets `input` and sees no output. Of this program's own variables
/// it sees those that say where things are, and `variables`.
///
/// # Errors
/// Unless it ended well and in time.
pub(super) fn run(
    argv: &[impl AsRef<std::ffi::OsStr>],
    input: Vec<u8>,
    variables: &[(&'static str, String)],
) -> Result<(), Failure> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Failure::Missing);
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    for name in std::env::vars_os().map(|(name, _)| name) {
        if is_ours(&name) {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let until = Instant::now() + LIMIT;
    let mut child = command.spawn().map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::Missing,
        _ => Failure::Bad(format!("it cannot be started: {e}")),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // Who does not read must not hold this up; the write fails when the program ends.
        let writer = std::thread::Builder::new();
        let _ = writer.spawn(move || drop(stdin.write_all(&input)));
    }
    let ended = end(&mut child, until);
    match ended {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(Failure::Bad(format!("it ended with {status}"))),
        None => {
            let limit = LIMIT.as_secs();
            Err(Failure::Bad(format!("it was killed after {limit} seconds")))
        }
    }
}

fn is_ours(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("SAYSO_") && !KEPT.contains(&name.as_ref())
}

/// Waits for the program and what it left behind; none if it had to be killed itself.
fn end(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    // It leads its group, so its id is the group's for as long as any of them lives.
    let group = Pid::from_raw(i32::try_from(child.id()).ok()?);
    let mut ended = None;
    loop {
        if ended.is_none() {
            ended = child.try_wait().ok().flatten();
        }
        if ended.is_some() && killpg(group, None).is_err() {
            return ended;
        }
        if Instant::now() >= until {
            let _ = killpg(group, Signal::SIGKILL);
            if ended.is_none() {
                let _ = child.wait();
            }
            return ended;
        }
        std::thread::sleep(PAUSE);
    }
}
