//! A serving process and the client's ends of its pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::scene::Scene;

pub(crate) struct Serving {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl Serving {
    pub(crate) fn start(scene: &Scene, words: &[&str]) -> Self {
        let mut command = scene.hcp();
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: child.stdout.take().map(BufReader::new),
            child,
        }
    }

    /// An MCP server, past the handshake.
    pub(crate) fn mcp(scene: &Scene, words: &[&str]) -> Self {
        let mut serving = Self::start(scene, &[&["mcp"], words].concat());
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = serving.ask(json!(0), "initialize", &hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        serving.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        serving
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// The input, for a thread that writes while another reads.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn close_output(&mut self) {
        self.output = None;
    }

    /// The next line, as text.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        (count > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next line, as JSON.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.line().expect("the server ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request and waits for its answer, letting notifications pass.
    pub(crate) fn ask(&mut self, id: Value, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.answer_to(&id)
    }

    pub(crate) fn answer_to(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
        }
    }

    /// Calls a tool; the whole result.
    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Value {
        let params = json!({ "name": name, "arguments": args });
        self.ask(json!("call"), "tools/call", &params)["result"].clone()
    }

    pub(crate) fn names_of_tools(&mut self) -> Vec<String> {
        let answer = self.ask(json!("list"), "tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = std::process::Command::new("kill")
            .args([signal, &self.pid().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Closes the input, reads what is left and waits; the lines and the exit status.
    pub(crate) fn finish(mut self) -> (Vec<String>, Option<i32>) {
        self.close_input();
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            lines.push(line);
        }
        (lines, self.child.wait().unwrap().code())
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Only what a failed test left behind is still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
