//! `hcp run PACK WORD… --flag=value…`: the CLI face that hcp builds from a manifest (§6.5).

use hcp_spec::envelope::ExecEnvelope;
use serde_json::Value;

use super::exec_face;
use super::home::Home;
use crate::error::KitError;
use crate::protocol::{Exec, Reply};

pub(super) fn call(home: &Home, exec: &Exec) -> Result<Reply, KitError> {
    if exec.pairs.is_some() {
        // Pairs are what `exec` takes.
        return exec_face::call(home, exec);
    }
    let Ok(envelope) = ExecEnvelope::parse(exec.envelope.as_bytes()) else {
        return Ok(Reply::unsupported(
            "words cannot say an ill-formed envelope",
        ));
    };
    let mut flags = Vec::new();
    for (name, value) in &envelope.args {
        match text_of(value) {
            Some(text) => flags.push(format!("--{name}={text}")),
            None => return Ok(Reply::unsupported(format!("no flag says {value}"))),
        }
    }
    let mut words = vec!["run"];
    words.extend(home.session_words());
    words.push(&envelope.pack_id);
    words.extend(envelope.verb_key.split_whitespace());
    words.extend(flags.iter().map(String::as_str));
    let output = home.call_in_silence(&words)?;
    Ok(Reply {
        output: Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        exit_status: output.status.code(),
        ..Reply::default()
    })
}

/// The text of a flag that is read back as this value; flags do not say lists, objects and null, nor
/// a string that looks like another value.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => Some(text.clone()),
        Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
