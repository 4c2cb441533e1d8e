//! JSON Schemas of the two envelopes. Those of manifest and config are generated from their types.

use serde_json::{Value, json};

/// The exec envelope (§6.1).
pub fn envelope() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Exec envelope",
        "type": "object",
        "additionalProperties": false,
        "required": ["verb_key"],
        "anyOf": [{ "required": ["pack_id"] }, { "required": ["surface_id"] }],
        "properties": {
            "pack_id": { "type": "string", "description": "The pack, by id." },
            "surface_id": {
                "type": "string",
                "description": "Another name for pack_id; both may stand when they are equal."
            },
            "verb_key": { "type": "string", "description": "A command that the pack declares." },
            "args": {
                "type": "object",
                "description": "The arguments of the command.",
                "properties": {
                    "confirm": { "description": "true satisfies a confirm gate." },
                    "apply": { "description": "The same as confirm." },
                    "mode": { "description": "\"mock\" asks for an explicit mock Binding." }
                }
            }
        }
    })
}

/// The result envelope (§6.2).
pub fn result() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Result envelope",
        "type": "object",
        "additionalProperties": false,
        "required": ["ok", "pack_id", "verb_key"],
        "properties": {
            "ok": { "type": "boolean", "description": "Whether the command did what it was asked." },
            "pack_id": { "type": "string" },
            "verb_key": { "type": "string" },
            "result": { "description": "JSON as the tool wrote it, or its output as a string." },
            "error": { "type": "string", "description": "Why not, when ok is false." },
            "stdout": { "type": "string", "description": "What a failed tool wrote to stdout." },
            "stderr": { "type": "string", "description": "What the tool wrote to stderr." }
        },
        "if": { "properties": { "ok": { "const": false } } },
        "then": { "required": ["error"] }
    })
}
