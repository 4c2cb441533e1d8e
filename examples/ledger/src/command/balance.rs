//! `ledger balance`.

use clap::Args;
use serde::Serialize;

use crate::account::AccountName;
use crate::books::Books;
use crate::error::LedgerError;
use crate::money::Money;
use crate::report::{Report, Side, Table};

/// Show what the accounts hold.
#[derive(Debug, Args)]
pub(crate) struct Balance {
    /// Only this account.
    #[arg(long, value_parser = AccountName::parse)]
    account: Option<AccountName>,
}

#[derive(Serialize)]
struct Holding {
    account: AccountName,
    balance: Money,
}

impl Balance {
    pub(super) fn run(&self, books: &mut Books) -> Result<Report, LedgerError> {
        if let Some(name) = &self.account {
            let account = books.account(name)?;
            let holding = Holding {
                account: account.name,
                balance: account.balance,
            };
            let shown = table([&holding]);
            return Ok(Report::new(&holding, shown));
        }
        let holdings: Vec<_> = books
            .accounts()?
            .into_iter()
            .filter(|account| account.open)
            .map(|account| Holding {
                account: account.name,
                balance: account.balance,
            })
            .collect();
        let shown = table(&holdings);
        Ok(Report::new(&holdings, shown))
    }
}

fn table<'a>(holdings: impl IntoIterator<Item = &'a Holding>) -> Table {
    let mut table = Table::new(&[("account", Side::Left), ("balance", Side::Right)]);
    for holding in holdings {
        table.row([holding.account.to_string(), holding.balance.to_string()]);
    }
    table
}
