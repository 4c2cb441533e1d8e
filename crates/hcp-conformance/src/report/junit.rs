//! The report as JUnit's XML: a suite a clause, a failure for each row that makes a claim untrue.

use std::io::{self, Write};

use indexmap::IndexMap;

use super::{printable, verdict};
use crate::corpus::Case;
use crate::runner::{Outcome, Run};

pub(super) fn write(run: &Run, writer: &mut impl Write) -> io::Result<()> {
    let mut suites: IndexMap<&str, Vec<&(Case, Outcome)>> = IndexMap::new();
    for row in &run.rows {
        suites.entry(&row.0.clause).or_default().push(row);
    }
    writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(writer, "<testsuites name=\"{}\">", escape(&run.claims.name))?;
    for (clause, rows) in suites {
        let failures = rows
            .iter()
            .filter(|(case, outcome)| run.spoils(case, outcome))
            .count();
        writeln!(
            writer,
            "  <testsuite name=\"{clause}\" tests=\"{}\" failures=\"{failures}\">",
            rows.len()
        )?;
        for (case, outcome) in rows {
            write_row(run, case, outcome, writer)?;
        }
        writeln!(writer, "  </testsuite>")?;
    }
    writeln!(writer, "</testsuites>")
}

fn write_row(run: &Run, case: &Case, outcome: &Outcome, writer: &mut impl Write) -> io::Result<()> {
    let (word, says) = verdict(outcome);
    let (id, clause, says) = (escape(&case.id), escape(&case.clause), escape(&says));
    write!(
        writer,
        "    <testcase classname=\"{clause}\" name=\"{id}\">"
    )?;
    if run.spoils(case, outcome) {
        let proves = escape(&case.proves);
        write!(writer, "<failure message=\"{proves}\">{says}</failure>")?;
    } else if *outcome != Outcome::Passed {
        write!(writer, "<skipped message=\"{word}: {says}\"/>")?;
    }
    writeln!(writer, "</testcase>")
}

fn escape(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}
