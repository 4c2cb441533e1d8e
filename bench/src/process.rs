//! Whole calls, from the start of the process to its end: against bubblewrap, against the floor, and
//! split by step.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hcp_spec::Step;

use crate::error::BenchError;
use crate::installation::{Installation, at, run};
use crate::report::Report;
use crate::timing::{median, take_turns, timed};

/// Compares one call with the same program in bubblewrap, and with the program alone.
///
/// # Errors
/// When a call fails. Where bubblewrap cannot run, the report says so and goes on without it.
pub(crate) fn whole_calls(
    installation: &Installation,
    runs: u32,
    report: &mut Report,
) -> Result<(), BenchError> {
    let what = "hcp exec, native-local, audit durable";
    let mut call = || time_of(installation.call(&[]));
    let mut alone = || time_of(Command::new(installation.noop()));
    let mut jailed = || time_of(bubblewrap(installation.noop()));
    // Two at a time: what bubblewrap leaves to be cleaned up must not fall to the smallest of three.
    match jailed() {
        Ok(_) => {
            let [call, jailed] = take_turns(runs, [&mut call, &mut jailed])?;
            report.compare(what, call, "bwrap --ro-bind / / --unshare-all", jailed);
        }
        Err(error) => report.note(format!("without bubblewrap: {error}")),
    }
    let [call, alone] = take_turns(runs, [&mut call, &mut alone])?;
    report.compare(what, call, "the program alone", alone);
    Ok(())
}

fn time_of(mut command: Command) -> Result<Duration, BenchError> {
    let (time, answer) = timed(|| run(&mut command));
    answer.map(|_| time)
}

fn bubblewrap(program: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command
        .args(["--ro-bind", "/", "/", "--unshare-all"])
        .arg(program);
    command
}

/// Splits a call by its steps, each against the whole of them.
///
/// # Errors
/// When a call fails, or does not tell its timings.
pub(crate) fn steps(
    installation: &Installation,
    runs: u32,
    report: &mut Report,
) -> Result<(), BenchError> {
    let mut times = PHASES.map(|_| Vec::new());
    for _ in 0..runs {
        let mut call = installation.call(&["--timings"]);
        let (_, stderr) = run(&mut call)?;
        let mut told = 0;
        for line in stderr.lines() {
            if let Some((phase, time)) = timing(line) {
                if let Some(times) = times.get_mut(phase) {
                    times.push(time);
                }
                told += 1;
            }
        }
        if told == 0 {
            return Err(BenchError::Answer {
                command: format!("{call:?}"),
                answer: stderr,
                expected: "line of a step and its microseconds",
            });
        }
    }
    let medians = times.map(median);
    let whole = medians.iter().sum();
    for (phase, time) in PHASES.into_iter().zip(medians) {
        report.compare(phase, time, "all nine steps and the intent", whole);
    }
    Ok(())
}

/// The nine steps, with the intent where it is made durable.
const PHASES: [&str; 10] = [
    Step::ResolvePack.name(),
    Step::CheckActivation.name(),
    Step::ResolvePolicy.name(),
    Step::Authenticate.name(),
    Step::AssertCapability.name(),
    Step::EnforceConfirm.name(),
    "intent",
    Step::MintBinding.name(),
    Step::RunAdapter.name(),
    Step::Record.name(),
];

/// Reads the name of a phase and its microseconds; other lines are none of ours.
fn timing(line: &str) -> Option<(usize, Duration)> {
    let (name, microseconds) = line.split_once(' ')?;
    let phase = PHASES.into_iter().position(|phase| phase == name)?;
    let microseconds: f64 = microseconds.trim().parse().ok()?;
    let time = Duration::try_from_secs_f64(microseconds / 1e6).ok()?;
    Some((phase, time))
}

/// The size of the program, and the most memory that one call held.
///
/// # Errors
/// When the call fails, or its memory cannot be told.
pub(crate) fn footprint(
    installation: &Installation,
    peak: &Path,
    report: &mut Report,
) -> Result<(), BenchError> {
    let program = installation.program();
    let bytes = at(program, fs::metadata(program))?.len();
    report.note(format!(
        "size of the stripped program: {}",
        mebibytes(bytes)
    ));

    let call = installation.call(&[]);
    let mut measured = Command::new(peak);
    measured.arg(call.get_program()).args(call.get_args());
    measured.env_clear();
    for (name, value) in call.get_envs() {
        if let Some(value) = value {
            measured.env(name, value);
        }
    }
    let (answer, _) = run(&mut measured)?;
    let kibibytes: u64 = answer.parse().map_err(|_| BenchError::Answer {
        command: format!("{measured:?}"),
        answer,
        expected: "number of KiB",
    })?;
    report.note(format!(
        "peak memory of one call: {}",
        mebibytes(kibibytes * 1024)
    ));
    Ok(())
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{mebibytes, timing};

    #[test]
    fn only_lines_of_steps_are_read() {
        let time = |microseconds| Duration::from_micros(microseconds);
        for (line, expected) in [
            ("resolve_pack 12", Some((0, time(12)))),
            ("record 7.5", Some((9, Duration::from_nanos(7500)))),
            ("resolve_pack", None),
            ("resolve_pack soon", None),
            ("resolve_pack -1", None),
            ("total 99", None),
            ("", None),
        ] {
            assert_eq!(timing(line), expected, "{line:?}");
        }
    }

    #[test]
    fn sizes_are_told_to_a_tenth() {
        for (bytes, text) in [(0, "0.0 MiB"), (1 << 20, "1.0 MiB"), (8_650_752, "8.2 MiB")] {
            assert_eq!(mebibytes(bytes), text);
        }
    }
}
