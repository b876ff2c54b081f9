//! Points in time as records hold them: UTC, microseconds, RFC 3339 ending in `Z`.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

/// A point in time, in whole microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// The wall clock's now.
    pub fn now() -> Self {
        Self(Timestamp::now().as_microsecond())
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// From RFC 3339 ending in `Z`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if !text.ends_with('Z') || text.as_bytes().get(10) != Some(&b'T') {
            return None;
        }
        Self::parse_loose(text)
    }

    /// From RFC 3339 with any offset, as people and other tools write it.
    pub fn parse_loose(text: &str) -> Option<Self> {
        let stamp: Timestamp = text.parse().ok()?;
        Some(Self(stamp.as_microsecond()))
    }

    /// This time plus a duration (saturating).
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// This time minus a duration (saturating).
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// How long from `earlier` to this; zero if this is not later.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0).max(0);
        Duration::from_micros(micros.unsigned_abs())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stamp = Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        write!(f, "{stamp:.6}")
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_only_utc_is_taken() {
        let text = "2026-11-30T09:34:00.000123Z";
        let time = Time::parse(text).unwrap();
        assert_eq!(time.to_string(), text);
        assert_eq!(
            Time::parse("2026-11-30T09:34:00Z").unwrap().to_string(),
            "2026-11-30T09:34:00.000000Z"
        );
        assert!(Time::parse("2026-11-30T09:34:00+01:00").is_none());
        assert!(Time::parse("yesterday").is_none());
    }
}
