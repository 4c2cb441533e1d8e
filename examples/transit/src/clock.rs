//! Times of a timetable: seconds since the midnight that a day of service begins with. A trip after
//! midnight belongs to the day before, so hours go past 24.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::TransitError;

/// A time of a day of service, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Time(pub(crate) u32);

/// One day, in seconds.
pub(crate) const DAY: u32 = 86_400;

impl Time {
    /// Reads `8:05`, `08:05` or `25:10:30`.
    ///
    /// # Errors
    /// [`TransitError::Time`] for everything else.
    pub(crate) fn parse(text: &str) -> Result<Self, TransitError> {
        let wrong = || TransitError::Time(text.to_owned());
        let number = |part: Option<&str>, most: u32| {
            let part = part?;
            let plain = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            let number = part.parse().ok().filter(|_| plain)?;
            (number <= most).then_some(number)
        };
        let mut parts = text.split(':');
        let hours = number(parts.next(), 47).ok_or_else(wrong)?;
        let minutes = number(parts.next(), 59).ok_or_else(wrong)?;
        let seconds = match parts.next() {
            None => 0,
            part => number(part, 59).ok_or_else(wrong)?,
        };
        match parts.next() {
            None => Ok(Self(hours * 3600 + minutes * 60 + seconds)),
            Some(_) => Err(wrong()),
        }
    }

    /// So many seconds later.
    pub(crate) const fn after(self, seconds: u32) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.0 / 3600, self.0 / 60 % 60, self.0 % 60);
        write!(formatter, "{hours:02}:{minutes:02}:{seconds:02}")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn times_are_read_exactly_or_refused() {
        for (text, seconds) in [("8:05", 29_100), ("08:05:00", 29_100), ("25:10:30", 90_630)] {
            assert_eq!(Time::parse(text).unwrap(), Time(seconds));
        }
        for text in [
            "", "8", "8:", "8:60", "48:00", "8:05:60", "8:5:5:5", "+8:05", "8.05", "008:05",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        assert_eq!(Time(90_630).to_string(), "25:10:30");
    }
}
