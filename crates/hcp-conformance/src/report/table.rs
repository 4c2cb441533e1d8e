//! The report for a terminal: a row a clause, then what failed and why.

use std::io::{self, Write};

use comfy_table::{Table, presets};
use indexmap::IndexMap;

use super::{printable, verdict};
use crate::corpus::Case;
use crate::runner::{Outcome, Run};

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    unsupported: usize,
    skipped: usize,
    spoilt: bool,
    claimed: bool,
}

pub(super) fn write(run: &Run, writer: &mut impl Write) -> io::Result<()> {
    let claims = &run.claims;
    writeln!(
        writer,
        "{} {}",
        printable(&claims.name),
        printable(&claims.version)
    )?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "clause",
        "passed",
        "failed",
        "unsupported",
        "skipped",
        "claimed",
        "",
    ]);
    for (clause, tally) in tallies(run) {
        let counts = [tally.passed, tally.failed, tally.unsupported, tally.skipped];
        let mut row = vec![clause.to_owned()];
        row.extend(counts.map(|count| count.to_string()));
        row.push(if tally.claimed { "yes" } else { "no" }.to_owned());
        row.push(
            match (tally.claimed, tally.spoilt) {
                (true, false) => "conforms",
                (true, true) => "does not conform",
                (false, _) => "",
            }
            .to_owned(),
        );
        table.add_row(row);
    }
    for line in table.lines() {
        writeln!(writer, "{}", line.trim_end())?;
    }
    for (case, outcome) in &run.rows {
        if matches!(outcome, Outcome::Failed(_) | Outcome::Unsupported(_)) {
            write_row(run, case, outcome, writer)?;
        }
    }
    let end = if run.passed() {
        "every claimed clause passed"
    } else {
        "not every claimed clause passed"
    };
    writeln!(writer, "\n{end}")
}

fn write_row(run: &Run, case: &Case, outcome: &Outcome, writer: &mut impl Write) -> io::Result<()> {
    let (word, says) = verdict(outcome);
    let note = if run.spoils(case, outcome) {
        ""
    } else if run.claims(case) {
        " (advice, does not count)"
    } else {
        " (not claimed)"
    };
    writeln!(writer, "\n{word} {} {}{note}", case.id, case.level.as_str())?;
    writeln!(writer, "  {}", case.proves)?;
    for line in printable(&says).lines() {
        writeln!(writer, "  - {line}")?;
    }
    Ok(())
}

fn tallies(run: &Run) -> IndexMap<&str, Tally> {
    let mut tallies: IndexMap<&str, Tally> = IndexMap::new();
    for (case, outcome) in &run.rows {
        let tally = tallies.entry(&case.clause).or_default();
        match outcome {
            Outcome::Passed => tally.passed += 1,
            Outcome::Failed(_) => tally.failed += 1,
            Outcome::Unsupported(_) => tally.unsupported += 1,
            Outcome::Skipped(_) => tally.skipped += 1,
        }
        tally.spoilt |= run.spoils(case, outcome);
        tally.claimed |= run.claims(case);
    }
    tallies
}
