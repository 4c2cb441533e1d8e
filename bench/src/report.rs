//! The table of ratios.

use std::io::{self, Write};
use std::time::Duration;

/// What was measured, in the order it was.
pub(crate) struct Report {
    runs: u32,
    ratios: Vec<Ratio>,
    notes: Vec<String>,
}

struct Ratio {
    what: String,
    time: Duration,
    against: &'static str,
    floor: Duration,
}

impl Report {
    /// An empty report on medians of so many rounds.
    pub(crate) const fn new(runs: u32) -> Self {
        Self {
            runs,
            ratios: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a comparison: `time` for `what`, where `against` takes `floor`.
    pub(crate) fn compare(
        &mut self,
        what: impl Into<String>,
        time: Duration,
        against: &'static str,
        floor: Duration,
    ) {
        self.ratios.push(Ratio {
            what: what.into(),
            time,
            against,
            floor,
        });
    }

    /// Adds what is no comparison: a size, or why one could not be made.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Writes everything.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "medians of {} rounds, contenders in turns\n",
            self.runs
        )?;
        writeln!(out, "{:>8}  {:>11}  {:<44}  against", "ratio", "µs", "what")?;
        for Ratio {
            what,
            time,
            against,
            floor,
        } in &self.ratios
        {
            let ratio = time.as_secs_f64() / floor.as_secs_f64().max(f64::MIN_POSITIVE);
            let (time, floor) = (microseconds(*time), microseconds(*floor));
            writeln!(
                out,
                "{ratio:>8.2}  {time:>11.1}  {what:<44}  {against} ({floor:.1} µs)"
            )?;
        }
        writeln!(out)?;
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        out.flush()
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Report;

    #[test]
    fn a_ratio_stands_first_and_both_times_beside_it() {
        let mut report = Report::new(30);
        let (time, floor) = (Duration::from_micros(300), Duration::from_micros(200));
        report.compare("a call", time, "the floor", floor);
        report.note("size: 1 MiB");
        let mut text = Vec::new();
        report.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let line = text.lines().find(|line| line.contains("a call")).unwrap();
        assert!(line.trim_start().starts_with("1.50  "), "{line}");
        assert!(
            line.contains(" 300.0 ") && line.ends_with("the floor (200.0 µs)"),
            "{line}"
        );
        assert!(text.ends_with("\nsize: 1 MiB\n"), "{text}");
    }
}
