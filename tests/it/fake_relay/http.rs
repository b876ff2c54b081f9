//! HTTP/1.1 as the fake Relay speaks it, and the ways in which it can go wrong on the wire.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Endpoint;

/// The longest head and body that are read; nothing that keeps the contract comes near.
const HEAD_MAX: usize = 64 << 10;
const BODY_MAX: usize = 4 << 20;

/// Names and values.
pub type Headers = Vec<(String, String)>;

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub endpoint: Endpoint,
    pub method: String,
    pub path: String,
    /// What follows the `?`, as it stands on the wire.
    pub query: String,
    /// Names in lower case, in their order.
    pub headers: Headers,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Request {
    /// A header that must not occur twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(n, _)| n == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} occurs twice");
        value
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A value of the query, decoded as servers do it: `+` is a space.
    pub fn query_value(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|p| p.split_once('='));
        let (_, value) = pairs.find(|(n, _)| *n == name)?;
        decode(value)
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// What is sent back.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Headers,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string()).with("content-type", "application/json")
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Said\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

/// What goes wrong with one request. The first three serve nothing; the others serve the request first.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This instead.
    Reply(Reply),
    /// These bytes and the end of the connection.
    Raw(Vec<u8>),
    /// Nothing, for as long as the client stays.
    Silence,
    /// The end of our half of the connection, without a byte; the other half stays open.
    HalfClosed,
    /// A reset, without reading the request.
    Reset,
    /// The reply one byte at a time, with this pause.
    Drip(Duration),
    /// Half of the reply and the end of the connection.
    Cut,
    /// The end of the connection in place of the reply.
    Lost,
    /// The reply, once `release` was called.
    Held,
}

impl Fault {
    pub fn status(status: u16) -> Self {
        Self::Reply(Reply::json(
            status,
            &serde_json::json!({ "error": { "code": "scripted" } }),
        ))
    }

    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self::Reply(Reply::new(200, body).with("content-type", "application/json"))
    }

    /// Whether the request still has its effect on the Relay.
    pub fn serves(&self) -> bool {
        matches!(self, Self::Drip(_) | Self::Cut | Self::Lost | Self::Held)
    }
}

fn broken(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why.to_owned())
}

/// Method, path and query of the next request, without taking it from the connection; none at its end.
pub fn peek(stream: &TcpStream) -> Result<Option<(String, String, String)>> {
    let mut bytes = vec![0; 16 << 10];
    loop {
        let count = stream.peek(&mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes[..count]);
        if let Some((line, _)) = text.split_once("\r\n") {
            return request_line(line).map(Some);
        }
        if count == bytes.len() {
            return Err(broken("the request line is too long"));
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn request_line(line: &str) -> Result<(String, String, String)> {
    let parts: Vec<&str> = line.split(' ').collect();
    let [method, target, "HTTP/1.1"] = parts[..] else {
        return Err(broken("no request line of HTTP/1.1"));
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok((method.into(), path.into(), query.into()))
}

/// Takes the next request's headers and body.
pub fn take(stream: &mut TcpStream) -> Result<(Headers, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
        if head.len() > HEAD_MAX {
            return Err(broken("the head is too long"));
        }
    }
    let head = String::from_utf8(head).map_err(|_| broken("the head is not UTF-8"))?;
    let mut headers = Vec::new();
    for line in head.trim_end().split("\r\n").skip(1) {
        let (name, value) = line.split_once(':').ok_or_else(|| broken("no header"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(Ok(0), |(_, value)| value.parse());
    let length: usize = length.map_err(|_| broken("no length"))?;
    if length > BODY_MAX {
        return Err(broken("the body is too long"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((headers, body))
}

/// Sends a reply in the way that the fault says; whether the connection goes on.
pub fn send(stream: &mut TcpStream, reply: &Reply, fault: Option<&Fault>) -> Result<bool> {
    let bytes = reply.bytes();
    match fault {
        Some(Fault::Drip(pause)) => {
            stream.set_nodelay(true)?;
            for byte in bytes {
                stream.write_all(&[byte])?;
                pace(*pause);
            }
        }
        Some(Fault::Cut) => {
            stream.write_all(&bytes[..bytes.len() / 2])?;
            return Ok(false);
        }
        Some(Fault::Raw(raw)) => {
            stream.write_all(raw)?;
            return Ok(false);
        }
        Some(Fault::Lost) => return Ok(false),
        Some(Fault::HalfClosed) => {
            stream.shutdown(Shutdown::Write)?;
            until_gone(stream);
            return Ok(false);
        }
        Some(Fault::Silence) => {
            until_gone(stream);
            return Ok(false);
        }
        None | Some(Fault::Reply(_) | Fault::Held | Fault::Reset) => stream.write_all(&bytes)?,
    }
    stream.flush()?;
    Ok(true)
}

/// A slow server's pace; no test waits for it.
fn pace(pause: Duration) {
    let end = Instant::now() + pause;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}

/// Reads until the client closes its half, or the fake Relay its connections.
fn until_gone(stream: &mut TcpStream) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
}
