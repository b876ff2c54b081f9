//! What strace shows of a run, and how it hits one of the calls.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::sandbox::{Ran, Sandbox, binary, finish, has, skip};

/// The calls that reach the file system; names that a machine does not know are left out by strace.
pub const CALLS: &str = "?open,?openat,?read,?pread64,?write,?pwrite64,?rename,?renameat,?renameat2,\
?fdatasync,?fsync,?unlink,?unlinkat,?mkdir,?mkdirat,?chmod,?fchmod,?fchmodat,?flock,?fcntl,?stat,?lstat,\
?statx,?newfstatat,?fstat,?getdents64,?utimensat,?socketpair,?inotify_init1,?inotify_add_watch";

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Error(&'static str),
}

/// One call of a recorded run: the `nth` of its name, counted from the program's start.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub nth: usize,
    pub line: String,
    /// Whether it comes before the output.
    pub early: bool,
}

impl Call {
    pub fn changes(&self) -> bool {
        let opens = self.name.starts_with("open");
        let looks = ["read", "pread64", "getdents64", "socketpair"].contains(&&*self.name)
            || self.name.contains("stat")
            || self.name.starts_with("inotify");
        if opens {
            self.line.contains("O_CREAT")
        } else {
            !looks
        }
    }

    /// The errors that this call may meet; none if it is not about a file.
    pub fn errors(&self) -> Vec<&'static str> {
        let inner = ["<anon_inode:", "<socket:", "<UNIX"]
            .iter()
            .any(|what| self.line.contains(what));
        if inner && self.name != "inotify_add_watch" {
            return Vec::new();
        }
        let name = self.name.trim_end_matches(char::is_numeric);
        let mut errors = vec!["EIO"];
        if self.changes() && !["fcntl", "flock", "fchmod", "unlink"].contains(&name) {
            errors.push("ENOSPC");
        }
        if name.starts_with("open")
            || name.starts_with("inotify_init")
            || name == "socketpair"
            || self.line.contains("F_DUPFD")
        {
            errors.push("EMFILE");
        }
        if [
            "open", "openat", "rename", "renameat", "mkdir", "mkdirat", "unlink", "unlinkat",
            "statx", "flock",
        ]
        .contains(&name)
        {
            errors.push("EACCES");
        }
        if self.takes_interruption() {
            errors.push("EINTR");
        }
        if name == "flock" || self.line.contains("OFD") {
            errors.push("ENOLCK");
        }
        errors
    }

    /// Whether an interruption here must not be noticed by anyone. (Directories are opened and listed by the
    /// standard library, which reports one.)
    fn takes_interruption(&self) -> bool {
        if self.line.contains("O_DIRECTORY") {
            return false;
        }
        [
            "open",
            "openat",
            "read",
            "write",
            "flock",
            "fsync",
            "fdatasync",
        ]
        .contains(&&*self.name)
            || self.line.contains("OFD_SETLK")
    }

    /// Whether the promise of a durable change hangs on this call.
    pub fn commits(&self) -> bool {
        self.early && ["fdatasync", "fsync", "renameat2"].contains(&&*self.name)
    }
}

/// The calls of a trace's main thread, from the first that is about this place.
pub fn calls(trace: &str, place: &Path) -> Vec<Call> {
    let place = place.display().to_string();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut main = None;
    let mut calls = Vec::new();
    let (mut begun, mut early) = (false, true);
    for line in trace.lines() {
        let Some((pid, call)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        let Some((name, _)) = call.trim_start().split_once('(') else {
            continue;
        };
        if name.contains(['<', '+', ' ']) {
            continue;
        }
        // strace counts for each thread; the watcher's touches no file.
        if pid != main.get_or_insert_with(|| pid.to_owned()) {
            continue;
        }
        let nth = counts.entry(name.to_owned()).or_default();
        *nth += 1;
        let call = call.replace(&format!("AT_FDCWD<{place}/shop>"), "AT_FDCWD");
        begun |= call.contains(&place);
        early &= !call.contains("write(1<");
        // The standard library's own check of a descriptor, in debug builds only.
        if begun && !call.contains("F_GETFD") {
            calls.push(Call {
                name: name.to_owned(),
                nth: *nth,
                line: call.trim().to_owned(),
                early,
            });
        }
    }
    calls
}

/// Runs the binary in a world under strace.
pub fn run(world: &Sandbox, options: &[&str], args: &[String]) -> Ran {
    let mut command = Command::new("strace");
    world.dress(&mut command);
    command
        .args(["-f", "-qq", "-e", "signal=none"])
        .args(options);
    command.arg(binary()).args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

/// What makes strace hit a call: what it traces, and what it injects there.
pub fn injection(call: &Call, fault: Fault) -> [String; 2] {
    let Call { name, nth, .. } = call;
    let what = match fault {
        Fault::Kill => format!("inject={name}:signal=SIGKILL:when={nth}"),
        Fault::Error(error) => format!("inject={name}:error={error}:when={nth}"),
    };
    [format!("trace={name}"), what]
}

/// Copies a store, modes and all.
pub fn copy(from: &Path, to: &Path) {
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Whether calls can be traced and faults injected here.
pub fn can_inject(test: &str) -> bool {
    if !has("strace", test) {
        return false;
    }
    let mut probe = Command::new("strace");
    probe.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=read",
        "/bin/true",
    ]);
    let works = probe.output().is_ok_and(|o| o.status.success());
    if !works {
        skip(test, "strace may not trace here");
    }
    works
}
