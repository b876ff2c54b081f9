//! A clock that is set beyond what can be written: a clear word or a time at the edge, never a panic.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::sandbox::{Ran, Sandbox, skip, text};

/// Debian's `faketime`, which stands between a program and the clock.
fn library(test: &str) -> Option<PathBuf> {
    let architectures = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut places = architectures.map(|dir| dir.path().join("faketime/libfaketime.so.1"));
    let found = places.find(|place| place.exists());
    if found.is_none() {
        skip(test, "no faketime on this machine");
    }
    found
}

#[test]
fn no_verb_panics_beyond_the_year_9999() {
    let Some(library) = library("no_verb_panics_beyond_the_year_9999") else {
        return;
    };
    let world = Sandbox::new();
    let faked = |shift: &str, args: &[&str]| -> Ran {
        let mut command: Command = world.command(args);
        command
            .env("LD_PRELOAD", &library)
            .env("FAKETIME", shift)
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.output().unwrap().into()
    };
    // The clock is really another one, and an ordinary shift is nothing special.
    let record = faked("+3y", &["request", "Deploy?", "--json"]).data();
    let year = |text: &str| text[..4].parse::<i32>().unwrap();
    let real = year(&sayso::time::Time::now().to_string());
    assert!(
        (2..=4).contains(&(year(text(&record, "created_at")) - real)),
        "{record}"
    );
    let id = text(&record, "id").to_owned();
    let calls: [&[&str]; 27] = [
        &["count"],
        &["list"],
        &["list", "--all"],
        &["list", "--json"],
        &["show", &id],
        &["get", &id],
        &["events"],
        &["events", "--since", "1h"],
        &["events", "--format", "arc"],
        &["wait", &id, "--timeout", "1"],
        &["request", "More?"],
        &["request", "More?", "--key", "k"],
        &["ask", "More?", "--timeout", "1"],
        &["answer", &id, "--allow"],
        &["cancel", &id],
        &["publish", &id],
        &["prune", "--dry-run"],
        &["doctor"],
        &["relay", "status"],
        &["relay", "poll"],
        &["workflow", "list"],
        &["workflow", "resume", "--id", "x"],
        &["policy", "check", "--", "ls"],
        &["harness", "status", "claude"],
        &["__complete", "--word=", "--", "show"],
        &["hook", "claude", "permission-request"],
        &["arc"],
    ];
    // From 2026 to the years 9997, 10026, 12026 and 30026.
    for shift in ["+7971y", "+8000y", "+10000y", "+28000y"] {
        for args in calls {
            let ran = faked(shift, args);
            let what = format!("{shift} {args:?} {ran:?}");
            assert!(ran.code != 101 && ran.code < 128, "{what}");
            assert!(
                !ran.stderr.contains("panicked") && !ran.stderr.contains("internal failure"),
                "{what}"
            );
            if shift == "+7971y" {
                continue;
            }
            if args[0] == "request" || args[0] == "ask" {
                assert_eq!(ran.code, 7, "{what}");
                assert!(ran.stderr.contains("the clock is set beyond"), "{what}");
            }
            if args == ["doctor"] {
                assert!(
                    ran.code == 1 && ran.stdout.contains("clock: it is set beyond"),
                    "{what}"
                );
            }
        }
    }
    // Nothing that was written then spoils the store for a clock that is right again.
    assert_eq!(world.json(&["list", "--all"])["count"], 4);
    assert_eq!(world.run(["request", "Deploy?"]).code, 0);
}
