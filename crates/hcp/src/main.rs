//! The `hcp` command line: reads the command, calls the library, renders the answer.

mod ambient;
mod command;
mod failure;
mod terminal;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::ambient::Ambient;
use crate::command::Cli;
use crate::failure::Failure;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    // Everything hcp makes is its owner's alone, whatever the shell was set to.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    if let Some(pack) = linked_name() {
        return run_linked(&pack);
    }
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

/// The pack whose name this binary was called by, through a link.
fn linked_name() -> Option<String> {
    let called = std::env::args_os().next()?;
    let name = Path::new(&called).file_name()?.to_str()?.to_owned();
    (name != "hcp").then_some(name)
}

fn run_linked(pack: &str) -> ExitCode {
    let words: Result<Vec<String>, _> = std::env::args_os()
        .skip(1)
        .map(std::ffi::OsString::into_string)
        .collect();
    let ambient = Ambient::read();
    ambient.start_log();
    let terminal = Terminal::new(false);
    let answered = match words {
        Ok(words) => command::run_linked(pack, &words, &ambient, &terminal),
        Err(word) => Err(Failure::usage(
            format!("`{}` is not UTF-8", word.display()),
            "arguments are text",
        )),
    };
    match answered {
        Ok(status) => ExitCode::from(status.code()),
        Err(failure) => terminal.fail(&failure),
    }
}
