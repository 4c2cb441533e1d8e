//! What hcp costs, compared with peers that do part of the same and with the least that is possible.
//!
//! Contenders take turns, so that what slows the machine slows all of them; what counts is the ratio
//! of their medians. `bench/run` builds everything and calls this.

mod composite;
mod decision;
mod error;
mod installation;
mod process;
mod rendering;
mod report;
mod results;
mod timing;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::error::BenchError;
use crate::installation::Installation;
use crate::report::Report;

/// Fewest rounds that a median is taken of.
const MIN_RUNS: u32 = 30;

/// Measure hcp against peers and against the floor.
#[derive(Debug, Parser)]
struct Options {
    /// The release build of `hcp`.
    #[arg(long)]
    hcp: PathBuf,
    /// The program that does nothing, which every contender starts.
    #[arg(long)]
    noop: PathBuf,
    /// The program that prints how much memory another one held.
    #[arg(long)]
    peak: PathBuf,
    /// Folder for the installation, on a disk.
    #[arg(long)]
    folder: PathBuf,
    /// Rounds that each median is taken of.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(i64::from(MIN_RUNS)..))]
    runs: u32,
}

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when stderr is gone too.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), BenchError> {
    let installation = Installation::new(&options.hcp, &options.noop, &options.folder)?;
    let mut report = Report::new(options.runs);
    process::whole_calls(&installation, options.runs, &mut report)?;
    process::steps(&installation, options.runs, &mut report)?;
    decision::six_steps(&options.folder, options.runs, &mut report)?;
    composite::inner_calls(&installation, options.runs, &mut report)?;
    rendering::twenty_tokens(options.runs, &mut report)?;
    results::large_json(options.runs, &mut report)?;
    process::footprint(&installation, &options.peak, &mut report)?;
    report
        .write(&mut io::stdout().lock())
        .map_err(BenchError::Output)
}
