//! The exec envelope (§6.1): one JSON object, parsed once, ill-formed in no way afterwards.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::json::{JsonError, parse_value};

/// The largest envelope, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting, in levels; the envelope itself is the first.
pub const MAX_DEPTH: usize = 128;

/// The arguments of a call, in the order they were written.
pub type Arguments = Map<String, Value>;

/// What an Invoker asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecEnvelope {
    /// The pack, by id; as given, step 1 judges it.
    pub pack_id: String,
    /// The command, by key; as given, step 3 judges it.
    pub verb_key: String,
    /// Arguments, the reserved ones (`confirm`, `apply`, `mode`) included.
    pub args: Arguments,
}

/// A text that is no exec envelope: the ids that could be read, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid envelope: {reason}")]
pub struct InvalidEnvelope {
    /// The pack id, or `""`.
    pub pack_id: String,
    /// The verb key, or `""`.
    pub verb_key: String,
    /// What is wrong, on one line.
    pub reason: String,
}

impl ExecEnvelope {
    /// Parses an envelope from bytes as they came in.
    ///
    /// # Errors
    /// [`InvalidEnvelope`] when it is too large or too deep, not UTF-8, not one JSON object, has a
    /// key twice, an unknown field, a field of the wrong type, no id, or two different pack ids.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidEnvelope> {
        if bytes.len() > MAX_BYTES {
            return Err(InvalidEnvelope::new(format!("over {MAX_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            InvalidEnvelope::new(format!("not UTF-8 at byte {}", error.valid_up_to()))
        })?;
        let value = parse_value(text, MAX_DEPTH).map_err(|error| InvalidEnvelope {
            reason: error.to_string(),
            ..readable_ids(text, &error)
        })?;
        Self::from_value(value)
    }

    /// Reads an envelope from a value that is already free of duplicate keys.
    ///
    /// # Errors
    /// [`InvalidEnvelope`], as [`ExecEnvelope::parse`].
    pub fn from_value(value: Value) -> Result<Self, InvalidEnvelope> {
        let Value::Object(mut fields) = value else {
            return Err(InvalidEnvelope::new(format!(
                "it is {}, not an object",
                describe(&value)
            )));
        };
        let ids = |fields: &Map<String, Value>| {
            let text = |key| {
                fields
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let pack_id = text("pack_id");
            let pack_id = if pack_id.is_empty() {
                text("surface_id")
            } else {
                pack_id
            };
            (pack_id, text("verb_key"))
        };
        let (read_pack, read_verb) = ids(&fields);
        let wrong = |reason| InvalidEnvelope {
            pack_id: read_pack.clone(),
            verb_key: read_verb.clone(),
            reason,
        };
        let known = ["pack_id", "surface_id", "verb_key", "args"];
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(wrong(format!("unknown field \"{unknown}\"")));
        }
        let pack_id = text_field(&fields, "pack_id").map_err(&wrong)?;
        let alias = text_field(&fields, "surface_id").map_err(&wrong)?;
        let verb_key = text_field(&fields, "verb_key").map_err(&wrong)?;
        let args = match fields.remove("args") {
            None => Arguments::new(),
            Some(Value::Object(args)) => args,
            Some(other) => {
                return Err(wrong(format!(
                    "args must be an object, not {}",
                    describe(&other)
                )));
            }
        };
        let pack_id = match (pack_id, alias) {
            (Some(pack_id), Some(alias)) if pack_id != alias => {
                return Err(wrong("pack_id and surface_id differ".to_owned()));
            }
            (Some(id), _) | (None, Some(id)) => id,
            (None, None) => return Err(wrong("pack_id is missing".to_owned())),
        };
        let verb_key = verb_key.ok_or_else(|| wrong("verb_key is missing".to_owned()))?;
        Ok(Self {
            pack_id,
            verb_key,
            args,
        })
    }
}

impl InvalidEnvelope {
    /// An ill-formed envelope of which nothing could be read.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            pack_id: String::new(),
            verb_key: String::new(),
            reason: reason.into(),
        }
    }
}

fn text_field(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match fields.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("{key} must be a string, not {}", describe(other))),
    }
}

/// A key that stands twice spoils the envelope, not what else it says: the ids are still told when
/// they are unambiguous in the text.
fn readable_ids(text: &str, error: &JsonError) -> InvalidEnvelope {
    let mut found = InvalidEnvelope::new(String::new());
    if !matches!(
        error,
        JsonError::DuplicateKey { .. } | JsonError::Depth { .. }
    ) {
        return found;
    }
    for (key, slot) in [("pack_id", true), ("surface_id", true), ("verb_key", false)] {
        let mut values = top_level_strings(text, key);
        let (Some(value), None) = (values.next(), values.next()) else {
            continue;
        };
        if slot && found.pack_id.is_empty() {
            found.pack_id = value;
        } else if !slot {
            found.verb_key = value;
        }
    }
    found
}

