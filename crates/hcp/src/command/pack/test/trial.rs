//! One example after another, on one face after another, and what there is to say of each.
//!
//! Each face runs all examples in the order of the manifest, from the same beginning: an example may
//! build on those before it, and no face finds what another left.

use std::time::{Duration, Instant};

use hcp_core::Answer;
use hcp_pack::{PreparedCommand, check_result};
use hcp_spec::Refusal;
use hcp_spec::manifest::{Command, Example, Kind, Manifest};
use serde_json::{Map, Value};

use super::bench::Bench;
use super::faces::Face;
use crate::failure::Failure;

/// One example and what came of it.
pub(super) struct Trial {
    pub(super) verb_key: String,
    pub(super) example: String,
    /// What is wrong; nothing when it passed.
    pub(super) faults: Vec<String>,
    /// Why it was not run, when it was not.
    pub(super) skipped: Option<String>,
    /// What a reader may want to know.
    pub(super) notes: Vec<String>,
    /// Of the first face.
    pub(super) duration: Duration,
    args: Map<String, Value>,
    /// The envelope of the first face.
    first: Option<String>,
    /// Faces that answered otherwise.
    differing: Vec<(Face, String)>,
}

/// Tests every example.
///
/// # Errors
/// When the installation cannot be set back between two faces.
pub(super) fn run_all(bench: &Bench) -> Result<Vec<Trial>, Failure> {
    let mut trials = prepare(bench);
    for face in Face::ALL {
        run_on(bench, face, &mut trials)?;
    }
    if trials.iter().any(|trial| !trial.differing.is_empty()) {
        judge_differences(bench, &mut trials)?;
    }
    // What was not run at all has shown nothing.
    for trial in trials
        .iter_mut()
        .filter(|trial| trial.passed() && trial.first.is_none())
    {
        trial.faults.push("no face could ask for it".to_owned());
    }
    Ok(trials)
}

/// The examples with what can be said before anything runs.
fn prepare(bench: &Bench) -> Vec<Trial> {
    let manifest = &bench.pack.manifest;
    let mut trials = Vec::new();
    for (key, command) in &manifest.commands {
        let skipped = reason_to_skip(manifest, key.as_str(), command);
        for (name, example) in &command.examples {
            let mut trial = Trial {
                verb_key: key.to_string(),
                example: name.clone(),
                faults: argv_fault(bench, key.as_str(), example)
                    .into_iter()
                    .collect(),
                skipped: skipped.clone(),
                notes: Vec::new(),
                duration: Duration::ZERO,
                args: bench.resolve(key.as_str(), &example.args),
                first: None,
                differing: Vec::new(),
            };
            trial.open_the_gate(manifest, command);
            trials.push(trial);
        }
    }
    trials
}

fn reason_to_skip(manifest: &Manifest, verb_key: &str, command: &Command) -> Option<String> {
    let Some(policy) = manifest.policy.get(verb_key) else {
        return Some("it has no Policy entry, so nobody may call it".to_owned());
    };
    if policy.approval.is_some() {
        return Some("it needs a person's approval".to_owned());
    }
    let foreign = |call: &str| {
        let callee = call.split('.').next().unwrap_or_default();
        (callee != manifest.id.as_str()).then(|| callee.to_owned())
    };
    let callee = command.steps.values().find_map(|step| foreign(&step.call));
    match (manifest.kind_of(command), callee) {
        (Kind::Other(kind), _) => Some(format!("this hcp has no adapter for kind `{kind}`")),
        (_, Some(callee)) => Some(format!("it calls pack `{callee}`, which is not here")),
        _ => None,
    }
}

/// What is wrong with the arguments and the argv as the example states them.
fn argv_fault(bench: &Bench, verb_key: &str, example: &Example) -> Option<String> {
    let prepared = match PreparedCommand::prepare(&bench.pack.manifest, verb_key) {
        Ok(prepared) => prepared,
        Err(error) => return Some(error.to_string()),
    };
    let rendered = prepared
        .check(&example.args)
        .and_then(|checked| prepared.render(&checked));
    match (rendered, &example.argv) {
        (Err(error), _) => Some(format!("args: {error}")),
        (Ok(argv), Some(stated)) if argv != *stated => Some(format!(
            "argv is {}, and the example says {}",
            Value::from(argv),
            Value::from(stated.clone())
        )),
        _ => None,
    }
}

