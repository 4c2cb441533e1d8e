//! Reading what a tool wrote: a large JSON document made one line, against only checking it.

use std::fmt::Write as _;
use std::hint::black_box;

use hcp_output::{Redactor, read_result};
use hcp_spec::manifest::OutputForm;
use serde::de::IgnoredAny;

use crate::error::BenchError;
use crate::report::Report;
use crate::timing::{take_turns, timed};

/// The largest result unless a pack asks for less.
const BYTES: usize = 16 << 20;

/// Compares reading 16 MiB of pretty-printed JSON with checking its grammar alone.
///
/// # Errors
/// When what was read is not the JSON that was written.
pub(crate) fn large_json(runs: u32, report: &mut Report) -> Result<(), BenchError> {
    let document = document();
    let redactor = Redactor::none();
    let mut read = || {
        let bytes = document.clone();
        let (time, output) = timed(|| black_box(read_result(bytes, OutputForm::Json, &redactor)));
        let kept = output.result.as_json();
        if kept.starts_with('[') && kept.len() < document.len() {
            Ok(time)
        } else {
            Err(BenchError::Wrong("the document was not read as JSON"))
        }
    };
    let mut check = || {
        let (time, seen) = timed(|| serde_json::from_slice::<IgnoredAny>(black_box(&document)));
        seen.map(|_| time)
            .map_err(|_| BenchError::Wrong("the document is not JSON"))
    };
    let [read, checked] = take_turns(runs, [&mut read, &mut check])?;
    let against = "serde_json checking its grammar alone";
    report.compare("a result of 16 MiB of pretty JSON", read, against, checked);
    Ok(())
}

/// An array of records, as a tool that lists things would print it.
fn document() -> Vec<u8> {
    let mut text = String::with_capacity(BYTES + 512);
    text.push('[');
    let mut index = 0_u64;
    while text.len() < BYTES {
        let comma = if index == 0 { "" } else { "," };
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "{comma}\n  {{\n    \"id\": {index},\n    \"name\": \"record \\u00e9 {index}\",\n    \
             \"price\": {index}.10,\n    \"tags\": [\n      \"a\",\n      \"b\"\n    ],\n    \
             \"open\": true,\n    \"parent\": null\n  }}"
        );
        index += 1;
    }
    text.push_str("\n]\n");
    text.into_bytes()
}
