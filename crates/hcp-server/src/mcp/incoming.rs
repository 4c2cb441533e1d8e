//! A line of the client, read strictly: what it may say is judged as an envelope is.
//!
//! The types of the protocol library would keep the last of two equal keys and give one key a meaning
//! of its own; arguments of a call may suffer neither. So a line is parsed here, and arguments are
//! carried around those types. A call that cannot be accepted still becomes a call, which answers
//! with `invalid envelope`: an agent can branch on a result, not on a protocol error (§6.2).

use hcp_spec::envelope::{InvalidEnvelope, MAX_BYTES, MAX_DEPTH, describe};
use hcp_spec::json::{parse_value, unescape};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, Extensions,
    JsonRpcMessage, RequestId,
};
use serde_json::{Map, Value, json};

use crate::lines::{Line, too_long};
use crate::members::Members;

/// How much deeper than an envelope its message is nested.
const MESSAGE_DEPTH: usize = 2;

/// What a line is.
pub(super) enum Incoming {
    /// A message of the protocol.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that could be handed on; what is answered instead.
    Refused(Value),
}

/// Stands in the extensions of a call that is none.
#[derive(Clone, Debug)]
pub(super) struct Malformed(pub(super) InvalidEnvelope);

/// Reads a line; `None` when there is nothing on it.
pub(super) fn read(line: &Line) -> Option<Incoming> {
    if line.bytes.trim_ascii().is_empty() && !line.is_over {
        return None;
    }
    let text = match std::str::from_utf8(&line.bytes) {
        Ok(text) => text,
        Err(error) => {
            let place = error.valid_up_to();
            let whole = line.bytes.get(..place).unwrap_or_default();
            let reason = if line.is_over {
                too_long().reason
            } else {
                format!("not UTF-8 at byte {place}")
            };
            let before = std::str::from_utf8(whole).unwrap_or_default();
            return Some(salvage(before, -32700, reason));
        }
    };
    if line.is_over {
        return Some(salvage(text, -32600, too_long().reason));
    }
    Some(match parse_value(text, MAX_DEPTH + MESSAGE_DEPTH) {
        Ok(Value::Object(message)) => typed(message, text.len()),
        Ok(other) => {
            let reason = format!("the message is {}, not an object", describe(&other));
            refused(None, -32600, &reason)
        }
        Err(error) => {
            let reason = match error {
                hcp_spec::json::JsonError::Depth { .. } => too_deep().reason,
                other => other.to_string(),
            };
            salvage(text, -32700, reason)
        }
    })
}

/// What is said of an envelope that is nested too deep.
pub(super) fn too_deep() -> InvalidEnvelope {
    InvalidEnvelope::new(format!("nested deeper than {MAX_DEPTH} levels"))
}

fn typed(mut message: Map<String, Value>, size: usize) -> Incoming {
    let id = message.get("id").cloned();
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    let params = message.get_mut("params").and_then(Value::as_object_mut);
    let arguments = match (is_call, params) {
        (true, Some(params)) => params.remove("arguments"),
        _ => None,
    };
    let read = match serde_json::from_value(Value::Object(message)) {
        Ok(read) => read,
        Err(error) => {
            return refused(id.as_ref(), -32600, &error.to_string());
        }
    };
    if is_call && !is_call_request(&read) {
        return refused(id.as_ref(), -32602, "params.name must be a string");
    }
    Incoming::Message(Box::new(with_arguments(read, arguments, size)))
}

fn is_call_request(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    matches!(request.request, ClientRequest::CallToolRequest(_))
}

fn with_arguments(
    mut message: ClientJsonRpcMessage,
    arguments: Option<Value>,
    size: usize,
) -> ClientJsonRpcMessage {
    if let JsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
    {
        let fault = match arguments {
            // Some clients write an absent value as `null`.
            None | Some(Value::Null) => None,
            Some(Value::Object(arguments)) => {
                let is_over = size > MAX_BYTES
                    && Value::Object(arguments.clone()).to_string().len() > MAX_BYTES;
                call.params.arguments = Some(arguments);
                is_over.then(too_long)
            }
            Some(other) => {
                let reason = format!("args must be an object, not {}", describe(&other));
                Some(InvalidEnvelope::new(reason))
            }
        };
        if let Some(fault) = fault {
            call.extensions.insert(Malformed(fault));
        }
    }
    message
}

