use proptest::prelude::*;

use super::*;
use crate::hook::install::command::Own;
use crate::hook::install::samples;

const PROGRAM: &str = "/usr/local/bin/sayso";
const PLAIN: Modes = Modes {
    ask: false,
    gate: false,
};
const ASK: Modes = Modes {
    ask: true,
    gate: false,
};

fn job(host: Host, modes: Modes) -> Job<'static> {
    Job {
        host,
        modes,
        program: PROGRAM,
        agent: None,
    }
}

fn installed(text: &str, host: Host, modes: Modes) -> String {
    install(Some(text), job(host, modes)).unwrap().text.unwrap()
}

fn removed(text: &str, host: Host) -> Option<String> {
    uninstall(Some(text), host).unwrap().text
}

/// The events of ours in a text, by the host's names, in order.
fn ours(text: &str, host: Host) -> Vec<String> {
    scan(text, host)
        .unwrap()
        .entries
        .into_iter()
        .map(|e| e.native)
        .collect()
}

fn wanted(host: Host, modes: Modes) -> Vec<String> {
    let events = host.entries().unwrap().events.iter();
    events
        .filter(|e| e.wanted(modes))
        .map(|e| e.native.to_owned())
        .collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// Case 92.
#[test]
fn other_tools_settings_stay() {
    for (host, text, stays) in [
        (
            Host::Codex,
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo hi"}]}]}}"#,
            r#""PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo hi"}]}]"#,
        ),
        (
            Host::Claude,
            r#"{"model":"sonnet","hooks":{"Stop":[]}}"#,
            r#"{"model":"sonnet","hooks":{"Stop":["#,
        ),
        (Host::Gemini, r#"{"theme":"dark"}"#, r#"{"theme":"dark","#),
        (
            Host::Cursor,
            r#"{"version":1,"hooks":{"afterFileEdit":[{"command":"./format.sh"}]}}"#,
            r#""afterFileEdit":[{"command":"./format.sh"}]"#,
        ),
    ] {
        let after = installed(text, host, PLAIN);
        assert!(after.contains(stays), "{after}");
        assert_eq!(sorted(ours(&after, host)), sorted(wanted(host, PLAIN)));
        assert_eq!(removed(&after, host).as_deref(), Some(text));
    }
}

/// Case 92: a fresh file of a host that needs a version has one.
#[test]
fn a_fresh_file_is_complete_and_disappears_again() {
    for host in [
        Host::Claude,
        Host::Codex,
        Host::Gemini,
        Host::Copilot,
        Host::Cursor,
    ] {
        let text = install(None, job(host, PLAIN)).unwrap().text.unwrap();
        let json: Json = serde_json::from_str(&text).unwrap();
        let versioned = host.entries().unwrap().versioned;
        assert_eq!(json.get("version").is_some(), versioned, "{text}");
        assert_eq!(ours(&text, host), wanted(host, PLAIN));
        assert_eq!(removed(&text, host), None, "{text}");
    }
}

/// Case 94.
#[test]
fn switching_modes_leaves_exactly_the_entries_of_the_mode() {
    for (host, ask_only, notice_only) in [
        (Host::Codex, "PermissionRequest", None),
        (Host::Claude, "PermissionRequest", Some("Notification")),
    ] {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
        let plain = installed(text, host, PLAIN);
        let ask = installed(&plain, host, ASK);
        let again = installed(&ask, host, PLAIN);
        for (text, captured) in [(&plain, false), (&ask, true), (&again, false)] {
            let names = ours(text, host);
            let count = |name: &str| names.iter().filter(|n| *n == name).count();
            assert_eq!(count(ask_only), usize::from(captured), "{text}");
            if let Some(notice) = notice_only {
                assert_eq!(count(notice), usize::from(!captured), "{text}");
            }
            assert_eq!(count("Stop"), 1, "{text}");
            assert!(text.contains(r#""command": "mine""#), "{text}");
        }
        let entry = scan(&ask, host)
            .unwrap()
            .entries
            .into_iter()
            .find(|e| e.native == ask_only);
        let entry = entry.unwrap();
        assert_eq!((entry.own.wait, entry.limit), (Some(590), Some(600.0)));
        assert_eq!(removed(&again, host).as_deref(), Some(text));
    }
}

/// Case 98.
#[test]
fn a_hook_in_the_same_group_survives() {
    let text = r#"{
  "hooks": {
    "PermissionRequest": [
      {
        "matcher": "*",
        "hooks": [
          {"type": "command", "command": "/old/sayso hook claude permission-request"},
          {"type": "command", "command": "theirs"} // mine
        ]
      }
    ]
  }
}
"#;
    let plain = installed(text, Host::Claude, PLAIN);
    assert!(
        plain.contains(r#"{"type": "command", "command": "theirs"} // mine"#),
        "{plain}"
    );
    assert!(!plain.contains("permission-request"), "{plain}");
    let ask = installed(&plain, Host::Claude, ASK);
    assert!(ask.contains(r#"{"type": "command", "command": "theirs"} // mine"#));
    assert_eq!(ask.matches("permission-request").count(), 1);
    let gone = removed(&ask, Host::Claude).unwrap();
    assert!(gone.contains("theirs") && !gone.contains("sayso"), "{gone}");
}

#[test]
fn a_group_that_says_more_than_a_matcher_stays() {
    let text = r#"{"hooks": {"PermissionRequest": [
  {"note": "mine", "hooks": [ {"command": "sayso hook claude permission-request"} ]}
]}}"#;
    let plain = removed(text, Host::Claude).unwrap();
    let left = r#"{"hooks": {"PermissionRequest": [
  {"note": "mine", "hooks": []}
]}}"#;
    assert_eq!(plain, left);
}

