//! The names of accounts, and the notes on transfers: text that is safe to print as it is.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// A text that cannot name an account.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "`{}` is not an account: a lowercase letter, then up to 63 of a-z, 0-9, `:`, `.`, `_` and `-`",
    .0.escape_debug()
)]
pub(crate) struct NotAnAccount(String);

/// The name of an account, like `cash` or `expenses:rent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct AccountName(String);

impl AccountName {
    /// Reads a name.
    ///
    /// # Errors
    /// [`NotAnAccount`] for a text of another form.
    pub(crate) fn parse(text: &str) -> Result<Self, NotAnAccount> {
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b":._-".contains(&byte)
        };
        if text.len() <= 64
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(allowed)
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnAccount(text.to_owned()))
        }
    }

    /// The name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A text that cannot stand as a note.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a memo is one line of at most 200 characters, without control characters")]
pub(crate) struct NotAMemo;

/// A note on a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Memo(String);

impl Memo {
    /// Reads a note.
    ///
    /// # Errors
    /// [`NotAMemo`] when it is too long or would disturb a terminal.
    pub(crate) fn parse(text: &str) -> Result<Self, NotAMemo> {
        // Besides control characters: what turns the direction of the text around it, and what
        // breaks a line.
        let disturbs = |character: char| {
            character.is_control()
                || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
                || ('\u{2028}'..='\u{202e}').contains(&character)
                || ('\u{2066}'..='\u{2069}').contains(&character)
        };
        if text.chars().count() <= 200 && !text.chars().any(disturbs) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAMemo)
        }
    }

    /// The note as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{AccountName, Memo};

    #[test]
    fn names_are_short_plain_words() {
        for text in ["cash", "expenses:rent", "a-1_b.c", &"a".repeat(64)] {
            assert_eq!(AccountName::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "Cash",
            "1a",
            ":a",
            "a b",
            "-a",
            "caſh",
            "a\n",
            &"a".repeat(65),
        ] {
            assert!(AccountName::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn memos_hold_nothing_that_disturbs_a_terminal() {
        for text in ["", "March, flat 4", "día \u{1f3e0}", &"é".repeat(200)] {
            assert!(Memo::parse(text).is_ok(), "{text:?}");
        }
        for text in [
            "a\nb",
            "\u{1b}[2J",
            "a\u{202e}b",
            "a\u{2028}b",
            &"é".repeat(201),
        ] {
            assert!(Memo::parse(text).is_err(), "{text:?}");
        }
    }
}
