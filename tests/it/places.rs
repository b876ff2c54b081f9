//! Where the store is, who may write there, and what stands in the place of its files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, UNAVAILABLE, binary, failure, finish, text, until};

/// Another user, when the tests run as root: permission bits do not bind root.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Runs through a shell that sets the umask first.
fn with_umask(world: &Sandbox, umask: &str, args: &[&str]) -> Ran {
    let mut shell = Command::new("/bin/sh");
    world.dress(&mut shell);
    shell.args([
        "-c",
        &format!("umask {umask}; exec \"$0\" \"$@\""),
        binary(),
    ]);
    shell.args(args).output().unwrap().into()
}

fn everything_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    let mut at = 0;
    while at < found.len() {
        if found[at].is_dir() {
            let below = fs::read_dir(&found[at]).unwrap().map(|e| e.unwrap().path());
            found.extend(below.collect::<Vec<_>>());
        }
        at += 1;
    }
    found
}

#[test]
fn directories_are_0700_and_files_0600_whatever_the_umask() {
    for umask in ["000", "022", "077", "0777"] {
        let world = Sandbox::new();
        let opened = with_umask(
            &world,
            umask,
            &["request", "Deploy?", "--key", "k", "--json"],
        );
        let id = text(&opened.data(), "id").to_owned();
        with_umask(&world, umask, &["answer", &id, "--allow", "--json"]).data();
        with_umask(&world, umask, &["wait", &id, "--json"]).data();
        with_umask(
            &world,
            umask,
            &["request", "Another?", "--key", "k", "--json"],
        )
        .data();
        let found = everything_below(&world.store());
        assert!(found.len() > 12, "{found:?}");
        for path in found {
            let metadata = path.symlink_metadata().unwrap();
            let mode = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(
                metadata.mode() & 0o7777,
                mode,
                "umask {umask}: {}",
                path.display()
            );
        }
        // Another test may be using up this user's file watches.
        let told = with_umask(&world, umask, &["doctor"]).stdout;
        let faults = told
            .lines()
            .filter(|l| l.starts_with("FAIL") && !l.contains(" watch:"));
        assert_eq!(faults.count(), 0, "{told}");
    }
}

/// Every writing verb refuses, reading ones warn, doctor finds it, and nothing is made inside.
fn refused_root(world: &Sandbox, dress: &dyn Fn(&mut Command), told: &str) {
    let run = |args: &[&str]| {
        let mut command = world.command(args);
        dress(&mut command);
        Ran::from(command.output().unwrap())
    };
    let error = failure(&run(&["request", "Deploy?", "--json"]), UNAVAILABLE);
    assert!(text(&error, "message").contains(told), "{error}");
    assert_eq!(run(&["ask", "Deploy?"]).code, 7);
    let listed = run(&["list"]);
    assert_eq!(listed.code, 0);
    assert!(listed.stderr.contains(told), "{listed:?}");
    let doctor = run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains(told), "{doctor:?}");
}

#[test]
fn a_loose_root_is_refused() {
    let world = Sandbox::new();
    fs::create_dir(world.store()).unwrap();
    for mode in [0o777, 0o770, 0o702, 0o1777] {
        fs::set_permissions(world.store(), Permissions::from_mode(mode)).unwrap();
        refused_root(&world, &|_| {}, "can be written to by other users");
    }
    fs::set_permissions(world.store(), Permissions::from_mode(0o755)).unwrap();
    world.request(&["Deploy?"]);
    // One that became loose later takes no answer either.
    let id = text(&world.await_pending(), "id").to_owned();
    fs::set_permissions(world.store(), Permissions::from_mode(0o777)).unwrap();
    for verb in [&["answer", &id, "--allow"][..], &["cancel", &id]] {
        failure(&world.run(verb.iter().chain(&["--json"])), UNAVAILABLE);
    }
    assert!(world.pending(&id).exists());
}

