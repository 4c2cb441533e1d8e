//! The text of a manifest or config, and how a place in it is named to people.

use std::fmt::{self, Display};
use std::ops::Range;
use std::path::Path;

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
    /// The same manifest, shown as one in `folder`: the path that somebody gave, where the text was
    /// read from what that was resolved to.
    #[must_use]
    pub fn shown_in(mut self, folder: &Path) -> Self {
        let file = match self.format {
            Format::Toml => "hcp.toml",
            Format::Json => "hcp.json",
        };
        self.name = folder.join(file).display().to_string();
        self
    }

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

    /// A byte offset as it is told to people.
    pub(crate) fn place(&self, offset: usize) -> TextPlace {
        let (line, column) = self.line_and_column(offset);
        TextPlace {
            file: self.name.clone(),
            line,
            column,
        }
    }

    /// The first line of a span, without its end.
    pub(crate) fn line_of(&self, span: &Span) -> Span {
        let at = span.start.min(self.text.len());
        let (before, after) = self.text.split_at_checked(at).unwrap_or(("", &self.text));
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = before.len() + after.find('\n').unwrap_or(after.len());
        start..end
    }

    /// The first line of a span, and which part of it the span covers.
    pub(crate) fn excerpt(&self, span: &Span) -> Excerpt {
        let line = self.line_of(span);
        let start = span.start.clamp(line.start, line.end);
        let end = span.end.clamp(start, line.end);
        Excerpt {
            line: self.text.get(line.clone()).unwrap_or_default().to_owned(),
            marked: start - line.start..end - line.start,
        }
    }
}

/// A place in a text, shown as `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The file, as it is shown to people.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Display for TextPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A line of a text and the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) line: String,
    /// A range of bytes within the line.
    pub(crate) marked: Span,
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
        assert_eq!(source.place(equals).to_string(), "x:2:6");
        let excerpt = |span| {
            let excerpt = source.excerpt(&span);
            (excerpt.line, excerpt.marked)
        };
        assert_eq!(excerpt(0..10), ("a".to_owned(), 0..1));
        assert_eq!(excerpt(equals..equals + 1), ("żółć = 1".to_owned(), 9..10));
        assert_eq!(excerpt(9000..9001), (String::new(), 0..0));
    }
}
