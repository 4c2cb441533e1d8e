//! §6.2: writing a result envelope, and what stdout becomes in it.

use hcp_spec::{ResultEnvelope, ResultValue};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::WrongRuntime;
use super::steps::{Ran, Refused};

/// A call that is over: its ids, and how it went.
pub(super) struct Ended {
    pub(super) pack_id: String,
    pub(super) verb_key: String,
    pub(super) outcome: Result<Ran, Refused>,
}

impl WrongRuntime {
    /// The `result` of a tool that printed `stdout`: its JSON where it is one JSON text, else the
    /// raw string.
    pub(super) fn read_result(&self, stdout: &[u8]) -> ResultValue {
        let has = |name| self.faults.has(name);
        let text = String::from_utf8_lossy(stdout);
        if has("result-first-value") {
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>();
            if let Some(Ok(first)) = values.next() {
                return ResultValue::from_compact_json(compact(first.get()));
            }
        }
        if text.is_empty() && has("empty-as-null") {
            return ResultValue::from_value(&Value::Null);
        }
        let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
        if !is_json || has("result-as-text") {
            return ResultValue::from_text(if has("result-trimmed") {
                text.trim()
            } else {
                &text
            });
        }
        if has("numbers-as-doubles") || has("keys-sorted") {
            return ResultValue::from_value(&self.reread(&text));
        }
        ResultValue::from_compact_json(compact(&text))
    }

    fn reread(&self, text: &str) -> Value {
        let mut value: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            if self.faults.has("keys-sorted") {
                fields.sort_keys();
            } else {
                for field in fields.values_mut() {
                    if let Some(number) = field.as_f64() {
                        *field = json!(number);
                    }
                }
            }
        }
        value
    }

    /// The envelope as text, or the error of the transport.
    pub(super) fn write_result(&self, ended: &Ended) -> Result<String, String> {
        let has = |name| self.faults.has(name);
        let mut envelope = match &ended.outcome {
            Ok(ran) => ResultEnvelope {
                stderr: ran.stderr.clone().filter(|_| !has("no-stderr")),
                ..ResultEnvelope::success(&ended.pack_id, &ended.verb_key, ran.result.clone())
            },
            Err(refused) => ResultEnvelope {
                stdout: refused.stdout.clone().filter(|_| !has("no-stdout")),
                stderr: refused.stderr.clone(),
                ..ResultEnvelope::failed(&ended.pack_id, &ended.verb_key, refused.error.clone())
            },
        };
        if has("denial-as-transport-error")
            && ended
                .outcome
                .as_ref()
                .is_err_and(|refused| refused.step < 8)
        {
            return Err(envelope.error.unwrap_or_default());
        }
        if has("bytes-break-transport") && ended.outcome.as_ref().is_ok_and(|ran| ran.replaced) {
            return Err("not UTF-8".to_owned());
        }
        if has("ids-swapped") {
            std::mem::swap(&mut envelope.pack_id, &mut envelope.verb_key);
        }
        if has("no-result") {
            envelope.result = None;
        }
        let text = envelope.to_json();
        let mut misfit: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(fields) = misfit.as_object_mut() else {
            return Ok(text);
        };
        if has("ok-as-text") {
            fields.insert("ok".to_owned(), envelope.ok.to_string().into());
        } else if has("denial-without-ids") && !envelope.ok {
            fields.retain(|name, _| name == "ok" || name == "error");
        } else if has("error-as-object") && !envelope.ok {
            fields.insert("error".to_owned(), json!({ "message": envelope.error }));
        } else if has("extra-fields") {
            return Ok(text.replacen('{', "{\"request_id\":\"1\",", 1));
        } else {
            return Ok(text);
        }
        Ok(misfit.to_string())
    }
}

/// A well-formed JSON text without the white space between its tokens.
fn compact(text: &str) -> String {
    let (mut kept, mut in_string, mut escaped) = (String::new(), false, false);
    for character in text.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            in_string = character == '"';
        }
        kept.push(character);
    }
    kept
}
