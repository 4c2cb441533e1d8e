//! Rendering: arguments made an argv, against only copying the words of that argv.

use std::hint::black_box;
use std::time::Duration;

use hcp_pack::PreparedCommand;
use hcp_spec::envelope::Arguments;
use hcp_spec::manifest::Manifest;
use serde_json::{Value, json};

use crate::error::BenchError;
use crate::report::Report;
use crate::timing::{take_turns, timed};

/// Tokens of the template, half of them flags, half of them bare.
const TOKENS: usize = 20;
/// One rendering is over too soon to be timed alone.
const BATCH: u32 = 1_000;

/// Compares rendering 20 tokens, with and without checking the arguments first, with copying the 20
/// words that come out.
///
/// # Errors
/// When the command cannot be prepared, or does not render to what its arguments say.
pub(crate) fn twenty_tokens(runs: u32, report: &mut Report) -> Result<(), BenchError> {
    let command = PreparedCommand::prepare(&manifest()?, "show")
        .map_err(|_| BenchError::Wrong("the command of 20 tokens cannot be prepared"))?;
    let arguments = arguments();
    let refused = |_| BenchError::Wrong("the arguments of the 20 tokens are refused");
    let checked = command.check(&arguments).map_err(refused)?;
    let argv = command.render(&checked).map_err(refused)?;
    if argv.len() != TOKENS {
        return Err(BenchError::Wrong("20 tokens did not render to 20 words"));
    }
    let mut check_and_render = || {
        batch(|| {
            let checked = command.check(black_box(&arguments))?;
            command.render(&checked)
        })
        .map_err(refused)
    };
    let mut render = || batch(|| command.render(black_box(&checked))).map_err(refused);
    let mut copy = || batch(|| Ok::<_, BenchError>(black_box(&argv).clone()));
    let [both, rendered, copied] =
        take_turns(runs, [&mut check_and_render, &mut render, &mut copy])?;
    let against = "copying the 20 words";
    report.compare(
        "rendering 20 tokens",
        rendered / BATCH,
        against,
        copied / BATCH,
    );
    report.compare(
        "checking, then rendering them",
        both / BATCH,
        against,
        copied / BATCH,
    );
    Ok(())
}

/// Does the work many times over, and answers with the time of all.
fn batch<T, E>(work: impl Fn() -> Result<T, E>) -> Result<Duration, E> {
    let (time, done) =
        timed(|| (0..BATCH).try_for_each(|_| work().map(|made| drop(black_box(made)))));
    done.map(|()| time)
}

fn manifest() -> Result<Manifest, BenchError> {
    let names = (0..TOKENS).map(|index| format!("a{index}"));
    let tokens = names
        .clone()
        .enumerate()
        .map(|(index, name)| match index % 2 {
            0 => format!("--{name}={{{{{name}}}}}"),
            _ => format!("{{{{{name}}}}}"),
        });
    // The first word is the tool's name, and dropped.
    let cli: Vec<_> = ["tool".to_owned()].into_iter().chain(tokens).collect();
    let args: serde_json::Map<_, _> = names
        .enumerate()
        .map(|(index, name)| {
            let word = if index % 4 == 0 { "number" } else { "string" };
            (
                name,
                json!({ "required": true, "schema": { "type": word } }),
            )
        })
        .collect();
    let manifest = json!({
        "hcp": 1,
        "id": "bench",
        "version": "1",
        "summary": "A command of many tokens",
        "kind": "wrap",
        "wrap": { "bin": "./tool", "json": [] },
        "commands": { "show": { "summary": "Show", "effect": "read", "cli": cli, "args": args } },
        "policy": { "show": { "capability": "bench:show" } },
    });
    serde_json::from_value(manifest)
        .map_err(|_| BenchError::Wrong("the manifest of the 20 tokens is none"))
}

fn arguments() -> Arguments {
    (0..TOKENS)
        .map(|index| {
            let value = match index % 4 {
                0 => json!(index * 1_000),
                _ => Value::String(format!("the value of argument {index}")),
            };
            (format!("a{index}"), value)
        })
        .collect()
}
