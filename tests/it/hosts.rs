//! A hook process with a host's input, as a test drives it.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, finish, until};

/// A recorded input.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/tests/fixtures/hosts/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(path).unwrap()
}

/// Runs a command with an input and waits for it.
pub fn feed(command: Command, input: &[u8]) -> Ran {
    finish(start(command, input))
}

fn start(mut command: Command, input: &[u8]) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that refuses its arguments does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child
}

/// A running hook.
pub struct Hook<'a> {
    world: &'a Sandbox,
    child: Child,
}

impl<'a> Hook<'a> {
    pub fn start(world: &'a Sandbox, host: &str, event: &str, input: &[u8]) -> Self {
        Self::of(world, world.command(["hook", host, event]), input)
    }

    pub fn of(world: &'a Sandbox, command: Command, input: &[u8]) -> Self {
        Self {
            world,
            child: start(command, input),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The first question that is pending in any scope.
    pub fn pending(&self) -> Value {
        until("the hook's question", || {
            let list = self.world.json(&["list", "-A"]);
            list["interactions"].as_array().unwrap().first().cloned()
        })
    }

    /// Answers the hook's question and waits for its output.
    pub fn answer(self, flags: &[&str]) -> Ran {
        let id = self.pending()["id"].as_str().unwrap().to_owned();
        let mut args = vec!["answer", "-A", &id];
        args.extend(flags);
        let answered = self.world.run(args);
        assert_eq!(answered.code, 0, "{answered:?}");
        self.finish()
    }

    pub fn close_output(&mut self) {
        drop(self.child.stdout.take());
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn finish(self) -> Ran {
        finish(self.child)
    }
}
