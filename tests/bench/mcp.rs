//! The MCP server beside one by the official Node SDK: how soon it answers, and what a parked call costs.
//!
//! The SDK is fetched by npm into a directory of its own below the user's cache, once.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::figure::{Figure, Series};
use crate::world::{World, binary, find, private_dirty};

const START: &str = "mcp serve: start to initialize answered / node SDK";
const MEMORY: &str = "mcp serve: memory of a parked call (KiB)";
const WHOLE: &str = "mcp serve: memory with 200 parked / node SDK";
const START_GOAL: f64 = 1.0 / 20.0;
const MEMORY_GOAL: f64 = 16.0;
const WHOLE_GOAL: f64 = 1.0 / 5.0;
const SDK: &str = "@modelcontextprotocol/sdk@1.32.2";
const SCRIPT: &str = include_str!("parking.mjs");
const PARKED: usize = 200;
const ROUNDS: usize = 31;

pub(crate) fn figures() -> Vec<Figure> {
    let sdk = match sdk() {
        Ok(sdk) => sdk,
        Err(why) => {
            let all = [
                (START, START_GOAL),
                (MEMORY, MEMORY_GOAL),
                (WHOLE, WHOLE_GOAL),
            ];
            return all
                .map(|(name, goal)| Figure::not_measured(name, goal, &why))
                .into();
        }
    };
    let world = World::new();
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for _ in 0..ROUNDS {
        time(&mut ours, our_server(&world));
        time(&mut theirs, node_server(&world, &sdk));
    }
    let start = Figure::ratio(START, &ours, &theirs, START_GOAL);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        ours.push(memory(our_server(&World::new())));
        theirs.push(memory(node_server(&world, &sdk)));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let note = format!("{:.1} in the node server, which keeps nothing", theirs.each);
    let whole = format!("{:.0} / {:.0} KiB", ours.whole, theirs.whole);
    vec![
        start,
        Figure::new(MEMORY, ours.each, MEMORY_GOAL, note),
        Figure::new(WHOLE, ours.whole / theirs.whole, WHOLE_GOAL, whole),
    ]
}

/// From the start to the answered handshake; the end is not counted.
fn time(series: &mut Series, command: Command) {
    let begun = Instant::now();
    let server = Server::start(command);
    series.push(begun.elapsed());
    drop(server);
}

/// The directory with the SDK and the script, or why there is none.
fn sdk() -> Result<PathBuf, String> {
    for program in ["node", "npm"] {
        if find(program).is_none() {
            return Err(format!("no {program}"));
        }
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = cache.or_else(home).ok_or("no cache directory")?;
    let version = SDK.rsplit('@').next().unwrap_or_default();
    let dir = cache.join(format!("sayso-bench/mcp-sdk-{version}"));
    let made = fs::create_dir_all(&dir).and_then(|()| fs::write(dir.join("parking.mjs"), SCRIPT));
    made.map_err(|e| format!("{}: {e}", dir.display()))?;
    if !dir.join("node_modules/@modelcontextprotocol/sdk").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(&dir)
            .arg(SDK)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match npm.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("npm install {SDK}: {status}")),
            Err(error) => return Err(format!("npm: {error}")),
        }
    }
    Ok(dir)
}

fn our_server(world: &World) -> Command {
    world.command(binary(), &["mcp", "serve"])
}

fn node_server(world: &World, sdk: &Path) -> Command {
    let script = sdk.join("parking.mjs");
    world.command("node", &[script.to_str().unwrap()])
}

/// A server after the handshake, killed when it is dropped.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let mut server = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        server.say(
            &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        } }),
        );
        server.hear(0);
        server
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn hear(&mut self, id: usize) {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0);
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return;
            }
        }
    }

    /// Parks a call.
    fn park(&mut self, id: usize) {
        self.say(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "ask", "arguments": { "question": format!("Question {id}?") } } }),
        );
    }

    fn ping(&mut self, id: usize) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        self.hear(id);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Private dirty memory, in KiB.
#[derive(Clone, Copy)]
struct Memory {
    each: f64,
    whole: f64,
}

fn memory(command: Command) -> Memory {
    let mut server = Server::start(command);
    server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let pid = server.child.id();
    server.park(1);
    server.ping(1001);
    let one = settled(pid);
    (2..=PARKED).for_each(|id| server.park(id));
    server.ping(1002);
    let all = settled(pid);
    Memory {
        each: (all - one) / (PARKED - 1) as f64,
        whole: all,
    }
}

/// What a process holds once it has been the same for half a second.
fn settled(pid: u32) -> f64 {
    let mut held = private_dirty(pid);
    let mut since = Instant::now();
    while since.elapsed() < Duration::from_millis(500) {
        std::thread::park_timeout(Duration::from_millis(20));
        let now = private_dirty(pid);
        if now != held {
            (held, since) = (now, Instant::now());
        }
    }
    held as f64
}

fn median(mut each: Vec<Memory>) -> Memory {
    each.sort_by(|a, b| a.each.total_cmp(&b.each));
    each[each.len() / 2]
}
