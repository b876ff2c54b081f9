//! A Relay on loopback: real HTTP, real keys, scripted faults, and a list of everything that broke the
//! contract, which must be empty when the test is over.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::{Value, json};

mod contract;
mod http;
mod phone;

use crate::sandbox::{text, until};
pub use http::{Fault, Reply, Request};
pub use phone::{Asked, Phone};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    WellKnown,
    PairSender,
    PairPoll,
    Installation,
    Devices,
    Envelopes,
    Responses,
    Unknown,
}

impl Endpoint {
    fn of(path: &str) -> Self {
        match path {
            "/.well-known/agentnotify-relay" => Self::WellKnown,
            "/v1/pairing/sender" => Self::PairSender,
            "/v1/installation" => Self::Installation,
            "/v1/devices" => Self::Devices,
            "/v1/envelopes" => Self::Envelopes,
            "/v1/interaction-responses" => Self::Responses,
            _ if path.starts_with("/v1/pairing/") => Self::PairPoll,
            _ => Self::Unknown,
        }
    }
}

/// What the Relay knows.
pub struct State {
    closing: bool,
    streams: HashMap<SocketAddr, TcpStream>,
    /// How often `release` was called.
    released: usize,
    authority: String,
    /// The path before every endpoint.
    pub prefix: String,
    pub provider: String,
    pub installation_id: String,
    pub token: String,
    pub poll_token: String,
    requests: Vec<Request>,
    violations: Vec<String>,
    once: HashMap<Endpoint, VecDeque<Fault>>,
    always: HashMap<Endpoint, Fault>,
    /// What `GET /v1/devices` lists.
    pub devices: Vec<Value>,
    phones: Vec<Phone>,
    /// Outbox ids that were taken.
    taken: HashSet<String>,
    items: Vec<Value>,
    /// How many items a page holds.
    pub page: usize,
    cursors: HashSet<String>,
    /// What `POST /v1/pairing/sender` replies with.
    pub offer: Value,
    /// What `GET /v1/pairing/{id}` replies with, one after the other, before it approves.
    pub pairing: VecDeque<Reply>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A Relay with one phone, unless the test pairs others.
pub struct FakeRelay {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl FakeRelay {
    /// The provider `home`, with a phone called `phone-1`.
    pub fn start() -> Self {
        Self::named("home")
    }

