//! Where the file system leads the paths of a call, for the policy.
//!
//! Promise: links are followed as the system follows them, `..` behind a link included; parts that do not
//! exist are taken as they are written; a path is unknown where something on its way cannot be looked at.
//! It holds for the moment of looking only: a link can be changed before the call runs.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::policy::{Call, Resolved};

/// Links on the way of one path, as on Linux.
const LINKS_MAX: usize = 40;
/// Entries of a directory that are looked at for whether case counts there.
const ENTRIES_MAX: usize = 64;

/// Where each path of the call leads.
pub fn resolve(call: &Call) -> Vec<Resolved> {
    let paths = call.paths().into_iter();
    paths
        .map(|given| {
            let path = absolute(given, call.cwd).and_then(|path| real(&path));
            Resolved {
                given: given.to_owned(),
                caseless: path.as_deref().is_some_and(is_caseless),
                path: path.and_then(|path| path.into_os_string().into_string().ok()),
            }
        })
        .collect()
}

fn absolute(given: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    if given.is_empty() || given.starts_with('~') {
        return None;
    }
    let path = cwd.unwrap_or(Path::new("")).join(given);
    path.is_absolute().then_some(path)
}

/// The path without links, `.` and `..`; none where it cannot be told.
fn real(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::from("/");
    let mut links = 0;
    // What is left to walk, the next one last.
    let mut left = parts(path);
    while let Some(part) = left.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match next.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                // What a link of /proc leads to depends on the process that looks.
                if links > LINKS_MAX || real.starts_with("/proc") {
                    return None;
                }
                let target = fs::read_link(&next).ok()?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                left.extend(parts(&target));
            }
            Ok(meta) if !meta.is_dir() && !left.is_empty() => return None,
            Ok(_) => real = next,
            Err(error) if error.kind() == ErrorKind::NotFound => real = next,
            Err(_) => return None,
        }
    }
    Some(real)
}

/// The names of a path and its `..`, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let components = path.components().rev();
    components
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// Whether some existing part of the path, or an entry of the directory where the rest would be made,
/// answers to its name in other case too. Where nothing there has a name with letters, case counts.
fn is_caseless(path: &Path) -> bool {
    let existing = path
        .ancestors()
        .find(|part| part.symlink_metadata().is_ok());
    let Some(existing) = existing else {
        return false;
    };
    let entries = fs::read_dir(existing).into_iter().flatten().flatten();
    existing.ancestors().any(answers_to_other_case)
        || entries
            .take(ENTRIES_MAX)
            .any(|entry| answers_to_other_case(&entry.path()))
}

fn answers_to_other_case(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let other = other_case(name);
    let (one, two) = (
        path.symlink_metadata(),
        path.with_file_name(&other).symlink_metadata(),
    );
    let id = |meta: Metadata| (meta.dev(), meta.ino());
    other != name && matches!((one.map(id), two.map(id)), (Ok(one), Ok(two)) if one == two)
}

fn other_case(name: &str) -> String {
    let flip = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    name.chars().map(flip).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    fn world() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["src/deep", "out"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("out/file"), "x").unwrap();
        (dir, root)
    }

    #[test]
    fn links_are_followed_as_the_system_follows_them() {
        let (_dir, root) = world();
        let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
        link("../out", "src/up");
        link(root.join("out").to_str().unwrap(), "src/abs");
        link("up", "src/twice");
        link("../out/new", "src/dangling");
        link("../out/../gone/x", "src/dangling_far");
        for (path, want) in [
            ("src/a", "src/a"),
            ("src//./deep/../a", "src/a"),
            ("src/up/file", "out/file"),
            ("src/up", "out"),
            ("src/abs/new/er", "out/new/er"),
            ("src/twice/file", "out/file"),
            ("src/up/../x", "x"),
            ("src/none/../up/x", "out/x"),
            ("src/dangling", "out/new"),
            ("src/dangling/x", "out/new/x"),
            ("src/dangling_far", "gone/x"),
        ] {
            assert_eq!(real(&root.join(path)), Some(root.join(want)), "{path}");
        }
    }

    #[test]
    fn what_cannot_be_looked_at_is_unknown() {
        let (_dir, root) = world();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/proc/self/cwd", root.join("own")).unwrap();
        let long = "n".repeat(300);
        for path in ["loop", "loop/x", "out/file/x", "out/file/..", "a\0b", &long] {
            assert_eq!(real(&root.join(path)), None, "{path}");
        }
        if cfg!(target_os = "linux") {
            assert_eq!(real(&root.join("own/x")), None);
        }
        for text in ["x", "~/x", ""] {
            let input = json!({ "path": text });
            let call = Call {
                tool_name: Some("Read"),
                input: Some(&input),
                ..Call::default()
            };
            assert_eq!(resolve(&call)[0].path, None, "{text}");
        }
    }

    #[test]
    fn every_member_that_holds_a_path_is_resolved() {
        let input = json!({ "file_path": "a", "path": "../b", "notebook_path": "/c", "url": "d" });
        let call = Call {
            tool_name: Some("Edit"),
            input: Some(&input),
            cwd: Some(Path::new("/nowhere/at")),
            ..Call::default()
        };
        let found = resolve(&call);
        let found: Vec<_> = found
            .iter()
            .map(|r| (&*r.given, r.path.as_deref()))
            .collect();
        let want = [
            ("a", Some("/nowhere/at/a")),
            ("../b", Some("/nowhere/b")),
            ("/c", Some("/c")),
        ];
        assert_eq!(found, want);
    }

    /// Two names of one file are what a directory without case shows.
    #[test]
    fn case_does_not_count_where_both_names_are_the_same_file() {
        let (_dir, root) = world();
        assert!(!is_caseless(&root.join("out/file")));
        assert!(!is_caseless(&root.join("out/new")));
        fs::hard_link(root.join("out/file"), root.join("out/FILE")).unwrap();
        assert!(is_caseless(&root.join("out/file")));
        assert!(is_caseless(&root.join("out/new")));
        assert!(!is_caseless(&root.join("src/new")));
    }
}
