//! Running another program for a notice: no shell, no output, its end enforced.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Bounds, End};

/// What a program and whatever it started may do.
const BOUNDS: Bounds = Bounds {
    time: Duration::from_secs(5),
    output: 0,
    end: End::Everything,
};
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

/// Runs a program to its end, at most 5 s.
///
/// It gets `input` and sees no output. Of this program's own variables it sees those that say where
/// things are, and `variables`.
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
    command.args(arguments);
    for name in std::env::vars_os().map(|(name, _)| name) {
        if is_ours(&name) {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    match process::run(command, input, &BOUNDS) {
        Ok((status, _)) if status.success() => Ok(()),
        Ok((status, _)) => Err(Failure::Bad(format!("it ended with {status}"))),
        Err(process::Failure::Missing) => Err(Failure::Missing),
        Err(process::Failure::Killed) => {
            let limit = BOUNDS.time.as_secs();
            Err(Failure::Bad(format!("it was killed after {limit} seconds")))
        }
        Err(failure) => Err(Failure::Bad(failure.to_string())),
    }
}

fn is_ours(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("SAYSO_") && !KEPT.contains(&name.as_ref())
}
