//! A trip planner over a timetable, the second example tool of the project: a program like any other
//! that a pack wraps. It plans over a GTFS feed, or over the made-up city that is built in.
//!
//! Exit status: 0 done; 1 there is no such stop or no way; 2 wrong usage; 70 the feed cannot be read.

mod city;
mod clock;
mod command;
mod error;
mod fare;
mod feed;
mod journey;
mod search;
mod timetable;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;
use crate::error::TransitError;
use crate::feed::Feed;

/// Plan trips by public transport.
#[derive(Debug, Parser)]
#[command(name = "transit", version, arg_required_else_help = true)]
struct Invocation {
    /// Folder of a GTFS feed; else the built-in city.
    #[arg(long, global = true, value_name = "DIR")]
    feed: Option<PathBuf>,
    /// Answer with one JSON document.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match answer(&Invocation::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when stderr is gone too.
            let _ = error.write(&mut io::stderr().lock());
            ExitCode::from(error.exit_code())
        }
    }
}

fn answer(invocation: &Invocation) -> Result<(), TransitError> {
    let feed = match &invocation.feed {
        Some(folder) => Feed::read(folder)?,
        None => city::feed(),
    };
    let report = invocation.command.run(&feed)?;
    let mut out = io::stdout().lock();
    let written = if invocation.json {
        writeln!(out, "{}", report.json)
    } else {
        report
            .lines
            .iter()
            .try_for_each(|line| writeln!(out, "{line}"))
    };
    written
        .and_then(|()| out.flush())
        .map_err(TransitError::Output)
}
