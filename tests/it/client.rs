//! An MCP client as a test drives it: raw JSON-RPC lines, no library.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{DEADLINE, Sandbox, text, until};

/// A server and the client's end of it.
pub struct Client<'a> {
    pub world: &'a Sandbox,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    unread: VecDeque<Value>,
    next: i64,
}

impl<'a> Client<'a> {
    /// A server with these options, after the handshake.
    pub fn start(world: &'a Sandbox, options: &[&str]) -> Self {
        let args = ["mcp", "serve"].iter().chain(options);
        Self::of(world, world.command(args))
    }

    /// A server started in some way of its own, after the handshake.
    pub fn of(world: &'a Sandbox, command: Command) -> Self {
        let mut client = Self::silent(world, command);
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let id = client.request("initialize", &params);
        let answer = client.response(&id);
        assert_eq!(answer["result"]["serverInfo"]["name"], "sayso", "{answer}");
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// A server to which nothing was said yet.
    pub fn silent(world: &'a Sandbox, mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = stdout.lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).all(|sent| sent.is_ok())
        });
        Self {
            world,
            stdin: child.stdin.take(),
            child,
            lines,
            unread: VecDeque::new(),
            next: 0,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.line(&message.to_string());
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(&message.to_string());
        id
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Calls with arguments that are text, byte for byte.
    pub fn call_verbatim(&mut self, tool: &str, arguments: &str) -> Value {
        self.next += 1;
        let id = self.next;
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        json!(id)
    }

    /// The next message that fits; every line must be one of the protocol.
    pub fn message(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at).unwrap();
        }
        let until = Instant::now() + DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => panic!("no such message within {DEADLINE:?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the server is gone"),
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if fits(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    /// The response to a request.
    pub fn response(&mut self, id: &Value) -> Value {
        self.message(|m| m["id"] == *id && m.get("method").is_none())
    }

    /// The result of a call.
    pub fn result(&mut self, id: &Value) -> Value {
        let mut response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].take()
    }

    /// The text of the one block that is all of a result.
    pub fn block_text(&mut self, id: &Value) -> String {
        let result = self.result(id);
        let names: Vec<&String> = result.as_object().unwrap().keys().collect();
        assert_eq!(names, ["content"], "{result}");
        let [block] = result["content"].as_array().unwrap().as_slice() else {
            panic!("not one block: {result}");
        };
        assert_eq!(block["type"], "text");
        text(block, "text").to_owned()
    }

    /// The object in the one block that is all of a permission's result; nothing in it is null at the top.
    pub fn block(&mut self, id: &Value) -> Value {
        let block: Value = serde_json::from_str(&self.block_text(id)).unwrap();
        let members = block.as_object().unwrap();
        assert!(members.values().all(|v| !v.is_null()), "{block}");
        assert_eq!(block["tool"], "request_approval");
        block
    }

    /// The structured content of a result, which must equal the JSON in its one text block, and whether it
    /// is an error.
    pub fn structured(&mut self, id: &Value) -> (Value, bool) {
        let result = self.result(id);
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
        let block: Value = serde_json::from_str(text(&result["content"][0], "text")).unwrap();
        assert_eq!(block, result["structuredContent"]);
        (block, result["isError"] == true)
    }

    /// The result of a call that must succeed.
    pub fn done(&mut self, id: &Value) -> Value {
        let (value, is_error) = self.structured(id);
        assert!(!is_error, "{value}");
        value
    }

    /// The result of a call that must fail.
    pub fn failed(&mut self, id: &Value) -> Value {
        let (value, is_error) = self.structured(id);
        assert!(is_error, "{value}");
        assert!(!text(&value, "error").is_empty());
        value
    }

    /// Calls and waits until exactly one question is pending.
    pub fn ask(&mut self, tool: &str, arguments: &Value) -> (Value, Value) {
        let call = self.call(tool, arguments);
        (call, self.world.await_pending())
    }

    /// Closes the server's input and waits for its end; how long that took.
    pub fn close(mut self) -> (i32, Duration) {
        drop(self.stdin.take());
        self.end()
    }

    /// Sends a signal and waits for the server's end.
    pub fn signal(mut self, signal: &str) -> (i32, Duration) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.unwrap().success());
        self.end()
    }

    fn end(&mut self) -> (i32, Duration) {
        let start = Instant::now();
        let status = until("the server's end", || self.child.try_wait().unwrap());
        (status.code().unwrap_or(-1), start.elapsed())
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
