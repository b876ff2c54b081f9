//! What every verb needs: the global options, the state root, and which scopes it acts on.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::cli::Global;
use crate::config::{self, Config};
use crate::error::{Error, Result};
use crate::render::out::Out;
use crate::render::style::Style;
use crate::repo;
use crate::store::Store;
use crate::store::layout::Home;

/// One invocation.
pub struct Context {
    /// The global options.
    pub global: Global,
    /// The state root.
    pub home: Home,
}

/// Which scopes an operator's verb acts on.
pub struct Scopes {
    /// The scopes, at least one unless there is none at all.
    pub stores: Vec<Store>,
    /// Whether all of them were meant.
    pub every: bool,
}

impl Context {
    /// From the global options and the environment.
    pub fn new(global: Global) -> Result<Self> {
        let home = Home::locate(|name| std::env::var_os(name))?;
        Ok(Self { global, home })
    }

    /// An environment variable that is set and not blank.
    pub fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|v| !v.trim().is_empty())
    }

    /// Standard output.
    pub fn out(&self) -> Out {
        let terminal = std::io::stdout().is_terminal();
        Out::new(self.style(terminal), self.columns())
    }

    /// The colours of a stream.
    pub fn style(&self, terminal: bool) -> Style {
        Style::decide(self.global.color, |name| std::env::var_os(name), terminal)
    }

    /// The width of the terminal: `COLUMNS`, else what the terminal says, else 80.
    pub fn columns(&self) -> usize {
        let given = std::env::var("COLUMNS")
            .ok()
            .and_then(|c| c.trim().parse().ok());
        let known = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        given.or_else(known).filter(|c| *c > 0).unwrap_or(80)
    }

    /// Says something on standard error, unless notes are not wanted.
    pub fn note(&self, text: &str) {
        if !self.global.quiet && !self.global.json {
            crate::render::out::to_stderr(text);
        }
    }

    fn named_scope(&self) -> Result<Option<String>> {
        let name = self
            .global
            .scope
            .clone()
            .or_else(|| self.var("SAYSO_SCOPE"));
        match name {
            Some(name) if !repo::valid_scope_name(&name) => Err(Error::input(
                "a scope's name is 1 to 100 characters of A-Z, a-z, 0-9, '.', '_' and '-', the first a letter or digit",
            )),
            name => Ok(name),
        }
    }

    fn named_repo(&self) -> Option<PathBuf> {
        let named = self.global.repo.clone();
        named.or_else(|| self.var("SAYSO_REPO").map(PathBuf::from))
    }

    /// The scope for a question asked from `cwd`; outside a repository it is the directory's own.
    pub fn asking_store(&self, cwd: Option<&Path>) -> Result<Store> {
        if let Some(name) = self.named_scope()? {
            return Ok(Store::new(&self.home, &name, None));
        }
        let start = match (self.named_repo(), cwd) {
            (Some(dir), _) => dir,
            (None, Some(cwd)) => cwd.to_owned(),
            (None, None) => repo::current_dir()?,
        };
        Store::around(&self.home, &start)
    }

    /// The scope for a host's hook: the named one, else that of the payload's directory, else the
    /// process's own.
    pub fn hook_store(&self, cwd: Option<PathBuf>) -> Result<Store> {
        if let Some(name) = self.named_scope()? {
            return Ok(Store::new(&self.home, &name, None));
        }
        let start = match cwd {
            Some(cwd) => cwd,
            None => repo::current_dir()?,
        };
        Store::around(&self.home, &start)
    }

    /// The scopes in which a host's earlier questions may be: the named one, else all of them.
    pub fn hook_stores(&self) -> Result<Vec<Store>> {
        match self.named_scope()? {
            Some(name) => Ok(vec![Store::new(&self.home, &name, None)]),
            None => Ok(self.every_scope()?.stores),
        }
    }

    /// The scopes that an operator's verb acts on.
    pub fn operator_scopes(&self) -> Result<Scopes> {
        self.home.warn_if_unfit();
        if self.global.all_repos {
            return self.every_scope();
        }
        if let Some(name) = self.named_scope()? {
            return Ok(Scopes::one(Store::new(&self.home, &name, None)));
        }
        if self.named_repo().is_some() {
            return Ok(Scopes::one(self.asking_store(None)?));
        }
        match discover(&repo::current_dir()?)? {
            Some(root) => Ok(Scopes::one(Store::of(&self.home, root))),
            None => self.every_scope(),
        }
    }

    /// As [`Context::operator_scopes`], and says so where every scope was meant without being named.
    pub fn operator_scopes_told(&self) -> Result<Scopes> {
        let scopes = self.operator_scopes()?;
        if scopes.every && !self.global.all_repos {
            self.note("not in a repository: every scope is meant");
        }
        Ok(scopes)
    }

    /// Every scope of the store.
    pub fn every_scope(&self) -> Result<Scopes> {
        let names = self.home.scope_names()?;
        let stores = names.iter().map(|name| Store::new(&self.home, name, None));
        Ok(Scopes {
            stores: stores.collect(),
            every: true,
        })
    }

    /// The scopes in which an asking verb looks for a full id: its own.
    pub fn asking_scopes(&self) -> Result<Vec<Store>> {
        self.home.warn_if_unfit();
        if self.global.all_repos {
            return Ok(self.every_scope()?.stores);
        }
        Ok(vec![self.asking_store(None)?])
    }

    /// The user's configuration.
    ///
    /// # Errors
    /// `config_error`: a file that cannot be understood never counts as none.
    pub fn config(&self) -> Result<Config> {
        Config::load(&config::Env::of_process())
    }
}

impl Scopes {
    fn one(store: Store) -> Self {
        Self {
            stores: vec![store],
            every: false,
        }
    }
}

fn discover(start: &Path) -> Result<Option<PathBuf>> {
    let git_dir: Option<OsString> = std::env::var_os("GIT_DIR");
    Ok(repo::discover(start, git_dir.as_deref())?.map(|found| found.root))
}
