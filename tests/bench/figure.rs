//! One line of the table, and the arithmetic behind it.

use std::fmt;
use std::time::{Duration, Instant};

/// What was measured, and what was wanted.
pub(crate) struct Figure {
    name: String,
    measured: Option<f64>,
    goal: f64,
    note: String,
}

impl Figure {
    pub(crate) const HEAD: &str =
        "figure                                              measured      goal  met  what";

    /// A value that must not be above its goal.
    pub(crate) fn new(name: &str, measured: f64, goal: f64, note: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            measured: Some(measured),
            goal,
            note: note.into(),
        }
    }

    /// The ratio of two medians.
    pub(crate) fn ratio(name: &str, ours: &Series, theirs: &Series, goal: f64) -> Self {
        let (ours, theirs) = (ours.median(), theirs.median());
        let note = format!("{} / {}", millis(ours), millis(theirs));
        Self::new(name, ours.as_secs_f64() / theirs.as_secs_f64(), goal, note)
    }

    pub(crate) fn not_measured(name: &str, goal: f64, why: &str) -> Self {
        Self {
            name: name.into(),
            measured: None,
            goal,
            note: format!("not measured: {why}"),
        }
    }

    pub(crate) fn is_missed(&self) -> bool {
        self.measured.is_some_and(|measured| measured > self.goal)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measured = self.measured.map_or_else(|| "-".into(), short);
        let met = match self.measured {
            None => "-",
            Some(_) if self.is_missed() => "NO",
            Some(_) => "yes",
        };
        let (name, goal, note) = (&self.name, short(self.goal), &self.note);
        write!(f, "{name:<50} {measured:>9} {goal:>9}  {met:<3}  {note}")
    }
}

fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 0.1 => format!("{v:.4}"),
        v if v < 100.0 => format!("{v:.2}"),
        v => format!("{v:.0}"),
    }
}

pub(crate) fn millis(span: Duration) -> String {
    format!("{:.2} ms", span.as_secs_f64() * 1e3)
}

/// How long something took, each time.
#[derive(Default)]
pub(crate) struct Series(Vec<Duration>);

impl Series {
    pub(crate) fn push(&mut self, span: Duration) {
        self.0.push(span);
    }

    pub(crate) fn time(&mut self, work: impl FnOnce()) {
        let start = Instant::now();
        work();
        self.push(start.elapsed());
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted[(sorted.len() - 1) * percent / 100]
    }
}
