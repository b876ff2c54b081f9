//! Paths and addresses of the policy, through the real hook and `policy check`.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::hosts::{feed, fixture};
use crate::sandbox::{Ran, Sandbox};

/// A world whose policy allows edits below `src`, `shop/src/out` being a link to `elsewhere`.
fn world(more: &str) -> Sandbox {
    let world = Sandbox::new();
    for dir in ["shop/src/deep", "elsewhere"] {
        fs::create_dir_all(world.path().join(dir)).unwrap();
    }
    fs::write(world.path().join("elsewhere/file"), "x").unwrap();
    let src = world.repo().join("src");
    symlink(world.path().join("elsewhere"), src.join("out")).unwrap();
    symlink("../../elsewhere/new", src.join("dangling")).unwrap();
    symlink("loop", src.join("loop")).unwrap();
    symlink("deep", src.join("inside")).unwrap();
    let policy = format!(
        "[agents.claude.approval_policy]\nauto_allow = [{:?}, \"WebFetch(https://docs.rs/*)\", \"WebFetch(https://*.example.com/*)\"]\n{more}\n",
        format!("Edit({}/*)", src.display())
    );
    fs::write(world.path().join("config.toml"), policy).unwrap();
    world
}

/// A host's recorded request, for this tool and input.
fn hook(world: &Sandbox, tool: &str, input: &Value) -> Ran {
    let mut payload: Value =
        serde_json::from_slice(&fixture("claude-write-PermissionRequest")).unwrap();
    payload["cwd"] = json!(world.repo());
    payload["tool_name"] = json!(tool);
    payload["tool_input"] = input.clone();
    let mut hook = world.command(["hook", "claude", "permission-request", "--timeout", "0"]);
    hook.env("SAYSO_CONFIG", world.path().join("config.toml"));
    feed(hook, payload.to_string().as_bytes())
}

fn behavior(ran: &Ran) -> String {
    if ran.stdout.is_empty() {
        return "ask".into();
    }
    let output: Value = serde_json::from_str(&ran.stdout).unwrap();
    let behavior = &output["hookSpecificOutput"]["decision"]["behavior"];
    behavior.as_str().unwrap().to_owned()
}

fn check(world: &Sandbox, tool: &str, input: &Value) -> Ran {
    let input = input.to_string();
    let args = [
        "policy", "check", "--agent", "claude", "--tool", tool, "--input", &input,
    ];
    let mut command = world.command(args);
    command.env("SAYSO_CONFIG", world.path().join("config.toml"));
    command.output().unwrap().into()
}

/// That the hook and `policy check` agree on this verdict.
#[track_caller]
fn expect(world: &Sandbox, tool: &str, input: &Value, want: &str) {
    assert_eq!(behavior(&hook(world, tool, input)), want, "{tool} {input}");
    let ran = check(world, tool, input);
    assert!(ran.stdout.starts_with(want), "{tool} {input}: {ran:?}");
}

#[test]
fn a_path_through_a_link_out_of_the_allowed_folder_asks() {
    let world = world("");
    for (path, want) in [
        ("src/a", "allow"),
        ("src/deep/new/a", "allow"),
        ("src/inside/a", "allow"),
        ("src/out/../a", "ask"),
        ("src/out", "ask"),
        ("src/out/file", "ask"),
        ("src/out/new/file", "ask"),
        ("src/./deep/..//out/file", "ask"),
        ("src/none/../out/file", "ask"),
        ("src/dangling", "ask"),
        ("src/loop", "ask"),
        ("src/loop/a", "ask"),
        ("src/a\u{0}b", "ask"),
        ("elsewhere/../src/a", "allow"),
        ("src/../a", "ask"),
    ] {
        for member in ["file_path", "path", "notebook_path"] {
            expect(&world, "Edit", &json!({ member: path }), want);
            let absolute = format!("{}/{path}", world.repo().display());
            expect(&world, "Edit", &json!({ member: absolute }), want);
        }
    }
    let asked = world.json(&["list", "--all", "--limit", "1000"]);
    assert!(asked["count"].as_u64().unwrap() > 0, "{asked}");
}

