//! Reading a scope's log as it grows.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Event, file, parse, rotated_file};
use crate::fsio;

/// Where reading of one scope's log stands. A log that was rotated is read to its end first.
pub struct Tail {
    dir: PathBuf,
    log: Option<File>,
    partial: Vec<u8>,
}

impl Tail {
    /// From the beginning of the log that is not rotated; `dir` is the scope's.
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            log: None,
            partial: Vec::new(),
        }
    }

    /// From the end: only what is appended from now on.
    pub fn at_end(dir: &Path) -> Self {
        let mut tail = Self::new(dir);
        if let Ok(mut log) = fsio::open(&file(dir))
            && log.seek(SeekFrom::End(0)).is_ok()
        {
            tail.log = Some(log);
        }
        tail
    }

    /// Every valid line of the rotated log, oldest first.
    pub fn rotated(&self) -> Vec<Event> {
        let path = rotated_file(&self.dir);
        fsio::read(&path, usize::MAX - 1).map_or(Vec::new(), |bytes| parse(&bytes).collect())
    }

    /// The valid lines that were appended since, oldest first. Some may come twice.
    pub fn appended(&mut self) -> Vec<Event> {
        let mut found = Vec::new();
        loop {
            found.extend(self.read_on());
            let Ok(current) = fsio::open(&file(&self.dir)) else {
                return found;
            };
            let known = self.log.as_ref().and_then(inode);
            if known.is_some() && known == inode(&current) {
                return found;
            }
            // Rotated since: whatever was appended before the rename has been read just now.
            found.extend(self.read_on());
            let rotated = fsio::open(&rotated_file(&self.dir));
            if known.is_some() && rotated.is_ok_and(|rotated| inode(&rotated) != known) {
                // Rotated twice: a whole log came and went in between.
                found.extend(self.rotated());
            }
            self.partial.clear();
            self.log = Some(current);
        }
    }

    fn read_on(&mut self) -> Vec<Event> {
        let Some(log) = &mut self.log else {
            return Vec::new();
        };
        if log.read_to_end(&mut self.partial).is_err() {
            return Vec::new();
        }
        let newline = self.partial.iter().rposition(|b| *b == b'\n');
        let rest = self.partial.split_off(newline.map_or(0, |at| at + 1));
        let lines = std::mem::replace(&mut self.partial, rest);
        parse(&lines).collect()
    }
}

fn inode(file: &File) -> Option<u64> {
    file.metadata().map(|m| m.ino()).ok()
}
