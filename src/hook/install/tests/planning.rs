//! What is planned and said.

use std::path::Path;

use super::*;

#[test]
fn golden_files() {
    let world = World::new();
    for (host, modes, file, golden) in [
        (
            Host::Claude,
            PLAIN,
            ".claude/settings.json",
            include_str!("../golden/claude-plain.json"),
        ),
        (
            Host::Claude,
            BOTH,
            ".claude/settings.json",
            include_str!("../golden/claude-ask-gate.json"),
        ),
        (
            Host::Codex,
            PLAIN,
            ".codex/hooks.json",
            include_str!("../golden/codex-plain.json"),
        ),
        (
            Host::Codex,
            ASK,
            ".codex/hooks.json",
            include_str!("../golden/codex-ask.json"),
        ),
        (
            Host::Gemini,
            GATE,
            ".gemini/settings.json",
            include_str!("../golden/gemini-gate.json"),
        ),
        (
            Host::Copilot,
            GATE,
            ".copilot/hooks/sayso.json",
            include_str!("../golden/copilot-gate.json"),
        ),
        (
            Host::Cursor,
            GATE,
            ".cursor/hooks.json",
            include_str!("../golden/cursor-gate.json"),
        ),
    ] {
        world.run(Verb::Install, &request(host, modes)).unwrap();
        assert_eq!(world.text(&format!("home/{file}")), golden, "{host:?}");
        world.run(Verb::Uninstall, &request(host, modes)).unwrap();
    }
}

#[test]
fn install_twice_then_uninstall_leaves_no_file_behind() {
    for host in Host::ALL {
        let world = World::new();
        let before = world.files();
        let request = Request {
            instructions: Some(world.path("home/AGENTS.md")),
            ..everything(host)
        };
        let first = world.run(Verb::Install, &request).unwrap();
        assert!(first.changed(), "{host:?}");
        let after = world.snapshot();
        let second = world.run(Verb::Install, &request).unwrap();
        assert!(!second.changed(), "{host:?}: {}", second.diff());
        assert_eq!(world.snapshot(), after);
        assert!(world.run(Verb::Uninstall, &request).unwrap().changed());
        assert_eq!(world.files(), before, "{host:?}");
        assert!(!world.run(Verb::Uninstall, &request).unwrap().changed());
        assert!(!world.path("home/.hermes/plugins/sayso").exists());
    }
}

/// Case 95.
#[test]
fn what_is_refused_or_only_shown_creates_nothing() {
    let world = World::new();
    let before = world.snapshot();
    assert!(
        world
            .run(Verb::Install, &request(Host::Gemini, ASK))
            .is_err()
    );
    assert!(
        world
            .run(Verb::Install, &request(Host::Hermes, PLAIN))
            .is_err()
    );
    let agent = |agent: &str| Request {
        agent: Some(agent.to_owned()),
        ..request(Host::Codex, ASK)
    };
    assert!(world.run(Verb::Install, &agent("--force")).is_err());
    for host in Host::ALL {
        let shown = world.plan(Verb::Install, &everything(host)).unwrap().diff();
        assert!(shown.contains("+++ ") && shown.contains("sayso"), "{shown}");
    }
    assert_eq!(world.snapshot(), before);
}

/// Case A41.
#[test]
fn a_path_with_blanks_is_quoted_and_an_unusable_one_refused() {
    let world = World::new();
    let mut request = request(Host::Claude, ASK);
    request.program = "/Users/me/My Repo/sayso".into();
    world.run(Verb::Install, &request).unwrap();
    let text = world.text("home/.claude/settings.json");
    assert!(
        text.contains("\"'/Users/me/My Repo/sayso' hook claude permission-request --timeout 590\""),
        "{text}"
    );
    for bad in ["sayso", "/a\nb/sayso"] {
        request.program = bad.into();
        assert!(world.run(Verb::Install, &request).is_err());
    }
}

#[test]
fn what_is_lost_or_left_to_do_is_said() {
    let world = World::new();
    let asking = world.run(Verb::Install, &everything(Host::Codex)).unwrap();
    assert!(asking.steps[0].contains("/hooks"));
    let plain = world
        .run(Verb::Install, &request(Host::Codex, PLAIN))
        .unwrap();
    assert_eq!(plain.notes, ["PermissionRequest is no longer captured"]);
    let claude = world.run(Verb::Install, &everything(Host::Claude)).unwrap();
    assert!(claude.steps[0].contains("--permission-prompt-tool mcp__sayso__request_approval"));
    let hermes = world.run(Verb::Install, &everything(Host::Hermes)).unwrap();
    assert!(
        hermes
            .steps
            .iter()
            .any(|s| s.ends_with("transport_fallback builtin"))
    );
    let error = world
        .run(
            Verb::Install,
            &Request {
                server: true,
                ..request(Host::Pi, GATE)
            },
        )
        .unwrap_err();
    assert!(
        error
            .hint
            .unwrap()
            .ends_with("sayso mcp serve --agent-id pi")
    );
}

