//! `ledger account add` and `ledger account list`.

use clap::{Args, Subcommand};

use crate::account::AccountName;
use crate::books::Books;
use crate::error::LedgerError;
use crate::journal::Account;
use crate::report::{Report, Side, Table};

/// What can be asked about accounts.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Open an account.
    Add(Add),
    /// List the accounts.
    List,
}

/// Open an account.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Name of the account, like `cash` or `expenses:rent`.
    #[arg(value_parser = AccountName::parse)]
    name: AccountName,
    /// Refuse every transfer that would take it below zero.
    #[arg(long)]
    no_overdraft: bool,
}

impl AccountCommand {
    pub(super) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        match self {
            Self::Add(add) => {
                let account = books.add(&add.name, !add.no_overdraft)?;
                Ok(Report::new(&account, table([&account])))
            }
            Self::List => {
                let accounts = books.accounts()?;
                Ok(Report::new(&accounts, table(&accounts)))
            }
        }
    }
}

/// Accounts as a table.
pub(super) fn table<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> Table {
    let mut table = Table::new(&[
        ("account", Side::Left),
        ("balance", Side::Right),
        ("overdraft", Side::Left),
        ("state", Side::Left),
    ]);
    for account in accounts {
        let overdraft = if account.overdraft { "yes" } else { "no" };
        let state = if account.open { "open" } else { "closed" };
        table.row([
            account.name.to_string(),
            account.balance.to_string(),
            overdraft.to_owned(),
            state.to_owned(),
        ]);
    }
    table
}
