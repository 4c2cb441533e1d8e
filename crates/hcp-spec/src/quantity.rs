//! Sizes and durations as people write them: `16MiB`, `30s`.
//!
//! The text is kept beside the number, since a refusal repeats the limit as it was written.

use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A quantity that could not be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum QuantityError {
    /// Not a whole number followed by a unit of time.
    #[error("`{0}` is not a duration: write a whole number and one of ms, s, m, h, like `30s`")]
    Duration(String),
    /// Not a whole number followed by a unit of size.
    #[error("`{0}` is not a size: write a whole number and one of B, KiB, MiB, GiB, like `16MiB`")]
    Size(String),
}

/// A span of time with the text it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    text: String,
    duration: Duration,
}

impl TimeLimit {
    /// Reads `250ms`, `30s`, `5m` or `8h`. Zero is no limit that anything could keep, and refused.
    ///
    /// # Errors
    /// [`QuantityError::Duration`] for everything else.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = || QuantityError::Duration(text.to_owned());
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        let total = number
            .checked_mul(milliseconds)
            .filter(|total| *total > 0)
            .ok_or_else(wrong)?;
        Ok(Self {
            text: text.to_owned(),
            duration: Duration::from_millis(total),
        })
    }

    /// The span itself.
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// The text it was written in.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A number of bytes with the text it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteSize {
    text: String,
    bytes: u64,
}

impl ByteSize {
    /// Reads `512B`, `64KiB`, `16MiB` or `2GiB`.
    ///
    /// # Errors
    /// [`QuantityError::Size`] for everything else.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = || QuantityError::Size(text.to_owned());
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let factor = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(wrong()),
        };
        let bytes = number.checked_mul(factor).ok_or_else(wrong)?;
        Ok(Self {
            text: text.to_owned(),
            bytes,
        })
    }

    /// The number of bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The text it was written in.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit())?;
    let (digits, unit) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, unit))
}

macro_rules! as_text {
    ($type:ty, $name:literal, $pattern:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

as_text!(TimeLimit, "TimeLimit", "^[0-9]+(ms|s|m|h)$");
as_text!(ByteSize, "ByteSize", "^[0-9]+(B|KiB|MiB|GiB)$");

#[cfg(test)]
mod tests {
    use super::{ByteSize, TimeLimit};

    #[test]
    fn durations_are_read_exactly_or_refused() {
        for (text, milliseconds) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("5m", 300_000),
            ("8h", 28_800_000),
        ] {
            assert_eq!(
                TimeLimit::parse(text).unwrap().duration().as_millis(),
                milliseconds
            );
        }
        for text in [
            "",
            "30",
            "s",
            "-1s",
            "1.5s",
            "30 s",
            "30S",
            "0s",
            "99999999999999999h",
            "1d",
        ] {
            assert!(TimeLimit::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_exactly_or_refused() {
        for (text, bytes) in [
            ("0B", 0),
            ("1KiB", 1024),
            ("16MiB", 16 << 20),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(ByteSize::parse(text).unwrap().bytes(), bytes);
        }
        for text in [
            "",
            "16",
            "16MB",
            "16 MiB",
            "MiB",
            "-1B",
            "18446744073709551615GiB",
        ] {
            assert!(ByteSize::parse(text).is_err(), "{text}");
        }
    }
}
