//! §6.5: the two faces, which meet where the steps begin.

use std::time::Duration;

use hcp_spec::envelope::{Arguments, ExecEnvelope, InvalidEnvelope};
use serde_json::Value;

use super::WrongRuntime;
use super::result::Ended;
use super::steps::{Ran, Refused};
use super::strings::to_text;
use crate::corpus::FaceKind;
use crate::protocol::{Exec, Reply};

impl WrongRuntime {
    pub(super) fn exec(&mut self, exec: &Exec) -> Reply {
        let ended = match self.read_envelope(&exec.envelope) {
            Ok(mut call) => {
                if exec.face == FaceKind::Cli {
                    call.args = self.read_words(&call.args, exec.pairs.as_deref());
                }
                self.call(call, exec.face)
            }
            Err(invalid) => refuse_invalid(&invalid),
        };
        let text = match self.write_result(&ended) {
            Ok(text) => text,
            Err(error) => {
                return Reply {
                    transport_error: Some(error),
                    ..Reply::default()
                };
            }
        };
        let json = Reply {
            output: Some(text),
            ..Reply::default()
        };
        match exec.face {
            FaceKind::Json => json,
            FaceKind::Cli => self.print(&ended, json),
        }
    }

    fn call(&mut self, call: ExecEnvelope, face: FaceKind) -> Ended {
        let (plain, cli) = match face {
            FaceKind::Json => ("plain-keys-only", false),
            FaceKind::Cli => ("cli-plain-keys-only", true),
        };
        let outcome = if self.faults.has(plain) && call.verb_key.contains([' ', '.']) {
            Err(Refused {
                step: 3,
                error: format!("no policy for {}", call.verb_key),
                ..Refused::default()
            })
        } else {
            self.walk(&call, false)
        };
        if cli
            && self.faults.has("cli-prompts")
            && outcome.as_ref().is_err_and(|refused| refused.step == 6)
        {
            // Nobody answers.
            std::thread::sleep(Duration::from_hours(1));
        }
        self.record(&call, &outcome);
        Ended {
            pack_id: call.pack_id,
            verb_key: call.verb_key,
            outcome,
        }
    }

    /// The arguments as the CLI face reads them.
    fn read_words(&self, args: &Arguments, pairs: Option<&[String]>) -> Arguments {
        let mut read = match pairs {
            Some(_) if self.faults.has("pairs-ignored") => Arguments::new(),
            Some(pairs) => pairs
                .iter()
                .filter_map(|pair| self.read_pair(pair))
                .collect(),
            None => args.clone(),
        };
        if self.faults.has("cli-false-absent") {
            read.retain(|_, value| *value != Value::Bool(false));
        }
        if self.faults.has("cli-all-text") {
            for value in read.values_mut().filter(|value| !value.is_boolean()) {
                *value = format!("'{}'", to_text(value).unwrap_or_default()).into();
            }
        }
        read
    }

    fn read_pair(&self, pair: &str) -> Option<(String, Value)> {
        let has = |name| self.faults.has(name);
        let (key, text) = pair.split_once('=')?;
        if let Some(key) = key.strip_suffix(':').filter(|_| !has("pairs-no-json")) {
            let mut value: Value = serde_json::from_str(text).ok()?;
            if has("pairs-json-loose") && value == "true" {
                value = Value::Bool(true);
            }
            return Some((key.to_owned(), value));
        }
        let key = key.trim_end_matches(':');
        let text = if has("pairs-split-everywhere") {
            text.split('=').next()?
        } else {
            text
        };
        if has("pairs-untyped") {
            return Some((key.to_owned(), text.into()));
        }
        let value = match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => match text.parse::<f64>() {
                Ok(number) if has("pairs-eager") => serde_json::json!(number),
                _ => number(text).unwrap_or_else(|| text.into()),
            },
        };
        Some((key.to_owned(), value))
    }

    /// The CLI face prints the envelope and ends with a status.
    fn print(&self, ended: &Ended, json: Reply) -> Reply {
        let has = |name| self.faults.has(name);
        let status = match &ended.outcome {
            _ if has("cli-exit-always-0") => 0,
            _ if has("cli-exit-always-1") => 1,
            Ok(_) => 0,
            Err(refused) => refused.status(),
        };
        let output = match &ended.outcome {
            Ok(Ran { result, .. }) if has("cli-bare-text") && result.as_json().starts_with('"') => {
                serde_json::from_str(result.as_json()).ok()
            }
            Err(refused) if has("cli-bare-error") => Some(refused.error.clone()),
            Err(refused) if has("cli-error-class") => json
                .output
                .as_ref()
                .map(|text| text.replace(&format!("\"{}\"", refused.error), "\"failed\"")),
            _ => json.output.clone(),
        };
        Reply {
            output,
            exit_status: Some(status),
            ..json
        }
    }
}

impl Refused {
    fn status(&self) -> i32 {
        match self.step {
            0 => 2,
            1..=7 => 3,
            _ if self.error.starts_with("sandbox: bin ") => 127,
            _ if self.error.starts_with("adapter ") => 3,
            _ => 1,
        }
    }
}

fn refuse_invalid(invalid: &InvalidEnvelope) -> Ended {
    Ended {
        pack_id: invalid.pack_id.clone(),
        verb_key: invalid.verb_key.clone(),
        outcome: Err(Refused {
            error: invalid.to_string(),
            ..Refused::default()
        }),
    }
}

/// The number whose text is this very one.
fn number(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_number() && to_text(&value).ok()? == text).then_some(value)
}