#[test]
fn a_root_that_is_a_link_into_a_loose_place_or_a_file_is_refused() {
    let world = Sandbox::new();
    let place = world.path().join("public");
    fs::create_dir_all(place.join("store")).unwrap();
    fs::set_permissions(place.join("store"), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&place, Permissions::from_mode(0o1777)).unwrap();
    symlink(place.join("store"), world.store()).unwrap();
    refused_root(&world, &|_| {}, "link into a directory");
    assert_eq!(fs::read_dir(place.join("store")).unwrap().count(), 0);
    fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
    world.request(&["Deploy?"]);
    let dangling = world.path().join("dangling");
    symlink("/nowhere/at/all", &dangling).unwrap();
    let file = world.path().join("file");
    fs::write(&file, "").unwrap();
    for root in [&dangling, &file] {
        let mut command = world.command(["request", "Deploy?", "--json"]);
        failure(
            &command.env("SAYSO_HOME", root).output().unwrap().into(),
            UNAVAILABLE,
        );
    }
}

#[test]
fn a_root_of_another_user_is_refused() {
    if !is_root() {
        eprintln!("SKIPPED a_root_of_another_user_is_refused: only root can give a directory away");
        return;
    }
    let world = Sandbox::new();
    fs::create_dir(world.store()).unwrap();
    fs::set_permissions(world.store(), Permissions::from_mode(0o700)).unwrap();
    chown(world.store(), Some(NOBODY), Some(NOBODY)).unwrap();
    refused_root(&world, &|_| {}, "belongs to another user");
}

#[test]
fn a_read_only_store_can_be_read_and_says_why_it_cannot_be_written() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let id = text(&record, "id");
    let found = everything_below(&world.store());
    let bits = |writable: bool| {
        for path in &found {
            let mode = if path.is_dir() { 0o500 } else { 0o400 } | if writable { 0o200 } else { 0 };
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            if is_root() {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
    };
    bits(false);
    fs::set_permissions(world.path(), Permissions::from_mode(0o755)).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(world.path().join("sayso"));
        world.dress(&mut command);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.args(args);
        // Another test that forks just now may still hold the copy open for writing.
        until("the copy to be free", || match command.output() {
            Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
            output => Some(Ran::from(output.unwrap())),
        })
    };
    // The binary itself may lie where another user cannot reach it.
    fs::copy(binary(), world.path().join("sayso")).unwrap();
    for reading in [
        &["list"][..],
        &["show", id],
        &["get", id],
        &["count"],
        &["events"],
        &["list", "--all"],
        &["wait", id, "--timeout", "1"],
    ] {
        let ran = run(reading);
        assert_eq!(ran.code, 0, "{reading:?} {ran:?}");
        assert_ne!(ran.stdout, "", "{reading:?}");
    }
    for writing in [
        &["request", "Another?"][..],
        &["ask", "Another?"],
        &["answer", id, "--allow"],
        &["cancel", id],
    ] {
        let error = failure(&run(&[writing, &["--json"]].concat()), UNAVAILABLE);
        assert!(
            text(&error, "message").contains("ermission denied"),
            "{writing:?} {error}"
        );
    }
    assert_eq!(run(&["doctor"]).code, 1);
    bits(true);
    assert_eq!(run(&["answer", id, "--allow"]).code, 0);
}

