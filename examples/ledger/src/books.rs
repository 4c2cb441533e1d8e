//! The books: what may be written into them, and what can be read out of them.
//!
//! Everything that writes first takes SQLite's write lock and only then looks, so that what it
//! judged by is still true when it writes, however many processes are at it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::account::AccountName;
use crate::database;
use crate::error::LedgerError;
use crate::journal::{Account, Day, Entry, Instant, Order, Statement, Transfer};
use crate::money::Money;

/// One set of books, open.
pub(crate) struct Books {
    connection: Connection,
}

impl Books {
    /// Opens the books in `folder`, and begins them where there are none.
    ///
    /// # Errors
    /// As [`database::open`].
    pub(crate) fn open(folder: &Path) -> Result<Self, LedgerError> {
        Ok(Self {
            connection: database::open(folder)?,
        })
    }

    /// Opens an account; without `overdraft` it can never fall below zero.
    ///
    /// # Errors
    /// [`LedgerError::AccountExists`], also for a closed account: names are not used twice.
    pub(crate) fn add(
        &mut self,
        name: &AccountName,
        overdraft: bool,
    ) -> Result<Account, LedgerError> {
        let added = self.connection.execute(
            "INSERT INTO account (name, overdraft, opened) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![name, overdraft, Instant::now()],
        )?;
        if added == 0 {
            return Err(LedgerError::AccountExists(name.clone()));
        }
        self.account(name)
    }

    /// Every account, by name. What all of them hold together is nothing, always.
    ///
    /// # Errors
    /// [`LedgerError::OutOfBalance`] when somebody else wrote into the file.
    pub(crate) fn accounts(&self) -> Result<Vec<Account>, LedgerError> {
        let mut statement = self
            .connection
            .prepare(&format!("{ACCOUNT} ORDER BY name"))?;
        let accounts: Vec<_> = statement
            .query_map([], account_row)?
            .collect::<Result<_, _>>()?;
        let sum = |total, account: &Account| total + i128::from(account.balance.hundredths());
        match accounts.iter().fold(0, sum) {
            0 => Ok(accounts),
            _ => Err(LedgerError::OutOfBalance),
        }
    }

    /// One account.
    ///
    /// # Errors
    /// [`LedgerError::UnknownAccount`].
    pub(crate) fn account(&self, name: &AccountName) -> Result<Account, LedgerError> {
        find(&self.connection, name)
    }

    /// Moves money from one account to another.
    ///
    /// # Errors
    /// When either account is unknown or closed, both are the same, the giver may not fall below
    /// zero and would, or a balance would leave the range of exact amounts.
    pub(crate) fn transfer(&mut self, order: Order) -> Result<Transfer, LedgerError> {
        if order.from == order.to {
            return Err(LedgerError::SameAccount(order.from));
        }
        let amount = order.amount.money();
        let transaction = self.writing()?;
        let giver = find_open(&transaction, &order.from)?;
        let receiver = find_open(&transaction, &order.to)?;
        let from_balance = after_giving(&giver, amount)?;
        let to_balance = receiver
            .balance
            .plus(amount)
            .ok_or(LedgerError::TooMuch(receiver.name))?;
        let time = Instant::now();
        transaction.execute(
            "INSERT INTO transfer (time, giver, receiver, amount, memo) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![time, order.from, order.to, amount, order.memo],
        )?;
        let id = transaction.last_insert_rowid();
        for (account, balance) in [(&order.from, from_balance), (&order.to, to_balance)] {
            transaction.execute(
                "UPDATE account SET balance = ?2 WHERE name = ?1",
                params![account, balance],
            )?;
        }
        transaction.commit()?;
        Ok(Transfer {
            id,
            time,
            from: order.from,
            to: order.to,
            amount,
            memo: order.memo,
            from_balance,
            to_balance,
        })
    }

    /// What happened on an account from the first day to the last, both included.
    ///
    /// # Errors
    /// [`LedgerError::UnknownAccount`].
    pub(crate) fn statement(
        &self,
        name: &AccountName,
        first: Option<Day>,
        last: Option<Day>,
    ) -> Result<Statement, LedgerError> {
        let from = first.map(Day::start).transpose()?;
        let until = last.map(Day::end).transpose()?;
        let account = self.account(name)?.name;
        let mut query = self.connection.prepare(MOVEMENTS)?;
        let mut rows = query.query([name])?;
        let (mut opening, mut balance, mut entries) = (Money::default(), Money::default(), vec![]);
        while let Some(row) = rows.next()? {
            let (time, amount): (Instant, Money) = (row.get(1)?, row.get(3)?);
            if until.is_some_and(|until| time >= until) {
                continue;
            }
            balance = balance
                .plus(amount)
                .ok_or_else(|| LedgerError::TooMuch(account.clone()))?;
            if from.is_some_and(|from| time < from) {
                opening = balance;
                continue;
            }
            entries.push(Entry {
                transfer: row.get(0)?,
                time,
                other: row.get(2)?,
                amount,
                balance,
                memo: row.get(4)?,
            });
        }
        Ok(Statement {
            account,
            opening,
            entries,
            closing: balance,
        })
    }

    /// Closes an account for good. What it took part in stays in the books.
    ///
    /// # Errors
    /// When the account is unknown, closed already, or not empty.
    pub(crate) fn close(&mut self, name: &AccountName) -> Result<Account, LedgerError> {
        let transaction = self.writing()?;
        let account = find_open(&transaction, name)?;
        if account.balance != Money::default() {
            return Err(LedgerError::NotEmpty {
                account: account.name,
                balance: account.balance,
            });
        }
        transaction.execute(
            "UPDATE account SET closed = ?2 WHERE name = ?1",
            params![name, Instant::now()],
        )?;
        transaction.commit()?;
        self.account(name)
    }

    fn writing(&mut self) -> Result<Transaction<'_>, LedgerError> {
        Ok(self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

const ACCOUNT: &str = "SELECT name, balance, overdraft, closed IS NULL FROM account";

const MOVEMENTS: &str = "
    SELECT id, time, giver, amount, memo FROM transfer WHERE receiver = ?1
    UNION ALL
    SELECT id, time, receiver, -amount, memo FROM transfer WHERE giver = ?1
    ORDER BY id";

fn account_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account {
        name: row.get(0)?,
        balance: row.get(1)?,
        overdraft: row.get(2)?,
        open: row.get(3)?,
    })
}

fn find(connection: &Connection, name: &AccountName) -> Result<Account, LedgerError> {
    connection
        .query_row(&format!("{ACCOUNT} WHERE name = ?1"), [name], account_row)
        .optional()?
        .ok_or_else(|| LedgerError::UnknownAccount(name.clone()))
}

fn find_open(connection: &Connection, name: &AccountName) -> Result<Account, LedgerError> {
    let account = find(connection, name)?;
    if account.open {
        Ok(account)
    } else {
        Err(LedgerError::AccountClosed(account.name))
    }
}

fn after_giving(giver: &Account, amount: Money) -> Result<Money, LedgerError> {
    let left = giver
        .balance
        .minus(amount)
        .ok_or_else(|| LedgerError::TooMuch(giver.name.clone()))?;
    if left < Money::default() && !giver.overdraft {
        return Err(LedgerError::Insufficient {
            account: giver.name.clone(),
            balance: giver.balance,
            amount,
        });
    }
    Ok(left)
}
