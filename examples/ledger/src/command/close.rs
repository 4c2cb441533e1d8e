//! `ledger close`.

use clap::Args;

use super::account::table;
use crate::account::AccountName;
use crate::books::Books;
use crate::error::LedgerError;
use crate::report::Report;

/// Close an empty account for good.
#[derive(Debug, Args)]
pub(crate) struct Close {
    /// The account.
    #[arg(long, value_parser = AccountName::parse)]
    account: AccountName,
}

impl Close {
    pub(super) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        let account = books.close(&self.account)?;
        let shown = table([&account]);
        Ok(Report::new(&account, shown))
    }
}