#[test]
fn a_project_has_its_own_files_and_readers() {
    let world = World::new();
    for host in Host::ALL {
        let request = Request {
            audience: Audience::Project,
            ..everything(host)
        };
        if host == Host::OpenClaw {
            assert!(world.run(Verb::Install, &request).is_err());
            continue;
        }
        let plan = world.run(Verb::Install, &request).unwrap();
        assert!(plan.notes[0].contains("/usr/local/bin/sayso"));
        for change in &plan.changes {
            let Target::File(path) = &change.target else {
                panic!()
            };
            assert!(path.starts_with(world.path("shop")), "{path:?}");
        }
    }
    assert_eq!(fs::read_dir(world.path("home")).unwrap().count(), 0);
    assert!(world.path("shop/.mcp.json").exists());
}

#[test]
fn one_path_stands_in_for_the_hosts_directory() {
    let world = World::new();
    let at = |audience| Request {
        audience,
        at: Some(world.path("elsewhere")),
        ..everything(Host::Claude)
    };
    world.run(Verb::Install, &at(Audience::User)).unwrap();
    world.run(Verb::Install, &at(Audience::Project)).unwrap();
    for file in [
        "settings.json",
        ".claude.json",
        ".claude/settings.json",
        ".mcp.json",
    ] {
        assert!(world.path("elsewhere").join(file).is_file(), "{file}");
    }
}

#[test]
fn an_existing_jsonc_file_of_opencode_is_used() {
    let world = World::new();
    let text = "{\n  // models\n  \"model\": \"x\",\n}\n";
    world.write("home/.config/opencode/opencode.jsonc", text);
    let request = everything(Host::OpenCode);
    world.run(Verb::Install, &request).unwrap();
    assert!(
        world
            .text("home/.config/opencode/opencode.jsonc")
            .contains("\"mcp\": {")
    );
    assert!(!world.path("home/.config/opencode/opencode.json").exists());
    world.run(Verb::Uninstall, &request).unwrap();
    assert_eq!(world.text("home/.config/opencode/opencode.jsonc"), text);
}

#[test]
fn the_status_says_what_the_files_say() {
    let world = World::new();
    let status = |host| {
        let around = world.around();
        let request = status::request(host, Audience::User, None);
        let found =
            disk::read(&targets(&request, &around).unwrap(), &world.path("crontab")).unwrap();
        let exists = |program: &str| Path::new(program).exists();
        status::status(host, Audience::User, None, &around, &found, &exists).unwrap()
    };
    for host in Host::ALL {
        assert!(!status(host).installed(), "{host:?}");
        let request = Request {
            agent: Some("swe".to_owned()),
            program: world.path("sayso"),
            ..everything(host)
        };
        world.run(Verb::Install, &request).unwrap();
        let installed = status(host);
        assert!(
            installed.installed() && installed.faults.is_empty(),
            "{host:?}"
        );
        assert_eq!(installed.captures, host.offers(), "{host:?}");
        for plugin in &installed.plugins {
            let named = plugin
                .program
                .as_deref()
                .is_none_or(|p| p.ends_with("/sayso"));
            assert!(named && !plugin.edited && !plugin.exists);
        }
        if host.entries().is_some() {
            let waits = installed
                .hooks
                .iter()
                .find(|h| h.own_limit.is_some())
                .unwrap();
            assert_eq!(
                (waits.host_limit, waits.own_limit),
                (Some(600.0), Some(590))
            );
            assert_eq!(waits.agent.as_deref(), Some("swe"));
            assert!(!waits.exists);
        }
        let server = installed.server.map(|s| s.agent.unwrap());
        assert_eq!(server.as_deref(), request.server.then_some("swe"));
    }
    world.write("sayso", "");
    assert!(status(Host::OpenClaw).hooks[0].exists);
    world.write("home/.claude/settings.json", "{");
    assert!(status(Host::Claude).faults[0].contains("settings.json:1:"));
    let plugin = "home/.config/opencode/plugins/sayso.js";
    world.write(plugin, &(world.text(plugin) + "// mine\n"));
    assert!(status(Host::OpenCode).plugins[0].edited);
}
