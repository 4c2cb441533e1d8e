//! A line that carries an id: `{"id":…,"envelope":{…}}` or `{"cancel":…}`.
//!
//! The envelope inside is cut out as text and judged by the one parser that judges every envelope.
//! Of a line that is neither, as much is read as can be, so that the answer carries its id.

use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope, MAX_DEPTH, describe};
use hcp_spec::json::{JsonError, parse_value};

use crate::lines::too_long;
use crate::members::Members;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A call, well-formed or not.
    Call(Wrapped),
    /// Takes back the calls with this id.
    Cancel {
        /// The id as compact JSON.
        id: String,
    },
}

/// A call with its id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// The id as compact JSON, `null` where none could be read.
    pub(super) id: String,
    /// The envelope.
    pub(super) asked: Result<ExecEnvelope, InvalidEnvelope>,
}

/// Reads a line; `is_over` when it is only the beginning of one that is too long.
pub(super) fn read(line: &[u8], is_over: bool) -> Message {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        // What stands before the fault may still hold the id.
        Err(error) => {
            let place = error.valid_up_to();
            let before = line.get(..place).and_then(|b| std::str::from_utf8(b).ok());
            let reason = if is_over {
                too_long()
            } else {
                InvalidEnvelope::new(format!("not UTF-8 at byte {place}"))
            };
            return refused(&Members::of(before.unwrap_or_default()), reason);
        }
    };
    let members = Members::of(text);
    if is_over {
        return refused(&members, too_long());
    }
    if let Some(reason) = fault(&members) {
        return refused(&members, InvalidEnvelope::new(reason));
    }
    if let (Some(cancel), [_]) = (members.get("cancel"), members.found.as_slice()) {
        return match compact(cancel) {
            Ok(id) => Message::Cancel { id },
            Err(error) => refused(&members, InvalidEnvelope::new(error.to_string())),
        };
    }
    match (members.get("id").map(compact), members.get("envelope")) {
        (Some(Ok(id)), Some(envelope)) => Message::Call(Wrapped {
            id,
            asked: ExecEnvelope::parse(envelope.as_bytes()),
        }),
        (Some(Err(error)), _) => refused(&members, InvalidEnvelope::new(error.to_string())),
        (None, _) => refused(&members, InvalidEnvelope::new("id is missing")),
        (_, None) => refused(&members, InvalidEnvelope::new("envelope is missing")),
    }
}

/// An ill-formed line, with the ids that could be read all the same.
fn refused(members: &Members<'_>, invalid: InvalidEnvelope) -> Message {
    let envelope = members.get("envelope").map(str::as_bytes);
    let (pack_id, verb_key) = match envelope.map(ExecEnvelope::parse) {
        Some(Ok(envelope)) => (envelope.pack_id, envelope.verb_key),
        Some(Err(inner)) => (inner.pack_id, inner.verb_key),
        None => Default::default(),
    };
    let id = members.get("id").and_then(|raw| compact(raw).ok());
    Message::Call(Wrapped {
        id: id.unwrap_or_else(|| "null".to_owned()),
        asked: Err(InvalidEnvelope {
            pack_id,
            verb_key,
            ..invalid
        }),
    })
}

/// JSON as it is compared and echoed: without white space, numbers as they were written.
fn compact(raw: &str) -> Result<String, JsonError> {
    Ok(parse_value(raw, MAX_DEPTH)?.to_string())
}

