//! What changes for an operator when one version of a pack takes the place of another.
//!
//! Told in the words of the manifest, key by key, and with each whether it may let more happen than
//! before: that is what an operator has to look at before accepting it.

use std::fmt::Display;

use hcp_spec::manifest::{Argument, Command, Manifest, Policy, Sandbox, Wrap};
use serde::Serialize;

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about, by its keys: `transfer.effect`, `sandbox.network`.
    pub about: String,
    /// What it was; absent for what is new.
    pub before: Option<String>,
    /// What it becomes; absent for what is gone.
    pub after: Option<String>,
    /// Whether more may happen than before, or something else runs.
    pub widens: bool,
}

/// Everything in which two manifests differ for an operator, in the order of the manifest's keys.
pub fn differences(before: &Manifest, after: &Manifest) -> Vec<Difference> {
    let mut all = Comparison::default();
    all.text(
        "version",
        Some(&before.version),
        Some(&after.version),
        |_, _| false,
    );
    all.text(
        "summary",
        Some(&before.summary),
        Some(&after.summary),
        |_, _| false,
    );
    all.word("kind", &before.kind, &after.kind, true);
    all.word(
        "privacy.land",
        &before.privacy.land,
        &after.privacy.land,
        true,
    );
    wrap(&mut all, before.wrap.as_ref(), after.wrap.as_ref());
    sandbox(&mut all, &before.sandbox, &after.sandbox);
    let binding = |manifest: &Manifest| {
        let need = manifest.binding.as_ref();
        (
            need.map(|need| need.env.clone()).unwrap_or_default(),
            need.and_then(|need| need.ttl.as_ref().map(|ttl| ttl.text().to_owned())),
        )
    };
    let ((env_before, ttl_before), (env_after, ttl_after)) = (binding(before), binding(after));
    all.list("binding.env", &env_before, &env_after);
    all.text(
        "binding.ttl",
        ttl_before.as_ref(),
        ttl_after.as_ref(),
        |_, _| true,
    );
    for (key, command) in &before.commands {
        if !after.commands.contains_key(key) {
            let policy = before.policy.get(key);
            all.push(key.to_string(), Some(whole(command, policy)), None, false);
        }
    }
    for (key, command) in &after.commands {
        let policy = after.policy.get(key);
        match before.commands.get(key) {
            None => all.push(key.to_string(), None, Some(whole(command, policy)), true),
            Some(was) => {
                let verb = Verb {
                    key: key.as_str(),
                    all: &mut all,
                };
                verb.compare((was, before.policy.get(key)), (command, policy));
            }
        }
    }
    all.found
}

/// A whole command on one line, for one that comes or goes.
fn whole(command: &Command, policy: Option<&Policy>) -> String {
    format!("{}, {}", command.effect.as_str(), governed(command, policy))
}

fn governed(command: &Command, policy: Option<&Policy>) -> String {
    match policy {
        None => "nobody may call it".to_owned(),
        Some(policy) => format!("needs {}, {}", policy.capability, gate(command, policy)),
    }
}

fn gate(command: &Command, policy: &Policy) -> &'static str {
    if policy.approval.is_some() {
        "gate: confirm and a person's approval"
    } else if Manifest::needs_confirm(command, policy) {
        "gate: confirm"
    } else {
        "no gate"
    }
}

fn wrap(all: &mut Comparison, before: Option<&Wrap>, after: Option<&Wrap>) {
    let bin = |wrap: Option<&Wrap>| wrap.map(|wrap| wrap.bin.clone());
    all.text(
        "wrap.bin",
        bin(before).as_ref(),
        bin(after).as_ref(),
        |_, _| true,
    );
    let (Some(before), Some(after)) = (before, after) else {
        return;
    };
    all.word(
        "wrap.argv_template",
        &before.argv_template,
        &after.argv_template,
        true,
    );
    all.word("wrap.json", &before.json, &after.json, true);
    all.word("wrap.output", &before.output, &after.output, false);
    all.word("wrap.success", &before.success, &after.success, false);
    all.word("wrap.single", &before.single, &after.single, after.single);
    all.word("wrap.rendering", &before.rendering, &after.rendering, true);
    all.word("wrap.agent_env", &before.agent_env, &after.agent_env, true);
}

fn sandbox(all: &mut Comparison, before: &Sandbox, after: &Sandbox) {
    all.word("sandbox.state", &before.state, &after.state, after.state);
    all.list("sandbox.exec", &before.exec, &after.exec);
    all.list("sandbox.network", &before.network, &after.network);
    all.list("sandbox.read", &before.read, &after.read);
    all.word(
        "sandbox.level",
        &before.level,
        &after.level,
        after.level < before.level,
    );
    all.word("sandbox.timeout", &before.timeout, &after.timeout, true);
    all.word("sandbox.output", &before.output, &after.output, true);
    all.word("sandbox.memory", &before.memory, &after.memory, true);
    all.word(
        "sandbox.processes",
        &before.processes,
        &after.processes,
        true,
    );
}

