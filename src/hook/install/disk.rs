//! Reads what a plan needs and writes what it says.
//!
//! A write first makes every new file under another name, in place and complete, and only then renames them
//! one after the other, so that whatever can fail usually fails while nothing has changed. A file keeps its
//! mode and owner; a symbolic link keeps pointing where it points. A target that changed since it was read
//! is refused. A crash between two renames leaves some files old and some new; every one of them is
//! complete, and the same command finishes the work.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

use super::plan::{Change, Found, Plan, Target};
use crate::error::{Error, Result};

/// Larger files are refused.
const LARGEST: u64 = 64 << 20;

/// Reads the targets that exist. `crontab` is the program of that name.
///
/// # Errors
/// `unavailable` if one cannot be read or is not a regular file.
pub fn read(targets: &[Target], crontab: &Path) -> Result<Found> {
    let mut found = Found::new();
    for target in targets {
        if let Some(bytes) = read_one(target, crontab)? {
            found.insert(target.clone(), bytes);
        }
    }
    Ok(found)
}

/// Writes a plan.
///
/// # Errors
/// `unavailable` if a target changed since it was read, or cannot be written. Nothing was changed then,
/// unless the message says what was.
pub fn apply(plan: &Plan, crontab: &Path) -> Result<()> {
    for change in &plan.changes {
        if read_one(&change.target, crontab)? != change.before {
            let message = format!("{} changed meanwhile", change.target.name());
            return Err(Error::unavailable(message).hint("nothing was changed; run it again"));
        }
    }
    let mode = if plan.shared { 0o666 } else { 0o600 };
    let stage = |change| Staged::new(change, mode);
    let staged: Vec<Staged> = plan.changes.iter().map(stage).collect::<Result<_>>()?;
    for (done, stage) in staged.into_iter().enumerate() {
        stage.commit(crontab).map_err(|mut error| {
            let changed: Vec<_> = plan.changes[..done]
                .iter()
                .map(|c| c.target.name())
                .collect();
            if !changed.is_empty() {
                error.message += &format!("; already changed: {}", changed.join(", "));
            }
            error
        })?;
    }
    if let Some(dir) = &plan.prune {
        // A directory that holds something else stays.
        let _ = fs::remove_dir(dir);
    }
    Ok(())
}

fn read_one(target: &Target, crontab: &Path) -> Result<Option<Vec<u8>>> {
    match target {
        Target::File(path) => read_file(path),
        Target::Crontab => read_crontab(crontab),
    }
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |e: &std::io::Error| Error::io("read", path, e);
    let Some(metadata) = regular(path)? else {
        return Ok(None);
    };
    if metadata.len() > LARGEST {
        let message = format!("{} is too large: {} bytes", path.display(), metadata.len());
        return Err(Error::unavailable(message));
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(|e| failed(&e))?;
    file.read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    Ok(Some(bytes))
}

/// The metadata of a regular file, following links; `None` if there is nothing. Looks before it opens, so
/// that a pipe does not hang it.
fn regular(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(_) => {
            let message = format!("{} is not a regular file", path.display());
            Err(Error::unavailable(message))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", path, &e)),
    }
}

/// A change whose new content lies ready.
enum Staged {
    Replace { path: PathBuf, temp: NamedTempFile },
    Delete { path: PathBuf },
    Crontab { text: Option<Vec<u8>> },
}

impl Staged {
    /// `mode` is that of a file that does not exist yet, before the umask.
    fn new(change: &Change, mode: u32) -> Result<Self> {
        let path = match &change.target {
            Target::Crontab => {
                return Ok(Self::Crontab {
                    text: change.after.clone(),
                });
            }
            Target::File(path) => behind_links(path)?,
        };
        if let Some(old) = change.before.as_ref().filter(|_| change.backup) {
            back_up(&path, old)?;
        }
        let Some(new) = &change.after else {
            return Ok(Self::Delete { path });
        };
        let failed = |e: std::io::Error| Error::io("write", &path, &e);
        let dir = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir).map_err(failed)?;
        let mut temp = tempfile::Builder::new()
            .prefix(".sayso-")
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(dir)
            .map_err(failed)?;
        temp.write_all(new).map_err(failed)?;
        if let Some(old) = regular(&path)? {
            keep_identity(temp.as_file(), &old).map_err(failed)?;
        }
        temp.as_file().sync_all().map_err(failed)?;
        Ok(Self::Replace { path, temp })
    }

    fn commit(self, crontab: &Path) -> Result<()> {
        match self {
            Self::Replace { path, temp } => {
                temp.persist(&path)
                    .map_err(|e| Error::io("replace", &path, &e.error))?;
                sync_dir(&path)
            }
            Self::Delete { path } => {
                fs::remove_file(&path).map_err(|e| Error::io("remove", &path, &e))?;
                sync_dir(&path)
            }
            Self::Crontab { text } => write_crontab(crontab, text.as_deref()),
        }
    }
}

/// Where a path leads, also if nothing is there yet.
fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("/")).join(to),
            Err(_) => return Ok(path),
        }
    }
    let message = format!("too many symbolic links at {}", path.display());
    Err(Error::unavailable(message))
}

/// Gives a new file the mode and the owner of the old one.
fn keep_identity(new: &File, old: &Metadata) -> std::io::Result<()> {
    let own = new.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    new.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Keeps the old content as `.bak`, or `.bak1` and so on if that is taken.
fn back_up(path: &Path, old: &[u8]) -> Result<()> {
    let failed = |e: std::io::Error| Error::io("back up", path, &e);
    for n in 0..1000 {
        let mut name = path.as_os_str().to_owned();
        name.push(if n == 0 {
            ".bak".to_owned()
        } else {
            format!(".bak{n}")
        });
        let created = File::options().write(true).create_new(true).open(&name);
        match created {
            Ok(mut file) => {
                if let Some(metadata) = regular(path)? {
                    keep_identity(&file, &metadata).map_err(failed)?;
                }
                file.write_all(old).map_err(failed)?;
                return file.sync_all().map_err(failed);
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Err(Error::unavailable(format!(
        "too many backups of {}",
        path.display()
    )))
}

fn sync_dir(path: &Path) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| Error::io("sync", dir, &e))
}

fn read_crontab(crontab: &Path) -> Result<Option<Vec<u8>>> {
    let output = match Command::new(crontab)
        .arg("-l")
        .stdin(Stdio::null())
        .output()
    {
        Ok(output) => output,
        // Without cron there is no table; writing one will say so.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(no_crontab(crontab, &e)),
    };
    if output.status.success() {
        return Ok(Some(output.stdout).filter(|text| !text.is_empty()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("no crontab") {
        return Ok(None);
    }
    Err(Error::unavailable("crontab -l failed"))
}

fn write_crontab(crontab: &Path, text: Option<&[u8]>) -> Result<()> {
    let mut command = Command::new(crontab);
    command.arg(if text.is_some() { "-" } else { "-r" });
    let failed = |e: &std::io::Error| no_crontab(crontab, e);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(&e))?;
    let fed = child
        .stdin
        .take()
        .map_or(Ok(()), |mut pipe| pipe.write_all(text.unwrap_or_default()));
    let status = child.wait().map_err(|e| failed(&e))?;
    if status.success() {
        return fed.map_err(|e| failed(&e));
    }
    Err(Error::unavailable("crontab refused the new table"))
}

fn no_crontab(crontab: &Path, error: &std::io::Error) -> Error {
    Error::io("run", crontab, error).hint("add the line that --dry-run shows by hand")
}
