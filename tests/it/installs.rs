//! What the installer and the hooks' help say.

use sayso::hook::{Event, Host};

use crate::sandbox::Sandbox;

#[test]
fn no_note_and_no_hint_holds_an_escaped_newline() {
    let world = Sandbox::new();
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["doctor"],
        vec!["list"],
        vec!["cancel", "--key", "none"],
        vec!["workflow", "list"],
        vec!["workflow", "resume", "--id", "none"],
        vec!["relay", "status"],
        vec!["relay", "poll"],
        vec!["policy", "lint"],
        vec!["policy", "check"],
        vec!["answer"],
        vec!["show", "abcd"],
        vec!["hook", "claude", "none"],
        vec!["hook", "none", "none"],
        vec!["help", "none"],
        vec!["request"],
        vec!["events", "--type", "none"],
    ];
    for host in Host::ALL.map(Host::id) {
        for mode in [
            &["--ask"][..],
            &["--gate"],
            &["--mcp"],
            &["--ask", "--dry-run"],
        ] {
            runs.push([&["harness", "install", host], mode].concat());
        }
        runs.push(vec!["harness", "status", host]);
        runs.push(vec!["harness", "uninstall", host]);
    }
    for args in runs {
        let ran = world.run(&args);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!printed.contains("\\u{"), "{args:?}: {printed}");
    }
    let told = world.run(["harness", "install", "claude", "--ask"]).stderr;
    assert!(
        told.contains(":\n  [[notify]]\n  desktop = true\n"),
        "{told}"
    );
}

#[test]
fn an_ambiguous_id_lists_each_candidate_on_a_line_of_its_own() {
    let world = Sandbox::new();
    let record = world.request(&["Deploy?"]);
    for id in ["abcd1", "abcd2"] {
        let mut copy = record.clone();
        copy["id"] = format!("{id}{}", "0".repeat(27)).into();
        world.plant(copy);
    }
    let ran = world.run(["show", "abcd"]);
    assert_eq!(ran.code, 2);
    let lines = ran.stderr.lines().filter(|line| line.contains("Deploy?"));
    assert_eq!(lines.count(), 2, "{ran:?}");
}

#[test]
fn help_names_every_host() {
    let world = Sandbox::new();
    for args in [
        &["hook", "--help"][..],
        &["help", "hook"],
        &["harness", "install", "--help"],
        &["harness", "status", "--help"],
    ] {
        let help = world.command(args).env("COLUMNS", "400").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for host in Host::ALL.map(Host::id) {
            let named = |line: &str| line.contains("The host: ") && line.contains(host);
            assert!(help.lines().any(named), "{args:?} {host}: {help}");
        }
    }
    for host in Host::ALL {
        let ran = world.run(["hook", host.id(), "none"]);
        assert_eq!(ran.code, 0);
        let said = match Event::of(host) {
            [] => "its plugin asks",
            _ => "no such event",
        };
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
}
