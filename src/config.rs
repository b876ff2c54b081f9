//! The user's configuration file.
//!
//! Promise: what cannot be read or understood is an error that names file, line and column, never a
//! default; only a file that nobody named and that does not exist counts as an empty one. Unknown keys
//! are errors. Positions are kept, so that a policy's verdict can name the line that decided.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::error::{Code, Error, Result};

pub mod edit;
mod shape;
#[cfg(test)]
mod tests;
mod unknown;

pub use shape::{
    Agent, ApprovalPolicy, Decision, Format, Kind, Named, Notify, PLACEHOLDERS, Priority, Relay,
    RelayKind, Resume, Route, token_variable, token_variables, valid_provider_id,
};

/// Bytes of a configuration file.
const FILE_MAX: u64 = 1024 * 1024;

/// The environment that says where the file is.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `SAYSO_CONFIG`: the file itself.
    pub sayso_config: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
}

impl Env {
    /// This process's environment.
    pub fn of_process() -> Self {
        Self {
            sayso_config: std::env::var_os("SAYSO_CONFIG"),
            xdg_config_home: std::env::var_os("XDG_CONFIG_HOME"),
            home: std::env::var_os("HOME"),
        }
    }
}

/// The text of a configuration and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Absolute, as it is named in messages.
    pub path: PathBuf,
    /// The whole file.
    pub text: String,
}

impl Source {
    /// The position of a byte, both counted from 1, columns in characters.
    pub fn place(&self, offset: usize) -> Place<'_> {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            path: &self.path,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// A `config_error` at a byte of this text.
    pub fn error(&self, offset: usize, message: impl std::fmt::Display) -> Error {
        Error::new(
            Code::ConfigError,
            format!("{}: {message}", self.place(offset)),
        )
    }

    /// This text as TOML of the given shape. `rule` is a line that its policy could hold, for the hint
    /// about a name that is not known.
    ///
    /// # Errors
    /// `config_error`, with the position, for anything that does not fit.
    pub fn parse<T: DeserializeOwned>(&self, rule: &str) -> Result<T> {
        toml::from_str(&self.text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start);
            let message = e.message().trim_end().replace('\n', ", ");
            let error = self.error(offset, &message);
            match unknown::hint(&message, rule) {
                Some(hint) => error.hint(hint),
                None => error,
            }
        })
    }
}

const PERMISSION_MODE_HINT: &str = "the host decides whether it asks at all: give the mode to the host's own flag \
     (`--permission-mode` of claude, `approval_policy` of codex)";

/// A position in a file; shown as `path:line:column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file.
    pub path: &'a Path,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// The configuration; [`Config::default`] is that of an empty file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Questions that may be pending in a scope at once.
    pub max_pending: NonZeroU32,
    /// Days that settled questions are kept.
    pub retention_days: u32,
    /// Tables by agent name, `*` for every other agent.
    pub agents: Named<Agent>,
    /// How a suspended workflow goes on.
    pub resume: Option<Resume>,
    /// Relay services, in the file's order.
    pub relay: Vec<Relay>,
    /// Who else is told of a question, in the file's order.
    pub notify: Vec<Spanned<Notify>>,
    /// The file; empty path and text where there is none.
    #[serde(skip)]
    pub source: Source,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_pending: NonZeroU32::new(1000).expect("not zero"),
            retention_days: 30,
            agents: Named::default(),
            resume: None,
            relay: Vec::new(),
            notify: Vec::new(),
            source: Source::default(),
        }
    }
}

impl Config {
    /// [`Config::max_pending`] as a count.
    pub fn max_pending(&self) -> usize {
        usize::try_from(self.max_pending.get()).unwrap_or(usize::MAX)
    }

