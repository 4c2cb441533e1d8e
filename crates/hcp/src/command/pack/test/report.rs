//! What came of a test, for people, for programs and for CI.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::trial::Trial;
use crate::terminal::{Page, Tone};

/// All examples of a pack.
pub(super) struct Report {
    pub(super) pack_id: String,
    pub(super) isolation: &'static str,
    pub(super) trials: Vec<Trial>,
}

impl Report {
    pub(super) fn failed(&self) -> usize {
        self.trials.iter().filter(|trial| trial.failed()).count()
    }

    fn passed(&self) -> usize {
        self.trials.iter().filter(|trial| trial.passed()).count()
    }

    fn skipped(&self) -> usize {
        self.trials.len() - self.passed() - self.failed()
    }

    pub(super) fn to_json(&self) -> Value {
        let examples: Vec<Value> = self
            .trials
            .iter()
            .map(|trial| {
                json!({
                    "verb_key": trial.verb_key,
                    "example": trial.example,
                    "outcome": outcome(trial),
                    "faults": trial.faults,
                    "skipped": trial.skipped,
                    "notes": trial.notes,
                    "duration_ms": u64::try_from(trial.duration.as_millis()).unwrap_or(u64::MAX),
                })
            })
            .collect();
        json!({
            "pack_id": self.pack_id,
            "isolation": self.isolation,
            "passed": self.passed(),
            "failed": self.failed(),
            "skipped": self.skipped(),
            "examples": examples,
        })
    }

    pub(super) fn show(&self, page: &mut Page<'_>) {
        for trial in &self.trials {
            let (tone, mark) = match outcome(trial) {
                "passed" => (Tone::Good, "✓"),
                "failed" => (Tone::Bad, "✗"),
                _ => (Tone::Quiet, "-"),
            };
            let name = format!("{} / {}", trial.verb_key, trial.example);
            page.marked(tone, mark, &name);
            let skipped = trial.skipped.iter().map(|why| format!("skipped: {why}"));
            let details = trial.faults.iter().cloned().chain(skipped);
            for detail in details.chain(trial.notes.iter().cloned()) {
                page.line(&format!("    {detail}"));
            }
        }
        page.line(&format!(
            "{}: {} passed, {} failed, {} skipped; run {}",
            self.pack_id,
            self.passed(),
            self.failed(),
            self.skipped(),
            self.isolation
        ));
    }

    pub(super) fn to_junit(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let suite = format!(
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
            attribute(&self.pack_id),
            self.trials.len(),
            self.failed(),
            self.skipped()
        );
        xml.push_str(&suite);
        for trial in &self.trials {
            let _ = write!(
                xml,
                "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">",
                attribute(&format!("{}.{}", self.pack_id, trial.verb_key)),
                attribute(&trial.example),
                trial.duration.as_secs_f64()
            );
            for fault in &trial.faults {
                let _ = write!(xml, "<failure message=\"{}\"/>", attribute(fault));
            }
            if let Some(why) = trial.skipped.as_ref().filter(|_| !trial.failed()) {
                let _ = write!(xml, "<skipped message=\"{}\"/>", attribute(why));
            }
            xml.push_str("</testcase>\n");
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

fn outcome(trial: &Trial) -> &'static str {
    match (trial.failed(), trial.passed()) {
        (true, _) => "failed",
        (false, true) => "passed",
        (false, false) => "skipped",
    }
}

/// A text inside a double-quoted attribute. What XML cannot hold, and what would steer a screen,
/// becomes U+FFFD; line breaks are kept as references.
fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            other if hcp_spec::name::is_printable(other) => escaped.push(other),
            _ => escaped.push('\u{fffd}'),
        }
    }
    escaped
}
