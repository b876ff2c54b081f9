//! The call that a policy decides about, and what of it patterns are matched against.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::address::Address;
use super::command::Command;
use super::contents::Argument;
use super::visible::all_visible;

/// Members of a tool's input that hold a shell command.
pub const COMMAND_MEMBERS: &[&str] = &["command", "cmd", "script", "shell_command"];
/// Members that hold a path.
const PATH_MEMBERS: &[&str] = &["file_path", "path", "notebook_path"];
/// Other members that say what the call is about, the first that is present counting.
const OTHER_MEMBERS: &[&str] = &["url", "query", "pattern"];
/// Tools that are shells, so that a call without a command is an odd one.
pub const SHELL_TOOLS: &[&str] = &[
    "Bash",
    "bash",
    "Shell",
    "shell",
    "PowerShell",
    "local_shell",
    "exec_command",
    "run_shell_command",
    "run_in_terminal",
];

/// Tools that are about a path.
pub(super) const PATH_TOOLS: &[&str] = &[
    "Read",
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "LS",
    "read_file",
    "write_file",
];

/// Tools that are about an address.
pub(super) const ADDRESS_TOOLS: &[&str] = &["WebFetch", "web_fetch", "webfetch", "fetch"];

/// A call that somebody wants to make.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call<'a> {
    /// The tool's name, where the call is a tool's.
    pub tool_name: Option<&'a str>,
    /// The tool's input.
    pub input: Option<&'a Value>,
    /// What is to be done, in words or as a command. Without a tool's name it is taken for a command.
    pub action: Option<&'a str>,
    /// The absolute directory that relative paths start from.
    pub cwd: Option<&'a Path>,
    /// Where the file system leads the paths of [`Call::paths`]; one that is missing here is not allowed.
    pub resolved: &'a [Resolved],
}

/// Where a path of a call leads. The caller finds it out, and only for that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path as the call gives it.
    pub given: String,
    /// Absolute, without links; absent where it cannot be told.
    pub path: Option<String>,
    /// Whether names of other case are the same there.
    pub caseless: bool,
}

impl<'a> Call<'a> {
    /// The paths that the call names, as it gives them.
    pub fn paths(&self) -> Vec<&'a str> {
        let members = self.input.and_then(Value::as_object);
        let named = |key: &&str| members.and_then(|members| members.get(*key)?.as_str());
        match self.tool_name {
            Some(_) => PATH_MEMBERS.iter().filter_map(named).collect(),
            None => vec![],
        }
    }
}

/// What a call is about.
#[derive(Debug)]
pub(super) struct Subjects<'a> {
    pub(super) tool_name: Option<&'a str>,
    pub(super) action: Option<&'a str>,
    pub(super) commands: Vec<Command>,
    /// Arguments that a denying SPEC is matched against, beside the commands.
    pub(super) denied_by: Vec<Argument>,
    /// Arguments of which an allowing SPEC must match all where there are no commands; empty: it matches nothing.
    pub(super) allowed_by: Vec<Argument>,
    /// Whether there is something that no allowing SPEC matches.
    unmatchable: bool,
    /// Why the call is never allowed.
    pub(super) never: Option<&'static str>,
    /// Why a denying pattern may have been missed.
    pub(super) doubt: Option<&'static str>,
    /// Worth knowing where no pattern allows the call's arguments.
    pub(super) remark: Option<&'static str>,
}

impl<'a> Subjects<'a> {
    pub(super) fn of(call: &Call<'a>) -> Self {
        let mut subjects = Self {
            tool_name: call.tool_name,
            action: call.action,
            commands: vec![],
            denied_by: vec![],
            allowed_by: vec![],
            unmatchable: false,
            never: None,
            doubt: None,
            remark: None,
        };
        match (call.tool_name, call.action) {
            (None, None) => subjects.never = Some("there is neither a tool nor an action"),
            (None, Some(action)) => subjects.command(action),
            (Some(name), _) => subjects.tool(name, call),
        }
        if subjects.unmatchable {
            subjects.allowed_by.clear();
        }
        subjects
    }

    fn tool(&mut self, name: &str, call: &Call) {
        if name.is_empty() || !all_visible(name) {
            self.never = Some("the tool's name is empty or has invisible characters");
        }
        let members = call.input.and_then(Value::as_object);
        let mut found = false;
        for key in COMMAND_MEMBERS {
            if let Some(value) = members.and_then(|members| members.get(*key)) {
                found = true;
                self.command_member(value);
            }
        }
        if !found && SHELL_TOOLS.contains(&name) {
            self.never = Some("no command supplied");
        }
        for key in PATH_MEMBERS {
            if let Some(value) = members.and_then(|members| present(members, key)) {
                self.path_member(value, call);
            }
        }
        if name.to_ascii_lowercase().contains("glob") {
            let text = |key: &str| members.and_then(|members| members.get(key)?.as_str());
            self.file_names(text("pattern").unwrap_or_default(), text("path").is_some());
        }
        let mut known = found || !self.denied_by.is_empty();
        for key in OTHER_MEMBERS {
            if let Some(value) = members.and_then(|members| present(members, key)) {
                self.other_member(key, value, known);
                known = true;
            }
        }
        if let (false, Some(input)) = (known, call.input) {
            self.denied_by.push(Argument::text(input.to_string()));
            self.allowed_by.push(Argument::text(input.to_string()));
        }
    }

