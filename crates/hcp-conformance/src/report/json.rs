//! The report as one JSON object.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{printable, verdict};
use crate::runner::Run;

pub(super) fn write(run: &Run, writer: &mut impl Write) -> io::Result<()> {
    let cases: Vec<Value> = run
        .rows
        .iter()
        .map(|(case, outcome)| {
            let (word, says) = verdict(outcome);
            json!({
                "id": case.id,
                "clause": case.clause,
                "level": case.level.as_str(),
                "proves": case.proves,
                "claimed": run.claims(case),
                "outcome": word,
                "says": printable(&says),
            })
        })
        .collect();
    let report = json!({
        "runtime": run.claims,
        "passed": run.passed(),
        "cases": cases,
    });
    writeln!(writer, "{report}")
}
