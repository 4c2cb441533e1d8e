//! What the books hold, as values: accounts, transfers, statements, and the time they are kept by.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::account::{AccountName, Memo};
use crate::money::{Amount, Money};

/// A moment, to the millisecond, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(Timestamp);

impl Instant {
    /// The present moment.
    pub(crate) fn now() -> Self {
        Self(Timestamp::now())
    }

    /// A moment from its milliseconds since 1970.
    ///
    /// # Errors
    /// [`jiff::Error`] outside of the years that have dates.
    pub(crate) fn from_milliseconds(milliseconds: i64) -> Result<Self, jiff::Error> {
        Timestamp::from_millisecond(milliseconds).map(Self)
    }

    /// Its milliseconds since 1970.
    pub(crate) fn milliseconds(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl std::fmt::Display for Instant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:.3}", self.0)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is no date.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{}` is not a date: write year, month and day, like `2026-03-01`", .0.escape_debug())]
pub(crate) struct NotADate(String);

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day(Date);

impl Day {
    /// Reads `2026-03-01`.
    ///
    /// # Errors
    /// [`NotADate`] for every other form, and for days that no month has.
    pub(crate) fn parse(text: &str) -> Result<Self, NotADate> {
        let wrong = || NotADate(text.to_owned());
        // The parser of jiff also takes compact forms and times of day.
        if text.len() != 10 {
            return Err(wrong());
        }
        text.parse().map(Self).map_err(|_| wrong())
    }

    /// The first moment of the day.
    ///
    /// # Errors
    /// [`jiff::Error`] at the very ends of the calendar.
    pub(crate) fn start(self) -> Result<Instant, jiff::Error> {
        let midnight = self.0.to_datetime(Time::midnight());
        TimeZone::UTC.to_timestamp(midnight).map(Instant)
    }

    /// The first moment after the day.
    ///
    /// # Errors
    /// [`jiff::Error`] at the very ends of the calendar.
    pub(crate) fn end(self) -> Result<Instant, jiff::Error> {
        Self(self.0.tomorrow()?).start()
    }
}

/// An account as it stands.
#[derive(Debug, Serialize)]
pub(crate) struct Account {
    #[serde(rename = "account")]
    pub(crate) name: AccountName,
    pub(crate) balance: Money,
    pub(crate) overdraft: bool,
    pub(crate) open: bool,
}

/// What is asked to be moved.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) from: AccountName,
    pub(crate) to: AccountName,
    pub(crate) amount: Amount,
    pub(crate) memo: Option<Memo>,
}

/// A transfer as it was written down.
#[derive(Debug, Serialize)]
pub(crate) struct Transfer {
    #[serde(rename = "transfer")]
    pub(crate) id: i64,
    pub(crate) time: Instant,
    pub(crate) from: AccountName,
    pub(crate) to: AccountName,
    pub(crate) amount: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memo: Option<Memo>,
    pub(crate) from_balance: Money,
    pub(crate) to_balance: Money,
}

/// What happened on an account in a span of days.
#[derive(Debug, Serialize)]
pub(crate) struct Statement {
    pub(crate) account: AccountName,
    pub(crate) opening: Money,
    pub(crate) entries: Vec<Entry>,
    pub(crate) closing: Money,
}

/// One transfer, seen from one of its accounts.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) transfer: i64,
    pub(crate) time: Instant,
    /// The account on the other side.
    pub(crate) other: AccountName,
    /// Below zero for what was given.
    pub(crate) amount: Money,
    /// The balance after it.
    pub(crate) balance: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memo: Option<Memo>,
}

#[cfg(test)]
mod tests {
    use super::{Day, Instant};

    #[test]
    fn a_day_begins_and_ends_at_midnight() {
        let day = Day::parse("2024-02-29").unwrap();
        assert_eq!(day.start().unwrap().to_string(), "2024-02-29T00:00:00.000Z");
        assert_eq!(day.end().unwrap().to_string(), "2024-03-01T00:00:00.000Z");
    }

    #[test]
    fn other_forms_are_no_dates() {
        for text in [
            "",
            "20240229",
            "2024-02-30",
            "2024-2-9",
            "2024-02-29T10:00",
            "29.02.2024",
            "2024-02-2x",
        ] {
            assert!(Day::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn moments_keep_their_milliseconds() {
        let moment = Instant::from_milliseconds(1_700_000_000_050).unwrap();
        assert_eq!(moment.milliseconds(), 1_700_000_000_050);
        assert_eq!(moment.to_string(), "2023-11-14T22:13:20.050Z");
    }
}
