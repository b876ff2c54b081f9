//! How far a provider's answers were fetched, and when to come again.
//!
//! The cursor moves only under the provider's lock, and only after a whole page was processed.

use std::time::Duration;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::state::Dir;
use crate::error::Result;
use crate::time::Time;

/// The pause of a waiting process between two looks; each failure doubles it.
const PAUSE: Duration = Duration::from_secs(5);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// What is known of a provider's answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    schema: u32,
    /// Whose answers; another installation starts anew.
    installation_id: String,
    /// Opaque; empty at the beginning.
    pub cursor: String,
    /// When the cursor last moved, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_at: Option<String>,
    /// When the Relay was last asked, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polled_at: Option<String>,
    /// Not to be asked before, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// Failures in a row.
    pub failures: u32,
}

impl Cursor {
    /// As it stands; a damaged or foreign one is that of the beginning.
    pub(super) fn read(dir: &Dir, installation_id: &str) -> Self {
        let known: Option<Self> = Dir::read(&dir.path().join("cursor.json"));
        known
            .filter(|c| c.installation_id == installation_id)
            .unwrap_or_else(|| Self {
                schema: 1,
                installation_id: installation_id.to_owned(),
                ..Self::default()
            })
    }

    /// For display only: as it stands, whosever it is.
    pub fn peek(dir: &Dir) -> Option<Self> {
        Dir::read(&dir.path().join("cursor.json"))
    }

    /// Writes it. The caller holds the provider's lock.
    ///
    /// # Errors
    /// `unavailable`.
    pub(super) fn write(&self, dir: &Dir) -> Result<()> {
        dir.write(&dir.path().join("cursor.json"), self)
    }

    /// Begins anew. The caller holds the provider's lock.
    pub(super) fn reset(dir: &Dir) -> std::io::Result<()> {
        crate::fsio::remove(&dir.path().join("cursor.json"))
    }

    /// How long the Relay asked not to be asked.
    pub(super) fn hold(&self, now: Time) -> Option<Duration> {
        let until = Time::parse(self.not_before.as_deref()?)?;
        let left = until.since(now);
        // No Relay is heeded for longer: the clock was set back.
        (!left.is_zero() && left <= crate::http::RETRY_AFTER_MAX).then_some(left)
    }
}

/// How long a waiting process pauses after so many failures in a row: from the first failure on
/// 5, 10, 20, 40, 80, 120 s, ±20 %.
pub(super) fn pause(failures: u32) -> Duration {
    let whole = PAUSE
        .saturating_mul(1 << failures.saturating_sub(1).min(16))
        .min(LONGEST_PAUSE);
    let spread = rand::rng().random_range(0.8..1.2);
    whole.mul_f64(spread).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_minutes() {
        for (failures, middle) in [
            (0, 5.0),
            (1, 5.0),
            (2, 10.0),
            (3, 20.0),
            (4, 40.0),
            (5, 80.0),
            (6, 120.0),
            (40, 120.0),
        ] {
            let pause = pause(failures).as_secs_f64();
            assert!(
                (0.79 * middle..1.21 * middle).contains(&pause),
                "{failures}: {pause}"
            );
            assert!(pause <= 120.0);
        }
    }

    #[test]
    fn a_hold_ends() {
        let now = Time::now();
        let later = now.plus(Duration::from_secs(9));
        let held = Cursor {
            not_before: Some(later.to_string()),
            ..Cursor::default()
        };
        assert_eq!(held.hold(now), Some(Duration::from_secs(9)));
        assert_eq!(held.hold(later), None);
        assert_eq!(Cursor::default().hold(now), None);
        let long_ago = now.minus(Duration::from_secs(2 * 365 * 86400));
        assert_eq!(held.hold(long_ago), None, "the clock was set back");
    }
}
