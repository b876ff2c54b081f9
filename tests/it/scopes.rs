//! Which questions share an inbox: worktrees, links, submodules, bare clones, plain directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, has, text};

/// Makes a git directory without git.
fn git_dir(path: &Path) {
    for part in ["objects", "refs"] {
        fs::create_dir_all(path.join(part)).unwrap();
    }
    fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
}

/// Makes a linked worktree at `at`, as git lays it out.
fn worktree(common: &Path, name: &str, at: &Path) {
    let own = common.join("worktrees").join(name);
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(at).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), format!("{}/.git\n", at.display())).unwrap();
    fs::write(at.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
}

struct Site {
    world: Sandbox,
}

impl Site {
    /// `shop` with a worktree beside it, one inside its git directory, a link, a bare clone with a
    /// worktree, a submodule and a plain directory; made by hand or by git.
    fn new(by_git: bool) -> Self {
        let world = Sandbox::new();
        let site = Self { world };
        let at = |name: &str| site.world.path().join(name);
        fs::create_dir_all(at("plain/below")).unwrap();
        if by_git {
            fs::remove_dir_all(at("shop/.git")).unwrap();
            site.git(&at("shop"), &["init", "-q", "-b", "main", "."]);
            site.git(&at("shop"), &["commit", "-q", "--allow-empty", "-m", "one"]);
            site.git(&at("shop"), &["worktree", "add", "-q", "../wt1"]);
            site.git(&at("shop"), &["worktree", "add", "-q", ".git/phantom/wt2"]);
            site.git(&at(""), &["clone", "-q", "--bare", "shop", "bare.git"]);
            site.git(&at("bare.git"), &["worktree", "add", "-q", "../wt-bare"]);
            site.git(
                &at("shop"),
                &["submodule", "add", "-q", "../bare.git", "sub"],
            );
            site.git(&at(""), &["clone", "-q", "shop", "clone"]);
        } else {
            worktree(&at("shop/.git"), "wt1", &at("wt1"));
            worktree(&at("shop/.git"), "wt2", &at("shop/.git/phantom/wt2"));
            git_dir(&at("bare.git"));
            worktree(&at("bare.git"), "wt-bare", &at("wt-bare"));
            git_dir(&at("shop/.git/modules/sub"));
            fs::create_dir_all(at("shop/sub")).unwrap();
            fs::write(at("shop/sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
            git_dir(&at("clone/.git"));
        }
        symlink("shop", at("link")).unwrap();
        fs::create_dir_all(at("shop/src/deep")).unwrap();
        fs::create_dir_all(at("wt1/src")).unwrap();
        site
    }

    fn git(&self, dir: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        self.world.dress(&mut git);
        git.args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
        ]);
        let ran = Ran::from(git.args(args).current_dir(dir).output().unwrap());
        assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    }

    fn run(&self, dir: &str, args: &[&str]) -> Ran {
        let mut command = self.world.command(args);
        // As a shell has it after `cd`: through the link, where there is one.
        command
            .current_dir(self.world.path().join(dir))
            .env("PWD", self.world.path().join(dir));
        command.output().unwrap().into()
    }

    fn ask(&self, dir: &str) -> Value {
        self.run(dir, &["request", dir, "--json"]).data()
    }

    /// The prompts that are listed from a directory.
    fn listed(&self, dir: &str) -> Vec<String> {
        let list = self.run(dir, &["list", "--json"]).data();
        let records = list["interactions"].as_array().unwrap();
        records
            .iter()
            .map(|r| text(r, "prompt").to_owned())
            .collect()
    }

    fn check(&self) {
        let shop = [
            "shop",
            "link",
            "shop/src/deep",
            "link/src",
            "wt1",
            "wt1/src",
            "shop/.git/phantom/wt2",
        ];
        let bare = ["bare.git", "wt-bare"];
        let own = ["shop/sub", "clone"];
        let plain = ["plain", "plain/below"];
        for dir in shop.iter().chain(&bare).chain(&own).chain(&plain) {
            let record = self.ask(dir);
            let real = self.world.path().join(dir).canonicalize().unwrap();
            assert_eq!(
                text(&record, "cwd"),
                real.to_str().unwrap(),
                "the asker's own directory"
            );
        }
        for dir in shop {
            assert_eq!(self.listed(dir), shop, "{dir}");
        }
        for dir in bare {
            assert_eq!(self.listed(dir), bare, "{dir}");
        }
        for dir in own {
            assert_eq!(self.listed(dir), [dir]);
        }
        // Outside a repository a question belongs to its directory, and the operator sees every scope.
        assert_eq!(self.listed("plain").len(), 13);
        assert_eq!(
            fs::read_dir(self.world.store().join("scopes"))
                .unwrap()
                .count(),
            6
        );
    }
}

#[test]
fn every_way_into_a_repository_leads_to_its_one_inbox() {
    Site::new(false).check();
}

#[test]
fn what_git_itself_makes_is_found_the_same() {
    if has("git", "what_git_itself_makes_is_found_the_same") {
        Site::new(true).check();
    }
}

