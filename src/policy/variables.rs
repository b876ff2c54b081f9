//! Environment variables that may be set in front of an allowed command.

use toml::Spanned;

use crate::config::Source;
use crate::error::Result;

/// Those that are harmless where the policy says nothing.
const HARMLESS: &str = "\
    CI NO_COLOR FORCE_COLOR TERM LANG LC_ALL TZ RUST_BACKTRACE RUST_LOG NODE_ENV PYTHONUNBUFFERED";

/// Beginnings of names that a loader, a shell or an interpreter reads code or programs from: ld.so(8), bash(1),
/// zshparam(1), git(1), and the manuals of the interpreters.
const CODE: &str = "\
    LD_ DYLD_ BASH_ GIT_ PYTHON PERL RUBY NODE_OPTIONS NODE_PATH NODE_REPL NPM_CONFIG_ JAVA_TOOL_ JDK_JAVA_ \
    _JAVA_ CARGO_ RUSTC RUSTFLAGS RUSTDOC GO CC CXX LESS MAKE DOCKER_ KUBE SSH_ GCONV_ LOCPATH TERMINFO \
    TERMCAP XDG_ LUA_ PHP_ CLASSPATH TAR_OPTIONS RSYNC_ CURL_ WGET";

/// Whole names of that kind, and those that programs run what they hold.
const CODE_NAMES: &str = "\
    PATH HOME ENV SHELL IFS PS1 PS4 PROMPT_COMMAND ZDOTDIR FPATH CDPATH EDITOR VISUAL PAGER MANPAGER \
    BROWSER SHELLOPTS OPTS HISTFILE MAIL TMPDIR POSIXLY_CORRECT";

/// The variables that a policy takes for harmless.
///
/// # Errors
/// `config_error` for what is no name, and for a name that is read as code somewhere.
pub(super) fn harmless(given: Option<&[Spanned<String>]>, source: &Source) -> Result<Vec<String>> {
    let Some(given) = given else {
        return Ok(HARMLESS.split(' ').map(str::to_owned).collect());
    };
    for name in given {
        let why = match name.get_ref().as_str() {
            name if !super::plain::is_assignment(&format!("{name}="))
                || name.ends_with([']', '+']) =>
            {
                "harmless_env: not the name of a variable"
            }
            name if CODE_NAMES.split(' ').any(|known| known == name)
                || CODE.split(' ').any(|start| name.starts_with(start)) =>
            {
                "harmless_env: programs read this variable as code or as a program's name"
            }
            _ => continue,
        };
        return Err(source
            .error(name.span().start, why.to_owned())
            .hint("spell it in a pattern instead, as in \"NAME=* npm test\""));
    }
    Ok(given.iter().map(|name| name.get_ref().clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_of_the_harmless_is_read_as_code() {
        let spanned = |name: &str| Spanned::new(0..0, name.to_owned());
        let source = Source::default();
        for name in HARMLESS.split(' ') {
            if name != "PYTHONUNBUFFERED" {
                assert!(harmless(Some(&[spanned(name)]), &source).is_ok(), "{name}");
            }
        }
        for name in [
            "LD_PRELOAD",
            "PATH",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "a b",
            "",
            "A+",
            "a[1]",
        ] {
            assert!(harmless(Some(&[spanned(name)]), &source).is_err(), "{name}");
        }
    }
}
