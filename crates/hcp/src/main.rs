//! The `hcp` command line: reads the command, calls the library, renders the answer.

mod ambient;
mod command;
mod failure;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::ambient::Ambient;
use crate::command::Cli;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    // Everything hcp makes is its owner's alone, whatever the shell was set to.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return terminal::usage(&error),
    };
    let ambient = Ambient::read();
    ambient.start_log();
    let terminal = Terminal::new(cli.json);
    match command::run(cli, &ambient, &terminal) {
        Ok(status) => ExitCode::from(status.code()),
        Err(failure) => terminal.fail(&failure),
    }
}
