//! An ask that was set apart from its parent and terminal on purpose goes on waiting when they are gone;
//! any other is withdrawn.

use std::fs;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::hosts::fixture;
use crate::sandbox::{Sandbox, binary, finish, has, text, until};

/// Runs a script whose last command is a job of its shell, kills the shell once the job's question is
/// there, and returns the job's process and its question.
fn orphaned(world: &Sandbox, shell: &str, job: &str) -> (u32, String) {
    let mut command = Command::new(shell);
    world.dress(&mut command);
    let script = format!("{job} & echo $! > pid; read line");
    command.args(["-c", &script, binary()]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut parent = command.spawn().unwrap();
    let id = text(&world.await_pending(), "id").to_owned();
    let pid = until("the job's process", || {
        let pid = fs::read_to_string(world.repo().join("pid")).ok()?;
        pid.trim().parse().ok()
    });
    until("the wait", || {
        (world.get(&id)["waiting"] == "yes").then_some(())
    });
    parent.kill().unwrap();
    parent.wait().unwrap();
    (pid, id)
}

/// How often a process has gone to sleep.
fn sleeps(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = "voluntary_ctxt_switches:";
    let count = status.lines().find_map(|l| l.strip_prefix(line)).unwrap();
    count.trim().parse().unwrap()
}

/// Waits until a process has looked about itself again, and gone on waiting.
fn looked_again(pid: u32) {
    let before = sleeps(pid);
    until("another look", || (sleeps(pid) > before + 2).then_some(()));
}

fn answer_reaches(world: &Sandbox, id: &str, said: &str) {
    let data = world.json(&["answer", id, "--allow"]);
    assert_eq!(data["delivery_state"], "delivered");
    until("the answer", || {
        let answer = fs::read_to_string(world.repo().join("answer")).unwrap();
        (answer == said).then_some(())
    });
}

#[test]
fn an_ask_that_was_set_apart_goes_on_waiting() {
    for (shell, job) in [
        ("sh", "nohup \"$0\" ask Deploy? > answer"),
        ("sh", "setsid \"$0\" ask Deploy? > answer"),
        ("sh", "trap '' HUP; \"$0\" ask Deploy? > answer"),
        ("bash", "nohup \"$0\" ask Deploy? > answer & disown; true"),
        ("bash", "set -m; trap '' HUP; \"$0\" ask Deploy? > answer"),
    ] {
        if !has(shell, job) || (job.starts_with("setsid") && !has("setsid", job)) {
            continue;
        }
        let world = Sandbox::new();
        let job = match job.strip_suffix(" & disown; true") {
            // The process is the one before it was disowned.
            Some(kept) => format!("{kept} & echo $! > pid; disown; read line; true"),
            None => job.to_owned(),
        };
        let (pid, id) = orphaned(&world, shell, &job);
        looked_again(pid);
        assert_eq!(world.get(&id)["waiting"], "yes", "{job}");
        answer_reaches(&world, &id, "allow-once\n");
    }
}

#[test]
fn a_wait_that_was_set_apart_goes_on_waiting() {
    let world = Sandbox::new();
    let id = text(&world.request(&["Deploy?"]), "id").to_owned();
    let job = format!("nohup \"$0\" wait {id} --timeout 300 > answer");
    let (pid, _) = orphaned(&world, "sh", &job);
    looked_again(pid);
    answer_reaches(&world, &id, "answered\n");
}

#[test]
fn a_job_that_was_only_put_in_the_background_is_withdrawn() {
    let payload = "hook claude permission-request < payload";
    for (shell, job) in [
        ("sh", "\"$0\" ask Deploy? > answer".to_owned()),
        ("sh", "trap '' INT QUIT; \"$0\" ask Deploy? > answer".into()),
        ("sh", "(\"$0\" ask Deploy? > answer; true)".into()),
        (
            "bash",
            "\"$0\" ask Deploy? > answer & echo $! > pid; disown; read line; true".into(),
        ),
        // A hook answers the host that started it, and nobody else.
        ("sh", format!("nohup \"$0\" {payload} > answer")),
        ("sh", format!("setsid \"$0\" {payload} > answer")),
    ] {
        if !has(shell, &job) || (job.starts_with("setsid") && !has("setsid", &job)) {
            continue;
        }
        let world = Sandbox::new();
        fs::write(
            world.repo().join("payload"),
            fixture("claude-bash-PermissionRequest"),
        )
        .unwrap();
        let inner = job.starts_with('(');
        let (pid, id) = orphaned(&world, shell, &job);
        if inner {
            // The job is a shell that waits for the asker in its turn.
            kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
        }
        until("the question to be withdrawn", || {
            (world.get(&id)["status"] == "cancelled").then_some(())
        });
        let answer = fs::read_to_string(world.repo().join("answer")).unwrap();
        assert!(!answer.contains("allow"), "{job}: {answer}");
    }
}

#[test]
fn every_signal_that_the_parent_ignores_stays_ignored() {
    for (name, signal) in [
        ("INT", Signal::SIGINT),
        ("QUIT", Signal::SIGQUIT),
        ("HUP", Signal::SIGHUP),
        ("TERM", Signal::SIGTERM),
    ] {
        let world = Sandbox::new();
        let mut command = Command::new("sh");
        world.dress(&mut command);
        let script = format!("trap '' {name}; exec \"$0\" ask Deploy?");
        command.args(["-c", &script, binary()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let ask = command.spawn().unwrap();
        let id = text(&world.await_pending(), "id").to_owned();
        kill(Pid::from_raw(i32::try_from(ask.id()).unwrap()), signal).unwrap();
        world.json(&["answer", &id, "--allow"]);
        let ran = finish(ask);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "allow-once\n"),
            "{name}"
        );
        // Not ignored, the same one withdraws.
        let ask = world.start(["ask", "Deploy?"]);
        let id = text(&world.await_pending(), "id").to_owned();
        kill(Pid::from_raw(i32::try_from(ask.id()).unwrap()), signal).unwrap();
        assert_eq!(finish(ask).code, 128 + signal as i32, "{name}");
        assert_eq!(world.get(&id)["status"], "cancelled", "{name}");
    }
}
