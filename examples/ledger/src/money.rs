//! Money, counted in hundredths as whole numbers: nothing here is ever a float.

use std::fmt;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// A text that is no amount.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum NotMoney {
    /// Not digits, with or without a point and further digits.
    #[error("`{}` is not a decimal amount: write digits, like `10` or `10.50`", .0.escape_debug())]
    Form(String),
    /// Finer than a hundredth.
    #[error("`{0}` has more than two decimals")]
    TooFine(String),
    /// Beyond what can be counted exactly.
    #[error("`{0}` is too large")]
    TooLarge(String),
    /// A transfer moves something.
    #[error("the amount must be more than 0")]
    NotPositive,
}

/// A sum of money, in hundredths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Money(i64);

impl Money {
    /// A sum from its hundredths.
    pub(crate) const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    /// The hundredths of the sum.
    pub(crate) const fn hundredths(self) -> i64 {
        self.0
    }

    /// The sum with `other` added, when it still can be counted.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The sum with `other` taken away, when it still can be counted.
    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let hundredths = self.0.unsigned_abs();
        formatter.pad(&format!(
            "{sign}{}.{:02}",
            hundredths / 100,
            hundredths % 100
        ))
    }
}

/// A JSON number with exactly two decimals, written digit by digit.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: serde_json::Number = self
            .to_string()
            .parse()
            .map_err(serde::ser::Error::custom)?;
        number.serialize(serializer)
    }
}

/// What a transfer moves: more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount(Money);

impl Amount {
    /// Reads `10`, `10.5` or `10.50`, exactly.
    ///
    /// # Errors
    /// [`NotMoney`] for every other form, a third decimal, zero, and what cannot be counted.
    pub(crate) fn parse(text: &str) -> Result<Self, NotMoney> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) {
            return Err(NotMoney::Form(text.to_owned()));
        }
        if decimals.len() > 2 {
            return Err(NotMoney::TooFine(text.to_owned()));
        }
        let hundredths = format!("{whole}{decimals:0<2}")
            .parse()
            .map_err(|_| NotMoney::TooLarge(text.to_owned()))?;
        Self::new(Money(hundredths))
    }

    /// A sum as an amount.
    ///
    /// # Errors
    /// [`NotMoney::NotPositive`].
    fn new(money: Money) -> Result<Self, NotMoney> {
        if money > Money::default() {
            Ok(Self(money))
        } else {
            Err(NotMoney::NotPositive)
        }
    }

    /// The amount as a sum.
    pub(crate) const fn money(self) -> Money {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Money, NotMoney};

    #[test]
    fn amounts_are_read_exactly() {
        for (text, hundredths) in [
            ("10", 1000),
            ("10.5", 1050),
            ("0.1", 10),
            ("0.01", 1),
            ("007", 700),
            ("10.00", 1000),
            ("92233720368547758.07", i64::MAX),
        ] {
            assert_eq!(
                Amount::parse(text).map(|amount| amount.money().hundredths()),
                Ok(hundredths),
                "{text}"
            );
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let form = |text: &str| NotMoney::Form(text.to_owned());
        for text in [
            "", ".", ".5", "5.", "-1", "+1", "1e3", "1e+21", "1,000", "1_000", " 1", "0x10",
            "1.2.3", "١",
        ] {
            assert_eq!(Amount::parse(text), Err(form(text)), "{text:?}");
        }
        for text in ["1.005", "1.000"] {
            assert_eq!(Amount::parse(text), Err(NotMoney::TooFine(text.to_owned())));
        }
        for text in ["92233720368547758.08", "99999999999999999999999"] {
            assert_eq!(
                Amount::parse(text),
                Err(NotMoney::TooLarge(text.to_owned()))
            );
        }
        for text in ["0", "0.00"] {
            assert_eq!(Amount::parse(text), Err(NotMoney::NotPositive));
        }
    }

    #[test]
    fn money_is_written_with_two_decimals_in_text_and_json() {
        for (hundredths, text) in [
            (0, "0.00"),
            (5, "0.05"),
            (-5, "-0.05"),
            (-1050, "-10.50"),
            (i64::MAX, "92233720368547758.07"),
            (i64::MIN, "-92233720368547758.08"),
        ] {
            let money = Money::from_hundredths(hundredths);
            assert_eq!(money.to_string(), text);
            assert_eq!(serde_json::to_string(&money).unwrap(), text);
        }
    }

    #[test]
    fn what_cannot_be_counted_is_no_sum() {
        let (most, least) = (Money(i64::MAX), Money(i64::MIN));
        assert_eq!(most.plus(Money(1)), None);
        assert_eq!(least.minus(Money(1)), None);
        assert_eq!(Money(1).plus(Money(2)), Some(Money(3)));
        assert_eq!(Money(1).minus(Money(2)), Some(Money(-1)));
    }
}
