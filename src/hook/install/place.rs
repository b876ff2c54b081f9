//! Where each host keeps what an installation touches. Pure: the environment comes as values.
//!
//! Sources: the hosts' manuals, and for Claude Code, Codex, Gemini CLI and Copilot CLI what their own
//! `mcp add` was seen to write.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hook::host::Host;

/// Whom an installation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Audience {
    /// This user, in every project.
    User,
    /// Everybody who works in this project.
    Project,
}

/// What decides where files are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    home: Option<PathBuf>,
    project: Option<PathBuf>,
    overrides: Vec<(&'static str, PathBuf)>,
}

/// The variables that move a host's directory. A blank one counts as unset.
const VARIABLES: [&str; 8] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "XDG_CONFIG_HOME",
    "OPENCODE_CONFIG_DIR",
    "HERMES_HOME",
    "PI_CODING_AGENT_DIR",
];

/// The files of one host for one audience.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    /// Where hook entries go.
    pub(super) hooks: Option<PathBuf>,
    /// Where the MCP server goes: the first one that exists, else the first.
    pub(super) servers: Vec<PathBuf>,
    /// The directory of shipped plugin files.
    pub(super) plugins: Option<PathBuf>,
}

impl Surroundings {
    /// From the home directory, the root of the current project, and a lookup of environment variables.
    ///
    /// # Errors
    /// `config_error` if a variable that moves a host's directory is not an absolute path.
    pub fn new(
        home: Option<PathBuf>,
        project: Option<PathBuf>,
        variable: impl Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Result<Self> {
        let mut overrides = Vec::new();
        for name in VARIABLES {
            let Some(value) = variable(name) else {
                continue;
            };
            if value.to_string_lossy().trim().is_empty() {
                continue;
            }
            let path = PathBuf::from(value);
            if !path.is_absolute() {
                return Err(Error::new(
                    crate::error::Code::ConfigError,
                    format!("{name} is not an absolute path: {}", path.display()),
                ));
            }
            overrides.push((name, path));
        }
        Ok(Self {
            home,
            project,
            overrides,
        })
    }

    fn moved(&self, name: &str) -> Option<PathBuf> {
        let found = self.overrides.iter().find(|(n, _)| *n == name);
        found.map(|(_, path)| path.clone())
    }

    fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(|| {
            Error::unavailable("no home directory")
                .hint("set HOME, or name the directory with --path")
        })
    }

    fn project(&self) -> Result<&Path> {
        self.project.as_deref().ok_or_else(|| {
            Error::input("not inside a project").hint("name the project's directory with --path")
        })
    }

    fn user_dir(&self, variable: &str, default: &str) -> Result<PathBuf> {
        match self.moved(variable) {
            Some(dir) => Ok(dir),
            None => Ok(self.home()?.join(default)),
        }
    }

    /// The host's own directory for this user.
    fn host_dir(&self, host: Host) -> Result<PathBuf> {
        match host {
            Host::Claude => self.user_dir("CLAUDE_CONFIG_DIR", ".claude"),
            Host::Codex => self.user_dir("CODEX_HOME", ".codex"),
            Host::Copilot => self.user_dir("COPILOT_HOME", ".copilot"),
            Host::Hermes => self.user_dir("HERMES_HOME", ".hermes"),
            Host::Pi => self.user_dir("PI_CODING_AGENT_DIR", ".pi/agent"),
            Host::Cursor => Ok(self.home()?.join(".cursor")),
            Host::OpenClaw => Ok(self.home()?.join(".openclaw")),
            Host::Gemini => Ok(self.user_dir("GEMINI_CLI_HOME", "")?.join(".gemini")),
            Host::OpenCode => match self.moved("OPENCODE_CONFIG_DIR") {
                Some(dir) => Ok(dir),
                None => Ok(self
                    .user_dir("XDG_CONFIG_HOME", ".config")?
                    .join("opencode")),
            },
        }
    }

    /// The files of a host. `at` stands in for the host's directory, or for the project's root.
    pub(super) fn files(&self, host: Host, audience: Audience, at: Option<&Path>) -> Result<Files> {
        match (audience, at) {
            (Audience::User, Some(dir)) => Ok(user_files(host, dir, true)),
            (Audience::User, None) => {
                let moved = host == Host::Claude && self.moved("CLAUDE_CONFIG_DIR").is_some();
                Ok(user_files(host, &self.host_dir(host)?, moved))
            }
            (Audience::Project, root) => {
                let root = match root {
                    Some(root) => root,
                    None => self.project()?,
                };
                project_files(host, root)
            }
        }
    }
}

/// `moved`: whether Claude's directory is not the default one; its server file then lies inside it.
fn user_files(host: Host, dir: &Path, moved: bool) -> Files {
    let one = |name: &str| vec![dir.join(name)];
    let (hooks, servers, plugins) = match host {
        Host::Claude => {
            let beside = dir.parent().unwrap_or(dir).join(".claude.json");
            let servers = if moved {
                one(".claude.json")
            } else {
                vec![beside]
            };
            (Some("settings.json"), servers, None)
        }
        Host::Codex => (Some("hooks.json"), one("config.toml"), None),
        Host::Gemini => (Some("settings.json"), one("settings.json"), None),
        Host::Copilot => (Some("hooks/sayso.json"), one("mcp-config.json"), None),
        Host::Cursor => (Some("hooks.json"), one("mcp.json"), None),
        Host::OpenCode => {
            let servers = vec![dir.join("opencode.json"), dir.join("opencode.jsonc")];
            (None, servers, Some("plugins"))
        }
        Host::Hermes => (None, Vec::new(), Some("plugins/sayso")),
        Host::OpenClaw => (None, Vec::new(), None),
        Host::Pi => (None, Vec::new(), Some("extensions")),
    };
    Files {
        hooks: hooks.map(|name| dir.join(name)),
        servers,
        plugins: plugins.map(|name| dir.join(name)),
    }
}

