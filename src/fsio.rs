//! The only room that syncs, renames and locks. Every file is opened without following links and
//! without blocking, and must be a regular one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use tempfile::NamedTempFile;

/// Why a file could not be read as a whole.
#[derive(Debug)]
pub enum ReadError {
    /// There is no such file.
    Missing,
    /// It is not a regular file (a link, a FIFO, a directory, …).
    NotRegular,
    /// It is larger than the bound.
    TooLarge,
    /// The system said no.
    Io(io::Error),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not exist"),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::TooLarge => f.write_str("it is too large"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOENT) => Self::Missing,
            Some(libc::ELOOP | libc::ENXIO | libc::EISDIR) => Self::NotRegular,
            _ => Self::Io(error),
        }
    }
}

/// Opens a regular file for reading.
pub fn open(path: &Path) -> Result<File, ReadError> {
    let file = options().read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ReadError::NotRegular);
    }
    Ok(file)
}

/// Reads a regular file of at most `max` bytes.
pub fn read(path: &Path, max: usize) -> Result<Vec<u8>, ReadError> {
    read_from(&mut open(path)?, max)
}

/// Reads an open file from where it stands, at most `max` bytes.
pub fn read_from(file: &mut File, max: usize) -> Result<Vec<u8>, ReadError> {
    let limit = max as u64 + 1;
    // Room for all of it and one more: two reads instead of one for each doubling.
    let size = file.metadata()?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > max {
        return Err(ReadError::TooLarge);
    }
    Ok(bytes)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    options
}

/// Makes a directory of mode 0700 whatever the umask; one that is there already is left as it is.
pub fn make_dir(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o700)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a file for appending or locking, made with mode 0600 if it is not there.
pub fn open_or_create(path: &Path) -> Result<File, ReadError> {
    let open = |create: bool| {
        let mut options = options();
        options.read(true).append(true);
        if create {
            options.create_new(true).mode(0o600);
        }
        options.open(path)
    };
    let file = match open(false) {
        Err(error) if error.kind() == ErrorKind::NotFound => match open(true) {
            Ok(file) => {
                file.set_permissions(Permissions::from_mode(0o600))?;
                file
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open(false)?,
            Err(error) => return Err(error.into()),
        },
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Err(ReadError::NotRegular);
    }
    Ok(file)
}

/// Writes a new file of mode 0600 in `tmp`, not yet synced.
pub fn write_temp(tmp: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(tmp)?;
    file.as_file()
        .set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Syncs a temporary file and gives it its name. After this returns, the content is on disk under that
/// name once its directory is synced too; a power cut before that leaves the whole file or none.
///
/// # Errors
/// `AlreadyExists` if the name is taken: then nothing changed, with or without a working lock.
pub fn commit_new(temp: NamedTempFile, path: &Path) -> io::Result<File> {
    temp.as_file().sync_data()?;
    place_new(temp, path)
}

/// Syncs files at the same time, so that they share the disk's work; whether each was synced before `until`.
pub fn sync_together(files: &[&File], until: Instant) -> Vec<bool> {
    const AT_ONCE: usize = 32;
    let each = files.len().div_ceil(AT_ONCE).max(1);
    let sync = |file: &&File| Instant::now() < until && file.sync_data().is_ok();
    std::thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks(each)
            .map(|chunk| scope.spawn(move || chunk.iter().map(sync).collect::<Vec<bool>>()))
            .collect();
        let synced = |thread: std::thread::ScopedJoinHandle<'_, Vec<bool>>| thread.join();
        threads
            .into_iter()
            .flat_map(|thread| synced(thread).unwrap_or_default())
            .collect()
    })
}

/// As [`commit_new`], for a temporary file that was synced before.
pub fn place_new(temp: NamedTempFile, path: &Path) -> io::Result<File> {
    temp.persist_noclobber(path).map_err(|e| e.error)
}

/// Gives a temporary file its name, in place of what had it, without syncing.
pub fn replace(temp: NamedTempFile, path: &Path) -> io::Result<()> {
    temp.persist(path).map(drop).map_err(|e| e.error)
}

/// As [`replace`], durably: after this returns, the content is on disk under that name.
pub fn replace_durably(temp: NamedTempFile, path: &Path) -> io::Result<File> {
    temp.as_file().sync_data()?;
    let file = temp.persist(path).map_err(|e| e.error)?;
    sync_dir(path.parent().unwrap_or(Path::new("/")))?;
    Ok(file)
}