/// Case 99.
#[test]
fn a_shape_that_is_not_understood_is_refused_with_its_place() {
    for (text, what, line, column) in [
        (r#"{"hooks": 1}"#, "hooks is not an object", 1, 11),
        (
            "{\n \"hooks\": {\"Stop\": {}}}",
            "hooks.Stop is not an array",
            2,
            20,
        ),
        (
            r#"{"hooks": {"Stop": [1]}}"#,
            "an element of hooks.Stop is not an object",
            1,
            21,
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": {}}]}}"#,
            "\"hooks\" of an element of hooks.Stop is not an array",
            1,
            31,
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": ["é", 1]}]}]}}"#,
            "\"command\" of an entry of hooks.Stop is not a string",
            1,
            44,
        ),
        ("[]", "the top level is not an object", 1, 1),
        ("{ not json", "not valid JSON: ", 1, 3),
        ("", "not valid JSON: the file is empty", 1, 1),
        (
            r#"{"hooks": {}, "hooks": {}}"#,
            "member \"hooks\" occurs twice",
            1,
            15,
        ),
    ] {
        for result in [
            install(Some(text), job(Host::Claude, PLAIN)),
            uninstall(Some(text), Host::Claude),
        ] {
            let fault = result.unwrap_err();
            assert!(fault.what.starts_with(what), "{text}: {}", fault.what);
            assert_eq!(fault.position(text), (line, column), "{text}");
        }
    }
}

/// Case 101, and fail-closed members that somebody loosened.
#[test]
fn a_stale_entry_of_ours_is_put_right_and_nothing_around_it() {
    let gate = Modes {
        ask: false,
        gate: true,
    };
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
  {"async": false, "command": "'/old place/sayso' hook claude pre-tool-use --remember --timeout 100", "timeout": 90, "onFailure": "continue"}
]}]}}"#;
    let after = installed(text, Host::Claude, gate);
    let right = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
  {"async": false, "command": "/usr/local/bin/sayso hook claude pre-tool-use --remember --timeout 590", "timeout": 600, "onFailure": "block"}
]}]"#;
    assert!(after.starts_with(right), "{after}");
    let bare = r#"{"hooks": {"preToolUse": [{"bash": "sayso hook copilot pre-tool-use"}]}}"#;
    let after = installed(bare, Host::Copilot, gate);
    let right = r#"{"bash": "/usr/local/bin/sayso hook copilot pre-tool-use --timeout 590", "timeoutSec": 600}"#;
    assert!(after.contains(right), "{after}");
}

#[test]
fn doubles_and_misplaced_entries_of_ours_go() {
    let text = r#"{"hooks": {"Stop": [
  {"hooks": [{"type": "command", "command": "/a/sayso hook codex stop"}]},
  {"hooks": [{"type": "command", "command": "/b/sayso hook codex stop --x"}]}
], "Gone": [
  {"hooks": [{"type": "command", "command": "/b/sayso hook codex permission-request"}]}
]}}"#;
    let after = installed(text, Host::Codex, PLAIN);
    assert_eq!(ours(&after, Host::Codex), ["Stop", "SessionStart"]);
    assert!(!after.contains("Gone"), "{after}");
}

