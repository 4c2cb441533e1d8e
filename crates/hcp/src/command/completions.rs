//! `hcp completions` and `hcp man`: made from the same table that the command line is read by.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use hcp_spec::ExitStatus;

use super::Cli;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Print what a shell needs to complete hcp's own words
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Print the man page, in roff
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Of this command, like `exec`; of all when absent
    command: Option<String>,
}

impl Completions {
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "hcp", &mut text);
        terminal.print_bytes(&text);
        Ok(ExitStatus::Ok)
    }
}

impl Man {
    pub(crate) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let mut all = Cli::command();
        all.build();
        let command = match &self.command {
            None => all,
            Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
                Failure::usage(
                    format!("hcp has no command `{name}`"),
                    "`hcp help` lists them",
                )
            })?,
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut text)
            .map_err(|error| Failure::internal(error.to_string()))?;
        terminal.print_bytes(&text);
        Ok(ExitStatus::Ok)
    }
}
