//! Points in time as records hold them: UTC, microseconds, RFC 3339 ending in `Z`.

use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::{Date, date};

/// A point in time, in whole microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// The latest that can be written in RFC 3339 with any offset: 9999-12-30T22:00:00.999999Z.
    pub const LATEST: Self = Self(253_402_207_200_999_999);
    /// The earliest, 0000-01-01T00:00:00Z.
    pub const EARLIEST: Self = Self(-62_167_219_200_000_000);

    /// The wall clock's now; [`Time::LATEST`] or [`Time::EARLIEST`] where it is set beyond them.
    pub fn now() -> Self {
        Self::of_clock(SystemTime::now())
    }

    fn of_clock(clock: SystemTime) -> Self {
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let now = match clock.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self(micros(after)),
            Err(before) => Self(-micros(before.duration())),
        };
        now.written()
    }

    /// This time if it can be written, else the nearest that can.
    fn written(self) -> Self {
        self.clamp(Self::EARLIEST, Self::LATEST)
    }

    /// From microseconds since 1970-01-01T00:00:00Z; beyond [`Time::EARLIEST`] and [`Time::LATEST`] it
    /// compares as it is and is written as they are.
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

    /// From RFC 3339 to the letter, with any offset and with leap seconds; a fraction is cut to
    /// microseconds. `None` for anything else.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let number = |from: usize| -> Option<i64> {
            let two = text.get(from..from + 2)?;
            let digits = two.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| two.parse().ok()).flatten()
        };
        let sign = |at: usize| text.as_bytes().get(at).copied();
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if !marks.iter().all(|(at, mark)| sign(*at) == Some(*mark)) {
            return None;
        }
        let (hour, minute, second) = (number(11)?, number(14)?, number(17)?);
        if number(0).and(number(2)).is_none() || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (micros, zone) = fraction(text.get(19..)?)?;
        let offset = offset(zone)?;
        // A leap second ends a day of UTC, wherever it is told.
        if second == 60 && (hour * 60 + minute - offset).rem_euclid(24 * 60) != 24 * 60 - 1 {
            return None;
        }
        let day: Date = text.get(..10)?.parse().ok()?;
        let days = day.duration_since(date(1970, 1, 1)).as_hours() / 24;
        let seconds = (days * 24 * 60 + hour * 60 + minute - offset) * 60 + second;
        Some(Self(seconds * 1_000_000 + micros))
    }

    /// This time plus a duration, at most [`Time::LATEST`].
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros)).written()
    }

    /// This time minus a duration, at least [`Time::EARLIEST`].
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros)).written()
    }

    /// How long from `earlier` to this; zero if this is not later.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0).max(0);
        Duration::from_micros(micros.unsigned_abs())
    }
}

/// A fraction of a second in microseconds, zero where there is none, and what follows it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let micros = format!("{:0<6}", &rest[..digits.min(6)]).parse().ok()?;
    (digits > 0).then_some((micros, &rest[digits..]))
}

/// An offset from UTC in minutes.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let number = |text: &str, max: i64| -> Option<i64> {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let number: i64 = digits.then(|| text.parse().ok()).flatten()?;
        (number <= max).then_some(number)
    };
    let offset = number(hours, 23)? * 60 + number(minutes, 59)?;
    match zone.as_bytes()[0] {
        b'+' => Some(offset),
        b'-' => Some(-offset),
        _ => None,
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stamp = Timestamp::from_microsecond(self.written().0).unwrap_or(Timestamp::MAX);
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

    #[test]
    fn a_clock_beyond_what_can_be_written_is_held_at_the_edge() {
        assert_eq!(Time::LATEST.micros(), Timestamp::MAX.as_microsecond());
        assert_eq!(Time::parse("0000-01-01T00:00:00Z"), Some(Time::EARLIEST));
        let clock = |seconds: i64| {
            let span = Duration::from_secs(seconds.unsigned_abs());
            let epoch = SystemTime::UNIX_EPOCH;
            let at = if seconds < 0 {
                epoch.checked_sub(span)
            } else {
                epoch.checked_add(span)
            };
            Time::of_clock(at.unwrap())
        };
        assert_eq!(
            clock(1_000_000_000).to_string(),
            "2001-09-09T01:46:40.000000Z"
        );
        assert_eq!(clock(-1).to_string(), "1969-12-31T23:59:59.000000Z");
        for far in [
            253_402_207_201,
            253_402_300_800,
            1 << 40,
            i64::MAX / 2,
            i64::MAX,
        ] {
            assert_eq!(clock(far), Time::LATEST, "{far}");
            assert_eq!(clock(-far), Time::EARLIEST, "{far}");
        }
        let day = Duration::from_secs(86_400);
        for edge in [
            Time::LATEST.plus(day),
            Time::EARLIEST.minus(day),
            Time::from_micros(0).plus(Duration::MAX),
            Time::from_micros(0).minus(Duration::MAX),
        ] {
            assert_eq!(Time::parse(&edge.to_string()), Some(edge));
        }
        for far in [i64::MAX, i64::MIN] {
            let text = Time::from_micros(far).to_string();
            assert!(Time::parse(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn rfc_3339_is_taken_to_the_letter() {
        let at = |text: &str| Time::parse_rfc3339(text).map(|t| t.to_string());
        let rows = [
            ("2026-11-30T09:34:00Z", "2026-11-30T09:34:00.000000Z"),
            ("2026-11-30T09:34:00.5+01:00", "2026-11-30T08:34:00.500000Z"),
            (
                "2026-11-30T23:34:00.1234567-23:59",
                "2026-12-01T23:33:00.123456Z",
            ),
            ("2026-12-31T23:59:60z", "2027-01-01T00:00:00.000000Z"),
            ("2026-12-31T15:59:60-08:00", "2027-01-01T00:00:00.000000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"),
            ("0000-02-29T00:00:01-00:00", "0000-02-29T00:00:01.000000Z"),
        ];
        for (text, expected) in rows {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "2026-11-30t09:34:00Z",
            "2026-11-30 09:34:00Z",
            "2026-11-30T09:34Z",
            "2026-11-30T09:34:00",
            "2026-11-30T09:34:00.Z",
            "2026-11-30T09:34:00+0100",
            "2026-11-30T09:34:00+24:00",
            "2026-11-30T09:34:00Z[UTC]",
            "2026-02-29T09:34:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T12:59:60Z",
            "2026-12-31T23:59:60+01:00",
            "+026-11-30T09:34:00Z",
            "2026-11-30T+9:34:00Z",
            "２026-11-30T09:34:00Z",
            "",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
