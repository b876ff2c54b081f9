//! Names commands of a call that cannot be undone, as a mark for the operator. It never decides anything, and its
//! absence promises nothing.

use super::call::{Call, Subjects};

/// Commands that destroy or publish, with no way back by the program itself: a program and the first
/// words after it that are no options; then words of which one must be there, if there are any. A word
/// that ends in `=`, `+` or `:` stands for all that begin so; a letter is looked for in clusters too.
const COMMANDS: &[(&str, &str)] = &[
    ("rm", ""),
    ("unlink", ""),
    ("shred", ""),
    ("truncate", ""),
    ("dd", "of="),
    ("mkfs", ""),
    ("mke2fs", ""),
    ("wipefs", "-a --all -o --offset --offset="),
    ("blkdiscard", ""),
    ("lvremove", ""),
    ("vgremove", ""),
    ("zfs destroy", ""),
    ("zpool destroy", ""),
    ("find", "-delete"),
    ("rsync", "--delete --del --remove-source-files"),
    ("crontab", "-r"),
    ("userdel", ""),
    (
        "git push",
        "-f --force --force-with-lease --force-with-lease= --mirror --prune -d --delete + :",
    ),
    ("git reset", "--hard"),
    ("git clean", "-f --force"),
    ("git checkout", "-f --force -- ."),
    ("git restore", ""),
    ("git branch", "-D"),
    ("git tag", "-d --delete"),
    ("git stash drop", ""),
    ("git stash clear", ""),
    ("git reflog expire", ""),
    ("git reflog delete", ""),
    ("git update-ref", "-d"),
    ("git worktree remove", "-f --force"),
    ("git filter-branch", ""),
    ("git filter-repo", ""),
    ("gh repo delete", ""),
    ("gh release delete", ""),
    ("dropdb", ""),
    ("dropuser", ""),
    ("kubectl delete", ""),
    ("helm uninstall", ""),
    ("terraform destroy", ""),
    ("tofu destroy", ""),
    ("docker rm", ""),
    ("docker system prune", ""),
    ("docker volume rm", ""),
    ("docker volume prune", ""),
    ("podman rm", ""),
    ("podman system prune", ""),
    ("podman volume rm", ""),
    ("podman volume prune", ""),
    ("aws s3 rm", ""),
    ("aws s3 rb", ""),
    ("npm publish", ""),
    ("npm unpublish", ""),
    ("pnpm publish", ""),
    ("yarn publish", ""),
    ("cargo publish", ""),
    ("gem push", ""),
    ("twine upload", ""),
];

/// The names of the commands in a call that cannot be undone, each once: in any member that holds a
/// command, at any depth, under wrappers, and in an action.
pub fn irreversible(call: &Call) -> Vec<&'static str> {
    let mut commands = Subjects::of(call).commands;
    if call.tool_name.is_some() && call.action.is_some() {
        let action = Call {
            action: call.action,
            ..Call::default()
        };
        commands.extend(Subjects::of(&action).commands);
    }
    let texts = commands
        .iter()
        .flat_map(|command| &command.subjects)
        .filter(|subject| subject.part.is_some())
        .map(|subject| subject.text.as_str());
    let mut found = Vec::new();
    for name in texts.flat_map(names) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn names(command: &str) -> Vec<&'static str> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    // mkfs.ext4 and its like.
    let program = program.split('.').next().unwrap_or(program);
    let words: Vec<&str> = words.collect();
    COMMANDS
        .iter()
        .filter(|(name, flags)| {
            let mut name = name.split(' ');
            name.next() == Some(program) && has_verb(&words, name) && has_one(&words, flags)
        })
        .map(|(name, _)| *name)
        .collect()
}

fn has_verb<'a>(words: &[&str], verb: impl Iterator<Item = &'a str>) -> bool {
    let mut plain = words.iter().filter(|word| !word.starts_with('-'));
    verb.into_iter().all(|wanted| plain.next() == Some(&wanted))
}

fn has_one(words: &[&str], flags: &str) -> bool {
    flags.is_empty()
        || flags
            .split(' ')
            .any(|flag| words.iter().any(|word| is_flag(word, flag)))
}

fn is_flag(word: &str, flag: &str) -> bool {
    if flag.ends_with(['=', '+', ':']) {
        return word.starts_with(flag);
    }
    let letter = match flag.as_bytes() {
        [b'-', letter] if letter.is_ascii_alphabetic() => char::from(*letter),
        _ => return word == flag,
    };
    word.strip_prefix('-')
        .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(command: &str) -> Vec<&'static str> {
        irreversible(&Call {
            action: Some(command),
            ..Call::default()
        })
    }

    #[test]
    fn every_row_is_found_by_its_name_and_each_of_its_words() {
        for (name, flags) in COMMANDS {
            for flag in flags.split(' ') {
                let command = format!("{name} {flag} x");
                assert_eq!(of(&command), [*name], "{command}");
                let wrapped = format!("cd y && sudo -n sh -c '/usr/bin/{command}' | cat");
                assert_eq!(of(&wrapped), [*name], "{wrapped}");
            }
        }
    }

    #[test]
    fn what_can_be_undone_has_no_mark() {
        for command in [
            "ls -rf",
            "git push origin main",
            "git push -u origin x",
            "git reset HEAD~1",
            "git clean -n",
            "git branch -d x",
            "git stash",
            "find . -name rm",
            "echo rm -rf x",
            "dd if=x",
            "docker run --rm x",
            "kubectl get delete",
            "cargo publisher",
            "",
        ] {
            assert!(of(command).is_empty(), "{command}");
        }
    }

    #[test]
    fn spellings_and_places_make_no_difference() {
        for command in [
            "git -C sub push --force",
            "git -c a.b=c push -uf origin main",
            "git push origin +main",
            "git push origin :old",
            "git push --force-with-lease=main",
            "git 'push' \"-f\"",
            "env A=b timeout 5 git push -f",
            "x=$(git push -f)",
            "if true; then git push -f; fi",
        ] {
            assert_eq!(of(command), ["git push"], "{command}");
        }
        assert_eq!(of("mkfs.ext4 /dev/sda"), ["mkfs"]);
        assert_eq!(of("rm x; rm y; git reset --hard"), ["rm", "git reset"]);
    }

    #[test]
    fn any_tool_and_any_member_that_holds_a_command_is_looked_into() {
        for tool in ["Bash", "shell", "exec_command", "mcp__host__run", "Other"] {
            for member in ["command", "cmd", "script", "shell_command"] {
                for value in [json!("rm -r x"), json!(["rm", "-r", "x"])] {
                    let input = json!({ "note": "x", member: value });
                    let call = Call {
                        tool_name: Some(tool),
                        input: Some(&input),
                        ..Call::default()
                    };
                    assert_eq!(irreversible(&call), ["rm"], "{tool} {input}");
                }
            }
        }
        let both = Call {
            tool_name: Some("deploy"),
            action: Some("git push -f"),
            ..Call::default()
        };
        assert_eq!(irreversible(&both), ["git push"]);
        let input = json!({ "description": "rm -r x" });
        let other = Call {
            tool_name: Some("Note"),
            input: Some(&input),
            ..Call::default()
        };
        assert!(irreversible(&other).is_empty());
    }
}
