use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A directory of its own whose paths are canonical.
struct Site {
    _guard: tempfile::TempDir,
    dir: PathBuf,
}

impl Site {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let dir = guard.path().canonicalize().unwrap();
        Self { _guard: guard, dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn mkdir(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// What `git init` leaves of importance.
    fn git_dir(&self, name: &str) -> PathBuf {
        self.mkdir(&format!("{name}/objects"));
        self.mkdir(&format!("{name}/refs"));
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.path(name)
    }

    /// What `git worktree add` leaves of importance.
    fn worktree(&self, git_dir: &str, name: &str, at: &str) -> PathBuf {
        let private = self.mkdir(&format!("{git_dir}/worktrees/{name}"));
        fs::write(private.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(private.join("commondir"), "../..\n").unwrap();
        let file = self.write(
            &format!("{at}/.git"),
            &format!("gitdir: {}\n", private.display()),
        );
        fs::write(private.join("gitdir"), format!("{}\n", file.display())).unwrap();
        self.path(at)
    }

    fn found(&self, start: &str) -> Option<Repo> {
        discover(&self.path(start), None).unwrap()
    }

    fn root(&self, start: &str) -> Option<PathBuf> {
        self.found(start).map(|repo| repo.root)
    }
}

#[test]
fn every_way_into_a_repository_leads_to_its_main_worktree() {
    let site = Site::new();
    site.git_dir("real/shop/.git");
    site.mkdir("real/shop/a/b");
    site.mkdir("real/shop/.git/hooks");
    symlink(site.path("real"), site.path("link")).unwrap();
    site.worktree("real/shop/.git", "wt1", "wt1");
    site.worktree("real/shop/.git", "wt2", "real/shop/.git/phantom/wt2");
    site.mkdir("wt1/src");
    let root = site.path("real/shop");
    for start in [
        "real/shop",
        "real/shop/a/b",
        "real/shop/.git",
        "real/shop/.git/hooks",
        "real/shop/.git/worktrees/wt1",
        "link/shop",
        "link/shop/a",
        "wt1",
        "wt1/src",
        "real/shop/.git/phantom/wt2",
    ] {
        assert_eq!(site.root(start).as_deref(), Some(&*root), "{start}");
    }
    let worktree = |start| site.found(start).unwrap().worktree;
    assert_eq!(worktree("link/shop/a").unwrap(), root);
    assert_eq!(worktree("wt1/src").unwrap(), site.path("wt1"));
    assert_eq!(worktree("real/shop/.git/hooks"), None);
}

#[test]
fn submodules_bare_repositories_and_separate_git_dirs_have_their_own_root() {
    let site = Site::new();
    site.git_dir("main/.git");
    site.git_dir("main/.git/modules/sub");
    site.write("main/vendor/sub/.git", "gitdir: ../../.git/modules/sub\n");
    site.git_dir("bare.git");
    site.worktree("bare.git", "wt", "bare-wt");
    site.git_dir("elsewhere/store");
    site.write(
        "apart/.git",
        &format!("gitdir: {}\n", site.path("elsewhere/store").display()),
    );
    let root = |start| site.root(start).unwrap();
    assert_eq!(root("main/vendor"), site.path("main"));
    assert_eq!(root("main/vendor/sub"), site.path("main/.git/modules/sub"));
    assert_eq!(root("bare.git/refs"), site.path("bare.git"));
    assert_eq!(root("bare-wt"), site.path("bare.git"));
    assert_eq!(root("apart"), site.path("elsewhere/store"));
    let main = |start| site.found(start).unwrap().main_worktree().to_owned();
    assert_eq!(main("main/vendor"), site.path("main"));
    assert_eq!(main("main/vendor/sub"), site.path("main/vendor/sub"));
    assert_eq!(main("apart"), site.path("apart"));
    assert_eq!(main("bare.git/refs"), site.path("bare.git"));
    assert_eq!(site.found("bare.git").unwrap().worktree, None);
    assert_eq!(
        site.found("bare-wt").unwrap().worktree,
        Some(site.path("bare-wt"))
    );
}

#[test]
fn a_broken_git_file_is_an_error_that_names_it() {
    let site = Site::new();
    site.git_dir("outer/.git");
    site.write("outer/garbage/.git", "what is this\n");
    site.write("outer/lost/.git", "gitdir: /nowhere/at/all\n");
    site.write("outer/empty/.git", "");
    site.mkdir("outer/hollow-target");
    site.write("outer/hollow/.git", "gitdir: ../hollow-target\n");
    for start in ["garbage", "lost", "empty", "hollow"] {
        let dir = site.path("outer").join(start);
        let error = discover(&dir, None).unwrap_err();
        assert_eq!(error.code, Code::InvalidInput, "{start}");
        let file = dir.join(".git").display().to_string();
        assert!(error.message.contains(&file), "{start}: {error}");
        assert!(error.hint.is_some(), "{start}");
    }
}

#[test]
fn a_worktree_whose_repository_is_gone_is_an_error() {
    let site = Site::new();
    site.git_dir("gone/.git");
    site.worktree("gone/.git", "wt", "wt");
    fs::remove_dir_all(site.path("gone/.git/objects")).unwrap();
    assert!(discover(&site.path("wt"), None).is_err());
}

#[test]
fn an_invalid_git_directory_is_passed_over() {
    let site = Site::new();
    site.git_dir("outer/.git");
    site.mkdir("outer/inner/.git");
    site.mkdir("plain/.git");
    assert_eq!(site.root("outer/inner"), Some(site.path("outer")));
    // Whatever surrounds the temporary directory, it is not this one.
    assert_ne!(site.root("plain"), Some(site.path("plain")));
}

#[test]
fn a_fifo_in_a_git_directory_does_not_block() {
    let site = Site::new();
    site.git_dir("outer/.git");
    for name in ["HEAD", "commondir"] {
        let inner = format!("outer/{name}/.git");
        site.git_dir(&inner);
        let fifo = site.path(&inner).join(name);
        let _ = fs::remove_file(&fifo);
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(
            site.root(&format!("outer/{name}")),
            Some(site.path("outer"))
        );
    }
}

#[test]
fn git_dir_counts_only_where_walking_up_finds_nothing() {
    let site = Site::new();
    site.git_dir("here/.git");
    site.git_dir("there/.git");
    site.mkdir("plain");
    if discover(&site.dir, None).unwrap().is_some() {
        println!("SKIPPED: the temporary directory lies inside a repository");
        return;
    }
    let there = site.path("there/.git");
    let root = |start: &str, git_dir: &OsStr| {
        discover(&site.path(start), Some(git_dir)).map(|repo| repo.map(|r| r.root))
    };
    assert_eq!(
        root("here", there.as_os_str()).unwrap(),
        Some(site.path("here"))
    );
    assert_eq!(
        root("plain", there.as_os_str()).unwrap(),
        Some(site.path("there"))
    );
    assert_eq!(
        root("plain", OsStr::new("../there/.git")).unwrap(),
        Some(site.path("there"))
    );
    assert_eq!(root("plain", OsStr::new("")).unwrap(), None);
    let error = root("plain", OsStr::new("/nowhere")).unwrap_err();
    assert!(error.message.contains("GIT_DIR"), "{error}");
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let site = Site::new();
    let error = discover(&site.path("no/such"), None).unwrap_err();
    assert!(error.message.contains("no/such"), "{error}");
}

#[test]
fn scope_names_are_as_documented() {
    assert_eq!(scope_name(Path::new("/tmp/demo")), "demo-84a8cd7d7a26");
    assert_eq!(
        scope_name(Path::new("/srv/Canonical Repo")),
        "canonical-repo-af07119e5c91"
    );
    assert!(scope_name(Path::new("/")).starts_with("repo-"));
    let long = format!("/srv/{}", "x".repeat(255));
    assert!(valid_scope_name(&scope_name(Path::new(&long))));
}

#[test]
fn slugs() {
    for (name, want) in [
        ("shop", "shop"),
        ("My  __ Repo--x", "my-repo-x"),
        ("-.lead and trail_ ", "lead-and-trail"),
        ("a - ! - b", "a-b"),
        ("grüße.rs", "grers"),
        ("日本", "repo"),
        ("", "repo"),
    ] {
        assert_eq!(slug(name), want, "{name}");
    }
    let at_the_cut = format!("{} y", "x".repeat(SLUG_MAX - 1));
    assert_eq!(slug(&at_the_cut), "x".repeat(SLUG_MAX - 1));
}

#[test]
fn given_scope_names() {
    for good in ["a", "0", "A.b_c-d", &"x".repeat(100)] {
        assert!(valid_scope_name(good), "{good}");
    }
    for bad in [
        "",
        ".a",
        "-a",
        "_a",
        "a/b",
        "a b",
        "ä",
        "..",
        "a\n",
        &"x".repeat(101),
    ] {
        assert!(!valid_scope_name(bad), "{bad:?}");
    }
}
