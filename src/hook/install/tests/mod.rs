//! Whole installations on a disk of their own.

mod planning;
mod shims;
mod writing;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

const PLAIN: Modes = Modes {
    ask: false,
    gate: false,
};
const ASK: Modes = Modes {
    ask: true,
    gate: false,
};
const GATE: Modes = Modes {
    ask: false,
    gate: true,
};
const BOTH: Modes = Modes {
    ask: true,
    gate: true,
};

/// A home and a project of their own, and a `crontab` that keeps its table in a file.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        fs::create_dir(root.path().join("shop")).unwrap();
        let table = root.path().join("table");
        let script = format!(
            "#!/bin/sh\ncase $1 in -l) cat {0} 2>/dev/null || {{ echo 'no crontab for me' >&2; exit 1; }};; -r) rm {0};; -) cat >{0};; esac\n",
            table.display()
        );
        let crontab = root.path().join("crontab");
        fs::write(&crontab, script).unwrap();
        fs::set_permissions(&crontab, fs::Permissions::from_mode(0o755)).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn around(&self) -> Surroundings {
        Surroundings::new(Some(self.path("home")), Some(self.path("shop")), |_| None).unwrap()
    }

    fn plan(&self, verb: Verb, request: &Request) -> Result<Plan> {
        let around = self.around();
        let found = disk::read(&targets(request, &around)?, &self.path("crontab"))?;
        plan(verb, request, &around, &found)
    }

    fn run(&self, verb: Verb, request: &Request) -> Result<Plan> {
        let plan = self.plan(verb, request)?;
        disk::apply(&plan, &self.path("crontab"))?;
        Ok(plan)
    }

    /// Every file with its content, to compare before and after.
    fn snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut all = Vec::new();
        let mut open = vec![self.root.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let is_dir = path.is_dir() && !path.is_symlink();
                all.push((
                    path.clone(),
                    if is_dir { None } else { fs::read(&path).ok() },
                ));
                if is_dir {
                    open.push(path);
                }
            }
        }
        all.sort();
        all
    }

    fn files(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        self.snapshot()
            .into_iter()
            .filter(|(_, content)| content.is_some())
            .collect()
    }
}

fn request(host: Host, modes: Modes) -> Request {
    Request {
        modes,
        program: "/usr/local/bin/sayso".into(),
        ..status::request(host, Audience::User, None)
    }
}

/// A request for everything that the host has a place for.
fn everything(host: Host) -> Request {
    Request {
        server: !matches!(host, Host::Hermes | Host::OpenClaw | Host::Pi),
        ..request(host, host.offers())
    }
}
