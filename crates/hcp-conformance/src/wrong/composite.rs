//! §6.6: composites, in process, and kinds that there is no adapter for.

use hcp_spec::ResultValue;
use hcp_spec::envelope::{Arguments, ExecEnvelope};
use hcp_spec::manifest::{Command, Kind};
use serde_json::{Map, Value, json};

use super::steps::{Ran, Refused, Walk};
use super::strings::to_text;
use super::{NAME, Pack, WrongRuntime};

impl WrongRuntime {
    /// A kind that there is no adapter for.
    pub(super) fn run_other_kind(
        &self,
        kind: &Kind,
        walk: &Walk<'_>,
        pack: &Pack,
        command: &Command,
    ) -> Result<Ran, Refused> {
        if self.faults.has("other-kinds-wrap") {
            return self.run_wrap(walk, pack, command);
        }
        let kind = kind.as_str();
        Err(Refused::at_8(
            if self.faults.has("kind-unsaid")
                || self.faults.has("no-composite") && kind == "composite"
            {
                format!("not executable in {NAME}")
            } else {
                format!("adapter {kind} not executable in {NAME}")
            },
        ))
    }

    /// The calls of a composite, each through every step.
    pub(super) fn run_composite(&self, walk: &Walk<'_>, command: &Command) -> Result<Ran, Refused> {
        let mut done = Map::new();
        let mut last = Value::Null;
        for (name, step) in &command.steps {
            let (pack_id, verb_key) = step.call.split_once('.').unwrap_or((&step.call, ""));
            let call = ExecEnvelope {
                pack_id: pack_id.to_owned(),
                verb_key: verb_key.to_owned(),
                args: self.fill_in(&step.args, &walk.call.args, &done),
            };
            match self.walk(&call, true) {
                Ok(ran) => {
                    last = serde_json::from_str(ran.result.as_json()).unwrap_or_default();
                    done.insert(name.clone(), json!({ "result": last }));
                }
                Err(_) if self.faults.has("composite-goes-on") => {}
                Err(refused) => return Err(Refused::at_8(refused.error)),
            }
        }
        let every = || -> Value {
            let results = done.iter().map(|(name, step)| {
                (
                    name.clone(),
                    step.get("result").cloned().unwrap_or_default(),
                )
            });
            results.collect::<Map<_, _>>().into()
        };
        let result = match &command.output {
            Some(Value::String(text)) if !self.faults.has("composite-output-ignored") => {
                look_up(text, &walk.call.args, &done).unwrap_or_default()
            }
            _ if self.faults.has("composite-forgets") => last,
            _ => every(),
        };
        Ok(Ran {
            result: ResultValue::from_value(&result),
            replaced: false,
            stderr: None,
        })
    }

    fn fill_in(
        &self,
        template: &Arguments,
        args: &Arguments,
        done: &Map<String, Value>,
    ) -> Arguments {
        let filled = template.iter().map(|(name, value)| {
            let found = value.as_str().and_then(|text| look_up(text, args, done));
            let found = match found {
                Some(found) if self.faults.has("composite-arguments-as-text") => {
                    json!(to_text(&found).unwrap_or_default().replace(',', ";"))
                }
                Some(found) => found,
                None => value.clone(),
            };
            (name.clone(), found)
        });
        filled.collect()
    }
}

/// The value that a text names which is one `{{…}}` alone.
fn look_up(text: &str, args: &Arguments, done: &Map<String, Value>) -> Option<Value> {
    let path = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let mut words = path.split('.');
    let mut place: &Value = match words.next()? {
        "args" => args.get(words.next()?)?,
        "steps" => done.get(words.next()?)?,
        _ => return None,
    };
    for word in words {
        place = place.get(word)?;
    }
    Some(place.clone())
}
