//! A small double-entry ledger, the example tool of the project: a program like any other that a
//! pack wraps. It knows nothing of its caller beyond the folder that its books are kept in.
//!
//! Exit status: 0 done; 1 the books refuse; 2 wrong usage; 70 the books cannot be read or written.

mod account;
mod books;
mod command;
mod database;
mod error;
mod journal;
mod money;
mod report;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::books::Books;
use crate::command::Command;
use crate::error::LedgerError;

/// Keep double-entry books: every transfer takes from one account what it gives to another.
#[derive(Debug, Parser)]
#[command(name = "ledger", version, arg_required_else_help = true)]
struct Invocation {
    /// Folder that the books are kept in; else `HCP_CALL_STATE`.
    #[arg(long, global = true, value_name = "DIR")]
    state: Option<PathBuf>,
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

fn answer(invocation: &Invocation) -> Result<(), LedgerError> {
    let state = invocation
        .state
        .clone()
        .or_else(state_of_the_call)
        .ok_or(LedgerError::NoState)?;
    let mut books = Books::open(&state)?;
    let report = invocation.command.run(&mut books)?;
    let mut out = io::stdout().lock();
    let written = if invocation.json {
        report.write_json(&mut out)
    } else {
        report.write_table(&mut out)
    };
    written
        .and_then(|()| out.flush())
        .map_err(LedgerError::Output)
}

/// An empty variable is an absent one: the working folder is never meant.
fn state_of_the_call() -> Option<PathBuf> {
    std::env::var_os("HCP_CALL_STATE")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}
