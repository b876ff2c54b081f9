//! A world in which answering a suspended question starts a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::client::Client;
use crate::sandbox::{Sandbox, text, until};

/// A world whose resume command is a script.
pub struct Resumable {
    pub world: Sandbox,
    pub out: PathBuf,
}

impl Resumable {
    /// `script` runs with `$OUT` set to a file that is not there yet.
    pub fn new(script: &str, arguments: &[&str]) -> Self {
        let world = Sandbox::new();
        let out = world.path().join("out");
        let path = world.path().join("resume.sh");
        fs::write(
            &path,
            format!("#!/bin/sh\nOUT='{}'\n{script}\n", out.display()),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let command = [&[path.to_str().unwrap()], arguments].concat();
        let resumable = Self { world, out };
        resumable.configure(&format!("[resume]\ncommand = {command:?}\n"));
        resumable
    }

    pub fn configure(&self, text: &str) {
        let dir = self.world.path().join("home/.config/sayso");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("config.toml"), text).unwrap();
    }

    /// A suspended question of a workflow and a session; the call has returned.
    pub fn suspended(&self, workflow: &str, tool: &str, arguments: &Value) -> (Value, Value) {
        let options = [
            "--workflow-id",
            workflow,
            "--session-id",
            "s-1",
            "--agent-id",
            "bot",
        ];
        let mut client = Client::start(&self.world, &options);
        let call = client.call(tool, arguments);
        let returned = if tool == "ask" {
            client.done(&call)
        } else {
            client.block(&call)
        };
        client.close();
        (returned, self.world.await_pending())
    }

    pub fn answer(&self, record: &Value, flags: &[&str]) -> Value {
        let args = ["answer", text(record, "id")];
        self.world.json(&[&args, flags].concat())
    }

    pub fn told(&self) -> String {
        until("the resumed command", || {
            fs::read_to_string(&self.out)
                .ok()
                .filter(|t| t.ends_with("end\n"))
        })
    }

    pub fn paused(&self) -> Value {
        self.world.json(&["workflow", "list"])
    }
}

/// Tells everything that the command sees.
pub const TELL: &str = r#"{ pwd; echo "$@"; echo "$SAYSO_WORKFLOW_ID $SAYSO_SESSION_ID $SAYSO_INTERACTION_ID"; stat -c %a "$SAYSO_FEEDBACK_FILE"; cmp - "$SAYSO_FEEDBACK_FILE" && cat "$SAYSO_FEEDBACK_FILE"; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#;
