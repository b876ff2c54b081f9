//! The shipped plugins, run with a stand-in for the host and one for sayso: whatever fails, nothing is
//! allowed. Skipped, and said so, where the language's interpreter is missing.

use std::process::Command;

use super::*;

/// Replies that are no answer: silence, noise, an answer with a bad exit code, a wrong type, a kill, two
/// answers, no program at all.
const NO_ANSWER: [&str; 12] = [
    "exit 0",
    "echo noise",
    "exit 1",
    "kill -9 $$",
    "echo null",
    "echo true",
    "echo '{}'",
    r#"echo '{"status":"yes","block":"no"}'"#,
    r#"echo '{"status":true,"block":0}'"#,
    r#"echo '{"status":"allow","block":false}'; exit 2"#,
    r#"echo '{"status":"allow","block":false} {}'"#,
    GONE,
];
const GONE: &str = "gone";

/// Puts one reply after the other in place and prints what comes of it.
const NODE: &str = r#"
import { existsSync, renameSync, writeFileSync } from "node:fs";
const [plugin, dir, mode, ...replies] = process.argv.slice(2);
const module = await import(plugin);
const until = async (what) => {
  const end = Date.now() + 10000;
  while (!what() && Date.now() < end) await new Promise((r) => setTimeout(r, 5));
};
for (const reply of replies) {
  writeFileSync(dir + "/reply", reply);
  if (reply === "gone") renameSync(dir + "/sayso", dir + "/moved");
  console.log(await outcome());
}
process.exit();
"#;

const OPENCODE: &str = r#"
async function outcome() {
  let sent;
  const client = { postSessionIdPermissionsPermissionId: async (r) => (sent = r.body.response) };
  const hooks = await module.sayso({ client, directory: "/w" });
  const request = { id: "p", sessionID: "s", metadata: { command: "x" } };
  const event = (type, properties) => hooks.event({ event: { type, properties } });
  if (mode === "direct") {
    const output = { status: "ask" };
    await hooks["permission.ask"](request, output);
    return output.status;
  }
  await event("permission.asked", request);
  if (mode === "local") {
    await until(() => existsSync(dir + "/started"));
    await event("permission.replied", { requestID: "p" });
    await until(() => existsSync(dir + "/withdrawn"));
    return `${existsSync(dir + "/withdrawn")} ${sent}`;
  }
  await until(() => sent);
  return sent;
}
"#;

const PI: &str = r#"
async function outcome() {
  let handler;
  module.default({ on: (_, h) => (handler = h) });
  const event = { toolName: "bash", toolCallId: "t", input: { command: "x", list: [1] } };
  const confirm = async () => {
    if (mode === "changes") event.input.command = "y";
    return mode === "cancels" ? undefined : mode !== "no";
  };
  const result = await handler(event, { cwd: "/w", hasUI: mode !== "none", ui: { confirm } });
  return `${result?.block ? "block" : "run"} ${Object.isFrozen(event.input.list)}`;
}
"#;

const HERMES: &str = r#"
import importlib.util, os, sys
path, dir, mode, *replies = sys.argv[1:]
spec = importlib.util.spec_from_file_location("plugin", path)
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
class Old: pass
plugin.register(Old())
class New:
    def register_approval_transport(self, name, present): self.present = present
new = New()
plugin.register(new)
class Request:
    request_id, command, description = "r", "x", "y"
    timeout_seconds, allowed_choices = 30.0, ("once", "session", "deny")
    def respond(self, choice): return choice
for reply in replies:
    open(dir + "/reply", "w").write(reply)
    if reply == "gone": os.rename(dir + "/sayso", dir + "/moved")
    try:
        print(new.present(Request()))
    except Exception:
        print("raised")
"#;

