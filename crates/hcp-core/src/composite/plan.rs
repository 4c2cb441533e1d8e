//! The plan of a composite: its calls, what each of them needs, and what becomes of their results.

use hcp_pack::PackError;
use hcp_spec::manifest::{Call as Step, Command};
use serde_json::Value;

use super::condition::Condition;
use super::reference::{Known, Problem};
use super::template::Template;

/// The most calls of a composite, those of its inner composites among them.
pub(crate) const MAX_CALLS: usize = 64;

/// A composite command, compiled.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Its calls, in the order of the manifest.
    pub(super) calls: Vec<PlannedCall>,
    output: Option<Template>,
}

/// One call of a plan.
#[derive(Debug)]
pub(crate) struct PlannedCall {
    /// The name of the step.
    pub(crate) step: String,
    /// The pack it calls.
    pub(crate) pack_id: String,
    /// The verb it calls.
    pub(crate) verb_key: String,
    args: Vec<(String, Template)>,
    when: Option<Condition>,
    /// Steps whose results it needs, by their place.
    pub(super) after: Vec<usize>,
}

/// What becomes of a step whose time has come.
pub(super) enum Turn {
    /// Its condition is false.
    Skip,
    /// It is made with these arguments.
    Call(serde_json::Map<String, Value>),
}

impl Plan {
    /// Compiles a command of kind `composite` that passed the checks of its manifest.
    ///
    /// # Errors
    /// [`PackError::Manifest`] for a reference or condition that does not read, a confirmation among
    /// the arguments of a step, steps that need each other, and too many of them.
    pub(crate) fn compile(verb_key: &str, command: &Command) -> Result<Self, PackError> {
        let fault = |message: String, hint: &str| PackError::Manifest {
            message: format!("composite `{verb_key}`: {message}"),
            hint: Some(hint.to_owned()),
        };
        if command.steps.len() > MAX_CALLS {
            let message = format!("{} steps, over {MAX_CALLS}", command.steps.len());
            return Err(fault(message, "split it into composites of their own"));
        }
        let names: Vec<&str> = command.steps.keys().map(String::as_str).collect();
        let mut calls = Vec::with_capacity(names.len());
        for (name, step) in &command.steps {
            let call = PlannedCall::compile(name, step, &names)
                .map_err(|(message, hint)| fault(format!("step `{name}`: {message}"), hint))?;
            calls.push(call);
        }
        if let Some(knot) = knot(&calls) {
            let names: Vec<String> = knot
                .iter()
                .filter_map(|place| calls.get(*place))
                .map(|call| format!("`{}`", call.step))
                .collect();
            return Err(fault(
                format!("the steps {} need each other", names.join(", ")),
                "a step may only use results of steps that do not use its own",
            ));
        }
        let output = command.output.as_ref();
        let output = output.map(|output| Template::compile(output, &names));
        let output = output
            .transpose()
            .map_err(|problem| fault(format!("output: {problem}"), REFERENCE))?;
        Ok(Self { calls, output })
    }

    /// The calls, in the order of the manifest.
    pub(crate) fn calls(&self) -> &[PlannedCall] {
        &self.calls
    }

    /// The result of a composite whose steps have all ended: its `output`, or else an object of every
    /// step's result, `null` for a step that was skipped.
    pub(super) fn result(&self, known: &Known<'_>) -> Result<String, Problem> {
        use super::reference::Taken;
        let mut json = String::new();
        if let Some(output) = &self.output {
            output.append_json(known, &mut json)?;
            return Ok(json);
        }
        for (call, result) in self.calls.iter().zip(&known.results) {
            json.push(if json.is_empty() { '{' } else { ',' });
            json.push_str(&Value::from(call.step.as_str()).to_string());
            json.push(':');
            json.push_str(match result {
                Some(Taken::Result(result)) => result.as_json(),
                Some(Taken::Skipped) | None => "null",
            });
        }
        json.push('}');
        Ok(json)
    }
}

const REFERENCE: &str = "write `{{args.<name>}}` or `{{steps.<name>.result.<path>}}`";