#[test]
fn writing_never_follows_a_link_and_never_blocks() {
    for (name, put) in [
        (
            "a link",
            Box::new(|path: &Path, victim: &Path| symlink(victim, path).unwrap())
                as Box<dyn Fn(&Path, &Path)>,
        ),
        (
            "a FIFO",
            Box::new(|path, _| {
                nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
            }),
        ),
        (
            "a directory",
            Box::new(|path, _| fs::create_dir(path).unwrap()),
        ),
    ] {
        let world = Sandbox::new();
        let victim = world.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let record = world.request(&["Deploy?", "--key", "k"]);
        let id = text(&record, "id");
        let scope = world.scope();
        let replace = |path: &Path| {
            let _ = fs::remove_file(path);
            put(path, &victim);
        };
        replace(&scope.join("events.jsonl"));
        let marks = scope.join("interactions/marks");
        put(&marks.join(format!("{id}.delivered")), &victim);
        let key = fs::read_dir(scope.join("interactions/keys"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        replace(&key);
        let answered = finish(world.start(["answer", id, "--allow"]));
        assert_eq!(answered.code, 0, "{name}: {answered:?}");
        assert!(answered.stderr.contains("event"), "{name}: {answered:?}");
        assert_eq!(
            finish(world.start(["wait", id])).stdout,
            "answered\n",
            "{name}"
        );
        assert_eq!(finish(world.start(["events"])).code, 0, "{name}");
        // The key's index is only an index.
        let again = world.request(&["Deploy?", "--key", "k"]);
        assert_eq!(again["reused"], false, "{name}");
        // A target that is taken is not written over: no answer, and the question stays.
        let other = text(&again, "id");
        put(&world.settled(other), &victim);
        let refused = finish(world.start(["answer", other, "--allow", "--json"]));
        assert_eq!(refused.error()["code"], "corrupt", "{name}");
        replace(&scope.join("lock"));
        let locked = finish(world.start(["request", "More?", "--json"]));
        failure(&locked, UNAVAILABLE);
        assert_eq!(finish(world.start(["list"])).code, 0, "{name}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{name}");
    }
}

#[test]
fn the_root_is_where_the_environment_says_and_never_relative() {
    let world = Sandbox::new();
    let (home, state) = (world.path().join("home"), world.path().join("state"));
    let run = |set: &[(&str, &str)], args: &[&str]| {
        let mut command = world.command(args);
        command.env_remove("SAYSO_HOME");
        for (name, value) in set {
            command.env(name, value);
        }
        Ran::from(command.output().unwrap())
    };
    let request = ["request", "Deploy?", "--json"];
    run(&[], &request).data();
    assert!(home.join(".local/state/sayso/scopes").is_dir());
    run(
        &[
            ("SAYSO_HOME", ""),
            ("XDG_STATE_HOME", state.to_str().unwrap()),
        ],
        &request,
    )
    .data();
    assert!(state.join("sayso/scopes").is_dir());
    // A relative one of the base directories counts as unset; our own is an error.
    run(&[("XDG_STATE_HOME", "relative")], &request).data();
    assert!(!world.repo().join("relative").exists());
    let error = run(&[("SAYSO_HOME", "relative")], &request).error();
    assert_eq!(error["code"], "invalid_input");
    assert!(!world.repo().join("relative").exists());
    // Without HOME it is that of the passwd entry; reading there makes nothing.
    let mut command = world.command(["count", "--zero"]);
    command.env_remove("SAYSO_HOME").env_remove("HOME");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(fs::read_dir(world.repo()).unwrap().count(), 1);
}

#[test]
fn a_deleted_directory_is_an_error_and_no_panic() {
    let world = Sandbox::new();
    let gone = world.path().join("gone");
    for args in [
        &["list"][..],
        &["request", "Deploy?"],
        &["ask", "Deploy?"],
        &["count"],
        &["watch"],
        &["wait", &"0".repeat(32)],
    ] {
        fs::create_dir(&gone).unwrap();
        let mut shell = Command::new("/bin/sh");
        world.dress(&mut shell);
        shell
            .args(["-c", "rmdir \"$PWD\"; exec \"$0\" \"$@\"", binary()])
            .args(args)
            .current_dir(&gone);
        let ran = Ran::from(shell.output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (7, ""), "{args:?} {ran:?}");
        assert!(ran.stderr.contains("current directory"), "{args:?} {ran:?}");
    }
    assert!(!world.store().join("scopes").exists());
}

#[test]
fn a_store_that_vanishes_ends_the_waits_for_it() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    let wait = world.start(["wait", text(&record, "id"), "--json", "--exit-status"]);
    let ask = world.start(["ask", "Another?", "--json"]);
    until("both waits", || {
        let list = world.json(&["list"]);
        let waiting = list["interactions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|r| r["waiting"] == "yes")
            .count();
        (waiting == 2).then_some(())
    });
    fs::rename(world.store(), world.path().join("away")).unwrap();
    for child in [wait, ask] {
        let error = failure(&finish(child), UNAVAILABLE);
        assert!(text(&error, "message").contains("vanished"), "{error}");
    }
    assert_eq!(
        world.json(&["list"]),
        json!({"count": 0, "interactions": []})
    );
    fs::rename(world.path().join("away"), world.store()).unwrap();
    assert_eq!(world.get(text(&record, "id"))["status"], "pending");
}
