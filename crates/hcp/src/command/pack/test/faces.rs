//! The faces of §6.5, each building its call from the arguments of an example the way it builds one
//! from a command line.

use hcp_core::Call;
use hcp_pack::read_text;
use hcp_spec::envelope::ExecEnvelope;
use hcp_spec::manifest::{Argument, Command, Presentation};
use serde_json::{Map, Value, json};

use super::bench::Bench;
use crate::command::run::{find_verb, pairs};

/// A way to ask for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    /// `hcp exec PACK VERB -- k=v`
    Exec,
    /// `hcp exec --envelope`
    Envelope,
    /// `hcp run PACK WORD… --flag`
    Run,
}

impl Face {
    pub(super) const ALL: [Self; 3] = [Self::Exec, Self::Envelope, Self::Run];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::Envelope => "envelope",
            Self::Run => "run",
        }
    }

    /// The call of an example, or `None` where this face has no words for it.
    pub(super) fn call(
        self,
        bench: &Bench,
        verb_key: &str,
        args: &Map<String, Value>,
    ) -> Option<Call> {
        let command = bench.pack.manifest.commands.get(verb_key)?;
        let call = match self {
            Self::Exec => words(bench, verb_key, &exec_pairs(args, command)),
            Self::Envelope => {
                let envelope = json!({
                    "pack_id": bench.pack_id(), "verb_key": verb_key, "args": args
                });
                let envelope = ExecEnvelope::parse(envelope.to_string().as_bytes()).ok()?;
                let principal = bench.installation.principal.clone();
                Call::new(envelope, principal, None, bench.cancel.clone())
            }
            Self::Run => {
                let spoken: Vec<String> = verb_key.split_whitespace().map(str::to_owned).collect();
                let (found, _) = find_verb(&bench.pack, &spoken)?;
                let flags = flags(args, command)?;
                words(bench, found, &pairs(&flags, Some(command)).pairs)
            }
        };
        (call.fault.is_none() && call.verb_key == verb_key && call.args == *args).then_some(call)
    }
}

fn words(bench: &Bench, verb_key: &str, pairs: &[String]) -> Call {
    let cancel = bench.cancel.clone();
    bench
        .installation
        .call(bench.pack_id(), verb_key, pairs, None, cancel)
}

/// `k=v` where the text says the very value, else `k:=<json>`.
fn exec_pairs(args: &Map<String, Value>, command: &Command) -> Vec<String> {
    let pair = |(name, value): (&String, &Value)| match text_of(name, value, command.args.get(name))
        .filter(|text| text != "@-")
    {
        Some(text) => format!("{name}={text}"),
        None => format!("{name}:={value}"),
    };
    args.iter().map(pair).collect()
}

/// Flags, or `None` where a value has no text that says it.
fn flags(args: &Map<String, Value>, command: &Command) -> Option<Vec<String>> {
    let mut flags = Vec::new();
    for (name, value) in args {
        let argument = command.args.get(name);
        let switch =
            argument.is_none_or(|argument| argument.presentation == Some(Presentation::Switch));
        match value {
            Value::Bool(true) if switch => flags.push(format!("--{name}")),
            Value::Array(elements) if !elements.is_empty() => {
                for element in elements {
                    flags.push(format!("--{name}={}", plain(element)?));
                }
            }
            value => flags.push(format!("--{name}={}", text_of(name, value, argument)?)),
        }
    }
    Some(flags)
}

/// The text that is read as this very value.
fn text_of(name: &str, value: &Value, argument: Option<&Argument>) -> Option<String> {
    let text = plain(value)?;
    let read = read_text(name, &text, argument).ok()?;
    (read == *value).then_some(text)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
