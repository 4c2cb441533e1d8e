//! Everything that can go wrong, what to do about it, and the exit status that says whose turn it is.

use std::io::{self, Write};
use std::path::PathBuf;

use thiserror::Error;

use crate::account::AccountName;
use crate::money::Money;

/// Why a command did not do what it was asked.
#[derive(Debug, Error)]
pub(crate) enum LedgerError {
    /// Nobody said where the books are.
    #[error("no state folder")]
    NoState,
    /// The folder of the books is not there, or is no folder.
    #[error("state folder `{}` is not a folder", .0.display())]
    StateFolder(PathBuf),
    /// No account of this name was ever opened.
    #[error("unknown account `{0}`")]
    UnknownAccount(AccountName),
    /// The name is taken.
    #[error("account `{0}` exists already")]
    AccountExists(AccountName),
    /// The account takes part in nothing any more.
    #[error("account `{0}` is closed")]
    AccountClosed(AccountName),
    /// A transfer needs two sides.
    #[error("account `{0}` cannot be both sides of a transfer")]
    SameAccount(AccountName),
    /// The account may not fall below zero, and would.
    #[error("account `{account}` holds {balance}, less than {amount}")]
    Insufficient {
        /// The account that was to give.
        account: AccountName,
        /// What it holds.
        balance: Money,
        /// What was asked of it.
        amount: Money,
    },
    /// Only an empty account can be closed.
    #[error("account `{account}` still holds {balance}")]
    NotEmpty {
        /// The account that was to be closed.
        account: AccountName,
        /// What it holds.
        balance: Money,
    },
    /// The balance would leave the range of exact amounts.
    #[error("account `{0}` cannot hold that much")]
    TooMuch(AccountName),
    /// The accounts do not hold nothing together.
    #[error("the books are out of balance: the accounts do not add up to 0.00")]
    OutOfBalance,
    /// The books were written by a later version of this tool.
    #[error("the books have format {0}, which this version does not know")]
    UnknownFormat(i64),
    /// SQLite failed.
    #[error("the books cannot be used: {0}")]
    Database(#[from] rusqlite::Error),
    /// The clock stands outside of the range of dates.
    #[error("the time cannot be told: {0}")]
    Time(#[from] jiff::Error),
    /// The answer could not be written.
    #[error("the answer cannot be written: {0}")]
    Output(io::Error),
}

impl LedgerError {
    /// What to do about it, where there is something to do.
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoState => "give `--state DIR`, or set `HCP_CALL_STATE`".to_owned(),
            Self::StateFolder(path) => format!("make it first: `mkdir -p {}`", path.display()),
            Self::UnknownAccount(name) => {
                format!("see `ledger account list`, or open it with `ledger account add {name}`")
            }
            Self::NotEmpty { account, .. } => {
                format!("move the rest elsewhere with `ledger transfer` from or to `{account}`")
            }
            Self::OutOfBalance => {
                "somebody else wrote into the file; go back to a copy of it".to_owned()
            }
            Self::UnknownFormat(_) => "use a later version of `ledger`".to_owned(),
            _ => return None,
        })
    }

    /// 1 when the books refuse, 2 for wrong usage, 70 when the books themselves are out of order.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownAccount(_)
            | Self::AccountExists(_)
            | Self::AccountClosed(_)
            | Self::SameAccount(_)
            | Self::Insufficient { .. }
            | Self::NotEmpty { .. }
            | Self::TooMuch(_) => 1,
            Self::NoState | Self::StateFolder(_) => 2,
            Self::OutOfBalance
            | Self::UnknownFormat(_)
            | Self::Database(_)
            | Self::Time(_)
            | Self::Output(_) => 70,
        }
    }

    /// Writes the error for a person: one line, and one more where there is a hint.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "error: {self}")?;
        match self.hint() {
            Some(hint) => writeln!(out, "hint: {hint}"),
            None => Ok(()),
        }
    }
}