/// Writes a file of the operator's as a whole, durably, keeping mode and owner; a link goes on pointing
/// where it points. `before` is the content that the new one was made from; none is no file.
///
/// # Errors
/// Besides those of the system, `AlreadyExists` or `Other` where the file is no longer as it was.
pub fn write_file(path: &Path, before: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
    let Some(before) = before else {
        let dir = path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(dir)?;
        commit_new(write_temp(dir, bytes)?, path)?;
        return sync_dir(dir);
    };
    let path = path.canonicalize()?;
    let temp = write_temp(path.parent().unwrap_or(Path::new("/")), bytes)?;
    let meta = path.metadata()?;
    let own = temp.as_file().metadata()?;
    if (own.uid(), own.gid()) != (meta.uid(), meta.gid()) {
        std::os::unix::fs::fchown(temp.as_file(), Some(meta.uid()), Some(meta.gid()))?;
    }
    temp.as_file()
        .set_permissions(Permissions::from_mode(meta.mode() & 0o7777))?;
    if fs::read(&path)? != before {
        return Err(io::Error::other("it changed meanwhile"));
    }
    replace_durably(temp, &path).map(drop)
}

/// Gives an open file this content and no other, durably; its name is on disk once its directory is
/// synced too. A crash in between leaves a part of it.
pub fn refill(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Makes the names in a directory durable.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes an empty file that must not be there yet, without syncing.
pub fn create_mark(path: &Path) -> io::Result<()> {
    options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?
        .set_permissions(Permissions::from_mode(0o600))
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// An exclusive `flock`, held until it is dropped.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "its descriptor is the lock")] File);

/// Takes the exclusive lock of a file within `wait`; none if someone else keeps it longer.
/// `waiting` is called once, when the wait has lasted a second.
pub fn lock(
    file: File,
    wait: Duration,
    mut waiting: impl FnMut(&File),
) -> io::Result<Option<Lock>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let mut told = false;
    loop {
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => return Ok(Some(Lock(file))),
            Err(fs4::TryLockError::WouldBlock) => {}
            Err(fs4::TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {
                continue;
            }
            Err(fs4::TryLockError::Error(error)) => return Err(error),
        }
        let waited = start.elapsed();
        if waited >= wait {
            return Ok(None);
        }
        if waited >= Duration::from_secs(1) && !told {
            told = true;
            waiting(&file);
        }
        std::thread::sleep(pause.min(wait - waited));
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Who holds a file's `flock`, as far as the system tells: `pid 123 (name)`.
pub fn lock_holder(file: &File) -> Option<String> {
    let inode = file.metadata().ok()?.ino().to_string();
    let table = fs::read_to_string("/proc/locks").ok()?;
    let pid = table.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let flock = fields.next()? == "FLOCK";
        let pid = fields.nth(2)?;
        let held = fields.next()?.rsplit(':').next()? == inode;
        (flock && held).then(|| pid.to_owned())
    })?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("pid {pid} ({})", name.trim()))
}

/// Whether someone holds a lease on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Another open file holds one.
    Yes,
    /// None does.
    No,
    /// Cannot be told on this file system.
    Unknown,
}

impl Held {
    /// The name in JSON (`waiting`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// Takes a shared lease: an open-file-description read lock, dropped by the kernel at death.
pub fn take_lease(file: &File) -> io::Result<()> {
    let lock = lease(libc::F_RDLCK);
    loop {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&lock)) {
            Err(nix::errno::Errno::EINTR) => {}
            other => return other.map(drop).map_err(Into::into),
        }
    }
}

/// Whether another open file holds a lease on this file; asks without taking.
pub fn lease_held(file: &File) -> Held {
    let mut lock = lease(libc::F_WRLCK);
    match fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock)) {
        Ok(_) if i32::from(lock.l_type) != libc::F_UNLCK => Held::Yes,
        Ok(_) if is_remote(file) => Held::Unknown,
        Ok(_) => Held::No,
        Err(_) => Held::Unknown,
    }
}

fn lease(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Whether locks of other machines may be invisible here.
#[cfg(target_os = "linux")]
fn is_remote(file: &File) -> bool {
    use nix::sys::statfs::{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, fstatfs};
    fstatfs(file).is_ok_and(|s| {
        let kind = s.filesystem_type();
        kind == NFS_SUPER_MAGIC || kind == SMB_SUPER_MAGIC
    })
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &File) -> bool {
    false
}
