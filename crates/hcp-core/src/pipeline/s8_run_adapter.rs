//! Step 8: run the Adapter: the bin of the pack, as an argv array, in its sandbox (§6.4).

use std::ffi::OsString;

use hcp_output::{Redactor, read_head, read_result, read_tail};
use hcp_sandbox::{End, Finished, Launch, LaunchError, Limits, Stdin, signal_name};
use hcp_spec::envelope::Arguments;
use hcp_spec::manifest::{Kind, Sandbox, Wrap};
use hcp_spec::quantity::TimeLimit;
use hcp_spec::{Refusal, ResultValue, Step};
use hcp_store::Intent;

use super::enclosure::Enclosure;
use super::environment;
use super::mode::{Live, Refused};
use super::s7_mint_binding::Bound;
use super::walk::Walk;
use crate::answer::Run;
use crate::bins;
use crate::call::Call;
use crate::composite::{self, CompositeLimits, InnerReport, Outer, Plan};
use crate::runtime::Runtime;

/// How much of stdout and stderr a failure shows, in bytes.
const SHOWN: usize = 64 << 10;

/// What came of running the Adapter.
pub(super) struct Ran {
    /// The result, or why there is none.
    pub outcome: Result<ResultValue, Refused>,
    /// What the child wrote to stdout, when it failed.
    pub stdout: Option<String>,
    /// What the child wrote to stderr, if anything.
    pub stderr: Option<String>,
    /// What else there is to know; `None` when no child ran.
    pub run: Option<Run>,
    /// What became of the steps of a composite.
    pub inner: Vec<InnerReport>,
}

impl Ran {
    /// Nothing ran.
    pub(super) const fn refused(refused: Refused) -> Self {
        Self {
            outcome: Err(refused),
            stdout: None,
            stderr: None,
            run: None,
            inner: Vec::new(),
        }
    }
}

/// Runs the call. The Binding is given back whatever happens.
pub(super) fn run_adapter(
    runtime: &Runtime,
    walk: &mut Walk<'_, Live>,
    bound: Bound,
) -> (Intent, Ran) {
    walk.enter(Step::RunAdapter);
    let ran = match &bound.intended.confirmed.prepared.composite {
        Some((plan, args)) => run_composite(runtime, walk, &bound, plan, args.values()),
        None => run(walk, &bound),
    };
    let ran = ran.unwrap_or_else(Ran::refused);
    walk.trail.warning = warning_of(&ran.inner);
    if let Err(error) = bound.binding.revoke() {
        walk.trail.warning = Some(format!("the Binding was not revoked: {error}"));
    }
    (bound.intended.intent, ran)
}

/// Makes the calls of a composite, in process (§6.6).
fn run_composite(
    runtime: &Runtime,
    walk: &Walk<'_, Live>,
    bound: &Bound,
    plan: &Plan,
    args: &Arguments,
) -> Result<Ran, Refused> {
    let confirmed = &bound.intended.confirmed;
    let ceiling = &walk.view.settings.sandbox.timeout_max;
    let (time, limits) = limits(&confirmed.call, &confirmed.pack.manifest.sandbox, ceiling)?;
    let completed = composite::run(&Outer {
        runtime,
        call: &confirmed.call,
        plan,
        args,
        session_id: &confirmed.identity.session.id,
        seq: bound.intended.intent.seq,
        // Only what passed step 6 comes here, so where there is a gate it was satisfied.
        is_confirmed: confirmed.governance.confirm,
        limits: CompositeLimits {
            time,
            output: limits.output,
            memory: limits.memory.unwrap_or(Sandbox::DEFAULT_MEMORY),
        },
    });
    Ok(Ran {
        outcome: completed.outcome.map_err(Refused::from),
        stdout: None,
        stderr: None,
        run: None,
        inner: completed.calls,
    })
}

