//! Where things are: the state root, its scopes, and the directories of one scope.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::error::{Error, Result};
use crate::fsio;
use crate::id::Id;
use crate::log;

/// The state root, `$SAYSO_HOME`.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

/// One scope's directories.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The scope's directory.
    pub dir: PathBuf,
    /// Questions as they were asked.
    pub pending: PathBuf,
    /// Whole records in their terminal state.
    pub settled: PathBuf,
    /// What happened after a record was settled.
    pub marks: PathBuf,
    /// Answered while someone waited; the delivery is not in the events yet.
    pub awaited: PathBuf,
    /// The newest id asked under a key.
    pub keys: PathBuf,
    /// Files being written.
    pub tmp: PathBuf,
}

impl Home {
    /// The root that the environment names: `SAYSO_HOME`, else `$XDG_STATE_HOME/sayso`, else
    /// `~/.local/state/sayso` with the home of the passwd entry where `HOME` is unset.
    ///
    /// # Errors
    /// `invalid_input` if it would not be an absolute path.
    pub fn locate(var: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let set = |name: &str| var(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let root = if let Some(root) = set("SAYSO_HOME") {
            if !root.is_absolute() {
                return Err(Error::input("SAYSO_HOME must be an absolute path"));
            }
            root
        } else if let Some(state) = set("XDG_STATE_HOME").filter(|p| p.is_absolute()) {
            state.join("sayso")
        } else {
            let home = set("HOME").filter(|p| p.is_absolute()).or_else(passwd_home);
            home.ok_or_else(|| {
                Error::input("there is no home directory for the store").hint("set SAYSO_HOME")
            })?
            .join(".local/state/sayso")
        };
        Ok(Self(root))
    }

    /// The root's path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory that holds the scopes.
    pub fn scopes(&self) -> PathBuf {
        self.0.join("scopes")
    }

    /// The names of all scopes, sorted.
    pub fn scope_names(&self) -> Result<Vec<String>> {
        let dir = self.scopes();
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("read", &dir, &e)),
        };
        // A list that broke off would make questions of the rest look as if they did not exist.
        let entries: std::result::Result<Vec<_>, _> = entries.collect();
        let mut names: Vec<String> = entries
            .map_err(|e| Error::io("read", &dir, &e))?
            .into_iter()
            .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|name| crate::repo::valid_scope_name(name))
            .collect();
        names.sort();
        Ok(names)
    }

    /// What makes this root unfit to be written to, if anything.
    pub fn fault(&self) -> Option<String> {
        let told = |what: &str| Some(format!("the store {} {what}", self.0.display()));
        let link = fs::symlink_metadata(&self.0).ok()?;
        let target = fs::metadata(&self.0).ok()?;
        if !target.is_dir() {
            return told("is not a directory");
        }
        if target.uid() != nix::unistd::geteuid().as_raw() {
            return told("belongs to another user");
        }
        if target.mode() & 0o022 != 0 {
            return told("can be written to by other users");
        }
        if link.is_symlink() {
            let place = fs::canonicalize(&self.0).ok()?;
            let parent = fs::metadata(place.parent()?).ok()?;
            if parent.mode() & 0o022 != 0 {
                return told("is a link into a directory that other users can write to");
            }
        }
        None
    }

    /// Refuses to write to an unfit root.
    pub fn check_writable(&self) -> Result<()> {
        match self.fault() {
            Some(fault) => Err(Error::unavailable(fault)
                .hint("own it and 'chmod 700' it, or point SAYSO_HOME at a directory of your own")),
            None => Ok(()),
        }
    }

    /// Says, once per process, what is wrong with a root that is only read.
    pub fn warn_if_unfit(&self) {
        // Once: a verb that follows looks again and again.
        static SAID: Once = Once::new();
        if let Some(fault) = self.fault() {
            SAID.call_once(|| log::warn(&fault));
        }
    }
}

fn passwd_home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok()??;
    user.dir.is_absolute().then_some(user.dir)
}

impl Layout {
    /// The directories of a scope.
    pub fn new(home: &Home, scope: &str) -> Self {
        let dir = home.scopes().join(scope);
        let interactions = dir.join("interactions");
        Self {
            pending: interactions.join("pending"),
            settled: interactions.join("settled"),
            marks: interactions.join("marks"),
            awaited: interactions.join("awaited"),
            keys: interactions.join("keys"),
            tmp: interactions.join("tmp"),
            dir,
        }
    }

    /// The question's file.
    pub fn pending_file(&self, id: &Id) -> PathBuf {
        self.pending.join(format!("{id}.json"))
    }

    /// The terminal record's file.
    pub fn settled_file(&self, id: &Id) -> PathBuf {
        self.settled.join(format!("{id}.json"))
    }

    /// The mark that the answer was picked up.
    pub fn delivered_mark(&self, id: &Id) -> PathBuf {
        self.marks.join(format!("{id}.delivered"))
    }

    /// How far the resume of a suspended question's workflow is.
    pub fn resume_mark(&self, id: &Id) -> PathBuf {
        self.marks.join(format!("{id}.resume.json"))
    }

    /// What a resumed workflow is told.
    pub fn feedback(&self, id: &Id) -> PathBuf {
        self.marks.join(format!("{id}.feedback"))
    }

    /// The lock file.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// The stamp of the last automatic prune.
    pub fn pruned(&self) -> PathBuf {
        self.dir.join("pruned")
    }

    /// What the scope was made for; where it is, everything else is.
    pub fn scope_file(&self) -> PathBuf {
        self.dir.join("scope.json")
    }

    /// Makes the directories and the lock file, as far as they are not there.
    pub fn make(&self, home: &Home) -> Result<()> {
        let root = home.path();
        fs::create_dir_all(root.parent().unwrap_or(root))
            .map_err(|e| Error::io("create", root, &e))?;
        let scopes = home.scopes();
        let interactions = self.dir.join("interactions");
        for dir in [
            root,
            &scopes,
            &self.dir,
            &interactions,
            &self.pending,
            &self.settled,
            &self.marks,
            &self.awaited,
            &self.keys,
            &self.tmp,
        ] {
            fsio::make_dir(dir).map_err(|e| Error::io("create", dir, &e))?;
        }
        home.check_writable()?;
        let lock = self.lock();
        match fsio::open_or_create(&lock) {
            Ok(_) => Ok(()),
            Err(e) => Err(Error::unavailable(format!(
                "cannot create {}: {e}",
                lock.display()
            ))),
        }
    }

    /// Makes what [`Layout::make`] made durable, and writes the scope's file last. The caller holds the
    /// lock: whoever gets it empties `tmp/`.
    pub fn complete(&self, home: &Home, scope_json: &str) -> Result<()> {
        let sync = |dir: &Path| fsio::sync_dir(dir).map_err(|e| Error::io("sync", dir, &e));
        let interactions = self.dir.join("interactions");
        for dir in [&interactions, &self.dir, &home.scopes(), home.path()] {
            sync(dir)?;
        }
        let file = self.scope_file();
        fsio::write_temp(&self.tmp, scope_json.as_bytes())
            .and_then(|temp| fsio::replace_durably(temp, &file))
            .map(drop)
            .map_err(|e| Error::io("write", &file, &e))
    }
}
