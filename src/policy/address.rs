//! Addresses, matched part by part: scheme, host, port, and the rest.
//!
//! Promise: an address pattern allows only what every reader takes for the same place. Text on which
//! readers disagree (a backslash, user info, an odd number for a host, …) is allowed by none; a denying
//! pattern sees each way in which it can be read.

use url::{Host, Url};

use super::pattern::Pattern;
use super::visible::all_visible;

#[cfg(test)]
mod tests;

/// An address in its normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    scheme: String,
    /// Lower case, international names in punycode.
    host: String,
    /// Whether the host is a number.
    numeric: bool,
    /// Absent where it is the scheme's own.
    port: Option<u16>,
    /// Path, query and fragment.
    rest: String,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            scheme, host, rest, ..
        } = self;
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        write!(f, "{scheme}://{host}{port}{rest}")
    }
}

/// Bytes of an address that patterns allow, and whose readings are told apart.
const LONGEST: usize = 8192;
/// Hosts that one text is looked through for; what holds more is allowed by no pattern.
const HOSTS_MAX: usize = 16;

/// Why text is no address that an allowing pattern could match.
const UNREADABLE: &str = "an address can be read in more than one way, or is none";

impl Address {
    /// The one place that the text names, whoever reads it.
    ///
    /// # Errors
    /// Where readers disagree, or it is no address with a host.
    pub(super) fn plain(text: &str) -> Result<Self, &'static str> {
        Self::agreed(text).ok_or(UNREADABLE)
    }

    fn agreed(text: &str) -> Option<Self> {
        let shown =
            text.len() <= LONGEST && all_visible(text) && !text.contains([' ', '\t', '\n', '\\']);
        let (scheme, rest) = text.split_once("://").filter(|_| shown)?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let (host, port) = split_port(authority)?;
        let sound_port =
            port.is_none_or(|port| port.parse::<u16>().is_ok_and(|n| n.to_string() == port));
        if !is_scheme(scheme)
            || !sound_port
            || authority.contains(['@', '%'])
            || !sound_percents(rest)
        {
            return None;
        }
        let address = Self::of(&Url::parse(text).ok()?)?;
        let path = rest[authority.len()..].split(['?', '#']).next()?;
        (is_same_host(host, &address) && is_plain_path(path)).then_some(address)
    }

    fn of(url: &Url) -> Option<Self> {
        let (host, numeric) = match url.host()? {
            // Without a scheme that it knows, the parser leaves the host as it is.
            Host::Domain(name) => (name.to_ascii_lowercase(), false),
            number => (number.to_string(), true),
        };
        let path = if url.path().is_empty() {
            "/"
        } else {
            url.path()
        };
        let query = url
            .query()
            .map(|query| format!("?{query}"))
            .unwrap_or_default();
        let fragment = url.fragment().map(|f| format!("#{f}")).unwrap_or_default();
        Some(Self {
            scheme: url.scheme().to_owned(),
            host,
            numeric,
            port: url.port(),
            rest: canonical(&format!("{path}{query}{fragment}")),
        })
    }

    /// Every place that some reader could take the text for.
    pub(super) fn readings(text: &str) -> Vec<Self> {
        let text: String = text.trim().chars().filter(|c| !c.is_control()).collect();
        let mut texts = vec![];
        if text.len() > LONGEST {
            // Nothing allows it; the usual reading is enough.
        } else if let Some((scheme, rest)) = text.split_once("://") {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, rest) = rest.split_at(end);
            let hosts = authority.split(['@', '\\']).filter(|host| !host.is_empty());
            texts.extend(
                hosts
                    .take(HOSTS_MAX)
                    .map(|host| format!("{scheme}://{}{rest}", without_dot(host))),
            );
        } else {
            texts.extend(["https", "http"].map(|scheme| format!("{scheme}://{text}")));
        }
        texts.push(text);
        let mut found: Vec<Self> = vec![];
        for url in texts.iter().filter_map(|text| Url::parse(text).ok()) {
            let lenient = Self::of(&url).map(|address| Self {
                rest: flattened(&url),
                host: address.host.trim_end_matches('.').to_owned(),
                ..address
            });
            for address in [Self::of(&url), lenient].into_iter().flatten() {
                if !found.contains(&address) {
                    found.push(address);
                }
            }
        }
        found
    }
}

/// What an address pattern says of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Any,
    One(Option<u16>),
}

/// A pattern of the form `scheme://host[:port]/path`.
#[derive(Clone, Debug)]
pub(super) struct AddressPattern {
    scheme: String,
    /// A star stands for one or more whole labels, because no host has an empty one.
    host: Pattern,
    /// Whether the host is one name, number or star.
    whole: bool,
    port: Port,
    rest: Pattern,
}

