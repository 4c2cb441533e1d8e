//! The commands, a file each: the arguments, then what is done with them.

mod account;
mod balance;
mod close;
mod statement;
mod transfer;

use clap::Subcommand;

use crate::books::Books;
use crate::error::LedgerError;
use crate::report::Report;

/// What can be asked of the books.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open accounts and list them.
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Move money from one account to another.
    Transfer(transfer::Transfer),
    /// Show what the accounts hold.
    Balance(balance::Balance),
    /// Show what happened on an account.
    Statement(statement::Statement),
    /// Close an empty account for good.
    Close(close::Close),
}

impl Command {
    /// Does what the command says.
    ///
    /// # Errors
    /// What the books refuse, and what keeps them from being read or written.
    pub(crate) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        match self {
            Self::Account(command) => command.run(books),
            Self::Transfer(command) => command.run(books),
            Self::Balance(command) => command.run(books),
            Self::Statement(command) => command.run(books),
            Self::Close(command) => command.run(books),
        }
    }
}
