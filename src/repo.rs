//! Which repository a directory belongs to, without a `git` program.
//!
//! Promise: every directory of one repository (subdirectories, linked worktrees wherever they lie,
//! symlinked paths) yields the same [`Repo::root`]; a submodule, a bare repository and a separate git
//! directory have their own. A broken `.git` file is an error and never "no repository", because then
//! the same agent would silently get another inbox.
//!
//! The walk and the layout follow gitrepository-layout(5) and git's `setup.c`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::id;

/// Bytes read from a `commondir` file; a path cannot be longer than this.
const COMMONDIR_MAX: u64 = 64 * 1024;
/// Characters of a slug, so that a derived scope name is a valid one (87 + `-` + 12 = 100).
const SLUG_MAX: usize = 87;

/// A repository as seen from a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// Canonical: the main worktree, that is the parent of the common git directory if that is called
    /// `.git`, else the common git directory itself.
    pub root: PathBuf,
    /// Canonical: the worktree that was found; absent inside a git directory and for bare repositories.
    pub worktree: Option<PathBuf>,
}

impl Repo {
    /// The main worktree as far as there is one: the root where that is one, else the worktree that was
    /// found (of a submodule, of a separate git directory), else the root.
    pub fn main_worktree(&self) -> &Path {
        match &self.worktree {
            Some(worktree) if !self.root.join(".git").exists() => worktree,
            _ => &self.root,
        }
    }

    fn of(git_dir: &Path, worktree: Option<&Path>) -> Result<Self> {
        let common = match commondir(git_dir)? {
            Some(named) => git_dir.join(named),
            None => git_dir.to_owned(),
        };
        let common = common
            .canonicalize()
            .map_err(|e| Error::io("resolve the git directory", &common, &e))?;
        let root = match common.parent() {
            Some(parent) if common.file_name() == Some(OsStr::new(".git")) => parent.to_owned(),
            _ => common,
        };
        Ok(Self {
            root,
            worktree: worktree.map(Path::to_owned),
        })
    }
}

/// The current directory, canonical.
///
/// # Errors
/// `unavailable` when it was deleted or cannot be reached.
pub fn current_dir() -> Result<PathBuf> {
    std::env::current_dir()
        .and_then(|dir| dir.canonicalize())
        .map_err(|e| {
            Error::unavailable(format!("the current directory cannot be used: {e}"))
                .hint("it may have been deleted; change to a directory that exists")
        })
}

/// The repository around `start`, or the one that `git_dir` (the value of `GIT_DIR`) names where there
/// is none. `git_dir` is relative to `start`.
///
/// # Errors
/// `unavailable` when `start` or the current directory cannot be used; `invalid_input` for a broken
/// `.git` file or a `GIT_DIR` that is no git directory.
pub fn discover(start: &Path, git_dir: Option<&OsStr>) -> Result<Option<Repo>> {
    // gix-discover takes any failure of getcwd for "not a repository".
    current_dir()?;
    let start = start
        .canonicalize()
        .map_err(|e| Error::io("use the directory", start, &e))?;
    for dir in start.ancestors() {
        if let Some(repo) = at(dir)? {
            return Ok(Some(repo));
        }
    }
    match git_dir {
        Some(named) if !named.is_empty() => named_by_environment(&start.join(named)).map(Some),
        _ => Ok(None),
    }
}

/// The repository whose worktree or git directory is `dir` itself.
fn at(dir: &Path) -> Result<Option<Repo>> {
    let dot_git = dir.join(".git");
    match dot_git.metadata() {
        Ok(meta) if meta.is_file() => return behind_file(&dot_git, Some(dir)).map(Some),
        Ok(meta) if meta.is_dir() && is_git_dir(&dot_git) => {
            return Repo::of(&dot_git, Some(dir)).map(Some);
        }
        // Nothing there, or a directory that is none of git's: git looks further up too.
        _ => {}
    }
    if is_git_dir(dir) {
        return Repo::of(dir, None).map(Some);
    }
    Ok(None)
}

fn named_by_environment(path: &Path) -> Result<Repo> {
    if path.is_file() {
        return behind_file(path, None);
    }
    if is_git_dir(path) {
        return Repo::of(path, None);
    }
    let message = format!("GIT_DIR is no git directory: {}", path.display());
    Err(Error::input(message).hint("unset GIT_DIR or correct it"))
}

/// The repository that a `.git` file (`gitdir: PATH`) leads to.
fn behind_file(file: &Path, worktree: Option<&Path>) -> Result<Repo> {
    let broken = |why: String| {
        let message = format!("{} does not lead to a repository: {why}", file.display());
        Error::new(Code::InvalidInput, message)
            .hint("repair it with `git worktree repair` or `git submodule update`, or remove it")
    };
    let git_dir = gix_discover::path::from_gitdir_file(file).map_err(|e| broken(e.to_string()))?;
    if !plain_files(&git_dir) {
        return Err(broken(format!("{} holds special files", git_dir.display())));
    }
    gix_discover::is_git(file)
        .map_err(|_| broken(format!("{} is no git directory", git_dir.display())))?;
    Repo::of(&git_dir, worktree).map_err(|e| broken(e.message))
}

fn is_git_dir(dir: &Path) -> bool {
    plain_files(dir) && gix_discover::is_git(dir).is_ok()
}

/// Whether the files that gix-discover opens are regular: a FIFO would block it for ever.
fn plain_files(git_dir: &Path) -> bool {
    let regular = |name: &str| {
        git_dir
            .join(name)
            .metadata()
            .ok()
            .map(|meta| meta.is_file())
    };
    regular("HEAD") == Some(true)
        && regular("commondir") != Some(false)
        && regular("gitdir") != Some(false)
}

/// What `commondir` in a git directory names: the directory that all worktrees share.
fn commondir(git_dir: &Path) -> Result<Option<PathBuf>> {
    let path = git_dir.join("commondir");
    let read = |e| Error::io("read", &path, &e);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(read(e)),
    };
    let mut bytes = Vec::new();
    file.take(COMMONDIR_MAX)
        .read_to_end(&mut bytes)
        .map_err(read)?;
    while let Some(b'\n' | b'\r') = bytes.last() {
        bytes.pop();
    }
    Ok(Some(PathBuf::from(OsString::from_vec(bytes))))
}

/// The name of a root's scope: its slug, `-`, and 12 hex digits of the SHA-256 of its path.
pub fn scope_name(root: &Path) -> String {
    let last = root.file_name().unwrap_or_default().to_string_lossy();
    let hash = Sha256::digest(root.as_os_str().as_bytes());
    format!("{}-{}", slug(&last), id::hex(&hash[..6]))
}

/// Lower-cased ASCII letters and digits, runs of space, `_` and `-` as one `-`, nothing else; at most
/// 87 characters, `repo` when nothing is left.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    for c in name.chars() {
        match c {
            ' ' | '_' | '-' => gap = !slug.is_empty(),
            c if c.is_ascii_alphanumeric() => {
                if gap {
                    slug.push('-');
                }
                gap = false;
                slug.push(c.to_ascii_lowercase());
            }
            _ => {}
        }
    }
    slug.truncate(SLUG_MAX);
    if slug.is_empty() {
        slug.push_str("repo");
    }
    slug.trim_end_matches('-').to_owned()
}

/// Whether a given name can be a scope's: `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`.
pub fn valid_scope_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= 100
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests;
