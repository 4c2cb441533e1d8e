//! `hcp mcp`: the envelope as a call of the one tool that takes envelopes, and the answer as its text.

use hcp_spec::envelope::ExecEnvelope;
use serde_json::{Value, json};

use super::home::Home;
use crate::error::KitError;
use crate::protocol::Reply;

pub(super) fn call(home: &Home, envelope: &str) -> Result<Reply, KitError> {
    let Ok(envelope) = ExecEnvelope::parse(envelope.as_bytes()) else {
        return Ok(Reply::unsupported(
            "a tool call cannot say an ill-formed envelope",
        ));
    };
    let mut words = vec!["mcp", "--tools", "search"];
    words.extend(home.session_words());
    let output = home.call_with_input(&words, &requests(&envelope))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|message| message.get("id") == Some(&json!(2)));
    let said = answer
        .as_ref()
        .and_then(|message| message.pointer("/result/content/0/text"));
    Ok(match said.and_then(Value::as_str) {
        Some(said) => Reply {
            output: Some(said.to_owned()),
            ..Reply::default()
        },
        None => Reply::failed(format!("hcp mcp gave no result: {text}")),
    })
}

/// What a client says: who it is, that it is ready, and the call.
fn requests(envelope: &ExecEnvelope) -> String {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "hcp-conformance", "version": "1" },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {
            "name": "hcp_exec",
            "arguments": {
                "pack_id": envelope.pack_id,
                "verb_key": envelope.verb_key,
                "args": envelope.args,
            },
        },
    });
    format!("{hello}\n{ready}\n{call}\n")
}