/// Why the line is no object with known members that stand there once.
fn fault(members: &Members<'_>) -> Option<String> {
    if let Some(error) = &members.error {
        return Some(error.to_string());
    }
    if !members.text.trim_ascii_start().starts_with('{') {
        let described = parse_value(members.text, MAX_DEPTH).map(|value| describe(&value));
        return Some(match described {
            Ok(kind) => format!("it is {kind}, not an object"),
            Err(error) => error.to_string(),
        });
    }
    let mut seen: Vec<&str> = Vec::new();
    for (key, _) in &members.found {
        if !["id", "envelope", "cancel"].contains(&key.as_str()) {
            return Some(format!("unknown field \"{key}\""));
        }
        if seen.contains(&key.as_str()) {
            return Some(format!("key \"{key}\" is given twice in one object"));
        }
        seen.push(key);
    }
    (seen.contains(&"cancel") && seen.len() > 1)
        .then(|| "cancel stands beside another field".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Message, read};

    /// A line as what it was read as: `id pack/verb`, `id (pack/verb) reason`, `cancel id`.
    fn shown(line: &[u8], is_over: bool) -> String {
        match read(line, is_over) {
            Message::Cancel { id } => format!("cancel {id}"),
            Message::Call(wrapped) => match wrapped.asked {
                Ok(asked) => format!("{} {}/{}", wrapped.id, asked.pack_id, asked.verb_key),
                Err(invalid) => format!(
                    "{} ({}/{}) {}",
                    wrapped.id, invalid.pack_id, invalid.verb_key, invalid.reason
                ),
            },
        }
    }

    #[test]
    fn lines_are_read_for_what_they_say() {
        let cases = [
            (
                r#"{"id":1,"envelope":{"pack_id":"a","verb_key":"b"}}"#,
                "1 a/b",
            ),
            (
                r#" {"envelope":{"pack_id":"a","verb_key":"b"}, "id":{ "x" : 1.10 }} "#,
                r#"{"x":1.10} a/b"#,
            ),
            (
                r#"{"id":null,"envelope":{"pack_id":"a","verb_key":"b"}}"#,
                "null a/b",
            ),
            (r#"{"cancel":"x"}"#, r#"cancel "x""#),
            (r#"{"cancel": [1, 2]}"#, "cancel [1,2]"),
            (
                r#"{"\u0063ancel":9007199254740993}"#,
                "cancel 9007199254740993",
            ),
            (r#"{"id":1}"#, "1 (/) envelope is missing"),
            (
                r#"{"envelope":{"pack_id":"a","verb_key":"b"}}"#,
                "null (a/b) id is missing",
            ),
            (
                r#"{"id":7,"envelope":{"pack_id":"a"}}"#,
                "7 (a/) verb_key is missing",
            ),
            (
                r#"{"id":7,"envelope":[]}"#,
                "7 (/) it is an array, not an object",
            ),
            (
                r#"{"id":7,"envelope":{"pack_id":"a","verb_key":"b"},"extra":1}"#,
                "7 (a/b) unknown field \"extra\"",
            ),
            (
                r#"{"id":7,"id":8,"envelope":{"pack_id":"a","verb_key":"b"}}"#,
                "null (a/b) key \"id\" is given twice in one object",
            ),
            (
                r#"{"id":7,"cancel":8}"#,
                "7 (/) cancel stands beside another field",
            ),
            (
                r#"{"id":7,"envelope":{"pack_id":"a","#,
                "7 (/) not JSON at byte 34: expected a key in quotes",
            ),
            ("[1]", "null (/) it is an array, not an object"),
            ("", "null (/) not JSON at byte 0: expected a value"),
            (
                r#"{"id":{"a":1,"a":2},"envelope":{}}"#,
                "null (/) key \"a\" is given twice in one object",
            ),
            (
                r#"{"id":7} {}"#,
                "7 (/) not JSON at byte 9: expected the end of the text",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line.as_bytes(), false), expected, "{line}");
        }
        assert_eq!(
            shown(b"{\"id\":3,\"envelope\":{\"x\":\"\xff", false),
            "3 (/) not UTF-8 at byte 25"
        );
        assert_eq!(
            shown(b"{\"id\":3,\"envelope\":{\"x", true),
            "3 (/) over 1048576 bytes"
        );
    }

    #[test]
    fn the_envelope_inside_is_judged_as_any_other() {
        let deep = format!(
            r#"{{"id":1,"envelope":{{"pack_id":"a","verb_key":"b","args":{{"x":{}{}}}}}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert_eq!(
            shown(deep.as_bytes(), false),
            "1 (a/b) nested deeper than 128 levels"
        );
        let large = format!(
            r#"{{"id":1,"envelope":{{"pack_id":"a","verb_key":"b","args":{{"x":"{}"}}}}}}"#,
            "x".repeat(1 << 20)
        );
        assert_eq!(shown(large.as_bytes(), false), "1 (/) over 1048576 bytes");
    }
}
