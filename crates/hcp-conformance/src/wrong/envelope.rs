//! §6.1: reading an exec envelope.

use hcp_spec::envelope::{Arguments, ExecEnvelope, InvalidEnvelope, MAX_BYTES};
use serde_json::{Map, Value, json};

use super::WrongRuntime;

impl WrongRuntime {
    pub(super) fn read_envelope(&self, text: &str) -> Result<ExecEnvelope, InvalidEnvelope> {
        let text = if self.faults.has("no-size-limit") && text.len() > MAX_BYTES {
            text.trim_end()
        } else {
            text
        };
        let read = match self.misread(text) {
            Some(Value::Object(fields)) => from_fields(&fields),
            Some(_) | None => ExecEnvelope::parse(text.as_bytes()),
        };
        let mut envelope = read.map_err(|invalid| {
            if self.faults.has("invalid-without-ids") {
                return InvalidEnvelope::new(invalid.reason);
            }
            invalid
        })?;
        self.misunderstand(&mut envelope);
        Ok(envelope)
    }

    /// The envelope as a faulty reader makes it out, where that differs.
    fn misread(&self, text: &str) -> Option<Value> {
        let has = |name| self.faults.has(name);
        if has("mends-json") && serde_json::from_str::<Value>(text).is_err() {
            return serde_json::from_str(&format!("{text}}}")).ok();
        }
        if has("no-depth-limit") && text.contains("[[[[") {
            return Some(
                json!({ "pack_id": "ledger", "verb_key": "transfer", "args": { "amount": "deep" } }),
            );
        }
        // serde_json keeps the last of two equal keys.
        let mut value: Value = serde_json::from_str(text).ok()?;
        let before = value.clone();
        if has("last-key-wins") && ExecEnvelope::parse(text.as_bytes()).is_err() {
            let twice =
                text.matches("\"verb_key\"").count() > 1 || text.matches("\"amount\"").count() > 1;
            return twice.then_some(value);
        }
        if has("first-of-list") {
            return value.get(0).cloned();
        }
        let first_pack = self.world.packs.keys().next()?.clone();
        let first_verb = self
            .world
            .packs
            .values()
            .next()?
            .manifest
            .commands
            .keys()
            .next();
        let first_verb = first_verb.map(|key| key.as_str().to_owned())?;
        let fields = value.as_object_mut()?;
        if has("args-required") && !fields.contains_key("args") {
            fields.insert("args".to_owned(), Value::Null);
        } else if has("no-alias") {
            fields.shift_remove("surface_id");
        } else if has("pack-defaulted")
            && !fields.contains_key("pack_id")
            && !fields.contains_key("surface_id")
        {
            fields.insert("pack_id".to_owned(), first_pack.into());
        } else if has("verb-defaulted") && !fields.contains_key("verb_key") {
            fields.insert("verb_key".to_owned(), first_verb.into());
        } else if has("coerces-ids") {
            for name in ["pack_id", "verb_key"] {
                if let Some(first) = fields.get(name).and_then(|ids| ids.get(0)).cloned() {
                    fields.insert(name.to_owned(), first);
                }
            }
        } else if has("args-dropped") && fields.get("args").is_some_and(|args| !args.is_object()) {
            fields.shift_remove("args");
        } else if has("ignores-unknown-fields") {
            fields.retain(|name, _| {
                ["pack_id", "surface_id", "verb_key", "args"].contains(&name.as_str())
            });
        } else if has("first-id-wins") && fields.contains_key("pack_id") {
            fields.shift_remove("surface_id");
        } else if has("one-id-only")
            && fields.contains_key("surface_id")
            && fields.contains_key("pack_id")
        {
            fields.insert("surface_id".to_owned(), Value::Null);
        }
        (value != before).then_some(value)
    }

    fn misunderstand(&self, envelope: &mut ExecEnvelope) {
        if !self.faults.has("verb-by-prefix") {
            return;
        }
        let Some(pack) = self.world.packs.get(&envelope.pack_id) else {
            return;
        };
        let mut keys = pack.manifest.commands.keys();
        if let Some(key) = keys.find(|key| key.as_str().starts_with(&envelope.verb_key)) {
            key.as_str().clone_into(&mut envelope.verb_key);
        }
    }

    /// Whether the gate is satisfied: `confirm` or `apply` is true, and not merely like it.
    pub(super) fn is_confirmed(&self, args: &Arguments) -> bool {
        let is_true = |name: &str| match args.get(name) {
            _ if self.faults.has(&format!("ignores-{name}")) => false,
            None => false,
            Some(_) if self.faults.has("present-confirms") => true,
            Some(value) if self.faults.has("truthy-confirms") => is_truthy(value),
            Some(value) => *value == Value::Bool(true),
        };
        is_true("confirm") || is_true("apply")
    }

    /// Whether a mock Binding is asked for.
    pub(super) fn wants_mock(&self, args: &Arguments) -> bool {
        let mock = args.get("mode").and_then(Value::as_str) == Some("mock");
        mock && !self.faults.has("mock-mints")
    }
}

fn from_fields(fields: &Map<String, Value>) -> Result<ExecEnvelope, InvalidEnvelope> {
    ExecEnvelope::from_value(Value::Object(fields.clone()))
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