    /// [`Config::retention_days`] as a duration.
    pub fn retention(&self) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(self.retention_days) * 24 * 3600)
    }

    /// The configuration that `env` leads to.
    ///
    /// # Errors
    /// `config_error` for a file that is named but missing, that is no regular file of at most 1 MiB of
    /// UTF-8, or whose content is not understood.
    pub fn load(env: &Env) -> Result<Self> {
        let (path, named) = match path(env) {
            // Who has no home directory has no file there.
            Err(error)
                if error.code == crate::error::Code::Unavailable && env.sayso_config.is_none() =>
            {
                return Ok(Self::default());
            }
            found => found?,
        };
        match read(&path)? {
            Some(text) => Self::parse(Source { path, text }),
            None if named => Err(unreadable(&path, "no such file")
                .hint("SAYSO_CONFIG names it; create it or unset the variable")),
            None => Ok(Self::default()),
        }
    }

    /// The configuration that a text holds.
    ///
    /// # Errors
    /// `config_error`, with the position.
    pub fn parse(source: Source) -> Result<Self> {
        let mut config: Self = source.parse("auto_allow = [\"cargo *\"]")?;
        config.source = source;
        shape::check(&config)?;
        Ok(config)
    }
}

/// Where the configuration is, absolute, and whether `SAYSO_CONFIG` named it (then it must exist).
///
/// # Errors
/// `unavailable` where there is no home directory or no current directory to start from.
pub fn path(env: &Env) -> Result<(PathBuf, bool)> {
    if let Some(named) = env.sayso_config.as_deref().filter(|v| !v.is_empty()) {
        let path = std::path::absolute(named)
            .map_err(|e| Error::io("find the configuration", Path::new(named), &e))?;
        return Ok((path, true));
    }
    let base = match absolute(env.xdg_config_home.as_deref()) {
        Some(base) => base.to_owned(),
        None => home(env.home.as_deref())?.join(".config"),
    };
    Ok((base.join("sayso/config.toml"), false))
}

/// Where the configuration is, and its text; none where there is no such file.
///
/// # Errors
/// As [`path`]; `config_error` for a file that cannot be read.
pub fn current(env: &Env) -> Result<(PathBuf, Option<String>)> {
    let (path, _) = path(env)?;
    let text = read(&path)?;
    Ok((path, text))
}

/// The home directory: the value of `HOME` if that is an absolute path, else the passwd entry's.
///
/// # Errors
/// `unavailable` where neither names one.
pub fn home(variable: Option<&OsStr>) -> Result<PathBuf> {
    if let Some(home) = absolute(variable) {
        return Ok(home.to_owned());
    }
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::current());
    match user {
        Ok(Some(user)) if user.dir.is_absolute() => Ok(user.dir),
        _ => Err(Error::unavailable("this user has no home directory").hint("set HOME")),
    }
}

fn absolute(variable: Option<&OsStr>) -> Option<&Path> {
    variable.map(Path::new).filter(|path| path.is_absolute())
}

/// The text of the file; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>> {
    // Without O_NONBLOCK, opening a FIFO would wait for its writer.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path);
    match opened {
        Ok(file) => read_text(&file, FILE_MAX)
            .map(Some)
            .map_err(|why| unreadable(path, &why)),
        Err(e) if e.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => Ok(None),
        Err(e) => Err(unreadable(path, &e.to_string())),
    }
}

/// A file that a repository holds for this program; `None` if there is none. Nothing that a program
/// could put there is followed or waited for.
///
/// # Errors
/// `config_error` for what is no regular file of at most `max` bytes of UTF-8.
pub fn read_repository_file(root: &Path, name: &str, max: u64) -> Result<Option<Source>> {
    let path = root.join(name);
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK | O_NOFOLLOW)
        .open(&path);
    let text = match opened {
        Ok(file) => read_text(&file, max),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => Err(e.to_string()),
    };
    match text {
        Ok(text) => Ok(Some(Source { path, text })),
        Err(why) => Err(unreadable(&path, &why)),
    }
}

/// The whole text of an open file, which must be regular, at most `max` bytes, and UTF-8.
///
/// # Errors
/// What is wrong, without the file's name.
fn read_text(file: &File, max: u64) -> std::result::Result<String, String> {
    let meta = file.metadata().map_err(|e| e.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| e.to_string())?;
    if bytes.len() as u64 > max {
        return Err(format!("larger than {max} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::new(
        Code::ConfigError,
        format!("cannot read the configuration {}: {why}", path.display()),
    )
}
