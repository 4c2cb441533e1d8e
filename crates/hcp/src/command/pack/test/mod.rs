//! `hcp pack test`: every example of a pack is a test, run in an installation that is thrown away.
//!
//! An example passes when its arguments are taken, render to the argv that it states, the call comes
//! out well, its result is what the command says it looks like, and every face answers the same.

mod bench;
mod faces;
mod report;
mod trial;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hcp_spec::ExitStatus;

use self::bench::Bench;
use self::report::Report;
use crate::ambient::Ambient;
use crate::command::answering::cancel_on_signals;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Runs the pack's own program as a plain child of yours, unless your config says `sandbox`.
/// Exits with 1 when an example fails
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The folder that holds hcp.toml or hcp.json
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How to print what came of it [default: table on a terminal, else json]
    #[arg(long)]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One JSON object
    Json,
    /// `JUnit` XML, for CI
    Junit,
}

impl Test {
    pub(super) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let cancel = cancel_on_signals()?;
        let bench = Bench::set_up(&self.folder, ambient, cancel.clone())?;
        let report = Report {
            pack_id: bench.pack_id().to_owned(),
            isolation: bench.isolation().as_str(),
            trials: trial::run_all(&bench)?,
        };
        match self.format {
            Some(Format::Junit) => terminal.print_bare(report.to_junit().trim_end()),
            Some(Format::Json) => terminal.print_json(&report.to_json().to_string()),
            Some(Format::Table) => terminal.show_always(|page| report.show(page)),
            None => terminal.show(&report.to_json(), |page| report.show(page)),
        }
        Ok(if cancel.is_cancelled() {
            ExitStatus::Interrupted
        } else if report.failed() > 0 {
            ExitStatus::AdapterFailed
        } else {
            ExitStatus::Ok
        })
    }
}
