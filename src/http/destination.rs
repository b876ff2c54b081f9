//! Where a request may go: the address that a user configured, and the rules that it must keep.
//!
//! Promise: nothing is sent to an address that these rules refuse, whatever a name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::http::Uri;

use crate::error::{Error, Result};

/// The bound of a URL, in characters.
const URL_MAX: usize = 2048;

/// Whether private and loopback addresses are fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Private {
    /// They are; the user said so.
    Allowed,
    /// They are not.
    Refused,
}

impl Private {
    /// From the configuration's `allow_private`.
    pub fn allowed(allowed: bool) -> Self {
        if allowed {
            Self::Allowed
        } else {
            Self::Refused
        }
    }
}

/// A checked base URL: scheme, host, port and path, without a `/` at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    text: String,
    host: String,
    plain: bool,
    private: Private,
}

/// What kind of address it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    Public,
    Loopback,
    Private,
    Never,
}

impl Destination {
    /// Checks a URL by the rules that need no name resolution.
    ///
    /// # Errors
    /// `invalid_input`: what is wrong with it; its text is not repeated, it may hold a password.
    pub fn parse(text: &str, private: Private) -> Result<Self> {
        Self::check(text, private)
            .map_err(|why| Error::input(format!("this address cannot be used: {why}")))
    }

    fn check(text: &str, private: Private) -> std::result::Result<Self, String> {
        if text.chars().count() > URL_MAX {
            return Err(format!("it is longer than {URL_MAX} characters"));
        }
        for (sign, what) in [
            ('@', "a user or password"),
            ('?', "a query"),
            ('#', "a fragment"),
        ] {
            if text.contains(sign) {
                return Err(format!("it holds {what}"));
            }
        }
        let uri: Uri = text.parse().map_err(|_| "it is no absolute URL")?;
        let plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return Err("it must begin with https://".into()),
        };
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        if host.is_empty() || host.ends_with('.') || !has_sound_port(&uri) {
            return Err("it names no host, or no usable port".into());
        }
        let path = uri.path().trim_end_matches('/');
        check_path(path)?;
        let address = literal(&host);
        if plain && !is_loopback_name(&host, address) {
            return Err("http is for loopback only; use https".into());
        }
        if let Some(address) = address {
            permit(address, private, plain)?;
        } else if host == "localhost" && private == Private::Refused {
            return Err(told(Range::Loopback).into());
        }
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let scheme = if plain { "http" } else { "https" };
        Ok(Self {
            text: format!("{scheme}://{authority}{path}"),
            host,
            plain,
            private,
        })
    }

    /// The URL of something below the base: `path` begins with `/`.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// The base URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, lower-case.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Scheme, host and port, as two URLs of one origin share them.
    pub fn origin(&self) -> &str {
        let after_scheme = self.text.find("://").map_or(0, |at| at + 3);
        let end = self.text[after_scheme..].find('/');
        end.map_or(&self.text, |end| &self.text[..after_scheme + end])
    }

    /// Whether a URL, which may have a path and a query, is of this origin.
    pub fn is_origin_of(&self, url: &str) -> bool {
        let parts = |text: &str| {
            let uri: Uri = text.parse().ok()?;
            let scheme = uri.scheme_str()?.to_owned();
            let default = if scheme == "https" { 443 } else { 80 };
            let host = uri.host()?.to_ascii_lowercase();
            Some((scheme, host, uri.port_u16().unwrap_or(default)))
        };
        let clean = !url.contains('@') && !url.chars().any(|c| c.is_control() || c.is_whitespace());
        clean && parts(url).is_some() && parts(url) == parts(&self.text)
    }

    /// Whether an address that the host's name resolved to may be connected to.
    ///
    /// # Errors
    /// Why not.
    pub fn permits(&self, address: IpAddr) -> std::result::Result<(), String> {
        permit(address, self.private, self.plain).map_err(Into::into)
    }
}

