//! A unified diff of two texts, for showing what would be written.

use std::time::Duration;

use similar::TextDiff;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Beyond this the rest is shown as replaced.
const PATIENCE: Duration = Duration::from_millis(500);

/// The diff, empty if the texts are equal. `None` is no file. The lines are those of the texts, unescaped.
pub fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    if old == new {
        return String::new();
    }
    let label = |text: Option<&str>| match text {
        Some(_) => name.to_owned(),
        None => "/dev/null".to_owned(),
    };
    let [before, after] = [old, new].map(Option::unwrap_or_default);
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    diff.unified_diff()
        .context_radius(CONTEXT)
        .header(&label(old), &label(new))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_reads_like_one() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten";
        assert_eq!(
            unified("f", Some(old), Some(new)),
            "--- f\n+++ f\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified("f", None, Some("a\n")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            unified("f", Some("a\n"), None),
            "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        );
        assert_eq!(unified("f", Some("a"), Some("a")), "");
    }

    #[test]
    fn texts_that_share_nothing_take_no_time() {
        let lines = |of: char| {
            (0..40_000)
                .map(|n| format!("{of}{n}\n"))
                .collect::<String>()
        };
        let start = std::time::Instant::now();
        let diff = unified("f", Some(&lines('a')), Some(&lines('b')));
        assert!(diff.lines().count() > 80_000);
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
    }
}
