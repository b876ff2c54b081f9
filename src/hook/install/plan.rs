//! What an installation would change, decided completely before anything is written. Pure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hooks::Outcome;
use super::json::{Fault, position};
use super::servers::Foreign;
use super::shim;
use crate::diff;
use crate::error::{Code, Error, Result};

/// Something that an installation reads and writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A file.
    File(PathBuf),
    /// The user's crontab.
    Crontab,
}

impl Target {
    /// The name in messages and diffs.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Crontab => "crontab".to_owned(),
        }
    }
}

/// What the targets hold now; one that does not exist is absent.
pub type Found = BTreeMap<Target, Vec<u8>>;

/// One target's change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is changed.
    pub target: Target,
    /// What it held when the plan was made; `None` if it did not exist.
    pub before: Option<Vec<u8>>,
    /// What it is to hold; `None` to delete it.
    pub after: Option<Vec<u8>>,
    /// What that means, one line each.
    pub did: Vec<String>,
    /// Whether the old content is kept beside it as `.bak`.
    pub backup: bool,
}

/// Everything that is to be written, and said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes, in the order of writing; empty if everything is already right.
    pub changes: Vec<Change>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What the user has to do to finish.
    pub steps: Vec<String>,
    /// A directory of ours to remove if it is empty afterwards.
    pub(super) prune: Option<PathBuf>,
    /// Whether new files are for others to read too, as far as the umask lets them.
    pub(super) shared: bool,
}

impl Plan {
    /// Whether anything is to be written.
    pub fn changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The changes as unified diffs. The lines come from the user's files, unescaped.
    pub fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| {
            let lossy = |b: &Vec<u8>| String::from_utf8_lossy(b).into_owned();
            bytes.as_ref().map(lossy)
        };
        let one = |c: &Change| {
            let (old, new) = (text(&c.before), text(&c.after));
            diff::unified(&c.target.name(), old.as_deref(), new.as_deref())
        };
        self.changes.iter().map(one).collect()
    }
}

/// What to do with a text file that cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Refuse, whatever was asked for.
    Refuse,
    /// With force, start afresh and keep the old file.
    Replace,
}

/// A plan in the making: each target's content so far.
pub(super) struct Draft<'a> {
    found: &'a Found,
    force: bool,
    changes: Vec<Change>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(found: &'a Found, force: bool) -> Self {
        Self {
            found,
            force,
            changes: Vec::new(),
        }
    }

    /// Whether the target exists, as far as the plan goes.
    pub(super) fn exists(&self, target: &Target) -> bool {
        self.current(target).is_some()
    }

    /// What the target holds, as far as the plan goes.
    pub(super) fn current(&self, target: &Target) -> Option<&[u8]> {
        match self.changes.iter().find(|c| c.target == *target) {
            Some(change) => change.after.as_deref(),
            None => self.found.get(target).map(Vec::as_slice),
        }
    }

    /// Edits a text file. A refusal names file, line and column.
    pub(super) fn edit(
        &mut self,
        target: &Target,
        broken: Broken,
        op: impl Fn(Option<&str>, Foreign) -> std::result::Result<Outcome, Fault>,
    ) -> Result<Outcome> {
        let bytes = self.current(target).map(<[u8]>::to_vec);
        let text = match bytes.as_deref().map(std::str::from_utf8).transpose() {
            Ok(text) => text,
            Err(_) if self.force && broken == Broken::Replace => {
                return self.replace(target, op);
            }
            Err(error) => {
                let lossy = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
                let fault = Fault::new("not UTF-8", error.valid_up_to());
                return Err(refusal(target, &lossy, &fault));
            }
        };
        let (mark, body) = match text.and_then(|t| t.strip_prefix('\u{feff}')) {
            Some(body) => ("\u{feff}", Some(body)),
            None => ("", text),
        };
        let (outcome, forced) = match op(body, Foreign::Keep) {
            Ok(outcome) => (outcome, false),
            Err(fault) if !self.force => {
                return Err(refusal(target, body.unwrap_or_default(), &fault));
            }
            Err(_) => match op(body, Foreign::Replace) {
                Ok(outcome) => (outcome, true),
                Err(_) if broken == Broken::Replace => return self.replace(target, op),
                Err(fault) => return Err(refusal(target, body.unwrap_or_default(), &fault)),
            },
        };
        let after = outcome
            .text
            .as_ref()
            .map(|t| format!("{mark}{t}").into_bytes());
        self.write(target, after, outcome.did.clone(), forced);
        Ok(outcome)
    }

    /// Puts a whole file in place, unless somebody edited the one that is there.
    pub(super) fn ship(&mut self, shim: shim::Shim) -> Result<()> {
        let target = Target::File(shim.path);
        let new = shim.text.into_bytes();
        let (verb, forced) = match self.current(&target) {
            Some(old) if old == new => return Ok(()),
            Some(old) if shim::is_ours(old) => ("update", false),
            Some(_) if self.force => ("replace", true),
            Some(_) => return Err(edited(&target)),
            None => ("add", false),
        };
        self.write(
            &target,
            Some(new),
            vec![format!("{verb} plugin file")],
            forced,
        );
        Ok(())
    }

    /// Takes a whole file away, unless somebody edited it.
    pub(super) fn withdraw(&mut self, path: &Path) -> Result<()> {
        let target = Target::File(path.to_owned());
        let forced = match self.current(&target) {
            None => return Ok(()),
            Some(old) if shim::is_ours(old) => false,
            Some(_) if self.force => true,
            Some(_) => return Err(edited(&target)),
        };
        self.write(&target, None, vec!["remove plugin file".to_owned()], forced);
        Ok(())
    }

    /// The changes; those that cancelled each other out are left out.
    pub(super) fn finish(self) -> Vec<Change> {
        let real = |c: &Change| c.before != c.after;
        self.changes.into_iter().filter(real).collect()
    }

    fn replace(
        &mut self,
        target: &Target,
        op: impl Fn(Option<&str>, Foreign) -> std::result::Result<Outcome, Fault>,
    ) -> Result<Outcome> {
        let outcome = op(None, Foreign::Replace).map_err(|f| refusal(target, "", &f))?;
        let after = outcome.text.clone().map(String::into_bytes);
        self.write(target, after, outcome.did.clone(), true);
        Ok(outcome)
    }

    fn write(&mut self, target: &Target, after: Option<Vec<u8>>, did: Vec<String>, forced: bool) {
        let at = self.changes.iter().position(|c| c.target == *target);
        let change = match at {
            Some(at) => &mut self.changes[at],
            None => {
                self.changes.push(Change {
                    target: target.clone(),
                    before: self.found.get(target).cloned(),
                    after: None,
                    did: Vec::new(),
                    backup: false,
                });
                let last = self.changes.len() - 1;
                &mut self.changes[last]
            }
        };
        change.backup |= forced && change.before.is_some();
        change.after = after;
        change.did.extend(did);
    }
}

fn refusal(target: &Target, text: &str, fault: &Fault) -> Error {
    let (line, column) = position(text, fault.at);
    let message = format!("{}:{line}:{column}: {}", target.name(), fault.what);
    Error::new(Code::ConfigError, message)
        .hint("nothing was changed; put it right, or see what --force would do with --dry-run")
}

fn edited(target: &Target) -> Error {
    let message = format!("{} was edited, or is not sayso's", target.name());
    Error::new(Code::ConfigError, message)
        .hint("nothing was changed; --force replaces it and keeps a .bak")
}