    fn command(&mut self, text: &str) {
        let command = Command::new(text);
        self.doubt = self.doubt.or(command.doubt);
        if text.trim().is_empty() {
            self.never = Some("no command supplied");
        } else if !all_visible(text) {
            self.never = Some("the command has control or invisible characters");
        }
        self.commands.push(command);
    }

    fn command_member(&mut self, value: &Value) {
        if let Value::String(text) = value {
            return self.command(text);
        }
        self.never = Some("a member that should hold a command is not text");
        self.doubt = self.never;
        if let Some(arguments) = value.as_array() {
            let quoted: Vec<_> = arguments.iter().map(quoted).collect();
            self.commands.push(Command::new(&quoted.join(" ")));
        }
    }

    fn unmatchable(&mut self, why: &'static str) {
        self.unmatchable = true;
        self.doubt = Some(why);
        self.remark = Some(why);
    }

    /// For an allow both places count, that of the text and that behind the links; for a deny each.
    fn path_member(&mut self, value: &Value, call: &Call) {
        let Value::String(text) = value else {
            self.denied_by.push(Argument::text(value.to_string()));
            return self.unmatchable("a member that should hold a path is not text");
        };
        let resolved = call
            .resolved
            .iter()
            .find(|resolved| resolved.given == *text);
        let caseless = resolved.is_some_and(|resolved| resolved.caseless);
        let given = normal_path(text, call.cwd);
        let real = resolved.and_then(|resolved| resolved.path.clone());
        let places = [Some(text.clone()), given.clone(), real.clone()];
        let places = places.into_iter().flatten();
        self.denied_by
            .extend(places.map(|place| Argument::path(place, caseless)));
        match (given, real) {
            (Some(given), Some(real)) if all_visible(text) && all_visible(&real) => {
                if given != real {
                    self.remark = Some(ELSEWHERE);
                }
                let both = [given, real].map(|place| Argument::path(place, caseless));
                self.allowed_by.extend(both);
            }
            (Some(_), None) if all_visible(text) => {
                self.unmatchable("the file system does not say where a path leads");
            }
            _ => self.unmatchable("a path cannot be made absolute or has invisible characters"),
        }
    }

    /// A pattern of file names is looked up in the folder beside it, and must not lead out of that.
    fn file_names(&mut self, pattern: &str, folder: bool) {
        let leaves = pattern.split('/').any(|part| part == "..") || pattern.starts_with('~');
        if leaves || folder && pattern.starts_with('/') {
            self.unmatchable("a pattern of file names leads out of its folder");
        }
    }

    /// The first of several counts for allowing; each counts for denying.
    fn other_member(&mut self, key: &str, value: &Value, known: bool) {
        let Value::String(text) = value else {
            self.denied_by.push(Argument::text(value.to_string()));
            return self.unmatchable("a member that should hold text does not");
        };
        let argument = Argument::address(text);
        self.denied_by.push(argument.clone());
        if let ("url", Err(why)) = (key, Address::plain(text)) {
            self.doubt = self.doubt.or(Some(why));
            self.remark = self.remark.or(Some(why));
        }
        if !known {
            self.allowed_by.push(argument);
        }
    }
}

/// Said where no pattern allows a path that is not where it seems to be.
const ELSEWHERE: &str =
    "a path leads elsewhere through a symbolic link; a pattern has to allow both places";

/// A member that is there and not null.
fn present<'v>(members: &'v serde_json::Map<String, Value>, key: &str) -> Option<&'v Value> {
    members.get(key).filter(|value| !value.is_null())
}

/// An argument as a shell would have to read it.
fn quoted(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The path made absolute, without `.`, `..` and doubled slashes; links are not looked at.
pub(super) fn normal_path(text: &str, cwd: Option<&Path>) -> Option<String> {
    if text.is_empty() || text.starts_with('~') {
        return None;
    }
    let mut path = PathBuf::from(text);
    if path.is_relative() {
        path = cwd.filter(|cwd| cwd.is_absolute())?.join(path);
    }
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            _ => {}
        }
    }
    normal.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised() {
        let cwd = Some(Path::new("/srv"));
        for (text, want) in [
            ("/a/b", "/a/b"),
            ("/a//b/./c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("a/../b", "/srv/b"),
            ("../../x", "/x"),
            ("..", "/"),
        ] {
            assert_eq!(normal_path(text, cwd).as_deref(), Some(want), "{text}");
        }
        for text in ["", "~/x", "~root/x"] {
            assert_eq!(normal_path(text, cwd), None, "{text}");
        }
        assert_eq!(normal_path("a", None), None);
        assert_eq!(normal_path("a", Some(Path::new("rel"))), None);
    }
}
