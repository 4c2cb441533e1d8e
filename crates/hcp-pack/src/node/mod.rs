//! One tree for both formats: every value of a manifest with the place it stands at.
//!
//! TOML and JSON are turned into [`Node`]s, and everything behind works on those: the typed manifest
//! is read from them, and a fault between keys finds its line and column in them.

mod deserialize;
mod from_json;
mod from_toml;
mod read_error;

pub(crate) use deserialize::{read, read_discreetly};

use crate::finding::{Place, PlacePart};
use crate::source::{Format, SourceFile, Span};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    /// The text of a JSON number.
    Number(String),
    String(String),
    Array(Vec<Node>),
    /// In the order written; no key is given twice.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

/// A fault at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// Reads the text of a source into a tree.
pub(crate) fn parse(source: &SourceFile) -> Result<Node, Fault> {
    match source.format {
        Format::Toml => from_toml::parse(&source.text),
        Format::Json => from_json::parse(&source.text),
    }
}

impl Node {
    /// The span to show for a place: the value, or the key where the value is a table or is not
    /// there; as far in as the place leads.
    pub(crate) fn locate(&self, place: &Place) -> Span {
        let mut node = self;
        let mut span = match self.data {
            Data::Table(_) => 0..0,
            _ => self.span.clone(),
        };
        for part in place.parts() {
            let next = match (part, &node.data) {
                (PlacePart::Key(key), Data::Table(entries)) => {
                    entries.iter().find(|entry| entry.key == *key).map(|entry| {
                        let table = matches!(entry.value.data, Data::Table(_));
                        let span = if table {
                            &entry.key_span
                        } else {
                            &entry.value.span
                        };
                        (&entry.value, span)
                    })
                }
                (PlacePart::Name(key), Data::Table(entries)) => entries
                    .iter()
                    .find(|entry| entry.key == *key)
                    .map(|entry| (&entry.value, &entry.key_span)),
                (PlacePart::Index(index), Data::Array(elements)) => {
                    elements.get(*index).map(|element| (element, &element.span))
                }
                _ => None,
            };
            let Some((next, next_span)) = next else {
                break;
            };
            node = next;
            span = next_span.clone();
        }
        span
    }

    /// The value of a key, when this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.data {
            Data::Table(entries) => entries
                .iter()
                .find(|entry| entry.key == key)
                .map(|entry| &entry.value),
            _ => None,
        }
    }
}

impl Data {
    /// What it is, with its article, in words that hold for both formats.
    pub(crate) const fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Keys that `serde_json` gives a meaning of its own, by which a table would become a number.
fn is_magic(key: &str) -> bool {
    key.starts_with("$serde_json::private::")
}