fn project_files(host: Host, root: &Path) -> Result<Files> {
    let (hooks, servers, plugins): (Option<&str>, &[&str], Option<&str>) = match host {
        Host::Claude => (Some(".claude/settings.json"), &[".mcp.json"], None),
        Host::Codex => (Some(".codex/hooks.json"), &[".codex/config.toml"], None),
        Host::Gemini => (
            Some(".gemini/settings.json"),
            &[".gemini/settings.json"],
            None,
        ),
        Host::Copilot => (
            Some(".github/hooks/sayso.json"),
            &[".github/mcp.json"],
            None,
        ),
        Host::Cursor => (Some(".cursor/hooks.json"), &[".cursor/mcp.json"], None),
        Host::OpenCode => (
            None,
            &["opencode.json", "opencode.jsonc"],
            Some(".opencode/plugins"),
        ),
        Host::Hermes => (None, &[], Some(".hermes/plugins/sayso")),
        Host::Pi => (None, &[], Some(".pi/extensions")),
        Host::OpenClaw => {
            return Err(Error::input(
                "OpenClaw's approvals belong to its gateway, not to a project",
            )
            .hint("use --for user"));
        }
    };
    Ok(Files {
        hooks: hooks.map(|name| root.join(name)),
        servers: servers.iter().map(|name| root.join(name)).collect(),
        plugins: plugins.map(|name| root.join(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(variables: &[(&str, &str)]) -> Result<Surroundings> {
        Surroundings::new(Some("/h".into()), Some("/r".into()), |name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.into())
        })
    }

    fn hooks(variables: &[(&str, &str)], host: Host, audience: Audience) -> String {
        let files = around(variables)
            .unwrap()
            .files(host, audience, None)
            .unwrap();
        files.hooks.unwrap().display().to_string()
    }

    #[test]
    fn settings_are_where_the_hosts_look() {
        for (host, user, project) in [
            (
                Host::Claude,
                "/h/.claude/settings.json",
                "/r/.claude/settings.json",
            ),
            (Host::Codex, "/h/.codex/hooks.json", "/r/.codex/hooks.json"),
            (
                Host::Gemini,
                "/h/.gemini/settings.json",
                "/r/.gemini/settings.json",
            ),
            (
                Host::Copilot,
                "/h/.copilot/hooks/sayso.json",
                "/r/.github/hooks/sayso.json",
            ),
            (
                Host::Cursor,
                "/h/.cursor/hooks.json",
                "/r/.cursor/hooks.json",
            ),
        ] {
            assert_eq!(hooks(&[], host, Audience::User), user);
            assert_eq!(hooks(&[], host, Audience::Project), project);
        }
    }

    #[test]
    fn variables_move_them_and_blank_ones_do_not() {
        let moved = [
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CODEX_HOME", "/x"),
            ("GEMINI_CLI_HOME", "/g"),
            ("COPILOT_HOME", "/p"),
        ];
        for (host, path) in [
            (Host::Claude, "/c/settings.json"),
            (Host::Codex, "/x/hooks.json"),
            (Host::Gemini, "/g/.gemini/settings.json"),
            (Host::Copilot, "/p/hooks/sayso.json"),
        ] {
            assert_eq!(hooks(&moved, host, Audience::User), path);
        }
        let blank = [("CLAUDE_CONFIG_DIR", "  ")];
        assert_eq!(
            hooks(&blank, Host::Claude, Audience::User),
            "/h/.claude/settings.json"
        );
        assert!(around(&[("CODEX_HOME", "relative")]).is_err());
    }

    #[test]
    fn claudes_servers_are_beside_its_directory_unless_that_was_moved() {
        let servers = |variables: &[(&str, &str)], at: Option<&str>| {
            let files = around(variables).unwrap();
            let files = files.files(Host::Claude, Audience::User, at.map(Path::new));
            files.unwrap().servers
        };
        assert_eq!(servers(&[], None), [Path::new("/h/.claude.json")]);
        let moved = [("CLAUDE_CONFIG_DIR", "/c")];
        assert_eq!(servers(&moved, None), [Path::new("/c/.claude.json")]);
        assert_eq!(servers(&[], Some("/d")), [Path::new("/d/.claude.json")]);
    }

    #[test]
    fn what_is_missing_is_said() {
        let nowhere = Surroundings::default();
        let home = nowhere
            .files(Host::Codex, Audience::User, None)
            .unwrap_err();
        assert!(home.message.contains("home"));
        let project = nowhere
            .files(Host::Codex, Audience::Project, None)
            .unwrap_err();
        assert!(project.hint.unwrap().contains("--path"));
        let files = nowhere.files(Host::Codex, Audience::User, Some(Path::new("/d")));
        assert_eq!(files.unwrap().hooks, Some("/d/hooks.json".into()));
    }
}