impl AddressPattern {
    /// From the text of a SPEC: none if it has another form.
    ///
    /// # Errors
    /// Why a pattern of that form can match no address.
    pub(super) fn parse(text: &str) -> Option<Result<Self, &'static str>> {
        let (scheme, after) = text.split_once("://")?;
        let slash = after.find('/').filter(|_| is_scheme(scheme))?;
        let (authority, rest) = after.split_at(slash);
        Some(Self::of_parts(
            &scheme.to_ascii_lowercase(),
            authority,
            rest,
        ))
    }

    fn of_parts(scheme: &str, authority: &str, rest: &str) -> Result<Self, &'static str> {
        if authority.contains(['@', '%', '\\', '?', '#', ' ']) {
            return Err("an address is allowed by its host and port only");
        }
        let (host, port) = split_port(authority).ok_or("its host is empty")?;
        let port = match port {
            Some("*") => Port::Any,
            Some(digits) => {
                let port = digits.parse().map_err(|_| "its port is no number")?;
                let url = Url::parse(&format!("{scheme}://h:{port}/"));
                Port::One(url.map_or(Some(port), |url| url.port()))
            }
            None => Port::One(None),
        };
        if has_dots(rest.split(['?', '#']).next().unwrap_or_default()) {
            return Err("paths of addresses hold no `..`");
        }
        let rest = Pattern::parse(rest)?.map(canonical);
        Ok(Self {
            scheme: scheme.to_owned(),
            host: Pattern::parse(&host_pattern(host)?)?,
            whole: host == "*" || !host.contains('*'),
            port,
            rest,
        })
    }

    /// Whether the address matches in every part.
    pub(super) fn matches(&self, address: &Address) -> bool {
        let port = match self.port {
            Port::Any => true,
            Port::One(port) => port == address.port,
        };
        self.scheme == address.scheme
            && port
            && (self.whole || !address.numeric)
            && self.host.matches(&address.host)
            && self.rest.matches(&address.rest)
    }

    /// Whether the last label is a star, so that anybody's name fits.
    pub(super) fn is_open_ended(&self) -> bool {
        !self.whole && self.host.pieces().last().is_some_and(String::is_empty)
    }
}

/// The host of a pattern in its normal form.
fn host_pattern(host: &str) -> Result<String, &'static str> {
    const BAD: &str = "its host is none";
    let normal = |name: &str| Host::parse(name).map_err(|_| BAD);
    if !host.contains('*') {
        let host = normal(host)?.to_string();
        return if host.split('.').any(str::is_empty) {
            Err(BAD)
        } else {
            Ok(host)
        };
    }
    let label = |label: &str| match label {
        "*" => Ok("*".to_owned()),
        "" => Err(BAD),
        label if label.contains('*') => Err("`*` in a host stands for whole labels only"),
        label if label.is_ascii() => Ok(label.to_ascii_lowercase()),
        label => match normal(label)? {
            Host::Domain(name) => Ok(name),
            _ => Err(BAD),
        },
    };
    let labels: Vec<_> = host.split('.').map(label).collect::<Result<_, _>>()?;
    Ok(labels.join("."))
}

/// Host and port; none without a host.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let end = match authority.strip_prefix('[') {
        Some(_) => authority.find(']')? + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    match port.strip_prefix(':') {
        _ if host.is_empty() => None,
        None if port.is_empty() => Some((host, None)),
        None => None,
        port => Some((host, port)),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// Whether the host as written is the one that was read, by every reader.
fn is_same_host(written: &str, read: &Address) -> bool {
    // Letters that older rules drop or replace, and stops that only some readers take for one.
    const DISPUTED: &[char] = &['ß', 'ẞ', 'ς', '\u{200c}', '\u{200d}', '。', '．', '｡'];
    if read.numeric && written.starts_with('[') {
        return true;
    }
    let labels = written.split('.').count() == read.host.split('.').count();
    let mut pairs = written.split('.').zip(read.host.split('.'));
    let agree = |(written, read): (&str, &str)| match written.is_ascii() {
        true => written.eq_ignore_ascii_case(read),
        false => read.starts_with("xn--"),
    };
    let sound = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    labels
        && !written.contains(DISPUTED)
        && read.host.bytes().all(sound)
        && !read.host.split('.').any(str::is_empty)
        && pairs.all(agree)
}

/// Whether no server can take the path for one elsewhere. Plain `..` is taken away by every reader; one
/// that is hidden in escapes, or stands beside `//` or `;`, is not.
fn is_plain_path(path: &str) -> bool {
    let Some(decoded) = decoded(path) else {
        return false;
    };
    let up = |segment: &&str| segment.split(';').next() == Some("..");
    let ups = decoded.split(['/', '\\']).filter(up).count();
    let shown = path.to_ascii_lowercase().replace("%2e", ".");
    let shown = shown.split('/').filter(|segment| *segment == "..").count();
    let confusing = decoded.contains("//") || decoded.contains([';', '\\']);
    !decoded.contains('\0') && ups == shown && !(ups > 0 && confusing)
}

/// Whether a segment of the path is `.` or `..`, also as `%2e`.
fn has_dots(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    path.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// The text without percent escapes, however deep; none if there is no end to them or it is no UTF-8.
fn decoded(text: &str) -> Option<String> {
    const DEEPEST: usize = 4;
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        let next = percent_encoding::percent_decode_str(&text)
            .decode_utf8()
            .ok()?
            .into_owned();
        if next == text {
            return Some(text);
        }
        text = next;
    }
    None
}

/// Path, query and fragment as the most lenient server would take them.
fn flattened(url: &Url) -> String {
    let path = decoded(url.path()).unwrap_or_else(|| url.path().to_owned());
    let mut segments = vec![];
    for segment in path.split(['/', '\\']) {
        match segment.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    let query = url
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    canonical(&format!("/{}{query}", segments.join("/")))
}

/// Whether each `%` begins an escape.
fn sound_percents(text: &str) -> bool {
    let hex =
        |digits: &str| digits.len() >= 2 && digits.bytes().take(2).all(|b| b.is_ascii_hexdigit());
    text.split('%').skip(1).all(hex)
}

/// The text with escapes where, and only where, they are needed, in capitals.
fn canonical(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => escaped(*high, *low),
            _ => None,
        };
        let byte = escaped.unwrap_or(*first);
        if plain(byte) || escaped.is_none() && b":/?#[]@!$&()*+,;=".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
        rest = &after[if escaped.is_some() { 2 } else { 0 }..];
    }
    out
}

fn escaped(high: u8, low: u8) -> Option<u8> {
    let digit = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    Some(digit(high)? << 4 | digit(low)?)
}
