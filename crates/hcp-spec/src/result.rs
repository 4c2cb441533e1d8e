//! The result envelope (§6.2): exactly its fields, and a result that stays as the tool wrote it.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::refusal::Refusal;

/// The `result` of a call: one compact JSON text, taken over verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultValue(String);

impl ResultValue {
    /// Takes over a text that is known to be one JSON text without white space between tokens.
    pub const fn from_compact_json(text: String) -> Self {
        Self(text)
    }

    /// A string as a JSON string.
    pub fn from_text(text: &str) -> Self {
        Self(quote(text))
    }

    /// Any value, numbers and key order as it holds them.
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string())
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl Serialize for ResultValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// What every call is answered with, refusals included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultEnvelope {
    /// Whether the command did what it was asked.
    pub ok: bool,
    /// The pack id of the call, or `""` where none could be read.
    pub pack_id: String,
    /// The verb key of the call, or `""` where none could be read.
    pub verb_key: String,
    /// The result, when `ok`.
    pub result: Option<ResultValue>,
    /// Why not, when not `ok`.
    pub error: Option<String>,
    /// What a failed child wrote to stdout.
    pub stdout: Option<String>,
    /// What the child wrote to stderr, if anything.
    pub stderr: Option<String>,
}

impl ResultEnvelope {
    /// A call that succeeded.
    pub fn success(pack_id: &str, verb_key: &str, result: ResultValue) -> Self {
        Self {
            ok: true,
            pack_id: pack_id.to_owned(),
            verb_key: verb_key.to_owned(),
            result: Some(result),
            error: None,
            stdout: None,
            stderr: None,
        }
    }

    /// A call that was refused or failed, with the exact text of the refusal.
    pub fn refused(pack_id: &str, verb_key: &str, refusal: &Refusal) -> Self {
        Self::failed(pack_id, verb_key, refusal.to_string())
    }

    /// A call that failed with this text.
    pub fn failed(pack_id: &str, verb_key: &str, error: String) -> Self {
        Self {
            ok: false,
            pack_id: pack_id.to_owned(),
            verb_key: verb_key.to_owned(),
            result: None,
            error: Some(error),
            stdout: None,
            stderr: None,
        }
    }

    /// Writes the envelope as one line of JSON, without the line break. The result is copied, not
    /// parsed again.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, writer: &mut impl Write) -> io::Result<()> {
        write!(writer, "{{\"ok\":{}", self.ok)?;
        write_text(writer, "pack_id", Some(&self.pack_id))?;
        write_text(writer, "verb_key", Some(&self.verb_key))?;
        if let Some(result) = &self.result {
            writer.write_all(b",\"result\":")?;
            writer.write_all(result.0.as_bytes())?;
        }
        write_text(writer, "error", self.error.as_ref())?;
        write_text(writer, "stdout", self.stdout.as_ref())?;
        write_text(writer, "stderr", self.stderr.as_ref())?;
        writer.write_all(b"}")
    }

    /// The envelope as one line of JSON.
    pub fn to_json(&self) -> String {
        let mut bytes = Vec::with_capacity(128 + self.result.as_ref().map_or(0, |r| r.0.len()));
        match self.write_json(&mut bytes) {
            Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
            Err(_) => String::new(),
        }
    }
}

impl Serialize for ResultEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ok", &self.ok)?;
        map.serialize_entry("pack_id", &self.pack_id)?;
        map.serialize_entry("verb_key", &self.verb_key)?;
        if let Some(result) = &self.result {
            map.serialize_entry("result", result)?;
        }
        let texts = [
            ("error", &self.error),
            ("stdout", &self.stdout),
            ("stderr", &self.stderr),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                map.serialize_entry(name, text)?;
            }
        }
        map.end()
    }
}

fn write_text(writer: &mut impl Write, name: &str, text: Option<&String>) -> io::Result<()> {
    match text {
        Some(text) => write!(writer, ",\"{name}\":{}", quote(text)),
        None => Ok(()),
    }
}

fn quote(text: &str) -> String {
    // A string always has a JSON form, and this one is made without a second copy of the text.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ResultEnvelope, ResultValue};

    #[test]
    fn both_writers_say_the_same() {
        let result = ResultValue::from_compact_json("{\"n\":1e400,\"s\":\"\\ud800\"}".to_owned());
        let mut envelope = ResultEnvelope::success("a", "b \"c\"", result);
        envelope.stderr = Some("two\nlines".to_owned());
        let text = r#"{"ok":true,"pack_id":"a","verb_key":"b \"c\"","result":{"n":1e400,"s":"\ud800"},"stderr":"two\nlines"}"#;
        assert_eq!(envelope.to_json(), text);
        assert_eq!(serde_json::to_string(&envelope).unwrap(), text);
        let failed = ResultEnvelope::failed("a", "b", "exit 1".to_owned());
        assert_eq!(
            failed.to_json(),
            r#"{"ok":false,"pack_id":"a","verb_key":"b","error":"exit 1"}"#
        );
    }
}
