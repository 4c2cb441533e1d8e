//! Composites: what a call costs more for being a step of one, against the call itself.
//!
//! A call is mostly waiting for the disk, which varies by more than what is looked for here. So both
//! are told by the same run: the time of the composite's own steps 6 and 8, less the time that its
//! inner calls say they took from envelope to answer, is what the composite adds.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use hcp_core::operator::{AddOptions, GrantTerms, Operator};
use hcp_core::{Answer, Call, CoreError, Home, Phase, Runtime};
use hcp_sandbox::Cancel;
use hcp_spec::name::{CapabilityPattern, PrincipalName};
use hcp_spec::{ExecEnvelope, Step};

use crate::error::BenchError;
use crate::installation::{Installation, at};
use crate::report::Report;
use crate::timing::median;

/// Inner calls of each composite.
const CALLS: u32 = 16;

/// Measures what a composite adds to each of its calls, where the steps wait for each other and each
/// has a condition; and what it saves where they do not.
///
/// # Errors
/// When the packs cannot be added, or a call fails.
pub(crate) fn inner_calls(
    installation: &Installation,
    runs: u32,
    report: &mut Report,
) -> Result<(), BenchError> {
    let runtime = Runtime::open(Home::beneath(installation.home()), None).map_err(failed)?;
    let principals = runtime
        .store()
        .principals()
        .map_err(|error| failed(error.into()))?;
    let caller = principals
        .first()
        .ok_or(BenchError::Wrong("nobody can call"))?;
    let me = caller.name.clone();
    add(installation, &runtime, &me)?;
    let (mut added, mut inner) = (Vec::new(), Vec::new());
    let (mut chains, mut fans) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let chain = exec(&runtime, call("chain", &me)?)?;
        let (more, each) = split(&chain);
        added.push(more);
        inner.push(each);
        chains.push(chain.metadata.duration);
        fans.push(exec(&runtime, call("fan", &me)?)?.metadata.duration);
    }
    report.compare(
        "what a composite adds to each call",
        median(added),
        "the call itself",
        median(inner),
    );
    report.compare(
        "16 calls of a composite, at once",
        median(fans),
        "one after another",
        median(chains),
    );
    Ok(())
}

fn exec(runtime: &Runtime, call: Call) -> Result<Answer, BenchError> {
    let answer = runtime.exec(call);
    if answer.envelope.ok {
        return Ok(answer);
    }
    Err(BenchError::Wrong("a composite did not end well"))
}

/// What the composite added to each inner call, and what an inner call took.
fn split(answer: &Answer) -> (Duration, Duration) {
    let own: Duration = answer
        .metadata
        .phases
        .iter()
        .filter(|(phase, _)| {
            [Step::EnforceConfirm, Step::RunAdapter]
                .map(Phase::Step)
                .contains(phase)
        })
        .map(|(_, time)| *time)
        .sum();
    let durations = answer.metadata.inner.iter().map(|inner| inner.duration);
    let sum: Duration = durations.sum();
    (own.saturating_sub(sum) / CALLS, sum / CALLS)
}

fn add(
    installation: &Installation,
    runtime: &Runtime,
    me: &PrincipalName,
) -> Result<(), BenchError> {
    let folder = installation.home().join("bench-composite");
    at(&folder, fs::create_dir_all(&folder))?;
    let path = folder.join("hcp.toml");
    at(&path, fs::write(&path, manifest()))?;
    let operator = Operator::new(runtime, me.clone());
    operator
        .add_pack(&folder, &AddOptions::default())
        .map_err(failed)?;
    operator
        .activate(None, &["composite".to_owned()])
        .map_err(failed)?;
    let capability = CapabilityPattern::parse("composite:run");
    let terms = GrantTerms {
        principal: me.clone(),
        capability: capability.map_err(|error| failed(error.into()))?,
        tenant: None,
        project: None,
    };
    operator.add_grant(&terms).map(drop).map_err(failed)
}

fn manifest() -> String {
    let mut text =
        "hcp = 1\nid = \"composite\"\nversion = \"1\"\nsummary = \"x\"\nkind = \"composite\"\n"
            .to_owned();
    for verb in ["chain", "fan"] {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "[policy.{verb}]\ncapability = \"composite:run\"\n\
             [commands.{verb}]\nsummary = \"x\"\neffect = \"read\"\n"
        );
        for step in 0..CALLS {
            let _ = write!(
                text,
                "[commands.{verb}.steps.s{step}]\ncall = \"noop.run\"\n"
            );
            if verb == "chain" && step > 0 {
                let _ = writeln!(text, "when = \"steps.s{}.result == ''\"", step - 1);
            }
        }
    }
    text
}

fn call(verb: &str, me: &PrincipalName) -> Result<Call, BenchError> {
    let envelope = ExecEnvelope {
        pack_id: "composite".to_owned(),
        verb_key: verb.to_owned(),
        args: serde_json::Map::new(),
    };
    let cancel = Cancel::new().map_err(BenchError::Output)?;
    Ok(Call::new(envelope, me.clone(), None, cancel))
}

fn failed(error: CoreError) -> BenchError {
    BenchError::Installation(Box::new(error))
}
