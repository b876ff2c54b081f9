//! Requests to services that the user configured. The only room that opens connections.
//!
//! Promise: a request goes to an address that its destination's rules permit or nowhere; it follows no
//! redirect, uses no proxy of the environment, keeps no cookies, verifies TLS, and ends within its time.
//! No error holds a URL, a header or a body.

pub mod destination;

use std::io::Read;
use std::time::{Duration, SystemTime};

use ureq::Agent;
use ureq::config::Config;
use ureq::http::{Method, Request as Built, Uri};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::secret::Token;
pub use destination::{Destination, Private};

/// How long a connection may take to be there.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a whole request may take, where its sender sets no tighter bound.
pub const WHOLE: Duration = Duration::from_secs(15);
/// The bound of a body that is sent, in bytes.
pub const SENT_MAX: usize = 64 << 10;
/// The bound of a body that is received, in bytes.
pub const RECEIVED_MAX: u64 = 1 << 20;
/// The longest `Retry-After` that is heeded.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);

/// One service.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    destination: Destination,
}

/// What is sent.
pub struct Request<'a> {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Below the base URL, beginning with `/` or empty; escaped as it goes on the wire.
    pub path: &'a str,
    /// The bearer.
    pub bearer: Option<&'a Token>,
    /// Further headers.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body and its type.
    pub body: Option<(&'a str, &'a [u8])>,
    /// The bound of everything together.
    pub within: Duration,
}

/// What came back, whatever the status.
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// In how long to come again; dates count from now.
    pub retry_after: Option<Duration>,
    /// At most [`RECEIVED_MAX`] bytes.
    pub body: Vec<u8>,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For people; holds no URL, header or body.
    pub why: String,
    /// Whether trying again later may help.
    pub passing: bool,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl Client {
    /// A client of this service alone.
    pub fn new(destination: Destination) -> Self {
        let config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("sayso/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("")
            .max_response_header_size(32 << 10)
            .timeout_connect(Some(CONNECT))
            .timeout_resolve(Some(CONNECT))
            .timeout_global(Some(WHOLE))
            .build();
        let checking = Checking {
            destination: destination.clone(),
            inner: DefaultResolver::default(),
        };
        let agent = Agent::with_parts(config, DefaultConnector::default(), checking);
        Self { agent, destination }
    }

    /// The service.
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// Sends a request and reads the whole reply.
    ///
    /// # Errors
    /// Whatever kept the reply from coming whole and in time.
    pub fn send(&self, request: &Request<'_>) -> Result<Reply, Failure> {
        let (kind, body) = request.body.unwrap_or_default();
        if body.len() > SENT_MAX {
            return Err(lasting(format!("the body is larger than {SENT_MAX} bytes")));
        }
        let mut built = Built::builder()
            .method(Method::from_bytes(request.method.as_bytes()).unwrap_or_default())
            .uri(self.destination.join(request.path))
            .header("accept", "application/json");
        if !kind.is_empty() {
            built = built.header("content-type", kind);
        }
        if let Some(token) = request.bearer {
            built = built.header("authorization", format!("Bearer {}", token.expose()));
        }
        for (name, value) in request.headers {
            built = built.header(*name, *value);
        }
        let within = request.within;
        let sent = if request.body.is_some() {
            let built = built.body(body).map_err(|_| unsendable())?;
            let bounded = self.agent.configure_request(built);
            self.agent.run(bounded.timeout_global(Some(within)).build())
        } else {
            let built = built.body(()).map_err(|_| unsendable())?;
            let bounded = self.agent.configure_request(built);
            self.agent.run(bounded.timeout_global(Some(within)).build())
        };
        let mut reply = sent.map_err(|e| self.failure(&e))?;
        let retry_after = reply.headers().get("retry-after");
        let retry_after = retry_after.and_then(|v| wait_of(v.to_str().ok()?));
        let mut body = Vec::new();
        let mut reader = reply.body_mut().as_reader().take(RECEIVED_MAX + 1);
        reader.read_to_end(&mut body).map_err(|e| Failure {
            why: format!("{} broke off its reply: {}", self.host(), e.kind()),
            passing: true,
        })?;
        if body.len() as u64 > RECEIVED_MAX {
            let why = format!("{} sent more than {RECEIVED_MAX} bytes", self.host());
            return Err(Failure { why, passing: true });
        }
        Ok(Reply {
            status: reply.status().as_u16(),
            retry_after,
            body,
        })
    }

    fn host(&self) -> &str {
        self.destination.host()
    }

    /// A failure in words of our own: those of the library may repeat what was sent.
    fn failure(&self, error: &ureq::Error) -> Failure {
        let host = self.host();
        let passing = |why: String| Failure { why, passing: true };
        match error {
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                lasting(e.to_string())
            }
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                passing(format!("{host} could not prove who it is (TLS)"))
            }
            ureq::Error::Io(e) => passing(format!("{host} cannot be reached: {}", e.kind())),
            ureq::Error::Timeout(_) => passing(format!("{host} did not reply in time")),
            ureq::Error::HostNotFound => passing(format!("{host} is not known here")),
            ureq::Error::ConnectionFailed => passing(format!("{host} cannot be reached")),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
                passing(format!("{host} could not prove who it is (TLS)"))
            }
            _ => passing(format!("{host} did not reply properly")),
        }
    }
}

fn lasting(why: String) -> Failure {
    Failure {
        why,
        passing: false,
    }
}

fn unsendable() -> Failure {
    lasting("the request cannot be put on the wire".to_owned())
}

/// A `Retry-After`: seconds, or a date.
fn wait_of(text: &str) -> Option<Duration> {
    let text = text.trim();
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let at = u64::try_from(at.as_second()).unwrap_or(0);
            at.saturating_sub(now.unwrap_or_default().as_secs())
        }
    };
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

/// Resolves names and lets through only what the destination permits; ureq connects to nothing else.
#[derive(Debug)]
struct Checking {
    destination: Destination,
    inner: DefaultResolver,
}

impl Resolver for Checking {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let addresses = self.inner.resolve(uri, config, timeout)?;
        for address in addresses.iter() {
            self.destination.permits(address.ip()).map_err(|why| {
                let host = self.destination.host();
                let told = format!("{host} is not used: {why}");
                std::io::Error::new(std::io::ErrorKind::PermissionDenied, told)
            })?;
        }
        Ok(addresses)
    }
}

/// A text as it stands in a query: everything but unreserved characters is escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_value_is_escaped() {
        assert_eq!(escape("a&b+c%d=e f/ü~"), "a%26b%2Bc%25d%3De%20f%2F%C3%BC~");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(wait_of(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(wait_of("999999999"), Some(Duration::from_secs(86400)));
        assert_eq!(
            wait_of("Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(Duration::ZERO)
        );
        assert_eq!(wait_of("soon"), None);
        assert_eq!(wait_of("-1"), None);
    }
}
