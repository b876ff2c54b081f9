//! What reaches the disk, and what is refused before anything does.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Case 93, C12.
#[test]
fn a_broken_file_is_refused_untouched_and_replaced_with_force() {
    for broken in ["{ not json", "[1]", "", "{\"hooks\": {\"Stop\": 1}}"] {
        let world = World::new();
        world.write("home/.claude/settings.json", broken);
        let before = world.snapshot();
        let mut request = everything(Host::Claude);
        let error = world.run(Verb::Install, &request).unwrap_err();
        assert!(
            error.message.contains("settings.json:1:"),
            "{}",
            error.message
        );
        assert_eq!(error.code.exit(), 2);
        assert!(world.run(Verb::Uninstall, &request).is_err());
        assert_eq!(world.snapshot(), before);
        request.force = true;
        assert!(world.run(Verb::Uninstall, &request).is_err());
        assert_eq!(world.snapshot(), before);
        let plan = world.run(Verb::Install, &request).unwrap();
        assert!(plan.changes[0].backup);
        assert_eq!(world.text("home/.claude/settings.json.bak"), broken);
        let golden = include_str!("../golden/claude-ask-gate.json");
        assert_eq!(world.text("home/.claude/settings.json"), golden);
    }
}

#[test]
fn a_backup_never_overwrites_another() {
    let world = World::new();
    let forced = Request {
        force: true,
        ..request(Host::Codex, PLAIN)
    };
    for broken in ["one", "two"] {
        world.write("home/.codex/hooks.json", broken);
        world.run(Verb::Install, &forced).unwrap();
    }
    assert_eq!(world.text("home/.codex/hooks.json.bak"), "one");
    assert_eq!(world.text("home/.codex/hooks.json.bak1"), "two");
}

#[test]
fn one_refusal_stops_everything() {
    let world = World::new();
    world.write("home/.claude.json", "{ broken");
    let before = world.snapshot();
    let error = world
        .run(Verb::Install, &everything(Host::Claude))
        .unwrap_err();
    assert!(
        error.message.contains(".claude.json:1:3"),
        "{}",
        error.message
    );
    assert_eq!(world.snapshot(), before);
}

/// Case 96.
#[test]
fn an_edited_plugin_is_refused_untouched_and_replaced_with_force() {
    for (host, file, other) in [
        (
            Host::OpenCode,
            "home/.config/opencode/plugins/sayso.js",
            None,
        ),
        (Host::Pi, "home/.pi/agent/extensions/sayso.ts", None),
        (
            Host::Hermes,
            "home/.hermes/plugins/sayso/__init__.py",
            Some("home/.hermes/plugins/sayso/plugin.yaml"),
        ),
    ] {
        let world = World::new();
        let mut request = request(host, host.offers());
        world.run(Verb::Install, &request).unwrap();
        let shipped = world.text(file);
        let edited = shipped.clone() + "// mine\n";
        world.write(file, &edited);
        if let Some(other) = other {
            fs::remove_file(world.path(other)).unwrap();
        }
        let before = world.snapshot();
        let error = world.run(Verb::Install, &request).unwrap_err();
        assert!(error.message.contains("was edited"), "{}", error.message);
        assert!(world.run(Verb::Uninstall, &request).is_err());
        assert_eq!(world.snapshot(), before);
        request.force = true;
        world.run(Verb::Install, &request).unwrap();
        assert_eq!(world.text(file), shipped);
        assert_eq!(world.text(&format!("{file}.bak")), edited);
    }
}

/// Case 100.
#[test]
fn links_modes_and_other_bytes_survive() {
    let world = World::new();
    world.write("dotfiles/claude.json", "\u{feff}{\"model\":\"sonnet\"}");
    fs::set_permissions(
        world.path("dotfiles/claude.json"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    fs::create_dir(world.path("home/.claude")).unwrap();
    let link = world.path("home/.claude/settings.json");
    symlink("../../dotfiles/claude.json", &link).unwrap();
    let request = request(Host::Claude, ASK);
    world.run(Verb::Install, &request).unwrap();
    let text = world.text("dotfiles/claude.json");
    assert!(
        text.starts_with("\u{feff}{\"model\":\"sonnet\", \"hooks\": {"),
        "{text}"
    );
    let mode = |name: &str| fs::metadata(world.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("dotfiles/claude.json"), 0o640);
    world.run(Verb::Uninstall, &request).unwrap();
    assert_eq!(
        world.text("dotfiles/claude.json"),
        "\u{feff}{\"model\":\"sonnet\"}"
    );
    assert!(link.is_symlink());
    assert_eq!(mode("dotfiles/claude.json"), 0o640);
}

#[test]
fn a_link_to_nothing_is_followed_and_left() {
    let world = World::new();
    fs::create_dir(world.path("home/.codex")).unwrap();
    let link = world.path("home/.codex/hooks.json");
    symlink(world.path("dotfiles/deep/hooks.json"), &link).unwrap();
    let request = request(Host::Codex, PLAIN);
    world.run(Verb::Install, &request).unwrap();
    assert!(
        world
            .text("dotfiles/deep/hooks.json")
            .contains("sayso hook codex stop")
    );
    world.run(Verb::Uninstall, &request).unwrap();
    assert!(link.is_symlink() && !link.exists());
}

#[test]
fn what_is_not_a_file_is_refused_without_hanging() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.codex/hooks.json")).unwrap();
    assert!(
        world
            .run(Verb::Install, &request(Host::Codex, PLAIN))
            .is_err()
    );
    let pipe = world.path("home/.claude/settings.json");
    fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    assert!(
        world
            .run(Verb::Install, &request(Host::Claude, PLAIN))
            .is_err()
    );
    world.write("home/.gemini/settings.json", "");
    fs::write(
        world.path("home/.gemini/settings.json"),
        b"{\"a\":\"\xff\"}",
    )
    .unwrap();
    let error = world
        .run(Verb::Install, &request(Host::Gemini, PLAIN))
        .unwrap_err();
    assert!(
        error.message.ends_with("settings.json:1:7: not UTF-8"),
        "{}",
        error.message
    );
}

#[test]
fn a_file_that_changed_since_the_plan_is_not_overwritten() {
    let world = World::new();
    let request = everything(Host::Claude);
    let plan = world.plan(Verb::Install, &request).unwrap();
    world.write("home/.claude.json", "{}");
    let before = world.snapshot();
    let error = disk::apply(&plan, &world.path("crontab")).unwrap_err();
    assert!(
        error.message.contains("changed meanwhile"),
        "{}",
        error.message
    );
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_failure_while_writing_changes_nothing() {
    let world = World::new();
    world.write("home/.claude/settings.json", "{}");
    let request = everything(Host::Claude);
    let plan = world.plan(Verb::Install, &request).unwrap();
    let blocked = Plan {
        changes: vec![
            plan.changes[0].clone(),
            Change {
                target: Target::File(world.path("crontab/under/a/file")),
                before: None,
                ..plan.changes[1].clone()
            },
        ],
        ..Plan::default()
    };
    let before = world.snapshot();
    assert!(disk::apply(&blocked, &world.path("crontab")).is_err());
    assert_eq!(world.snapshot(), before);
}

#[test]
fn without_cron_there_is_no_table_and_none_can_be_written() {
    let world = World::new();
    let request = everything(Host::OpenClaw);
    fs::remove_file(world.path("crontab")).unwrap();
    assert!(!world.run(Verb::Uninstall, &request).unwrap().changed());
    let error = world.run(Verb::Install, &request).unwrap_err();
    assert!(error.hint.unwrap().contains("--dry-run"));
}
