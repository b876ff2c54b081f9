//! A fresh state root and the program in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sayso::broker::{self, Lifetime};
use sayso::model::draft::Draft;
use sayso::model::interaction::{Choice, Interaction, Question};
use sayso::model::response::{Answer, Responder, Submission};
use sayso::store::Store;
use sayso::store::layout::Home;
use tempfile::TempDir;

/// The program as it is once installed: a copy, for what the linker has just written is mapped in smaller
/// pieces and starts more slowly; on disk, for what is not there yet counts as its processes' dirty memory.
pub(crate) fn binary() -> &'static str {
    static COPY: OnceLock<(TempDir, String)> = OnceLock::new();
    let copy = || {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso");
        fs::copy(env!("CARGO_BIN_EXE_sayso"), &path).unwrap();
        fs::File::open(&path).unwrap().sync_all().unwrap();
        let path = path.to_str().unwrap().to_owned();
        (dir, path)
    };
    &COPY.get_or_init(copy).1
}

/// One scope in a state root of its own.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) store: Store,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("sayso-bench-")
            .tempdir()
            .unwrap();
        let root = dir.path().join("store");
        let home = Home::locate(|name| (name == "SAYSO_HOME").then(|| root.clone().into()));
        let store = Store::new(&home.unwrap(), "bench", None);
        Self { dir, store }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A program in this world's environment, silent unless told otherwise.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path())
            .env("SAYSO_HOME", self.store.home.path())
            .env("SAYSO_SCOPE", "bench")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs to the end; it must succeed.
    pub(crate) fn run(&self, program: &str, args: &[&str]) {
        let status = self.command(program, args).status().unwrap();
        assert!(status.success(), "{program} {args:?}: {status}");
    }

    /// Opens a question that nobody waits for.
    pub(crate) fn open(&self) -> Interaction {
        let lifetime = Lifetime::For(Duration::from_secs(3600));
        broker::open(&self.store, question(), lifetime, 100_000)
            .unwrap()
            .record
    }

    /// Answers, without looking whether the answer is picked up.
    pub(crate) fn answer(&self, record: &Interaction) {
        let submission = Submission {
            response_id: "r".into(),
            digest: Some(record.digest.clone()),
            nonce: Some(record.nonce.expose().into()),
            choice_id: Some(record.question.choices()[0].id.clone()),
            source: "cli".into(),
            answered_by: "bench".into(),
            ..Submission::default()
        };
        let who = Responder {
            uid: 0,
            tty: None,
            pid: std::process::id(),
            agent_session: None,
        };
        let answer = Answer::try_from(submission).unwrap();
        broker::answer_own(&self.store, &record.id, &answer, &who).unwrap();
    }

    /// Starts `wait` for a record and returns once it sleeps on its watch.
    pub(crate) fn start_waiter(&self, record: &Interaction) -> Child {
        let args = ["wait", record.id.as_str(), "--timeout", "300"];
        self.command(binary(), &args).spawn().unwrap()
    }
}

/// A permission as hosts ask for them.
pub(crate) fn question() -> Question {
    let choice = |id: &str, label: &str| Choice {
        id: id.into(),
        label: label.into(),
        detail: None,
        effect: None,
    };
    let draft = Draft {
        agent: Some("bench".into()),
        prompt: "Run 'cargo publish --dry-run' in the repository?".into(),
        choices: vec![choice("allow-once", "Allow once"), choice("deny", "Deny")],
        ..Draft::default()
    };
    draft.check().unwrap()
}

/// Whether a waiter sleeps on its watch.
pub(crate) fn watches(pid: u32) -> bool {
    let dir = format!("/proc/{pid}/fdinfo");
    let holds = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|e| {
            fs::read_to_string(e.path()).is_ok_and(|text| text.contains("inotify wd"))
        })
    };
    fs::read_dir(dir).is_ok_and(|mut fds| fds.any(holds))
}

/// What a process has written to and shares with none, in KiB.
pub(crate) fn private_dirty(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix("Private_Dirty:"));
    let value = line.unwrap().trim().trim_end_matches(" kB");
    value.trim().parse().unwrap()
}

/// Tries until it is so; a minute is enough for everything here.
pub(crate) fn until(what: &str, probe: impl Fn() -> bool) {
    let start = Instant::now();
    while !probe() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "waited a minute for {what}"
        );
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Where a program is, if it is on this machine.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let dirs = ["/usr/local/bin", "/usr/bin", "/bin"];
    let paths = dirs.iter().map(|dir| Path::new(dir).join(program));
    paths.into_iter().find(|path| path.exists())
}

/// When and on what this was measured.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    let cpu = cpu.map_or("unknown processor", |(_, name)| name.trim());
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    let today = sayso::time::Time::now().to_string();
    format!(
        "{}, {processors} × {cpu}, Linux {}",
        &today[..10],
        kernel.trim()
    )
}
