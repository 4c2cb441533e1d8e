//! A fault between the keys of a manifest, before it is known where in the text they stand.
//!
//! Checks work on the typed manifest and name a place by keys, so that they hold for a manifest from
//! anywhere; whoever has the text turns the place into line and column.

use std::fmt::{self, Display};

/// What is wrong at one place of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The rule that was broken, by the name that [`crate::rule`] explains.
    pub(crate) rule: &'static str,
    /// Where.
    pub(crate) place: Place,
    /// What, on one line.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

/// The keys and indexes that lead to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(Vec<PlacePart>);

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacePart {
    /// A key of a table, meaning its value.
    Key(String),
    /// A key of a table, meaning the key itself; nothing lies further in.
    Name(String),
    /// A position in an array, from 0.
    Index(usize),
}

impl Finding {
    /// A fault at `place`.
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            rule: "manifest-contradiction",
            place,
            message: message.into(),
            hint: None,
        }
    }

    /// The same as a fault of another rule.
    pub(crate) fn of_rule(mut self, rule: &'static str) -> Self {
        self.rule = rule;
        self
    }

    /// The same with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Place {
    /// The place that these keys lead to.
    pub(crate) fn keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self(
            keys.into_iter()
                .map(|key| PlacePart::Key(key.to_owned()))
                .collect(),
        )
    }

    /// The place one key further in.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.0.push(PlacePart::Key(key.to_owned()));
        self
    }

    /// The place of a key one further in, itself and not what it stands for.
    pub(crate) fn name(mut self, key: &str) -> Self {
        self.0.push(PlacePart::Name(key.to_owned()));
        self
    }

    /// The place at a position of this array.
    pub(crate) fn index(mut self, index: usize) -> Self {
        self.0.push(PlacePart::Index(index));
        self
    }

    /// The parts, outermost first.
    pub(crate) fn parts(&self) -> &[PlacePart] {
        &self.0
    }
}

impl Display for PlacePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) | Self::Name(key) => formatter.write_str(key),
            Self::Index(index) => write!(formatter, "[{index}]"),
        }
    }
}

/// The parts as messages write them: `sandbox.network[0]`.
pub(crate) fn dotted(parts: &[PlacePart]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !matches!(part, PlacePart::Index(_)) {
            text.push('.');
        }
        text.push_str(&part.to_string());
    }
    text
}
