//! Compares the policy's reading of commands with what bash runs.
//!
//! `cargo test --release --test fuzz_policy -- [SECONDS] [SEED]`. It writes random commands, asks the policy
//! about them, lets bash run them, and checks that
//!
//! 1. what the policy allows runs nothing but what its allowing patterns name, and creates no file;
//! 2. what runs a denied command is not allowed, although everything else is (`default = "allow"`).
//!
//! Nothing real is run: bash starts with an empty environment and a `PATH` that leads nowhere, so every command
//! ends in `command_not_found_handle` or in a function that stands in for a wrapper, and both only write down
//! their arguments. The commands hold no path but `/dev/null` and no builtin that reaches outside; bash
//! runs in empty directories, with limits, and as nobody where it would be root.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use sayso::config::{Config, Decision, Source};
use sayso::policy::{Call, Effective, decide};

mod grammar;

/// Commands for one bash.
const BATCH: usize = 200;

const ALLOWING: &str = r#"
[agents.a.approval_policy]
auto_allow = ["xa", "xa *", "xg s*"]
auto_deny = ["xd *", "xg p*"]
"#;

const DENYING: &str = r#"
[agents.a.approval_policy]
auto_deny = ["xd *", "xg p*"]
default = "allow"
"#;

/// What runs the commands; arguments: the file of commands, the file of what ran, the directories to run in.
const RUNNER: &str = r#"
PATH=/nonexistent FUNCNEST=20
ulimit -c 0 -f 100 -t 20 -u 200 2>/dev/null
exec 8<"$1" 9>>"$2"
__log() { printf '%s\0' "$CASE" "$#" "$@" >&9; }
command_not_found_handle() { __log "$@"; [ "$1" != xb ]; }
sh() {
  __log sh "$@"
  case $1 in
    -*c) eval "$2" ;;
    '') local s; IFS= read -r -d '' -t 1 s; eval "$s" ;;
  esac
}
bash() { sh "$@"; }
env() {
  __log env "$@"
  while :; do case $1 in -i | -) shift ;; [a-zA-Z_]*=*) shift ;; *) break ;; esac; done
  [ $# -gt 0 ] && "$@"
}
sudo() { __log sudo "$@"; [ "$1" = -u ] && shift 2; [ "$1" = -n ] && shift; [ $# -gt 0 ] && "$@"; }
nice() { __log nice "$@"; [ "$1" = -n ] && shift 2; [ $# -gt 0 ] && "$@"; }
timeout() { __log timeout "$@"; shift; [ $# -gt 0 ] && "$@"; }
xargs() { __log xargs "$@"; [ "$1" = -0 ] && shift; [ $# -gt 0 ] && "$@" y; }
CASE=0
while IFS= read -r -d '' __text <&8; do
  ( cd "$3/$CASE" && eval -- "$__text" ) </dev/null >/dev/null 2>&1
  CASE=$((CASE + 1))
done
wait
"#;

fn main() -> ExitCode {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse::<u64>().ok());
    let seconds = arguments.next().unwrap_or(10);
    let seed = arguments.next().unwrap_or_else(rand::random);
    println!("fuzzing for {seconds} s, seed {seed}");
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout == b"0\n");
    let can_drop = Command::new("setpriv").arg("--version").output().is_ok();
    if root && !can_drop {
        println!("SKIPPED: it will not run as root without setpriv");
        return ExitCode::SUCCESS;
    }
    let mut fuzzer = Fuzzer {
        random: StdRng::seed_from_u64(seed),
        drop_root: root,
        counts: HashMap::new(),
        faults: 0,
    };
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end && fuzzer.faults < 20 {
        fuzzer.batch();
    }
    let mut counts: Vec<_> = fuzzer.counts.into_iter().collect();
    counts.sort();
    for (what, count) in counts {
        println!("{count:>9} {what}");
    }
    println!("{:>9} faults", fuzzer.faults);
    ExitCode::from(u8::from(fuzzer.faults > 0))
}

struct Fuzzer {
    random: StdRng,
    drop_root: bool,
    counts: HashMap<&'static str, usize>,
    faults: usize,
}

/// A command that ran: program and arguments.
type Ran = Vec<String>;

impl Fuzzer {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn batch(&mut self) {
        let texts: Vec<String> = (0..BATCH)
            .map(|_| grammar::command(&mut self.random))
            .collect();
        let site = tempfile::tempdir().expect("a temporary directory");
        let Some(ran) = self.run(&texts, site.path()) else {
            self.count("batches that bash did not finish");
            return;
        };
        for (index, (text, ran)) in texts.iter().zip(ran).enumerate() {
            let left = fs::read_dir(site.path().join("dirs").join(index.to_string()));
            let files = left.map_or(0, Iterator::count);
            self.judge(text, &ran, files);
        }
    }

    fn judge(&mut self, text: &str, ran: &[Ran], files: usize) {
        self.count("commands");
        if ran.is_empty() {
            self.count("that ran nothing");
        }
        let may = |command: &Ran| match &**command {
            [program, ..] if program == "xa" => true,
            [program, first, ..] => program == "xg" && first.starts_with('s'),
            _ => false,
        };
        let denied = |command: &Ran| match &**command {
            [program, _, ..] if program == "xd" => true,
            [program, first, ..] => program == "xg" && first.starts_with('p'),
            _ => false,
        };
        if decision(ALLOWING, text) == Decision::Allow {
            self.count("allowed");
            if !ran.iter().all(may) || files > 0 {
                self.fault("allowed", text, ran);
            }
        }
        if ran.iter().any(denied) {
            self.count("that ran what is denied");
            match decision(DENYING, text) {
                Decision::Deny => self.count("of them denied"),
                Decision::Ask => self.count("of them asked"),
                Decision::Allow => self.fault("not denied", text, ran),
            }
        } else if decision(DENYING, text) == Decision::Deny {
            self.count("denied although bash did not run it");
        }
    }

    fn fault(&mut self, what: &str, text: &str, ran: &[Ran]) {
        self.faults += 1;
        println!("FAULT {what}: {text:?} ran {ran:?}");
    }

    /// What bash ran of each text; `None` if it was not done in time.
    fn run(&self, texts: &[String], site: &Path) -> Option<Vec<Vec<Ran>>> {
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        let [commands, log, dirs] = ["commands", "log", "dirs"].map(|name| site.join(name));
        let file: Vec<u8> = texts
            .iter()
            .flat_map(|text| [text.as_bytes(), b"\0"].concat())
            .collect();
        fs::write(&commands, file).ok()?;
        fs::write(&log, "").ok()?;
        open(&log, 0o666).ok()?;
        open(site, 0o755).ok()?;
        for index in 0..texts.len() {
            let dir = dirs.join(index.to_string());
            fs::create_dir_all(&dir).ok()?;
            open(&dir, 0o777).ok()?;
        }
        self.bash(&[commands, log.clone(), dirs])?;
        let mut ran = vec![vec![]; texts.len()];
        let log = String::from_utf8_lossy(&fs::read(&log).ok()?).into_owned();
        let mut fields = log.split('\0');
        while let (Some(case), Some(count)) = (fields.next(), fields.next()) {
            let count: usize = count.parse().ok()?;
            let words: Ran = fields.by_ref().take(count).map(str::to_owned).collect();
            ran.get_mut(case.parse::<usize>().ok()?)?.push(words);
        }
        Some(ran)
    }

    fn bash(&self, paths: &[PathBuf]) -> Option<()> {
        let prefix: &[&str] = match self.drop_root {
            true => &[
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--no-new-privs",
            ],
            false => &[],
        };
        let bash = ["bash", "--norc", "--noprofile", "-c", RUNNER, "runner"];
        let words: Vec<_> = ["timeout", "-k", "1", "30"]
            .iter()
            .chain(prefix)
            .chain(&bash)
            .collect();
        let status = Command::new(words[0])
            .args(&words[1..])
            .args(paths)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.ok()?.success().then_some(())
    }
}

fn decision(policy: &str, text: &str) -> Decision {
    let source = Source {
        path: PathBuf::from("fuzz.toml"),
        text: policy.to_owned(),
    };
    let config = Config::parse(source).expect("a policy");
    let policy = Effective::new(&config, "a", &[]).expect("a policy");
    let call = Call {
        action: Some(text),
        ..Call::default()
    };
    decide(&policy, &call).decision
}

/// One of several.
fn pick<'a, T: ?Sized>(random: &mut StdRng, some: &[&'a T]) -> &'a T {
    some.choose(random).expect("a choice")
}

/// Whether something with this chance in a hundred happens.
fn chance(random: &mut StdRng, percent: u32) -> bool {
    random.random_range(0..100) < percent
}
