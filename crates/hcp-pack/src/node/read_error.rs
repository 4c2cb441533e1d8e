//! Why a value does not read, put into words once its place is known.
//!
//! `serde` reports an unknown or missing key where it stands in the code, not in the text. The error
//! here keeps what was wrong as data and takes on the place while it travels outwards; only then is it
//! known whether the value may be repeated.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use super::{Data, Entry, Fault, Node};
use crate::finding::{PlacePart, dotted};
use crate::source::Span;
use crate::suggestion::closest;
use crate::wording::{listed, one_line, ticked};

/// A value that does not read. The one who prints it must go through [`ReadError::into_fault`].
#[derive(Debug)]
pub(crate) struct ReadError {
    problem: Problem,
    span: Option<Span>,
    /// Whether a key is what is wrong, and not what it stands for.
    of_key: bool,
    /// Keys from the outside in, put together while the error travels outwards.
    keys: Vec<PlacePart>,
}

#[derive(Debug)]
pub(super) enum Problem {
    UnknownKey {
        key: String,
        known: &'static [&'static str],
        /// Whether a table stands there, as it does where a dot was left unquoted.
        table: bool,
    },
    MissingKey(&'static str),
    UnknownWord {
        word: String,
        known: &'static [&'static str],
    },
    WrongType {
        wanted: String,
        given: &'static str,
    },
    Other {
        message: String,
        /// The message behind the value that it begins with.
        rest: Option<String>,
    },
}

impl ReadError {
    pub(super) const fn new(problem: Problem) -> Self {
        Self {
            problem,
            span: None,
            of_key: false,
            keys: Vec::new(),
        }
    }

    pub(super) const fn lacks_a_key(&self) -> bool {
        matches!(self.problem, Problem::MissingKey(_))
    }

    pub(super) fn about_key(mut self, entry: &Entry) -> Self {
        if let Problem::UnknownKey { table, .. } = &mut self.problem {
            *table = matches!(entry.value.data, Data::Table(_));
        }
        self.of_key = self.span.is_none();
        self.span.get_or_insert_with(|| entry.key_span.clone());
        self
    }

    /// Takes note of the value that a message of another crate begins with.
    pub(super) fn about(mut self, node: &Node) -> Self {
        if let (None, Problem::Other { message, rest }, Data::String(text)) =
            (&self.span, &mut self.problem, &node.data)
        {
            *rest = message.strip_prefix(&ticked(text)).map(str::to_owned);
        }
        self
    }

    pub(super) fn found_in(mut self, part: PlacePart, span: &Span) -> Self {
        self.keys.insert(0, part);
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    pub(super) fn into_fault(self, root: &Node, private: fn(&[PlacePart]) -> bool) -> Fault {
        let keys = ticked(&dotted(&self.keys));
        let private = private(&self.keys);
        let secret = if private {
            secret_hint(&self.keys, &self.problem)
        } else {
            None
        };
        let (message, hint) = match self.problem {
            Problem::UnknownKey { key, known, table } => (
                format!("unknown key {}", ticked(&key)),
                Some(
                    quoted_dot(&self.keys, &key, known, table)
                        .unwrap_or_else(|| offer(&key, known, "known keys here are")),
                ),
            ),
            Problem::MissingKey(key) if self.keys.is_empty() => {
                (format!("missing key `{key}`"), None)
            }
            Problem::MissingKey(key) => (format!("missing key `{key}` in {keys}"), None),
            Problem::UnknownWord { word, known } => {
                let hint = Some(offer(&word, known, "it takes"));
                let message = if private {
                    format!("{keys} takes no such word")
                } else {
                    format!("{} is no value of {keys}", ticked(&word))
                };
                (message, hint)
            }
            Problem::WrongType { wanted, given } if self.keys.is_empty() => {
                (format!("this must be {wanted}, not {given}"), None)
            }
            Problem::WrongType { wanted, given } => {
                (format!("{keys} must be {wanted}, not {given}"), None)
            }
            Problem::Other { rest, .. } if private && !self.of_key => {
                let rest = rest.unwrap_or_else(|| " is not written as it must be".to_owned());
                (format!("{keys}{rest}"), None)
            }
            Problem::Other { message, .. } => (message, None),
        };
        let root_span = match root.data {
            Data::Table(_) => 0..0,
            _ => root.span.clone(),
        };
        Fault {
            span: self.span.unwrap_or(root_span),
            message,
            hint: secret.or(hint),
        }
    }
}

/// What to write where a Binding sets a variable and something else stands there, most often the
/// secret itself.
fn secret_hint(keys: &[PlacePart], problem: &Problem) -> Option<String> {
    let words: Vec<String> = keys.iter().map(PlacePart::to_string).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (["bindings", _, inside @ ..] | ["tenants", _, "bindings", _, inside @ ..]) =
        words.as_slice()
    else {
        return None;
    };
    let source = "{ file = \"secrets/name\" }";
    let line = match (inside, problem) {
        (["env", name, ..], _) => format!("{name} = {source}"),
        (["env"], Problem::WrongType { .. }) => format!("env.NAME = {source}"),
        ([], Problem::UnknownKey { key, .. }) if is_variable(key) => {
            format!("env.{key} = {source}")
        }
        _ => return None,
    };
    Some(format!("write {}", ticked(&line)))
}

fn is_variable(key: &str) -> bool {
    key.bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What to write where `[policy.pack.verb]` stands and one key with a dot in it was meant.
fn quoted_dot(keys: &[PlacePart], key: &str, known: &[&str], table: bool) -> Option<String> {
    let [.., PlacePart::Key(parent), PlacePart::Key(name)] = keys else {
        return None;
    };
    let by_name = ["policy", "commands", "bindings"].contains(&parent.as_str());
    // A table of a policy is never a misspelt key: those hold words.
    let near = parent != "policy" && closest(key, known.iter().copied()).is_some();
    if !table || !by_name || near {
        return None;
    }
    let outer = dotted(keys.get(..keys.len() - 1)?);
    Some(format!(
        "write {}",
        ticked(&format!("[{outer}.\"{name}.{key}\"]"))
    ))
}

fn offer(word: &str, known: &[&str], otherwise: &str) -> String {
    match closest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {}?", ticked(near)),
        None if known.is_empty() => "nothing is allowed here".to_owned(),
        None => format!("{otherwise} {}", listed(known.iter().copied(), ticked)),
    }
}

impl std::error::Error for ReadError {}

impl Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("this does not read")
    }
}

impl Error for ReadError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Problem::Other {
            message: one_line(&message.to_string()),
            rest: None,
        })
    }

    fn invalid_type(given: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(Problem::WrongType {
            wanted: wanted.to_string(),
            given: match given {
                Unexpected::Bool(_) => "a boolean",
                Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => {
                    "a number"
                }
                Unexpected::Str(_) => "a string",
                Unexpected::Seq => "a list",
                Unexpected::Map => "a table",
                Unexpected::Unit => "null",
                _ => "something else",
            },
        })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey {
            key: key.to_owned(),
            known,
            table: false,
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Problem::MissingKey(key))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownWord {
            word: word.to_owned(),
            known,
        })
    }
}