/// Whether there is no port, or one from 1 to 65535: the library takes any other for none.
fn has_sound_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |a| a.as_str());
    let after_host = &authority[authority.rfind(']').map_or(0, |at| at + 1)..];
    match after_host.split_once(':') {
        Some((_, port)) => port.parse::<u16>().is_ok_and(|port| port > 0),
        None => true,
    }
}

fn check_path(path: &str) -> std::result::Result<(), String> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    for segment in path.split('/').skip(1) {
        if segment.is_empty() || segment == "." || segment == ".." || !segment.bytes().all(fine) {
            return Err("its path may hold only A-Z a-z 0-9 _ . - between single slashes".into());
        }
    }
    Ok(())
}

/// The address that a host's text is, in the usual spelling of either family.
fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok()
}

fn is_loopback_name(host: &str, address: Option<IpAddr>) -> bool {
    host == "localhost" || address.is_some_and(|a| range(a) == Range::Loopback)
}

fn permit(address: IpAddr, private: Private, plain: bool) -> std::result::Result<(), &'static str> {
    match (range(address), private) {
        (Range::Never, _) => Err(told(Range::Never)),
        (Range::Loopback, Private::Allowed) => Ok(()),
        (Range::Loopback, Private::Refused) => Err(told(Range::Loopback)),
        (_, _) if plain => Err("http is for loopback only; use https"),
        (Range::Public, _) | (Range::Private, Private::Allowed) => Ok(()),
        (range, Private::Refused) => Err(told(range)),
    }
}

fn told(range: Range) -> &'static str {
    match range {
        Range::Loopback | Range::Private => {
            "it is at a private or loopback address; allow_private = true permits that"
        }
        Range::Never | Range::Public => "it is at an address that is never used",
    }
}

fn range(address: IpAddr) -> Range {
    match address {
        IpAddr::V4(v4) => range_v4(v4),
        IpAddr::V6(v6) => embedded(v6).map_or_else(|| range_v6(v6), range_v4),
    }
}

/// The IPv4 address within a mapped (`::ffff:0:0/96`), NAT64 (`64:ff9b::/96`) or 6to4 (`2002::/16`) one.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = v6.segments();
    let (high, low) = match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
}

