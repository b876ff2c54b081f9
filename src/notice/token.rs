//! A service's secret, read from its file at the moment it is sent.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::O_NONBLOCK;

use crate::secret::Token;

/// The bound of the file, in bytes.
const FILE_MAX: u64 = 8 << 10;

/// Reads a secret from a regular file of this user that nobody else can read. Links are followed:
/// keepers of secrets put links into place.
///
/// # Errors
/// What is wrong with the file, without what it holds.
pub(super) fn read(path: &Path) -> Result<Token, String> {
    let told = |what: &str| format!("token_file {} {what}", path.display());
    // Without O_NONBLOCK, opening a FIFO would wait for its writer.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
        .map_err(|e| told(&format!("cannot be read: {e}")))?;
    let metadata = file
        .metadata()
        .map_err(|e| told(&format!("cannot be read: {e}")))?;
    if !metadata.is_file() {
        return Err(told("is not a regular file"));
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Err(told("belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(told("is open to other users: chmod 600 it"));
    }
    let mut text = String::new();
    file.take(FILE_MAX)
        .read_to_string(&mut text)
        .map_err(|_| told("holds no text"))?;
    Token::parse(&text).ok_or_else(|| told("holds no token: one word of visible ASCII"))
}