    pub fn named(provider: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let unique: u64 = rand::random();
        let state = State {
            closing: false,
            streams: HashMap::new(),
            released: 0,
            authority: address.to_string(),
            prefix: String::new(),
            provider: provider.into(),
            installation_id: format!("installation-{provider}"),
            token: format!("inst_{unique:016x}_-Aa"),
            poll_token: format!("pol_{unique:016x}_poll"),
            requests: Vec::new(),
            violations: Vec::new(),
            once: HashMap::new(),
            always: HashMap::new(),
            devices: Vec::new(),
            phones: Vec::new(),
            taken: HashSet::new(),
            items: Vec::new(),
            page: 10,
            cursors: HashSet::new(),
            offer: offer(
                &format!("http://{address}"),
                &format!("pol_{unique:016x}_poll"),
            ),
            pairing: VecDeque::new(),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let accepted = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepted.lock().closing {
                    break;
                }
                let shared = Arc::clone(&accepted);
                let stream = stream.unwrap();
                let (peer, copy) = (stream.peer_addr(), stream.try_clone());
                let (Ok(peer), Ok(copy)) = (peer, copy) else {
                    continue;
                };
                shared.lock().streams.insert(peer, copy);
                std::thread::spawn(move || {
                    // Nobody joins it: what ends it early is told with the violations.
                    let serve = AssertUnwindSafe(|| shared.serve(stream, peer));
                    if catch_unwind(serve).is_err() {
                        shared.lock().violations.push("serving failed".into());
                    }
                });
            }
        });
        let relay = Self {
            address,
            shared,
            accepting: Some(accepting),
        };
        relay.pair(Phone::new("phone-1"));
        relay
    }

    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.state().prefix)
    }

    /// The Relay's state; the Relay stands still as long as this is held.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    pub fn pair(&self, phone: Phone) {
        let mut state = self.state();
        state.devices.push(phone.listed());
        state.phones.push(phone);
    }

    /// Names another phone in the place of the `n`th, which is returned.
    pub fn replace(&self, n: usize, phone: Phone) -> Phone {
        let mut state = self.state();
        state.devices[n] = phone.listed();
        std::mem::replace(&mut state.phones[n], phone)
    }

    /// The phone that was paired as the `n`th.
    pub fn phone(&self, n: usize) -> Phone {
        self.state().phones[n].clone()
    }

    /// What happens to the next request of this kind for which nothing was scripted yet.
    pub fn once(&self, endpoint: Endpoint, fault: Fault) {
        let mut state = self.state();
        state.once.entry(endpoint).or_default().push_back(fault);
    }

    /// What happens to every request of this kind.
    pub fn always(&self, endpoint: Endpoint, fault: Fault) {
        self.state().always.insert(endpoint, fault);
    }

    /// Ends every fault.
    pub fn heal(&self) {
        let mut state = self.state();
        state.once.clear();
        state.always.clear();
    }

    /// Lets go of every reply that is held.
    pub fn release(&self) {
        self.state().released += 1;
        self.shared.changed.notify_all();
    }

    /// The requests of a kind, in the order in which they came.
    pub fn requests(&self, endpoint: Endpoint) -> Vec<Request> {
        let state = self.state();
        let of_kind = state.requests.iter().filter(|r| r.endpoint == endpoint);
        of_kind.cloned().collect()
    }

    /// How many requests of any kind came.
    pub fn count(&self) -> usize {
        self.state().requests.len()
    }

    /// Waits until so many requests of a kind came.
    pub fn await_requests(&self, endpoint: Endpoint, count: usize) -> Vec<Request> {
        until(&format!("{count} requests for {endpoint:?}"), || {
            let requests = self.requests(endpoint);
            (requests.len() >= count).then_some(requests)
        })
    }

    /// The envelopes that came, whatever was replied.
    pub fn envelopes(&self) -> Vec<Value> {
        let requests = self.requests(Endpoint::Envelopes);
        requests.iter().map(Request::json).collect()
    }

    /// The question of the `n`th envelope as the first phone reads it; waits for it.
    pub fn asked(&self, n: usize) -> Asked {
        let envelope = self.await_requests(Endpoint::Envelopes, n + 1)[n].json();
        let opened = self.phone(0).read(&envelope).unwrap().unwrap();
        Asked {
            payload: serde_json::from_slice(&opened).unwrap(),
            sender_id: text(&envelope, "sender_id").to_owned(),
        }
    }

    /// Takes an answer, or anything else, into the list that `GET /v1/interaction-responses` serves.
    pub fn put(&self, item: Value) {
        self.state().items.push(item);
    }

    /// Takes an answer of the first phone to a record of this Relay's installation.
    pub fn answer(&self, record: &Value, response_id: &str, answer: (&str, &str)) {
        let item = self.answer_to(record, response_id, answer);
        self.put(item);
    }

    /// Such an answer, not yet handed in.
    pub fn answer_to(&self, record: &Value, response_id: &str, answer: (&str, &str)) -> Value {
        let asked = Asked::of_record(record, &self.state().installation_id);
        self.phone(0).answer(&asked, response_id, answer)
    }

    /// The cursor after so many items.
    pub fn cursor(&self, items: usize) -> String {
        self.state().cursor(items)
    }
}

/// What starts a pairing.
fn offer(url: &str, poll_token: &str) -> Value {
    json!({
        "pairing_id": "a1b2c3d4e5f60718",
        "user_code": "W899-SUX9",
        "verification_uri": format!("{url}/pair"),
        "verification_uri_complete": format!("{url}/pair?code=W899-SUX9"),
        "poll_token": poll_token,
        "expires_in": 600,
        "interval": 1,
    })
}

