//! A world with `[[notify]]` entries: a command that writes down what it got, and a service on loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::sandbox::{Sandbox, until};

/// A world whose senders have ended before it is taken down.
pub struct Noticed {
    pub world: Sandbox,
}

impl Noticed {
    /// With this configuration.
    pub fn new(config: &str) -> Self {
        let noticed = Self {
            world: Sandbox::new(),
        };
        noticed.configure(config);
        noticed
    }

    pub fn configure(&self, config: &str) {
        let dir = self.world.path().join("home/.config/sayso");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("config.toml"), config).unwrap();
    }

    /// A program of this world that runs a script; `$OUT` is a directory that it may write in.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let out = self.out();
        fs::create_dir_all(&out).unwrap();
        let path = self.world.path().join(name);
        let text = format!("#!/bin/sh\nOUT='{}'\n{text}\n", out.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    pub fn out(&self) -> PathBuf {
        self.world.path().join("out")
    }

    /// A file with a secret.
    pub fn secret(&self, text: &str, mode: u32) -> PathBuf {
        let path = self.world.path().join("token");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// What a script wrote under this name, once it is there and not empty.
    pub fn written(&self, name: &str) -> String {
        let path = self.out().join(name);
        until(name, || {
            let text = fs::read_to_string(&path).ok()?;
            text.ends_with('\n').then_some(text)
        })
    }

    pub fn notify_dir(&self) -> PathBuf {
        self.world.store().join("notify")
    }

    /// The names of the entries that something was queued for.
    pub fn names(&self) -> Vec<String> {
        let listed = fs::read_dir(self.notify_dir()).into_iter().flatten();
        let names = listed.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
        names.sort();
        names
    }

    /// The only entry's name.
    pub fn name(&self) -> String {
        let names = self.names();
        assert_eq!(names.len(), 1, "{names:?}");
        names[0].clone()
    }

    /// How much is queued.
    pub fn queued(&self) -> usize {
        let count = |name: &String| fs::read_dir(self.notify_dir().join(name)).unwrap().count();
        self.names().iter().map(count).sum()
    }

    /// An entry's lock, for whoever wants to stand in for its sender.
    pub fn lock(&self, name: &str) -> fs::File {
        fs::create_dir_all(self.notify_dir()).unwrap();
        let path = self.notify_dir().join(format!("{name}.lock"));
        let file = fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.try_lock().unwrap();
        file
    }

    /// Waits until nothing is queued and nobody sends.
    pub fn idle(&self) {
        until("the end of the senders", || {
            let free = |name: &String| {
                let path = self.notify_dir().join(format!("{name}.lock"));
                fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok())
            };
            (self.queued() == 0 && self.names().iter().all(free)).then_some(())
        });
    }

    /// What became of the only entry's last notice, once something did.
    pub fn last(&self) -> Value {
        until("the outcome of a notice", || {
            let path = self.notify_dir().join(format!("{}.last", self.name()));
            serde_json::from_slice(&fs::read(path).ok()?).ok()
        })
    }

    /// Why the last notice failed.
    pub fn error(&self) -> String {
        let last = self.last();
        last["error"].as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Noticed {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.idle();
        }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Got {
    /// Method and path.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What a service answers with.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// These bytes.
    Bytes(&'static str),
    /// A redirect to there.
    To(SocketAddr),
    /// So many bytes of body.
    Large(usize),
    /// Nothing, for as long as the other side has patience.
    Nothing,
}

pub const FINE: Answer = Answer::Bytes("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");

/// A service on loopback.
pub struct Service {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Service {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&got);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let into = Arc::clone(&into);
                std::thread::spawn(move || serve(stream.unwrap(), answer, &into));
            }
        });
        Self { address, got }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// The first so many requests.
    pub fn wait(&self, count: usize) -> Vec<Got> {
        until("requests", || {
            let got = self.got();
            (got.len() >= count).then_some(got)
        })
    }
}

fn serve(mut stream: TcpStream, answer: Answer, into: &Mutex<Vec<Got>>) {
    let Some(got) = read(&mut stream) else {
        return;
    };
    into.lock().unwrap().push(got);
    let text = match answer {
        Answer::Bytes(text) => text.to_owned(),
        Answer::To(address) => format!(
            "HTTP/1.1 307 Elsewhere\r\nlocation: http://{address}/x\r\ncontent-length: 0\r\n\r\n"
        ),
        Answer::Large(bytes) => format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n{}",
            "x".repeat(bytes)
        ),
        Answer::Nothing => {
            // Until the other side closes.
            let _ = stream.read(&mut [0; 16]);
            return;
        }
    };
    let _ = stream.write_all(text.as_bytes());
    // The other side decides when to close.
    let _ = stream.read(&mut [0; 16]);
}

fn read(stream: &mut TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let got = parse(head, body);
            let length = got
                .header("content-length")
                .map_or(0, |l| l.parse().unwrap());
            if body.len() >= length {
                return Some(got);
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend(&piece[..read]),
        }
    }
}

fn parse(head: &str, body: &str) -> Got {
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let pair = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_ascii_lowercase(), value.to_owned())
    };
    Got {
        line: first.trim_end_matches(" HTTP/1.1").to_owned(),
        headers: lines.map(pair).collect(),
        body: body.to_owned(),
    }
}
