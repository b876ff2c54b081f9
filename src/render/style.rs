//! Colour, decided once per stream; where it is off, painting adds not a byte.
//!
//! Painting does not make text safe: untrusted text goes through [`crate::text`] first.

use std::ffi::OsString;

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// Colour for a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Colour whatever the stream is.
    Always,
    /// No colour.
    Never,
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// As the terminal's own text.
    #[default]
    Plain,
    /// Stronger.
    Bold,
    /// Weaker.
    Dim,
    /// For what allows or went well.
    Green,
    /// For what denies or failed.
    Red,
    /// For what needs attention.
    Yellow,
}

/// Whether a stream gets colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    on: bool,
}

impl Style {
    /// No colour at all.
    pub const PLAIN: Self = Self { on: false };

    /// The first of these that says something: `when`; `NO_COLOR` (non-empty, no-color.org);
    /// `CLICOLOR_FORCE` (non-empty and not `0`, bixense.com/clicolors); `TERM=dumb`; whether the
    /// stream is a terminal. `env` looks up an environment variable.
    pub fn decide(when: When, env: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let on = match when {
            When::Always => true,
            When::Never => false,
            When::Auto if set("NO_COLOR").is_some() => false,
            When::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            When::Auto => is_terminal && set("TERM").is_none_or(|term| term != "dumb"),
        };
        Self { on }
    }

    /// The text in this paint.
    pub fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Bold => 1,
            Paint::Dim => 2,
            Paint::Red => 31,
            Paint::Green => 32,
            Paint::Yellow => 33,
            Paint::Plain => return text.to_owned(),
        };
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Stronger.
    pub fn bold(self, text: &str) -> String {
        self.paint(Paint::Bold, text)
    }

    /// Weaker.
    pub fn dim(self, text: &str) -> String {
        self.paint(Paint::Dim, text)
    }

    /// For what allows or went well.
    pub fn green(self, text: &str) -> String {
        self.paint(Paint::Green, text)
    }

    /// For what denies or failed.
    pub fn red(self, text: &str) -> String {
        self.paint(Paint::Red, text)
    }

    /// For what needs attention.
    pub fn yellow(self, text: &str) -> String {
        self.paint(Paint::Yellow, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vars<'a> = &'a [(&'a str, &'a str)];

    fn decide(when: When, vars: Vars<'_>, is_terminal: bool) -> bool {
        let env = |name: &str| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Style::decide(when, env, is_terminal).on
    }

    #[test]
    fn the_option_beats_the_environment_and_the_environment_the_stream() {
        use When::{Always, Auto, Never};
        let rows: &[(When, Vars<'_>, bool, bool)] = &[
            (Auto, &[], true, true),
            (Auto, &[], false, false),
            (Always, &[("NO_COLOR", "1"), ("TERM", "dumb")], false, true),
            (Never, &[("CLICOLOR_FORCE", "1")], true, false),
            (Auto, &[("NO_COLOR", "1")], true, false),
            (Auto, &[("NO_COLOR", "0")], true, false),
            (Auto, &[("NO_COLOR", "")], true, true),
            (Auto, &[("CLICOLOR_FORCE", "1")], false, true),
            (Auto, &[("CLICOLOR_FORCE", "0")], false, false),
            (Auto, &[("CLICOLOR_FORCE", "")], false, false),
            (
                Auto,
                &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
                true,
                false,
            ),
            (Auto, &[("TERM", "dumb")], true, false),
            (Auto, &[("TERM", "xterm")], true, true),
            (
                Auto,
                &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")],
                false,
                true,
            ),
        ];
        for (when, vars, is_terminal, on) in rows {
            let got = decide(*when, vars, *is_terminal);
            assert_eq!(got, *on, "{when:?} {vars:?} terminal={is_terminal}");
        }
    }

    #[test]
    fn paint_is_undone_and_absent_when_off() {
        assert_eq!(Style { on: true }.red("no"), "\x1b[31mno\x1b[0m");
        assert_eq!(Style { on: true }.bold(""), "");
        assert_eq!(Style::PLAIN.red("no"), "no");
        assert_eq!(Style { on: true }.paint(Paint::Plain, "x"), "x");
    }
}
