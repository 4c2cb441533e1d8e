//! `ledger transfer`.

use clap::Args;

use crate::account::{AccountName, Memo};
use crate::books::Books;
use crate::error::LedgerError;
use crate::journal::Order;
use crate::money::Amount;
use crate::report::{Report, Side, Table};

/// Move money from one account to another.
#[derive(Debug, Args)]
pub(crate) struct Transfer {
    /// Account that gives.
    #[arg(long, value_parser = AccountName::parse)]
    from: AccountName,
    /// Account that receives.
    #[arg(long, value_parser = AccountName::parse)]
    to: AccountName,
    /// How much, like `10` or `10.50`.
    #[arg(long, value_parser = Amount::parse)]
    amount: Amount,
    /// What it is for, on one line.
    #[arg(long, value_parser = Memo::parse)]
    memo: Option<Memo>,
}

impl Transfer {
    pub(super) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        let transfer = books.transfer(Order {
            from: self.from.clone(),
            to: self.to.clone(),
            amount: self.amount,
            memo: self.memo.clone(),
        })?;
        let mut table = Table::new(&[
            ("account", Side::Left),
            ("change", Side::Right),
            ("balance", Side::Right),
        ]);
        table.row([
            transfer.from.to_string(),
            format!("-{}", transfer.amount),
            transfer.from_balance.to_string(),
        ]);
        table.row([
            transfer.to.to_string(),
            format!("+{}", transfer.amount),
            transfer.to_balance.to_string(),
        ]);
        Ok(Report::new(&transfer, table))
    }
}