impl PlannedCall {
    fn compile(name: &str, step: &Step, names: &[&str]) -> Result<Self, (String, &'static str)> {
        let (pack_id, verb_key) = step.call.split_once('.').ok_or_else(|| {
            let message = format!("`{}` is no call", step.call);
            (message, "write the pack id, a dot and the verb key")
        })?;
        let mut args = Vec::with_capacity(step.args.len());
        for (argument, written) in &step.args {
            if matches!(argument.as_str(), "confirm" | "apply") {
                return Err((
                    format!("`{argument}` cannot be given by a step"),
                    "set `confirm = true` in the Policy entry of the composite; its own \
                     confirmation covers the calls that it lists",
                ));
            }
            let template = Template::compile(written, names)
                .map_err(|problem| (format!("`{argument}`: {problem}"), REFERENCE))?;
            args.push((argument.clone(), template));
        }
        let when = step.when.as_ref();
        let when = when
            .map(|when| Condition::compile(when, names))
            .transpose()
            .map_err(|problem| {
                let hint = "write a CEL expression like `steps.quote.result.price < 100`";
                (format!("`when` {problem}"), hint)
            })?;
        let references = args.iter().flat_map(|(_, template)| template.references());
        let looked_at = when.iter().flat_map(Condition::references);
        let mut after: Vec<usize> = references
            .chain(looked_at)
            .filter_map(super::reference::Reference::step)
            .collect();
        after.sort_unstable();
        after.dedup();
        Ok(Self {
            step: name.to_owned(),
            pack_id: pack_id.to_owned(),
            verb_key: verb_key.to_owned(),
            args,
            when,
            after,
        })
    }

    /// The call as the manifest writes it.
    pub(crate) fn target(&self) -> String {
        format!("{}.{}", self.pack_id, self.verb_key)
    }

    /// Whether its arguments are known before anything ran; `args` says whether those of the
    /// composite are.
    pub(super) fn arguments_are_foreseen(&self, args: bool) -> bool {
        let mut templates = self.args.iter().map(|(_, template)| template);
        templates.all(|template| {
            template.references().is_empty() || (args && template.is_known_beforehand())
        })
    }

    /// The condition as the manifest writes it.
    pub(super) fn when(&self) -> Option<&str> {
        self.when.as_ref().map(Condition::text)
    }

    /// What is to be done, now that everything it needs is known.
    ///
    /// # Errors
    /// When the condition has no answer, or an argument no value.
    pub(super) fn turn(&self, known: &Known<'_>) -> Result<Turn, Problem> {
        if let Some(when) = &self.when {
            let judged = when.holds(known);
            if !judged.map_err(|problem| Problem(format!("when: {problem}")))? {
                return Ok(Turn::Skip);
            }
        }
        let mut args = serde_json::Map::with_capacity(self.args.len());
        for (name, template) in &self.args {
            let value = template.argument(known).map_err(|problem| {
                Problem(format!("args: {}: {problem}", Value::from(name.as_str())))
            })?;
            if let Some(value) = value {
                args.insert(name.clone(), value);
            }
        }
        Ok(Turn::Call(args))
    }

    /// The arguments as far as they are known beforehand, the others as the manifest writes them.
    pub(super) fn foreseen(&self, known: &Known<'_>) -> serde_json::Map<String, Value> {
        let foreseen = self.args.iter().filter_map(|(name, template)| {
            let value = if template.is_known_beforehand() {
                template.argument(known).ok().flatten()?
            } else {
                template.written().clone()
            };
            Some((name.clone(), value))
        });
        foreseen.collect()
    }
}

/// Steps that need each other, directly or through others; `None` when there is an order.
fn knot(calls: &[PlannedCall]) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..calls.len()).collect();
    loop {
        let stuck: Vec<usize> = left
            .iter()
            .copied()
            .filter(|place| {
                let after = calls.get(*place).map_or(&[][..], |call| &call.after);
                after.iter().any(|needed| left.contains(needed))
            })
            .collect();
        if stuck.len() == left.len() {
            return (!left.is_empty()).then_some(left);
        }
        left = stuck;
    }
}