#[test]
fn an_agent_is_named_in_entries_that_wait_and_kept_later() {
    let named = Job {
        agent: Some("swe"),
        ..job(Host::Codex, ASK)
    };
    let text = install(None, named).unwrap().text.unwrap();
    let wanted = "/usr/local/bin/sayso hook codex permission-request --agent swe --timeout 590";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(installed(&text, Host::Codex, ASK), text);
}

#[test]
fn a_command_around_ours_is_reported_and_left_alone() {
    let text =
        r#"{"hooks": {"Stop": [{"hooks": [{"command": "sleep 1; sayso hook claude stop"}]}]}}"#;
    let outcome = install(Some(text), job(Host::Claude, PLAIN)).unwrap();
    assert_eq!(outcome.mentions, ["sleep 1; sayso hook claude stop"]);
    assert_eq!(
        removed(&outcome.text.unwrap(), Host::Claude).as_deref(),
        Some(text)
    );
}

/// Case A40.
#[test]
fn the_host_waits_longer_than_we_do() {
    for host in [
        Host::Claude,
        Host::Codex,
        Host::Gemini,
        Host::Copilot,
        Host::Cursor,
    ] {
        let format = host.entries().unwrap();
        let text = install(None, job(host, host.offers()))
            .unwrap()
            .text
            .unwrap();
        for entry in scan(&text, host).unwrap().entries {
            #[expect(clippy::cast_precision_loss, reason = "limits are small")]
            let host_waits = entry.limit.unwrap() / format.per_second as f64;
            #[expect(clippy::cast_precision_loss, reason = "limits are small")]
            let we_wait = entry.own.wait.map_or(0.0, |w| w as f64);
            assert!(host_waits > we_wait, "{host:?} {}", entry.native);
        }
    }
}

fn strings(value: &Value<'_>, all: &mut Vec<String>) {
    match value {
        Value::StringLit(s) => all.push(s.value.to_string()),
        Value::Array(a) => a.elements.iter().for_each(|v| strings(v, all)),
        Value::Object(o) => o.properties.iter().for_each(|p| strings(&p.value, all)),
        _ => {}
    }
}

fn modes(host: Host) -> impl Strategy<Value = Modes> {
    let offers = host.offers();
    (any::<bool>(), any::<bool>()).prop_map(move |(ask, gate)| Modes {
        ask: ask && offers.ask,
        gate: gate && offers.gate,
    })
}

fn case() -> impl Strategy<Value = (Host, String, Vec<Modes>)> {
    samples::hosts().prop_flat_map(|host| {
        let runs = prop::collection::vec(modes(host), 1..4);
        (Just(host), samples::settings(host), runs)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn install_then_uninstall_is_the_identity((host, text, runs) in case()) {
        let mut current = text.clone();
        for modes in runs {
            let outcome = install(Some(&current), job(host, modes)).unwrap();
            current = outcome.text.unwrap();
            prop_assert_eq!(sorted(ours(&current, host)), sorted(wanted(host, modes)), "{}", current);
            let again = install(Some(&current), job(host, modes)).unwrap();
            prop_assert_eq!(again.did, Vec::<String>::new());
            prop_assert_eq!(again.text.as_deref(), Some(current.as_str()));
        }
        prop_assert_eq!(removed(&current, host), Some(text));
    }

    #[test]
    fn what_was_strict_json_stays_strict_json((host, text, runs) in case()) {
        if serde_json::from_str::<Json>(&text).is_err() {
            return Ok(());
        }
        let after = installed(&text, host, runs[0]);
        prop_assert!(serde_json::from_str::<Json>(&after).is_ok(), "{}", after);
    }

    #[test]
    fn other_commands_keep_their_order((host, text, runs) in case()) {
        let foreign = samples::FOREIGN_COMMANDS;
        let theirs = |text: &str| -> Vec<String> {
            let root = Value::Object(json::object(text).unwrap());
            let mut all = Vec::new();
            strings(&root, &mut all);
            all.retain(|s| Own::parse(s, host).is_none() && foreign.contains(&s.as_str()));
            all
        };
        let after = installed(&text, host, runs[0]);
        prop_assert_eq!(theirs(&after), theirs(&text));
    }

    #[test]
    fn a_fresh_file_disappears_whatever_was_switched(host in samples::hosts(), flips in prop::collection::vec(any::<(bool, bool)>(), 1..4)) {
        let offers = host.offers();
        let mut text = None;
        for (ask, gate) in flips {
            let modes = Modes { ask: ask && offers.ask, gate: gate && offers.gate };
            text = install(text.as_deref(), job(host, modes)).unwrap().text;
        }
        prop_assert_eq!(removed(&text.unwrap(), host), None);
    }
}
