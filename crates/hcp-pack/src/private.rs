//! What no message about a config repeats: the lines that credentials come from.
//!
//! A secret has its own file, but people write one into the config all the same, and every caller is
//! shown why a config does not read. So a line is shown only where it is known to hold no secret; a
//! fault elsewhere is told by its place, its keys and what should have stood there.

use crate::error::PackError;
use crate::finding::PlacePart;
use crate::node::{Data, Entry, Fault, Node};
use crate::source::{Format, SourceFile, Span};

/// The tables whose lines may be shown. A misspelt `bindings` is none of them.
const SHOWN: [&str; 2] = ["policy", "sandbox"];

/// Whether the value that these keys lead to may be a secret.
pub(crate) fn holds_secrets(keys: &[PlacePart]) -> bool {
    match keys.first() {
        Some(PlacePart::Key(key) | PlacePart::Name(key)) => !is_shown(key),
        Some(PlacePart::Index(_)) => true,
        None => false,
    }
}

/// The error for a fault of a config that reads as a tree.
pub(crate) fn located(
    source: &SourceFile,
    root: &Node,
    rule: &'static str,
    fault: Fault,
) -> PackError {
    let line = source.line_of(&fault.span);
    let private = match &root.data {
        Data::Table(entries) => entries
            .iter()
            .any(|entry| !is_shown(&entry.key) && touches(entry, &line)),
        _ => true,
    };
    if private {
        without_line(source, rule, fault)
    } else {
        PackError::at(source, rule, fault)
    }
}

/// The error for a config that does not read at all, so that nobody knows for sure what its lines
/// belong to.
pub(crate) fn unread(source: &SourceFile, rule: &'static str, fault: Fault) -> PackError {
    if is_surely_harmless(source, &fault.span) {
        PackError::at(source, rule, fault)
    } else {
        without_line(source, rule, fault)
    }
}

fn without_line(source: &SourceFile, rule: &'static str, mut fault: Fault) -> PackError {
    fault
        .hint
        .get_or_insert_with(|| "the line is not shown, since it may hold a secret".to_owned());
    PackError::at_unshown(source, rule, fault)
}

fn touches(entry: &Entry, line: &Span) -> bool {
    overlap(&entry.key_span, line) || value_touches(&entry.value, line)
}

/// A table or list of several lines touches those that something of it stands in.
fn value_touches(value: &Node, line: &Span) -> bool {
    match &value.data {
        Data::Table(entries) if !entries.is_empty() => {
            entries.iter().any(|entry| touches(entry, line))
        }
        Data::Array(elements) if !elements.is_empty() => {
            elements.iter().any(|element| value_touches(element, line))
        }
        _ => overlap(&value.span, line),
    }
}

const fn overlap(one: &Span, line: &Span) -> bool {
    one.start <= line.end && line.start <= one.end
}

/// Whether the line stands beneath a table that may be shown, in a text with nothing above it that
/// could make this look so: no table of credentials, no escape to hide its name, and no string of
/// several lines.
fn is_surely_harmless(source: &SourceFile, span: &Span) -> bool {
    let above = source.text.get(..source.line_of(span).end);
    let (Some(above), Format::Toml) = (above, source.format) else {
        return false;
    };
    let header = above
        .lines()
        .rev()
        .find_map(|line| line.trim_start().strip_prefix('['))
        .and_then(|line| line.split([']', '.']).next());
    let misleading = ["binding", "tenant", "\\", "\"\"\"", "'''"];
    header.is_some_and(|table| is_shown(table.trim()))
        && !misleading.iter().any(|sign| above.contains(sign))
}

fn is_shown(key: &str) -> bool {
    SHOWN.contains(&key)
}
