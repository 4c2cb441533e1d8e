//! Starting an entry as a client would, to see that it answers and what it offers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Entry;

/// How long a client would wait at least.
const PATIENCE: Duration = Duration::from_secs(20);

/// The names of the tools that the entry offers.
///
/// # Errors
/// One line: it does not start, does not answer, or answers with an error.
pub(super) fn list_tools(entry: &Entry) -> Result<Vec<String>, String> {
    let mut child = Command::new(&entry.command)
        .args(&entry.args)
        .envs(entry.env.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it does not start: {error}"))?;
    let listed = converse(&mut child);
    // It ends with its input; one that does not is ended.
    drop(child.stdin.take());
    let _ = child.kill();
    let _ = child.wait();
    listed
}

fn converse(child: &mut Child) -> Result<Vec<String>, String> {
    let (Some(stdin), Some(stdout)) = (child.stdin.as_mut(), child.stdout.take()) else {
        return Err("it has no pipes".to_owned());
    };
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "hcp connect", "version": env!("CARGO_PKG_VERSION") },
    });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    for message in messages {
        writeln!(stdin, "{message}").map_err(|error| format!("it does not listen: {error}"))?;
    }
    let (found, lines) = channel();
    // The thread ends with the child's output.
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if found.send(line).is_err() {
                return;
            }
        }
    });
    let answer = answer(&lines)?;
    if let Some(error) = answer.get("error") {
        return Err(format!("it answers with an error: {error}"));
    }
    let tools = answer.pointer("/result/tools").and_then(Value::as_array);
    let names = tools
        .into_iter()
        .flatten()
        .filter_map(|tool| tool.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}

fn answer(lines: &Receiver<String>) -> Result<Value, String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = lines
            .recv_timeout(left)
            .map_err(|_| "it does not answer".to_owned())?;
        let message: Value = serde_json::from_str(&line)
            .map_err(|error| format!("it writes what is no message: {error}"))?;
        if message.get("id") == Some(&json!(2)) {
            return Ok(message);
        }
    }
}