#[test]
fn no_git_program_and_no_environment_changes_the_inbox() {
    let site = Site::new(false);
    site.ask("shop");
    let world = &site.world;
    let other = world.path().join("clone/.git");
    for (name, value) in [
        ("PATH", Path::new("/nonexistent")),
        ("GIT_DIR", &other),
        ("GIT_WORK_TREE", &world.path().join("clone")),
        ("GIT_CEILING_DIRECTORIES", &world.repo()),
    ] {
        for dir in ["shop/src", "wt1"] {
            let mut command = world.command(["list", "--json"]);
            let ran = command
                .current_dir(world.path().join(dir))
                .env(name, value)
                .output();
            assert_eq!(
                Ran::from(ran.unwrap()).data()["count"],
                1,
                "{name} in {dir}"
            );
        }
    }
    // Where no repository is found, GIT_DIR names one.
    let mut command = world.command(["list", "--json"]);
    command
        .current_dir(world.path().join("plain"))
        .env("GIT_DIR", world.repo().join(".git"));
    assert_eq!(Ran::from(command.output().unwrap()).data()["count"], 1);
    let mut command = world.command(["list", "--json"]);
    command
        .current_dir(world.path().join("plain"))
        .env("GIT_DIR", "nowhere");
    assert_eq!(
        Ran::from(command.output().unwrap()).error()["code"],
        "invalid_input"
    );
}

#[test]
fn a_broken_git_file_is_an_error_and_no_other_inbox() {
    let site = Site::new(false);
    let at = |name: &str| site.world.path().join(name);
    fs::create_dir_all(at("shop/broken/below")).unwrap();
    fs::remove_dir_all(at("bare.git/worktrees/wt-bare")).unwrap();
    for content in ["gitdir: /nowhere\n", "nonsense\n", ""] {
        fs::write(at("shop/broken/.git"), content).unwrap();
        for dir in ["shop/broken", "shop/broken/below", "wt-bare"] {
            for verb in [&["request", "x"][..], &["list"], &["ask", "x"], &["count"]] {
                let error = site.run(dir, &[verb, &["--json"]].concat()).error();
                assert_eq!(error["exit_code"], 2, "{dir} {verb:?} {error}");
                assert!(text(&error, "message").contains(".git"), "{error}");
            }
        }
    }
    assert!(!site.world.store().join("scopes").exists());
}

#[test]
fn names_of_scopes_are_taken_in_their_order_and_checked() {
    let site = Site::new(false);
    let world = &site.world;
    let scope_of = |options: &[&str], set: &[(&str, &str)]| {
        let mut command = world.command(["request", "x", "--json"]);
        for (name, value) in set {
            command.env(name, value);
        }
        let ran = Ran::from(command.args(options).output().unwrap());
        let id = text(&ran.data(), "id").to_owned();
        let all = world.json(&["list", "-A"]);
        let record = all["interactions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["id"] == id.as_str())
            .cloned();
        let scope = text(&record.unwrap(), "scope").to_owned();
        scope
            .rsplit_once('-')
            .filter(|(_, hash)| hash.len() == 12)
            .map_or(scope.clone(), |(slug, _)| slug.to_owned())
    };
    let clone = world.path().join("clone");
    let clone = clone.to_str().unwrap();
    let plain = world.path().join("plain/below");
    let plain = plain.to_str().unwrap();
    assert_eq!(scope_of(&[], &[]), "shop");
    assert_eq!(scope_of(&[], &[("SAYSO_REPO", clone)]), "clone");
    assert_eq!(
        scope_of(&["--repo", "../clone"], &[("SAYSO_REPO", plain)]),
        "clone"
    );
    assert_eq!(scope_of(&["--repo", plain], &[]), "below");
    assert_eq!(
        scope_of(&["--repo", clone], &[("SAYSO_SCOPE", "named")]),
        "named"
    );
    assert_eq!(
        scope_of(&["--scope", "Other.1_x-y"], &[("SAYSO_SCOPE", "named")]),
        "Other.1_x-y"
    );
    assert_eq!(
        scope_of(&["--scope", &"s".repeat(100)], &[]),
        "s".repeat(100)
    );
    for bad in [
        "",
        "-x",
        ".x",
        "_x",
        "a/b",
        "..",
        "a b",
        "é",
        &"s".repeat(101),
    ] {
        let ran = world.run(["list", &format!("--scope={bad}"), "--json"]);
        assert_eq!(ran.error()["exit_code"], 2, "{bad:?}");
    }
    assert_eq!(world.error(&["list", "--repo", "/nowhere"])["exit_code"], 7);
    let scopes = fs::read_dir(world.store().join("scopes")).unwrap();
    for entry in scopes {
        let file = fs::read_to_string(entry.unwrap().path().join("scope.json")).unwrap();
        let scope: Value = serde_json::from_str(&file).unwrap();
        assert_eq!(scope["schema"], 1);
        assert!(scope["root"].is_null() || text(&scope, "root").starts_with('/'));
    }
}