/// Runs a host's plugin against each reply of the program in sayso's place, and compares what comes of
/// it, which is nothing if there is no interpreter.
fn check(host: Host, file: &str, harness: &str, mode: &str, cases: &[(&str, &str)]) {
    let world = World::new();
    let program = world.path("sayso");
    let dir = world.root.path().to_str().unwrap();
    fs::write(&program, format!("#!/bin/sh\nW={dir}\n. $W/reply\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let request = Request {
        program,
        ..request(host, host.offers())
    };
    world.run(Verb::Install, &request).unwrap();
    let (interpreter, name, harness) = if host == Host::Hermes {
        ("python3", "harness.py", harness.to_owned())
    } else {
        ("node", "harness.mjs", format!("{NODE}{harness}"))
    };
    world.write(name, &harness);
    // Node takes a module's language from its name.
    let module = world.path(if host == Host::Hermes {
        "plugin.py"
    } else {
        "plugin.mjs"
    });
    fs::copy(world.path(file), &module).unwrap();
    let output = Command::new(interpreter)
        .args([&world.path(name), &module])
        .args([dir, mode])
        .args(cases.iter().map(|(reply, _)| reply))
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: {interpreter} is not installed, so {file} was not run");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = cases
        .iter()
        .map(|(reply, _)| *reply)
        .zip(said.lines())
        .collect();
    assert_eq!(
        said,
        cases,
        "{mode}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn all(replies: &[&'static str], outcome: &'static str) -> Vec<(&'static str, &'static str)> {
    replies.iter().map(|reply| (*reply, outcome)).collect()
}

#[test]
fn opencode_hears_only_clear_answers() {
    let allow = r#"cat >/dev/null; echo '{"status":"allow"}'"#;
    let deny = r#"cat >/dev/null; echo '{"status":"deny","message":"no"}'"#;
    let file = "home/.config/opencode/plugins/sayso.js";
    let direct = [
        vec![(allow, "allow"), (deny, "deny")],
        all(&NO_ANSWER, "ask"),
    ]
    .concat();
    check(Host::OpenCode, file, OPENCODE, "direct", &direct);
    let event = [(allow, "once"), (deny, "reject")];
    check(Host::OpenCode, file, OPENCODE, "event", &event);
}

#[test]
fn opencode_withdraws_what_was_answered_there() {
    let waits = "trap 'touch $W/withdrawn; exit' TERM; mkfifo $W/never; touch $W/started; read x <> $W/never";
    let file = "home/.config/opencode/plugins/sayso.js";
    check(
        Host::OpenCode,
        file,
        OPENCODE,
        "local",
        &[(waits, "true undefined")],
    );
}

#[test]
fn pi_runs_nothing_that_was_not_allowed() {
    let file = "home/.pi/agent/extensions/sayso.ts";
    let allow = r#"echo '{"block":false}'"#;
    let deny = r#"echo '{"block":true}'"#;
    let nobody = [
        vec![(allow, "run true"), (deny, "block false")],
        all(&NO_ANSWER, "block false"),
    ];
    check(Host::Pi, file, PI, "none", &nobody.concat());
    for (human, outcome) in [
        ("yes", "run true"),
        ("no", "block false"),
        ("cancels", "block false"),
        ("changes", "block false"),
    ] {
        check(
            Host::Pi,
            file,
            PI,
            human,
            &[(deny, "block false"), (NO_ANSWER[2], outcome)],
        );
    }
}

#[test]
fn hermes_is_answered_or_an_error_is_raised() {
    let file = "home/.hermes/plugins/sayso/__init__.py";
    let cases = [
        vec![
            ("echo once", "once"),
            ("echo session", "session"),
            ("echo deny; exit 10", "deny"),
            ("echo deny", "raised"),
            ("echo once; exit 10", "raised"),
            ("echo once; exit 11", "raised"),
            ("echo once; exit 124", "raised"),
            ("echo always", "raised"),
        ],
        all(&NO_ANSWER, "raised"),
    ];
    check(Host::Hermes, file, HERMES, "", &cases.concat());
}
