//! Argv rendering (§6.4): one line of a table is one case with a pack of one command.

use serde::Deserialize;
use serde_json::{Value, json};

use super::case::{Call, Case, Expectation, Level, PackSetup, Setup};

/// A command, arguments, and the argv that they make.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rendering {
    id: String,
    level: Level,
    proves: String,
    #[serde(default = "plain_key")]
    verb_key: String,
    #[serde(default)]
    cli: Option<Vec<String>>,
    #[serde(default)]
    argv_template: Option<Vec<String>>,
    /// Declarations of arguments, where the case needs them.
    #[serde(default)]
    declared: Value,
    /// Further keys of `wrap`.
    #[serde(default)]
    wrap: Value,
    args: Value,
    #[serde(default)]
    argv: Option<Vec<String>>,
    /// The call is refused before anything runs, with an `error` that begins so.
    #[serde(default)]
    error_starts_with: Option<String>,
}

fn plain_key() -> String {
    "do".to_owned()
}

impl Rendering {
    pub(super) fn into_case(self) -> Case {
        let mut command = json!({ "summary": "What the case renders", "effect": "read" });
        if let Value::Object(fields) = &mut command {
            if let Some(cli) = &self.cli {
                fields.insert("cli".to_owned(), json!(cli));
            }
            if !self.declared.is_null() {
                fields.insert("args".to_owned(), self.declared);
            }
        }
        let mut wrap = self.wrap;
        if let Some(template) = &self.argv_template {
            super::merge(&mut wrap, &json!({ "argv_template": template }));
        }
        let patch = json!({
            "wrap": if wrap.is_null() { json!({}) } else { wrap },
            "commands": { &self.verb_key: command },
            "policy": { &self.verb_key: { "capability": "tool:use", "confirm": false } },
        });
        let refused = self.error_starts_with.is_some();
        let expect = Expectation {
            ok: refused.then_some(false),
            error_starts_with: self.error_starts_with,
            argv: self.argv,
            spawns: refused.then_some(0),
            ..Expectation::default()
        };
        let envelope = json!({ "pack_id": "tool", "verb_key": self.verb_key, "args": self.args });
        Case {
            id: self.id,
            clause: String::new(),
            level: self.level,
            proves: self.proves,
            needs_face: None,
            needs_adapter: None,
            without_adapter: None,
            setup: Setup {
                packs: Some(vec![PackSetup {
                    patch,
                    ..PackSetup::plain("tool")
                }]),
                ..Setup::default()
            },
            calls: vec![Call {
                envelope: Some(envelope),
                expect,
                ..Call::default()
            }],
        }
    }
}