fn top_level_strings<'a>(text: &'a str, wanted: &'a str) -> impl Iterator<Item = String> + 'a {
    use crate::json::{Event, Scanner, unescape};
    let mut scanner = Scanner::new(text, MAX_BYTES);
    std::iter::from_fn(move || {
        loop {
            match scanner.next().ok().flatten()? {
                Event::Key(raw) if scanner.depth() == 1 && unescape(raw)? == wanted => {
                    if let Event::String(raw) = scanner.next().ok().flatten()? {
                        return unescape(raw);
                    }
                }
                _ => {}
            }
        }
    })
}

/// The kind of a JSON value, with its article, as a message names it.
pub const fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{ExecEnvelope, MAX_BYTES};

    #[test]
    fn well_formed_envelopes() {
        let plain = ExecEnvelope::parse(br#"{"pack_id":"a","verb_key":"b"}"#).unwrap();
        assert!(plain.args.is_empty());
        for text in [
            r#"{"surface_id":"a","verb_key":"b"}"#,
            r#"{"surface_id":"a","pack_id":"a","verb_key":"b","args":{}}"#,
        ] {
            assert_eq!(ExecEnvelope::parse(text.as_bytes()).unwrap(), plain);
        }
    }

    #[test]
    fn every_ill_formed_kind_says_why_and_which() {
        let deep = format!(
            r#"{{"pack_id":"a","verb_key":"b","args":{{"x":{}{}}}}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        let cases: [(&str, &str, &str, &str); 14] = [
            ("", "", "", "not JSON at byte 0: expected a value"),
            ("[1]", "", "", "it is an array, not an object"),
            ("{}", "", "", "pack_id is missing"),
            (r#"{"pack_id":"a"}"#, "a", "", "verb_key is missing"),
            (r#"{"verb_key":"b"}"#, "", "b", "pack_id is missing"),
            (
                r#"{"pack_id":1,"verb_key":"b"}"#,
                "",
                "b",
                "pack_id must be a string, not a number",
            ),
            (
                r#"{"pack_id":"a","verb_key":null}"#,
                "a",
                "",
                "verb_key must be a string, not null",
            ),
            (
                r#"{"pack_id":"a","verb_key":"b","args":null}"#,
                "a",
                "b",
                "args must be an object, not null",
            ),
            (
                r#"{"pack_id":"a","verb_key":"b","args":[]}"#,
                "a",
                "b",
                "args must be an object, not an array",
            ),
            (
                r#"{"pack_id":"a","surface_id":"c","verb_key":"b"}"#,
                "a",
                "b",
                "pack_id and surface_id differ",
            ),
            (
                r#"{"pack_id":"a","verb_key":"b","token":"t"}"#,
                "a",
                "b",
                "unknown field \"token\"",
            ),
            (
                r#"{"pack_id":"a","verb_key":"b","args":{"x":{"y":1,"y":2}}}"#,
                "a",
                "b",
                "key \"y\" is given twice in one object",
            ),
            (
                r#"{"pack_id":"a","pack_id":"a","verb_key":"b"}"#,
                "",
                "b",
                "key \"pack_id\" is given twice in one object",
            ),
            (&deep, "a", "b", "nested deeper than 128 levels"),
        ];
        for (text, pack_id, verb_key, reason) in cases {
            let invalid = ExecEnvelope::parse(text.as_bytes()).unwrap_err();
            assert_eq!(invalid.reason, reason);
            assert_eq!(invalid.pack_id, pack_id, "{reason}");
            assert_eq!(invalid.verb_key, verb_key, "{reason}");
            assert_eq!(invalid.to_string(), format!("invalid envelope: {reason}"));
        }
        let large = vec![b' '; MAX_BYTES + 1];
        assert_eq!(
            ExecEnvelope::parse(&large).unwrap_err().reason,
            "over 1048576 bytes"
        );
        let bytes = b"{\"pack_id\":\"\xff\"}";
        assert_eq!(
            ExecEnvelope::parse(bytes).unwrap_err().reason,
            "not UTF-8 at byte 12"
        );
    }

    #[test]
    fn depth_of_128_is_the_last_that_passes() {
        let nested = |levels: usize| {
            format!(
                r#"{{"pack_id":"a","verb_key":"b","args":{{"x":{}{}}}}}"#,
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert!(ExecEnvelope::parse(nested(126).as_bytes()).is_ok());
        assert!(ExecEnvelope::parse(nested(127).as_bytes()).is_err());
    }
}