/// What went wrong beside the inner calls, by their steps.
fn warning_of(inner: &[InnerReport]) -> Option<String> {
    let warnings: Vec<String> = inner
        .iter()
        .filter_map(|report| Some(format!("{}: {}", report.step, report.warning.as_ref()?)))
        .collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

fn run(walk: &Walk<'_, Live>, bound: &Bound) -> Result<Ran, Refused> {
    let confirmed = &bound.intended.confirmed;
    let manifest = &confirmed.pack.manifest;
    let command = manifest.commands.get(confirmed.call.verb_key.as_str());
    let kind = command.map_or(&manifest.kind, |command| manifest.kind_of(command));
    let (Kind::Wrap, Some(wrap), Some(argv)) = (
        kind,
        manifest.wrap.as_ref(),
        confirmed.prepared.argv.as_ref(),
    ) else {
        return Err(Refusal::AdapterNotExecutable(kind.as_str().to_owned()).into());
    };
    let settings = &walk.view.settings;
    let pack = &confirmed.pack;
    let find = |bin: &str| bins::find(bin, &pack.root, &pack.allow_bins, &settings.sandbox);
    let bin = find(&wrap.bin)?;
    let enclosure = Enclosure::new(walk, bound, find)?;
    let environment = environment::of_child(walk.view, bound, wrap, &enclosure);
    let limits = limits(
        &confirmed.call,
        &manifest.sandbox,
        &settings.sandbox.timeout_max,
    )?;
    let redactor = Redactor::new(bound.binding.secrets());
    let launch = Launch {
        bin: &bin,
        argv: argv.iter().map(OsString::from).collect(),
        environment,
        working_directory: confirmed.pack.root.clone(),
        stdin: Stdin::Null,
        limits: Limits {
            stderr_tail: SHOWN + redactor.margin(),
            ..limits.1
        },
        cancel: &confirmed.call.cancel,
    };
    let finished = enclosure
        .run(launch, bound)
        .map_err(|error| launch_refused(wrap, &error))?;
    let run = Run {
        isolation: enclosure.word(),
        unenforced: walk.view.unenforced(&manifest.sandbox),
        ..Run::of(&finished, bound.binding.state())
    };
    Ok(read(finished, wrap, &limits, &redactor, run))
}

/// The limits of this call and the text of its wall clock: the pack's wish, at most the operator's,
/// and at most what is left of the composite that makes the call.
fn limits(
    call: &Call,
    wish: &Sandbox,
    ceiling: &TimeLimit,
) -> Result<(TimeLimit, Limits), Refused> {
    let default = TimeLimit::parse(Sandbox::DEFAULT_TIMEOUT)
        .map_err(|error| Refused::from(Refusal::Isolation(error.to_string())))?;
    let wished = wish.timeout.clone().unwrap_or(default);
    let timeout = if ceiling.duration() < wished.duration() {
        ceiling.clone()
    } else {
        wished
    };
    let deadline = call.inner.as_ref().map(|inner| inner.bounds().deadline());
    let (timeout, left) = match deadline.map(|deadline| (deadline, deadline.left())) {
        Some((deadline, left)) if left < timeout.duration() => (deadline.limit.clone(), left),
        _ => (timeout.clone(), timeout.duration()),
    };
    let limits = Limits {
        timeout: left,
        output: wish
            .output
            .as_ref()
            .map_or(Sandbox::DEFAULT_OUTPUT, hcp_spec::quantity::ByteSize::bytes),
        memory: Some(
            wish.memory
                .as_ref()
                .map_or(Sandbox::DEFAULT_MEMORY, hcp_spec::quantity::ByteSize::bytes),
        ),
        processes: Some(wish.processes.unwrap_or(Sandbox::DEFAULT_PROCESSES)),
        stderr_tail: SHOWN,
        file_size: None,
    };
    Ok((timeout, limits))
}

fn launch_refused(wrap: &Wrap, error: &LaunchError) -> Refused {
    match error {
        LaunchError::Unfit { .. } => {
            Refused::because(Refusal::BinNotFound(wrap.bin.clone()), error.to_string())
        }
        _ => Refused::because(Refusal::Isolation(error.to_string()), error.to_string()),
    }
}

fn read(
    finished: Finished,
    wrap: &Wrap,
    (timeout, limits): &(TimeLimit, Limits),
    redactor: &Redactor,
    run: Run,
) -> Ran {
    let truncated = finished.stderr_total > finished.stderr.len() as u64;
    let stderr = read_tail(&finished.stderr, truncated, SHOWN, redactor);
    let succeeded = match finished.end {
        End::Exited(code) => code == 0 || wrap.success.iter().any(|s| i32::from(*s) == code),
        _ => false,
    };
    if succeeded {
        let read = read_result(finished.stdout, wrap.output, redactor);
        return Ran {
            outcome: Ok(read.result),
            stdout: None,
            stderr: (!stderr.is_empty()).then_some(stderr),
            run: Some(Run {
                replaced: read.replaced,
                ..run
            }),
            inner: Vec::new(),
        };
    }
    let refusal = match finished.end {
        End::TimedOut => Refusal::TimedOut(timeout.text().to_owned()),
        End::Cancelled => Refusal::Cancelled,
        End::OutOfMemory => Refusal::OutOfMemory,
        End::OutputOver => Refusal::OutputOver(limits.output),
        End::Signalled(number) => Refusal::Signal(signal_name(number)),
        End::Exited(_) if !stderr.is_empty() => Refusal::Stderr(stderr.clone()),
        End::Exited(code) => Refusal::Exit(code),
    };
    // Output over the limit was cut at its end, so its beginning is what can be shown whole.
    let stdout = if finished.end == End::OutputOver {
        read_head(&finished.stdout, SHOWN, redactor)
    } else {
        read_tail(&finished.stdout, false, SHOWN, redactor)
    };
    Ran {
        outcome: Err(refusal.into()),
        stdout: (!stdout.is_empty()).then_some(stdout),
        stderr: (!stderr.is_empty()).then_some(stderr),
        run: Some(run),
        inner: Vec::new(),
    }
}
