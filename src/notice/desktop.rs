//! Notices on this machine's desktop, by the program that is there for it.
//!
//! `notify-send` takes its text as arguments and has no other way: other users can read them while it
//! runs. Without `include_prompt` that is nothing of what was asked. `osascript` reads its script from
//! standard input.

use super::process::{self, Failure};
use super::wording::{Notice, fit};

/// The programs, in the order in which they are tried.
pub(super) const PROGRAMS: [&str; 2] = ["notify-send", "osascript"];
/// What is said where neither is there.
pub(super) const MISSING: &str = "neither notify-send nor osascript is on PATH";
/// The bound of the text, in characters: what a bubble can show.
const TEXT_MAX: usize = 600;

/// Shows a notice.
///
/// # Errors
/// Why it is not seen.
pub(super) fn show(notice: &Notice) -> Result<(), String> {
    let text = fit(&notice.text, TEXT_MAX, |_| 1);
    let body = for_notify_send(&text);
    let send = [PROGRAMS[0], "--app-name=sayso", "--", &notice.title, &body];
    let shown = match process::run(&send, Vec::new(), &[]) {
        Err(Failure::Missing) => {
            let script = script(&notice.title, &text);
            process::run(&[PROGRAMS[1], "-"], script.into_bytes(), &[])
        }
        ended => ended,
    };
    shown.map_err(|failure| match failure {
        Failure::Missing => MISSING.to_owned(),
        Failure::Bad(why) => format!("the desktop notifier: {why}"),
    })
}

/// A body in which nothing is markup or an escape: `notify-send` undoes C escapes (`g_strcompress`), and
/// the desktop reads the rest as markup (Desktop Notifications Specification, "Markup").
fn for_notify_send(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The AppleScript that shows a notification; its strings know two escapes.
fn script(title: &str, text: &str) -> String {
    let quoted = |text: &str| {
        let inside = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{inside}\"")
    };
    format!(
        "display notification {} with title {}\n",
        quoted(text),
        quoted(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_text() {
        assert_eq!(
            for_notify_send("a\\n<b>&\\u{1b}"),
            "a\\\\n&lt;b&gt;&amp;\\\\u{1b}"
        );
        assert_eq!(
            script("t", "a\" & do shell script \"x\\"),
            "display notification \"a\\\" & do shell script \\\"x\\\\\" with title \"t\"\n"
        );
    }
}