/// Makes the most of a line that is no message: a call is answered as one, everything else as an
/// error under its id.
fn salvage(text: &str, code: i64, reason: String) -> Incoming {
    let members = Members::of(text);
    let id = members
        .get("id")
        .and_then(|raw| parse_value(raw, MAX_DEPTH).ok());
    let method = members.get("method").and_then(unescape);
    let request_id = id
        .clone()
        .and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    let (Some(request_id), Some("tools/call")) = (request_id, method.as_deref()) else {
        return refused(id.as_ref(), code, &reason);
    };
    let params = members.get("params").map(Members::of);
    let name = params
        .and_then(|params| params.get("name").and_then(unescape))
        .unwrap_or_default();
    let mut extensions = Extensions::new();
    extensions.insert(Malformed(InvalidEnvelope::new(reason)));
    let mut call = CallToolRequest::new(CallToolRequestParams::new(name));
    call.extensions = extensions;
    Incoming::Message(Box::new(JsonRpcMessage::request(
        ClientRequest::CallToolRequest(call),
        request_id,
    )))
}

fn refused(id: Option<&Value>, code: i64, reason: &str) -> Incoming {
    Incoming::Refused(json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": code, "message": reason },
    }))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientRequest, JsonRpcMessage};
    use serde_json::Value;

    use super::{Incoming, Malformed, read};
    use crate::lines::Line;

    /// A line as what it was read as: `call <id> <name> <arguments>`, `malformed <id> <name> <reason>`,
    /// `request`, `notification`, `response`, or the error that is answered.
    fn shown(bytes: &[u8], is_over: bool) -> String {
        let line = Line {
            bytes: bytes.to_owned(),
            is_over,
        };
        let message = match read(&line) {
            None => return "nothing".to_owned(),
            Some(Incoming::Refused(answer)) => {
                let (id, error) = (&answer["id"], &answer["error"]);
                let message = error["message"].as_str().unwrap();
                return format!("{} {id} {message}", error["code"]);
            }
            Some(Incoming::Message(message)) => *message,
        };
        match message {
            JsonRpcMessage::Request(request) => match request.request {
                ClientRequest::CallToolRequest(call) => {
                    let (id, name) = (request.id, &call.params.name);
                    if let Some(Malformed(invalid)) = call.extensions.get::<Malformed>() {
                        format!("malformed {id} {name} {}", invalid.reason)
                    } else {
                        let arguments = call.params.arguments.map(Value::Object);
                        format!("call {id} {name} {}", arguments.unwrap_or_default())
                    }
                }
                _ => "request".to_owned(),
            },
            JsonRpcMessage::Notification(_) => "notification".to_owned(),
            _ => "response".to_owned(),
        }
    }

    fn call(rest: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a__b"{rest}}}}}"#
        )
    }

    #[test]
    fn calls_keep_their_arguments_and_malformed_ones_stay_calls() {
        let deep = format!(
            r#","arguments":{{"x":{}{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let cases = [
            (call(""), "call 1 a__b null"),
            (call(r#","arguments":null"#), "call 1 a__b null"),
            (
                call(r#","arguments":{"n":1e+400,"m":1.10,"$serde_json::private::Number":"1"}"#),
                r#"call 1 a__b {"n":1e+400,"m":1.10,"$serde_json::private::Number":"1"}"#,
            ),
            (
                call(r#","arguments":[1]"#),
                "malformed 1 a__b args must be an object, not an array",
            ),
            (
                call(r#","arguments":{"x":1,"x":2}"#),
                "malformed 1 a__b key \"x\" is given twice in one object",
            ),
            (
                call(&deep),
                "malformed 1 a__b nested deeper than 128 levels",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"i","method":"tools/call","params":{"arguments":{}}}"#
                    .to_owned(),
                "-32602 \"i\" params.name must be a string",
            ),
        ];
        for (line, expected) in cases {
            let shown = shown(line.as_bytes(), false);
            assert!(shown.starts_with(expected), "{line}: {shown}");
        }
        let cut = call(r#","arguments":{"x":"xxxxxxxx"#);
        let cut = cut.trim_end_matches('}').as_bytes();
        assert_eq!(shown(cut, true), "malformed 1  over 1048576 bytes");
    }

    #[test]
    fn other_lines_are_handed_on_or_refused_under_their_id() {
        let cases: [(&[u8], &str); 9] = [
            (b"", "nothing"),
            (b" \r", "nothing"),
            (b"x", "-32700 null not JSON at byte 0: expected a value"),
            (b"[]", "-32600 null the message is an array, not an object"),
            (b"\xff", "-32700 null not UTF-8 at byte 0"),
            (
                br#"{"jsonrpc":"2.0","id":7,"method":"ping","x":"\ud800"}"#,
                "-32700 7 not JSON",
            ),
            (br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "request"),
            (
                br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                "notification",
            ),
            (br#"{"jsonrpc":"2.0","id":7}"#, "-32600 7 "),
        ];
        for (line, expected) in cases {
            let shown = shown(line, false);
            assert!(shown.starts_with(expected), "{line:?}: {shown}");
        }
    }
}
