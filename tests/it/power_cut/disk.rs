//! A disk whose power can be cut: a file with an ext4 file system, mounted in a loop. What the file holds
//! at any moment is what a disk holds when the power goes: what was synced, and nothing of what is only in
//! memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::sandbox::{DEADLINE, memory};

/// Nothing reaches the disk by the kernel's own haste: not by the clock, and not because a file is replaced.
const LAZY: &str = "loop,commit=300,noauto_da_alloc";

/// Its images, of which one at a time can be mounted.
pub struct Disk {
    dir: TempDir,
}

/// An image that is mounted until this is dropped.
#[must_use]
pub struct Mounted(PathBuf);

impl Disk {
    /// A disk with one empty image of this name.
    ///
    /// # Errors
    /// Why there can be none on this machine.
    pub fn new(image: &str) -> Result<Self, String> {
        if !nix::unistd::geteuid().is_root() {
            return Err("only root may mount an image".into());
        }
        let mut dir = tempfile::Builder::new();
        let dir = dir.prefix("sayso-disk-").tempdir_in(memory()).unwrap();
        let disk = Self { dir };
        fs::create_dir(disk.place()).unwrap();
        let path = disk.image(image);
        let eager = ["-q", "-F", "-E", "lazy_itable_init=0"];
        run("mkfs.ext4", eager, &[&path, Path::new("8M")])?;
        disk.mount(image).map(drop)?;
        Ok(disk)
    }

    /// Where its images are mounted.
    pub fn place(&self) -> PathBuf {
        self.beside("place")
    }

    /// A file beside the images, which no cut affects.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn image(&self, name: &str) -> PathBuf {
        self.beside(&format!("{name}.img"))
    }

    /// Copies an image as it is, mounted or not.
    pub fn copy(&self, from: &str, to: &str) {
        // A new file each time: a loop that is still being taken down must not be found again.
        let options = ["--sparse=always", "--remove-destination"];
        run("cp", options, &[&self.image(from), &self.image(to)]).unwrap();
    }

    /// Mounts an image; one that was cut off is recovered from its journal.
    ///
    /// # Errors
    /// Why it cannot be mounted.
    pub fn mount(&self, image: &str) -> Result<Mounted, String> {
        let place = self.place();
        run("mount", ["-o", LAZY], &[&self.image(image), &place])?;
        Ok(Mounted(place))
    }
}

impl Mounted {
    /// Makes every name durable, and what else the file system keeps in its journal, as an unrelated
    /// program's sync does; not the content of files.
    pub fn sync_names(&self) {
        let unrelated = File::create(self.0.join("unrelated")).unwrap();
        unrelated.sync_all().unwrap();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let start = Instant::now();
        // A process that another test is just starting holds for a moment what is open here.
        while let Err(why) = run("umount", [], &[&self.0]) {
            if start.elapsed() > DEADLINE {
                eprintln!("{why}");
                let _ = run("umount", ["-l"], &[&self.0]);
                return;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// Runs a program for its effect.
fn run<const N: usize>(name: &str, options: [&str; N], paths: &[&Path]) -> Result<(), String> {
    let mut command = Command::new(name);
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("LC_ALL", "C");
    command.args(options).args(paths).stdin(Stdio::null());
    let output = command.output().map_err(|e| format!("no {name}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