fn range_v4(v4: Ipv4Addr) -> Range {
    match v4.octets() {
        [0 | 224..=255, ..]
        | [169, 254, ..]
        | [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Range::Never,
        [127, ..] => Range::Loopback,
        [10, ..]
        | [100, 64..=127, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [198, 18 | 19, ..] => Range::Private,
        _ => Range::Public,
    }
}

fn range_v6(v6: Ipv6Addr) -> Range {
    if v6 == Ipv6Addr::LOCALHOST {
        return Range::Loopback;
    }
    match v6.segments() {
        // Unspecified and IPv4-compatible; local NAT64; link-local; documentation; multicast.
        [0, 0, 0, 0, 0, 0, ..]
        | [0x64, 0xff9b, 1, ..]
        | [0xfe80..=0xfebf | 0xff00..=0xffff, ..]
        | [0x2001, 0xdb8, ..]
        | [0x3fff, 0..=0xfff, ..] => Range::Never,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Range::Private,
        _ => Range::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: Private = Private::Refused;
    const YES: Private = Private::Allowed;

    #[test]
    fn the_table_of_urls() {
        let cases: &[(&str, Private, bool)] = &[
            ("https://relay.example.com", NO, true),
            ("https://relay.example.com/a/b_c.d-e/", NO, true),
            ("http://relay.example.com", YES, false),
            ("https://user:pass@relay.example.com", YES, false),
            ("https://relay.example.com?x=1", YES, false),
            ("https://relay.example.com/#frag", YES, false),
            ("https://relay.example.com/a%2fb", YES, false),
            ("https://relay.example.com/a/../b", YES, false),
            ("https://relay.example.com//a", YES, false),
            ("https://relay.example.com:0", YES, false),
            ("https://relay.example.com:99999", YES, false),
            ("https://relay.example.com:", YES, false),
            ("https://[::1]:99999", YES, false),
            ("https://127.0.0.1", NO, false),
            ("https://127.0.0.1", YES, true),
            ("https://[::1]", NO, false),
            ("https://[::1]", YES, true),
            ("https://169.254.169.254", YES, false),
            ("https://[fe80::1]", YES, false),
            ("https://0.0.0.0", YES, false),
            ("https://192.0.2.1", YES, false),
            ("https://224.0.0.1", YES, false),
            ("http://localhost:4000", NO, false),
            ("http://localhost:4000", YES, true),
            ("http://127.9.9.9:4000", YES, true),
            ("http://10.0.0.8", YES, false),
            ("https://10.0.0.8:8443/relay", NO, false),
            ("https://10.0.0.8:8443/relay", YES, true),
            ("https://[::ffff:127.0.0.1]", NO, false),
            ("http://[::ffff:127.0.0.1]", YES, true),
            ("https://[::ffff:169.254.1.1]", YES, false),
            ("https://[64:ff9b::a00:1]", NO, false),
            ("https://[2002:a00:1::]", NO, false),
            ("ftp://relay.example.com", YES, false),
            ("relay.example.com", YES, false),
            ("/v1", YES, false),
            ("", YES, false),
        ];
        for (text, private, fine) in cases {
            let parsed = Destination::parse(text, *private);
            assert_eq!(parsed.is_ok(), *fine, "{text} {private:?}: {parsed:?}");
        }
        let long = format!("https://relay.example.com/{}", "a".repeat(2048));
        assert!(Destination::parse(&long, YES).is_err());
    }

    #[test]
    fn every_resolved_address_is_judged() {
        let relay = Destination::parse("https://relay.example.com", NO).unwrap();
        let at_home = Destination::parse("https://relay.example.com", YES).unwrap();
        let loopback = Destination::parse("http://localhost:1", YES).unwrap();
        let cases = [
            ("93.184.216.34", true, true, false),
            ("100.64.0.1", false, true, false),
            ("172.31.255.255", false, true, false),
            ("172.32.0.1", true, true, false),
            ("198.19.0.1", false, true, false),
            ("127.0.0.1", false, true, true),
            ("::1", false, true, true),
            ("::ffff:10.1.2.3", false, true, false),
            ("fd00::1", false, true, false),
            ("fec0::1", false, true, false),
            ("169.254.0.1", false, false, false),
            ("::", false, false, false),
            ("240.0.0.1", false, false, false),
            ("2001:db8::1", false, false, false),
            ("64:ff9b:1::1", false, false, false),
            ("2606:4700::1", true, true, false),
        ];
        for (address, public, private, local) in cases {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(relay.permits(address).is_ok(), public, "{address}");
            assert_eq!(at_home.permits(address).is_ok(), private, "{address}");
            assert_eq!(loopback.permits(address).is_ok(), local, "{address}");
        }
    }

    #[test]
    fn an_origin_has_no_path() {
        let parsed = Destination::parse("https://Relay.example.com:8443/a/b/", NO).unwrap();
        assert_eq!(
            parsed.join("/v1/x"),
            "https://Relay.example.com:8443/a/b/v1/x"
        );
        assert_eq!(parsed.origin(), "https://Relay.example.com:8443");
        assert_eq!(parsed.host(), "relay.example.com");
        assert!(parsed.is_origin_of("https://relay.example.com:8443/pair?code=AB-12"));
        for other in [
            "https://relay.example.com/pair",
            "http://relay.example.com:8443/pair",
            "https://evil.example.com:8443/pair",
            "https://relay.example.com:8443@evil.example.com/",
            "javascript:alert(1)",
            "",
        ] {
            assert!(!parsed.is_origin_of(other), "{other}");
        }
    }
}
