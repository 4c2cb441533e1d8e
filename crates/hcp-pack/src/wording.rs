//! How names that others chose are put into a message: on one line, bounded, nothing hidden in them.

use std::fmt::{self, Display, Write};

use hcp_spec::name::is_printable;

/// The most characters of a foreign text that a message repeats.
const LONGEST: usize = 80;

/// The text between backticks, as messages about manifests name a thing.
pub(crate) fn ticked(text: &str) -> String {
    format!("`{}`", Shown { text, quote: '`' })
}

/// The text between double quotes, as messages about arguments name a thing.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", Shown { text, quote: '"' })
}

/// A list of things, shortened when it is long: `` `a`, `b` and 7 more ``.
pub(crate) fn listed<'a>(
    names: impl ExactSizeIterator<Item = &'a str>,
    show: fn(&str) -> String,
) -> String {
    const MOST: usize = 12;
    let rest = names.len().saturating_sub(MOST);
    let mut text = names.take(MOST).map(show).collect::<Vec<_>>().join(", ");
    if rest > 0 {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " and {rest} more");
    }
    text
}

/// Makes one bounded line of a text that another library or program wrote.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Shown {
        text: &words,
        quote: '\0',
    }
    .to_string()
}

struct Shown<'a> {
    text: &'a str,
    quote: char,
}

impl Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = if self.quote == '\0' {
            3 * LONGEST
        } else {
            LONGEST
        };
        for (count, character) in self.text.chars().enumerate() {
            if count == longest {
                return formatter.write_char('…');
            }
            if character == self.quote && character == '"' {
                formatter.write_str("\\\"")?;
            } else if is_printable(character) {
                formatter.write_char(character)?;
            } else {
                write!(formatter, "{}", character.escape_unicode())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{listed, one_line, quoted, ticked};

    #[test]
    fn foreign_text_cannot_leave_its_quotes_its_line_or_its_bounds() {
        assert_eq!(
            quoted("a\"b\n\u{1b}[1m\u{202e}"),
            "\"a\\\"b\\u{a}\\u{1b}[1m\\u{202e}\""
        );
        assert_eq!(ticked("a b"), "`a b`");
        assert_eq!(ticked(&"x".repeat(1000)).chars().count(), 83);
        assert_eq!(one_line("a\n  b"), "a b");
        let many = vec!["n"; 20];
        assert!(listed(many.into_iter(), quoted).ends_with("and 8 more"));
    }
}
