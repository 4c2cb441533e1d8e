//! The file of the books: opening it, its format, and how names and sums are kept in it.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, TransactionBehavior, params};

use crate::account::{AccountName, Memo};
use crate::error::LedgerError;
use crate::journal::Instant;
use crate::money::Money;

const FILE: &str = "ledger.db";
const FORMAT: i64 = 1;
/// How long one process waits for others to finish writing.
const PATIENCE: Duration = Duration::from_secs(20);
/// What new books open with, so that the first transfer needs no preparation.
const FIRST_ACCOUNTS: [&str; 4] = ["cash", "income", "rent", "travel"];

/// One row is one transfer with both of its sides, so that one that does not balance cannot be
/// written down. Transfers are only ever added; balances are kept beside, changed in the same
/// transaction, so that reading them does not grow slower with the years.
const SCHEMA: &str = "
    CREATE TABLE account (
        name      TEXT PRIMARY KEY,
        balance   INTEGER NOT NULL DEFAULT 0,
        overdraft INTEGER NOT NULL CHECK (overdraft IN (0, 1)),
        opened    INTEGER NOT NULL,
        closed    INTEGER,
        CHECK (overdraft OR balance >= 0)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE transfer (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,
        time     INTEGER NOT NULL,
        giver    TEXT NOT NULL REFERENCES account (name),
        receiver TEXT NOT NULL REFERENCES account (name) CHECK (receiver <> giver),
        amount   INTEGER NOT NULL CHECK (amount > 0),
        memo     TEXT
    ) STRICT;
    CREATE INDEX transfer_by_giver ON transfer (giver, id);
    CREATE INDEX transfer_by_receiver ON transfer (receiver, id);
";

/// Opens the books in `folder`, and begins them where there are none.
///
/// # Errors
/// [`LedgerError::StateFolder`] when there is no such folder, [`LedgerError::UnknownFormat`] for
/// books of a later version, [`LedgerError::Database`] when the file cannot be used.
pub(crate) fn open(folder: &Path) -> Result<Connection, LedgerError> {
    if !folder.is_dir() {
        return Err(LedgerError::StateFolder(folder.to_owned()));
    }
    let mut connection = Connection::open(folder.join(FILE))?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    match format_of(&connection)? {
        FORMAT => {}
        0 => begin(&mut connection)?,
        other => return Err(LedgerError::UnknownFormat(other)),
    }
    Ok(connection)
}

fn format_of(connection: &Connection) -> Result<i64, LedgerError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Several processes may meet here at once: the first one writes, the others find it written.
fn begin(connection: &mut Connection) -> Result<(), LedgerError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if format_of(&transaction)? == 0 {
        transaction.execute_batch(SCHEMA)?;
        for name in FIRST_ACCOUNTS {
            transaction.execute(
                "INSERT INTO account (name, overdraft, opened) VALUES (?1, 1, ?2)",
                params![name, Instant::now()],
            )?;
        }
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    Ok(())
}

impl ToSql for Money {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.hundredths().into())
    }
}

impl FromSql for Money {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_hundredths)
    }
}

impl ToSql for AccountName {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for AccountName {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToSql for Memo {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Memo {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToSql for Instant {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.milliseconds().into())
    }
}

impl FromSql for Instant {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_milliseconds(value.as_i64()?)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}