impl Trial {
    pub(super) fn passed(&self) -> bool {
        self.faults.is_empty() && self.skipped.is_none()
    }

    pub(super) fn failed(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Confirms, and asks for mock credentials, where the command wants either.
    fn open_the_gate(&mut self, manifest: &Manifest, command: &Command) {
        let policy = manifest.policy.get(self.verb_key.as_str());
        let gated = policy.is_some_and(|policy| Manifest::needs_confirm(command, policy));
        let said = ["confirm", "apply"]
            .iter()
            .any(|key| self.args.contains_key(*key));
        if gated && !said {
            self.args.insert("confirm".to_owned(), Value::Bool(true));
        }
        let binds = manifest
            .binding
            .as_ref()
            .is_some_and(|need| !need.env.is_empty());
        if binds && !self.args.contains_key("mode") {
            self.args.insert("mode".to_owned(), Value::from("mock"));
            self.notes.push("with the mock Binding".to_owned());
        }
    }

    fn is_to_run(&self) -> bool {
        self.skipped.is_none() && (self.faults.is_empty() || self.first.is_some())
    }

    /// Takes the answer of the first face.
    fn take(&mut self, answer: &Answer, schema: Option<&Value>) {
        self.first = Some(answer.envelope.to_json());
        if let Some(Refusal::AdapterNotExecutable(_)) = &answer.refusal {
            self.skipped.clone_from(&answer.envelope.error);
        } else if let Some(error) = &answer.envelope.error {
            let why = answer.metadata.detail.as_ref();
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            self.faults.push(format!("{}{why}", error.trim_end()));
        } else if let (Some(schema), Some(result)) = (schema, &answer.envelope.result) {
            let result = serde_json::from_str(result.as_json()).unwrap_or_default();
            if let Err(problem) = check_result(schema, &result) {
                self.faults.push(format!("its result {problem}"));
            }
        }
    }
}

fn run_on(bench: &Bench, face: Face, trials: &mut [Trial]) -> Result<(), Failure> {
    bench.begin_anew()?;
    for trial in trials {
        if bench.cancel.is_cancelled() {
            trial.skipped = Some("interrupted".to_owned());
        }
        if !trial.is_to_run() {
            continue;
        }
        let Some(call) = face.call(bench, &trial.verb_key, &trial.args) else {
            trial.notes.push(format!(
                "`{}` has no words for these arguments",
                face.as_str()
            ));
            continue;
        };
        let began = Instant::now();
        let answer = bench.installation.runtime.exec(call);
        let envelope = answer.envelope.to_json();
        match &trial.first {
            None => {
                trial.duration = began.elapsed();
                let commands = &bench.pack.manifest.commands;
                let command = commands.get(trial.verb_key.as_str());
                trial.take(&answer, command.and_then(|command| command.result.as_ref()));
            }
            Some(first) if *first != envelope => trial.differing.push((face, envelope)),
            Some(_) => {}
        }
    }
    Ok(())
}

/// A tool that tells the time never answers the same twice. Where one face differs from itself, that
/// two differ says nothing; their arguments are known to be the same.
fn judge_differences(bench: &Bench, trials: &mut [Trial]) -> Result<(), Failure> {
    let differing: Vec<_> = trials
        .iter_mut()
        .map(|trial| std::mem::take(&mut trial.differing))
        .collect();
    run_on(bench, Face::Exec, trials)?;
    for (trial, differing) in trials.iter_mut().zip(differing) {
        if trial.differing.is_empty() {
            for (face, envelope) in differing {
                let first = trial.first.as_deref().unwrap_or_default();
                let face = face.as_str();
                trial
                    .faults
                    .push(format!("exec answers {first}, and {face} {envelope}"));
            }
        } else if !differing.is_empty() {
            trial
                .notes
                .push("it answers differently every time, so faces were not compared".to_owned());
        }
    }
    Ok(())
}
