//! What came of a run, for people and for programs.

mod json;
mod junit;
mod table;

use std::io::{self, Write};

use crate::runner::{Outcome, Run};

/// A form of report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A table for a terminal.
    #[default]
    Table,
    /// One JSON object.
    Json,
    /// JUnit's XML, as build servers read it.
    Junit,
}

/// Writes the report of a run.
///
/// # Errors
/// Those of the writer.
pub fn write(run: &Run, form: Form, writer: &mut impl Write) -> io::Result<()> {
    match form {
        Form::Table => table::write(run, writer),
        Form::Json => json::write(run, writer),
        Form::Junit => junit::write(run, writer),
    }
}

/// How a row reads in one word, and what there is to say about it.
fn verdict(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Passed => ("passed", String::new()),
        Outcome::Failed(faults) => ("failed", faults.join("\n")),
        Outcome::Unsupported(reason) => ("unsupported", reason.clone()),
        Outcome::Skipped(reason) => ("skipped", reason.clone()),
    }
}

/// The text with everything that could move a cursor or forge a line written as an escape; what a
/// runtime says is not to be trusted with a terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\n' || hcp_spec::name::is_printable(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Form, write};
    use crate::corpus::Corpus;
    use crate::protocol::Claims;
    use crate::runner::{Outcome, Run};

    fn report(outcome: Outcome, form: Form) -> String {
        let case = Corpus::load().unwrap().cases.remove(0);
        let run = Run {
            claims: Claims {
                name: "one".to_owned(),
                clauses: vec!["6.1".to_owned()],
                ..Claims::default()
            },
            rows: vec![(case, outcome)],
        };
        let mut bytes = Vec::new();
        write(&run, form, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_form_tells_a_failure_and_escapes_what_the_runtime_said() {
        let failed = || Outcome::Failed(vec!["got <\u{1b}[2J>".to_owned()]);
        for form in [Form::Table, Form::Json, Form::Junit] {
            let text = report(failed(), form);
            assert!(text.contains("6.1"), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
            assert_ne!(text, report(Outcome::Passed, form));
        }
        assert!(report(failed(), Form::Junit).contains("&lt;"));
        let json: serde_json::Value = serde_json::from_str(&report(failed(), Form::Json)).unwrap();
        assert_eq!(json["passed"], false);
        assert_eq!(json["cases"][0]["outcome"], "failed");
    }
}