impl State {
    fn hang_up(&mut self) {
        for (_, stream) in self.streams.drain() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets a cursor be one that this Relay gave.
    pub fn remember(&mut self, cursor: &str) {
        self.cursors.insert(cursor.to_owned());
    }

    /// An opaque text with everything that a query must escape.
    fn cursor(&mut self, items: usize) -> String {
        let cursor = format!("{items}&since=x+y%2Bz ü#/?{}", self.provider);
        self.cursors.insert(cursor.clone());
        cursor
    }

    /// The right reply, and what the request does to this Relay.
    fn reply(&mut self, request: &Request) -> Reply {
        match request.endpoint {
            Endpoint::WellKnown => Reply::json(
                200,
                &json!({
                    "service": "agentnotify-relay",
                    "api_versions": ["v1"], "envelope_versions": ["1"],
                }),
            ),
            Endpoint::PairSender => Reply::json(201, &self.offer),
            Endpoint::PairPoll => self.pairing.pop_front().unwrap_or_else(|| self.approval()),
            Endpoint::Installation => Reply::json(
                200,
                &json!({
                    "installation_id": self.installation_id,
                    "display_name": "Home", "created_at": "2026-08-30T00:00:00Z", "last_seen_at": null,
                }),
            ),
            Endpoint::Devices => Reply::json(200, &json!({ "devices": self.devices })),
            Endpoint::Envelopes => {
                let id = request.header("idempotency-key").unwrap_or_default();
                let status = match self.taken.insert(id.to_owned()) {
                    true => "accepted",
                    false => "duplicate",
                };
                Reply::json(200, &json!({ "envelope_id": "env-1", "status": status }))
            }
            Endpoint::Responses => self.answers(&request.query_value("since").unwrap_or_default()),
            Endpoint::Unknown => Reply::json(404, &json!({ "error": { "code": "not_found" } })),
        }
    }

    /// The reply that ends a pairing.
    pub fn approval(&self) -> Reply {
        Reply::json(
            200,
            &json!({
                "status": "approved", "installation_id": self.installation_id,
                "installation_token": self.token, "relay_name": "Home",
            }),
        )
    }

    fn answers(&mut self, since: &str) -> Reply {
        let digits = since.split('&').next().unwrap_or_default();
        let from: usize = digits.parse().unwrap_or(0);
        let to = self.items.len().min(from + self.page);
        let page = self.items.get(from..to).unwrap_or_default().to_vec();
        let next = self.cursor(to.max(from));
        Reply::json(200, &json!({ "responses": page, "next_cursor": next }))
    }

    fn fault(&mut self, endpoint: Endpoint) -> Option<Fault> {
        let once = self.once.get_mut(&endpoint).and_then(VecDeque::pop_front);
        once.or_else(|| self.always.get(&endpoint).cloned())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream, peer: SocketAddr) {
        // A client that goes away is its own affair; the tests look at what it sent.
        while let Ok(true) = self.one(&mut stream) {}
        // The last copy closes the connection.
        self.lock().streams.remove(&peer);
    }

    /// Serves one request; whether the connection goes on.
    fn one(&self, stream: &mut TcpStream) -> std::io::Result<bool> {
        let Some((method, path, query)) = http::peek(stream)? else {
            return Ok(false);
        };
        let mut state = self.lock();
        let path = match path.strip_prefix(&state.prefix) {
            Some(below) => below.to_owned(),
            None => path,
        };
        let endpoint = Endpoint::of(&path);
        let fault = state.fault(endpoint);
        drop(state);
        let mut request = Request {
            endpoint,
            method,
            path,
            query,
            headers: Vec::new(),
            body: Vec::new(),
            at: Instant::now(),
        };
        if let Some(Fault::Reset) = fault {
            self.lock().requests.push(request);
            // Closed with bytes that were not read, a connection ends with a reset.
            return Ok(false);
        }
        (request.headers, request.body) = http::take(stream)?;
        let mut state = self.lock();
        let wrong = contract::violations(&state, &request);
        state.violations.extend(wrong);
        state.requests.push(request.clone());
        let reply = match &fault {
            Some(Fault::Reply(reply)) => reply.clone(),
            Some(fault) if !fault.serves() => Reply::new(500, ""),
            _ => state.reply(&request),
        };
        if let Some(Fault::Held) = fault {
            let seen = state.released;
            let held = |s: &mut State| s.released == seen && !s.closing;
            drop(self.changed.wait_while(state, held));
        } else {
            drop(state);
        }
        http::send(stream, &reply, fault.as_ref())
    }
}

impl Drop for FakeRelay {
    fn drop(&mut self) {
        let mut state = self.state();
        state.closing = true;
        state.hang_up();
        let violations = std::mem::take(&mut state.violations);
        drop(state);
        self.shared.changed.notify_all();
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        if !std::thread::panicking() {
            assert_eq!(violations, [""; 0], "the contract was broken");
        }
    }
}
