//! How long ago and how long still, in one number and one letter: `12s`, `4m`, `3h`, `2d`.
//!
//! Always rounded down: a deadline is never shown later than it is.

use std::time::Duration;

use crate::time::Time;

/// A duration in its largest whole unit.
pub fn short(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

/// How long ago `then` was; `0s` for the future, where a clock was set back.
pub fn age(now: Time, then: Time) -> String {
    short(now.since(then))
}

/// How long it is until `deadline`; `0s` once it is reached.
pub fn left(now: Time, deadline: Time) -> String {
    short(deadline.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_whole_unit_is_shown_and_never_rounded_up() {
        let rows = [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (40_000_000, "462d"),
        ];
        for (seconds, shown) in rows {
            assert_eq!(short(Duration::from_millis(seconds * 1_000 + 999)), shown);
        }
    }

    #[test]
    fn neither_side_of_now_goes_below_zero() {
        let (early, late) = (Time::from_micros(0), Time::from_micros(90_000_000));
        assert_eq!(age(late, early), "1m");
        assert_eq!(age(early, late), "0s");
        assert_eq!(left(early, late), "1m");
        assert_eq!(left(late, early), "0s");
        let furthest = Time::from_micros(i64::MAX);
        assert_eq!(age(furthest, Time::from_micros(i64::MIN)), "106751991d");
    }
}
