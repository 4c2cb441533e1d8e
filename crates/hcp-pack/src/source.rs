//! The text of a manifest or config, and how a place in it is named to people.

use std::ops::Range;

/// A range of bytes in a source text.
pub(crate) type Span = Range<usize>;

/// The format of a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML, for people.
    Toml,
    /// JSON, for tools.
    Json,
}

/// A text to read, with the name that messages give it.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name as it is shown to people.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// What the text is written in.
    pub format: Format,
}

impl SourceFile {
    /// Line and column of a byte offset, both counted from 1, the column in characters.
    pub(crate) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before
            .get(line_start..)
            .map_or(0, |text| text.chars().count())
            + 1;
        (line, column)
    }

    /// The span cut to the text and to its first line, so that a snippet shows one line.
    pub(crate) fn one_line(&self, span: &Span) -> Span {
        let start = span.start.min(self.text.len());
        let end = span.end.clamp(start, self.text.len());
        let Some(inside) = self.text.get(start..end) else {
            return 0..0;
        };
        let length = inside.find('\n').unwrap_or(inside.len());
        start..start + length
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, SourceFile};

    #[test]
    fn places_are_counted_from_one_in_characters() {
        let source = SourceFile {
            name: "x".to_owned(),
            text: "a\nżółć = 1\n".to_owned(),
            format: Format::Toml,
        };
        let equals = source.text.find('=').unwrap();
        assert_eq!(source.line_and_column(0), (1, 1));
        assert_eq!(source.line_and_column(equals), (2, 6));
        assert_eq!(source.line_and_column(9999), (3, 1));
        assert_eq!(source.one_line(&(0..10)), 0..1);
        assert_eq!(
            source.one_line(&(9000..9001)),
            source.text.len()..source.text.len()
        );
    }
}
