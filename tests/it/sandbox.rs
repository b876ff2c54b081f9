//! A fresh home, a repository called `shop`, an empty environment, and the binary.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The binary under test.
pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_sayso")
}

/// A place in memory, or the usual one for temporary files where there is none.
pub fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match tempfile::tempfile_in(memory) {
        Ok(_) => memory.into(),
        Err(_) => std::env::temp_dir(),
    }
}

/// Whoever runs the tests may ignore signals (`nohup`, a script's background job), and a process that is
/// started inherits that. One that is caught here is at its default there.
fn default_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.map_or(0, |hex| u64::from_str_radix(hex.trim(), 16).unwrap());
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if mask >> (signal - 1) & 1 == 1 {
                let flag = Arc::new(AtomicBool::new(false));
                signal_hook::flag::register(signal, flag).unwrap();
            }
        }
    });
}

/// One test's world.
pub struct Sandbox {
    dir: TempDir,
}

/// What a process left.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    /// A world in memory, where there is such a place: for many runs whose syncs are not the point.
    pub fn in_memory() -> Self {
        Self::new_in(&memory())
    }

    /// A world in a directory of this place.
    pub fn new_in(place: &Path) -> Self {
        default_signals();
        let mut builder = tempfile::Builder::new();
        let dir = builder.prefix("sayso-").tempdir_in(place).unwrap();
        let sandbox = Self { dir };
        for part in ["home", "tmp", "shop/.git/objects", "shop/.git/refs"] {
            fs::create_dir_all(sandbox.path().join(part)).unwrap();
        }
        // A repository needs no git program to be one.
        fs::write(sandbox.repo().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        sandbox
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub fn repo(&self) -> PathBuf {
        self.path().join("shop")
    }

    /// `$SAYSO_HOME`; made by the first writing verb.
    pub fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    /// The one scope's directory.
    pub fn scope(&self) -> PathBuf {
        let mut scopes = fs::read_dir(self.store().join("scopes")).unwrap();
        scopes.next().unwrap().unwrap().path()
    }

    pub fn pending(&self, id: &str) -> PathBuf {
        self.scope().join(format!("interactions/pending/{id}.json"))
    }

    pub fn settled(&self, id: &str) -> PathBuf {
        self.scope().join(format!("interactions/settled/{id}.json"))
    }

    /// The binary in this world: empty environment but for where things are.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(binary());
        self.dress(&mut command);
        command.args(args);
        command
    }

    /// Gives any command this world's environment and directory.
    pub fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .env("HOME", self.path().join("home"))
            .env("SAYSO_HOME", self.store())
            .env("TMPDIR", self.path().join("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.repo())
            .stdin(Stdio::null());
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Runs with bytes on standard input.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Ran {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output.into()
    }

    /// Starts a process with its output captured.
    pub fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs `args --json` and returns `data`; the verb must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args.iter().copied().chain(["--json"]));
        ran.data()
    }

    /// Runs `args --json` and returns `error`; the verb must fail.
    pub fn error(&self, args: &[&str]) -> Value {
        let ran = self.run(args.iter().copied().chain(["--json"]));
        ran.error()
    }

    /// Opens a question and returns its record, digest and nonce included.
    pub fn request(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["request"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        self.json(&args)
    }

    /// Waits for a pending question and returns it as `list` shows it.
    pub fn await_pending(&self) -> Value {
        until("a pending question", || {
            let list = self.json(&["list"]);
            list["interactions"].as_array().unwrap().first().cloned()
        })
    }

    /// The record as `get` prints it.
    pub fn get(&self, id: &str) -> Value {
        self.json(&["get", id])
    }

    /// The lines of the scope's event log.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.scope().join("events.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The record's own file, pending or settled, as text.
    pub fn stored(&self, id: &str) -> String {
        fs::read_to_string(self.settled(id))
            .or_else(|_| fs::read_to_string(self.pending(id)))
            .unwrap()
    }

    /// Puts a record that was made by hand into the store, with the digests of its content. The scope
    /// must be there already.
    pub fn plant(&self, mut record: Value) -> Value {
        for moment in ["delivery", "waiting", "reused"] {
            record.as_object_mut().unwrap().remove(moment);
        }
        record["request_digest"] = digest(&record.to_string()).into();
        if record["status"] != "pending" {
            record["settled_digest"] = settled_digest(&record.to_string()).into();
        }
        let id = record["id"].as_str().unwrap();
        let path = match record["status"] == "pending" {
            true => self.pending(id),
            false => self.settled(id),
        };
        fs::write(path, format!("{record}\n")).unwrap();
        record
    }

    /// `respond` to a record as [`Sandbox::request`] returned it.
    pub fn respond(&self, record: &Value, response_id: &str, answer: &[&str]) -> Ran {
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        let mut args = vec![
            "respond".to_owned(),
            text("id"),
            "--response-id".into(),
            response_id.into(),
            "--digest".into(),
            text("request_digest"),
            "--nonce".into(),
            text("nonce"),
        ];
        args.extend(answer.iter().map(|a| (*a).to_owned()));
        self.run(args)
    }
}

/// What a refusal looks like: code, exit code, HTTP status.
pub type Refusal = (&'static str, i64, i64);
pub const INVALID_INPUT: Refusal = ("invalid_input", 2, 400);
pub const INVALID_ANSWER: Refusal = ("invalid_answer", 2, 400);
pub const NOT_FOUND: Refusal = ("not_found", 3, 404);
pub const ALREADY: Refusal = ("already_answered", 4, 409);
pub const NOT_PENDING: Refusal = ("not_pending", 5, 400);
pub const DIGEST: Refusal = ("digest_mismatch", 6, 400);
pub const NONCE: Refusal = ("nonce_mismatch", 6, 400);
pub const SELF_ANSWER: Refusal = ("self_answer", 8, 403);
pub const UNAVAILABLE: Refusal = ("unavailable", 7, 503);

/// The failure that `ran` reports, which must be `kind`.
pub fn failure(ran: &Ran, (code, exit, http): Refusal) -> Value {
    let error = ran.error();
    let found = (&error["code"], &error["exit_code"], &error["http_status"]);
    assert_eq!(found, (&json!(code), &json!(exit), &json!(http)), "{error}");
    error
}

/// A member that is a string.
pub fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap()
}

/// The digest that a record's text should have, from the specification: the SHA-256 of a prefix, the id
/// and the compact canonical question, whose members are taken byte for byte.
pub fn digest(record: &str) -> String {
    const CANONICAL: [&str; 16] = [
        "kind",
        "host",
        "agent",
        "agent_instance",
        "project",
        "session_id",
        "cwd",
        "prompt",
        "choices",
        "text_max_length",
        "questions",
        "tool",
        "action",
        "suspended",
        "workflow_id",
        "task_id",
    ];
    let members: HashMap<String, Box<RawValue>> = serde_json::from_str(record).unwrap();
    let id = members["id"].get().trim_matches('"');
    hash(&format!("sayso/1\n{id}\n{}", object(&members, &CANONICAL)))
}

/// The digest of how a record's text says that it ended.
pub fn settled_digest(record: &str) -> String {
    const ENDING: [&str; 4] = ["status", "answered_at", "superseded_by", "response"];
    let members: HashMap<String, Box<RawValue>> = serde_json::from_str(record).unwrap();
    let [id, asked] = ["id", "request_digest"].map(|name| members[name].get().trim_matches('"'));
    let ending = object(&members, &ENDING);
    hash(&format!("sayso/settled/1\n{id}\n{asked}\n{ending}"))
}

/// The compact object of those of the members that are there, in this order.
fn object(members: &HashMap<String, Box<RawValue>>, names: &[&str]) -> String {
    let told = |name: &&str| Some(format!("\"{name}\":{}", members.get(*name)?.get()));
    let told: Vec<String> = names.iter().filter_map(told).collect();
    format!("{{{}}}", told.join(","))
}

fn hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Ran {
    /// The envelope's `data`; fails unless the verb succeeded with exactly one line.
    pub fn data(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        let envelope: Value = serde_json::from_str(&self.stdout).unwrap();
        assert_eq!(envelope["schema"], "sayso.cli.v1");
        assert_eq!(envelope["ok"], true);
        envelope["data"].clone()
    }

    /// The envelope's `error`; fails unless the verb failed with nothing on standard output.
    pub fn error(&self) -> Value {
        assert_ne!(self.code, 0, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let line = self.stderr.lines().last().unwrap_or_default();
        let envelope: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(envelope["ok"], false);
        assert_eq!(envelope["error"]["exit_code"], self.code);
        envelope["error"].clone()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let signal = || 128 + output.status.signal().unwrap_or(0);
        Self {
            code: output.status.code().unwrap_or_else(signal),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits for a child within the deadline; one that hangs is killed and fails the test.
pub fn finish(mut child: Child) -> Ran {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > DEADLINE {
            child.kill().unwrap();
            panic!(
                "still running after {DEADLINE:?}: {:?}",
                child.wait_with_output()
            );
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(2));
    }
    child.wait_with_output().unwrap().into()
}

/// Tries until something is there, at most until the deadline.
pub fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "waited {DEADLINE:?} for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether a program is on this machine; says so loudly when a test is skipped for want of it.
pub fn has(program: &str, test: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|dir| Path::new(dir).join(program).exists());
    if !found {
        skip(test, &format!("no {program} on this machine"));
    }
    found
}

/// Says that a test is skipped: on standard error, and in the file that `SAYSO_TEST_SKIPS` names, because
/// the test runner hides the output of tests that pass.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("SAYSO_TEST_SKIPS") {
        let file = fs::File::options().append(true).create(true).open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}