#[test]
fn what_was_checked_says_why_it_asks() {
    let world = world("");
    let ran = check(&world, "Edit", &json!({ "file_path": "src/out/file" }));
    assert_eq!(ran.code, 12);
    assert!(
        ran.stdout
            .contains("a path leads elsewhere through a symbolic link"),
        "{ran:?}"
    );
    let ran = check(&world, "Edit", &json!({ "file_path": "src/loop/x" }));
    assert!(
        ran.stdout
            .contains("the file system does not say where a path leads"),
        "{ran:?}"
    );
    let ran = check(
        &world,
        "WebFetch",
        &json!({ "url": "https://docs.rs\\@evil.com/" }),
    );
    assert!(
        ran.stdout.contains("can be read in more than one way"),
        "{ran:?}"
    );
}

#[test]
fn a_deny_counts_for_the_path_as_given_and_as_resolved() {
    let world = world(
        "auto_deny = [\"Edit(*/elsewhere/*)\", \"Edit(*/shop/src/deep/*)\"]\ndefault = \"allow\"",
    );
    for (path, want) in [
        ("src/a", "allow"),
        ("src/out/file", "deny"),
        ("src/dangling", "deny"),
        ("src/inside/a", "deny"),
        ("src/deep/../a", "allow"),
        ("src/inside/../a", "allow"),
        ("src/deep/a", "deny"),
        ("src/loop", "ask"),
    ] {
        expect(&world, "Edit", &json!({ "file_path": path }), want);
    }
}

#[test]
fn a_directory_that_cannot_be_entered_hides_where_a_path_leads() {
    use std::os::unix::fs::PermissionsExt;
    let world = world("");
    let closed = world.repo().join("src/closed");
    fs::create_dir(&closed).unwrap();
    let close = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    close(0o000);
    // Nothing is closed to root.
    let is_closed = fs::read_dir(&closed).is_err();
    let want = if is_closed { "ask" } else { "allow" };
    expect(
        &world,
        "Edit",
        &json!({ "file_path": "src/closed/a" }),
        want,
    );
    close(0o700);
    expect(
        &world,
        "Edit",
        &json!({ "file_path": "src/closed/a" }),
        "allow",
    );
}

#[test]
fn an_address_pattern_allows_exactly_its_hosts() {
    let world = world("");
    for (url, want) in [
        ("https://docs.rs/", "allow"),
        ("https://docs.rs", "allow"),
        ("https://docs.rs/x?y=https://evil.com/#z", "allow"),
        ("HTTPS://DOCS.RS/x", "allow"),
        ("https://docs.rs:443/", "allow"),
        ("https://docs.rs/../x", "allow"),
        ("https://a.example.com/x", "allow"),
        ("https://a.b.example.com/", "allow"),
        ("https://bücher.example.com/", "allow"),
        ("https://xn--bcher-kva.example.com/", "allow"),
        ("https://evil.com/?x=.example.com/", "ask"),
        ("https://evil.com/#.example.com/x", "ask"),
        ("https://evil.com/.example.com/", "ask"),
        ("https://evil.com\\.example.com/", "ask"),
        ("https://evil.com%2f.example.com/", "ask"),
        ("https://example.com/", "ask"),
        ("https://evilexample.com/", "ask"),
        ("https://docs.rs@evil.com/", "ask"),
        ("https://user@docs.rs/", "ask"),
        ("https://docs.rs.evil.com/", "ask"),
        ("https://docs.rs:8443/", "ask"),
        ("https://docs.rs:/", "ask"),
        ("https://docs.rs./", "ask"),
        ("https://docs.rs\\@evil.com/", "ask"),
        ("https:\\\\docs.rs/", "ask"),
        ("https:/docs.rs/", "ask"),
        ("https:///docs.rs/", "ask"),
        ("http://docs.rs/", "ask"),
        ("//docs.rs/", "ask"),
        ("https://docs.rs\t/", "ask"),
        ("https://do\ncs.rs/", "ask"),
        ("https://docs%2ers/", "ask"),
        ("https://docs\u{3002}rs/", "ask"),
        ("https://ｄｏｃｓ.rs/", "ask"),
        ("https://docs.rs/\u{202e}", "ask"),
        ("https://dοcs.rs/", "ask"),
        ("", "ask"),
    ] {
        expect(&world, "WebFetch", &json!({ "url": url }), want);
    }
}