/// One command that both have.
struct Verb<'a> {
    key: &'a str,
    all: &'a mut Comparison,
}

impl Verb<'_> {
    fn compare(
        mut self,
        (before, policy_before): (&Command, Option<&Policy>),
        (after, policy_after): (&Command, Option<&Policy>),
    ) {
        let about = |what: &str| format!("{}.{what}", self.key);
        let (effect, policy, kind) = (about("effect"), about("policy"), about("kind"));
        let (summary, cli, result) = (about("summary"), about("cli"), about("result"));
        let (steps, output) = (about("steps"), about("output"));
        let bootstrap = about("bootstrap");
        let all = &mut *self.all;
        all.text(
            &summary,
            Some(&before.summary),
            Some(&after.summary),
            |_, _| false,
        );
        // Less of an effect than before opens verbs to broader grants, more of one does more.
        all.word(&effect, &before.effect, &after.effect, true);
        let (was, is) = (
            governed(before, policy_before),
            governed(after, policy_after),
        );
        let looser = policy_before.is_none()
            || policy_capability(policy_before) != policy_capability(policy_after)
            || gate_weight(after, policy_after) < gate_weight(before, policy_before);
        let widens = policy_after.is_some() && looser;
        all.text(&policy, Some(&was), Some(&is), |_, _| widens);
        all.word(&kind, &before.kind, &after.kind, true);
        all.word(&cli, &before.cli, &after.cli, true);
        all.word(&steps, &before.steps, &after.steps, true);
        all.word(&output, &before.output, &after.output, false);
        all.word(&result, &before.result, &after.result, false);
        all.word(
            &bootstrap,
            &before.bootstrap,
            &after.bootstrap,
            after.bootstrap,
        );
        self.arguments(before, after);
    }

    fn arguments(&mut self, before: &Command, after: &Command) {
        for (name, argument) in &before.args {
            if !after.args.contains_key(name) {
                let about = format!("{}.args.{name}", self.key);
                self.all.push(about, Some(declared(argument)), None, false);
            }
        }
        for (name, argument) in &after.args {
            let about = format!("{}.args.{name}", self.key);
            match before.args.get(name) {
                None => self.all.push(about, None, Some(declared(argument)), true),
                Some(was) if was == argument => {}
                Some(was) => {
                    let words_only = Argument {
                        summary: argument.summary.clone(),
                        ..was.clone()
                    } == *argument;
                    let (was, is) = (declared(was), declared(argument));
                    self.all.push(about, Some(was), Some(is), !words_only);
                }
            }
        }
    }
}

fn policy_capability(policy: Option<&Policy>) -> Option<&str> {
    policy.map(|policy| policy.capability.as_str())
}

fn gate_weight(command: &Command, policy: Option<&Policy>) -> u8 {
    match policy {
        Some(policy) if policy.approval.is_some() => 2,
        Some(policy) => u8::from(Manifest::needs_confirm(command, policy)),
        None => 3,
    }
}

#[derive(Default)]
struct Comparison {
    found: Vec<Difference>,
}

impl Comparison {
    fn push(&mut self, about: String, before: Option<String>, after: Option<String>, widens: bool) {
        self.found.push(Difference {
            about,
            before,
            after,
            widens,
        });
    }

    fn text<T: Display + PartialEq>(
        &mut self,
        about: &str,
        before: Option<&T>,
        after: Option<&T>,
        widens: impl FnOnce(Option<&T>, Option<&T>) -> bool,
    ) {
        if before != after {
            let widens = widens(before, after);
            let shown = |value: Option<&T>| value.map(ToString::to_string);
            self.push(about.to_owned(), shown(before), shown(after), widens);
        }
    }

    /// A value as the manifest writes it.
    fn word<T: Serialize + PartialEq>(&mut self, about: &str, before: &T, after: &T, widens: bool) {
        if before != after {
            let shown = |value: &T| Some(json(value)).filter(|text| text != "null");
            self.push(about.to_owned(), shown(before), shown(after), widens);
        }
    }

    /// Entry by entry: what comes, and what goes.
    fn list(&mut self, about: &str, before: &[String], after: &[String]) {
        for gone in before.iter().filter(|entry| !after.contains(entry)) {
            self.push(about.to_owned(), Some(gone.clone()), None, false);
        }
        for new in after.iter().filter(|entry| !before.contains(entry)) {
            self.push(about.to_owned(), None, Some(new.clone()), true);
        }
    }
}

/// What is said of an argument, in JSON, without what is not said.
fn declared(argument: &Argument) -> String {
    use serde_json::Value;
    let mut value = serde_json::to_value(argument).unwrap_or_default();
    if let Value::Object(keys) = &mut value {
        keys.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
    }
    value.to_string()
}

/// Compact JSON, a plain word without its quotes.
fn json(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(value) => value.to_string(),
        Err(_) => String::new(),
    }
}
