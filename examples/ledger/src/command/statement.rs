//! `ledger statement`.

use clap::Args;

use crate::account::AccountName;
use crate::books::Books;
use crate::error::LedgerError;
use crate::journal::Day;
use crate::report::{Report, Side, Table};

/// Show what happened on an account.
#[derive(Debug, Args)]
pub(crate) struct Statement {
    /// The account.
    #[arg(long, value_parser = AccountName::parse)]
    account: AccountName,
    /// First day, in UTC, like `2026-03-01`.
    #[arg(long, value_name = "DATE", value_parser = Day::parse)]
    from_date: Option<Day>,
    /// Last day, in UTC.
    #[arg(long, value_name = "DATE", value_parser = Day::parse)]
    to_date: Option<Day>,
}

impl Statement {
    pub(super) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        let statement = books.statement(&self.account, self.from_date, self.to_date)?;
        let mut table = Table::new(&[
            ("transfer", Side::Right),
            ("time", Side::Left),
            ("other side", Side::Left),
            ("change", Side::Right),
            ("balance", Side::Right),
            ("memo", Side::Left),
        ]);
        let edge = |word: &str, balance: String| {
            let empty = String::new;
            [empty(), empty(), word.to_owned(), empty(), balance, empty()]
        };
        table.row(edge("opening", statement.opening.to_string()));
        for entry in &statement.entries {
            let memo = entry.memo.as_ref().map_or("", |memo| memo.as_str());
            table.row([
                entry.transfer.to_string(),
                entry.time.to_string(),
                entry.other.to_string(),
                entry.amount.to_string(),
                entry.balance.to_string(),
                memo.to_owned(),
            ]);
        }
        table.row(edge("closing", statement.closing.to_string()));
        Ok(Report::new(&statement, table))
    }
}
