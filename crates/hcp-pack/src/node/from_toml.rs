//! TOML into nodes: numbers become JSON's, keys are put back into the order they were written in.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Data, Entry, Fault, Node, is_magic};
use crate::source::Span;
use crate::wording::one_line;

/// Reads a TOML document.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let document = DeTable::parse(text)
        .map_err(|error| syntax_fault(text, error.message(), &error.span().unwrap_or(0..0)))?;
    let span = document.span();
    table(document.get_ref(), span)
}

/// How the parser's messages about bare words begin.
const BARE_WORDS: [&str; 11] = [
    "`_` may only go between digits",
    "invalid boolean",
    "invalid date",
    "invalid exponent",
    "invalid float",
    "invalid fraction",
    "invalid hexadecimal",
    "invalid integer",
    "invalid mantissa",
    "invalid time",
    "string values must be quoted",
];

/// Says it anew where the parser takes a bare word for a number, a boolean or a date that went wrong.
fn syntax_fault(text: &str, message: &str, span: &Span) -> Fault {
    if !BARE_WORDS.iter().any(|start| message.starts_with(start)) {
        return fault(span.clone(), &one_line(message), None);
    }
    let word = word_around(text, span.start);
    if word.is_empty() {
        let hint = "write it behind the `=`, text between quotes";
        return fault(word, "a value is missing here", Some(hint));
    }
    fault(
        word,
        "this is neither a number, a date, `true`, `false` nor text in quotes",
        Some("put it in quotes"),
    )
}

/// The bare word that a byte offset stands in.
fn word_around(text: &str, offset: usize) -> Span {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let ends = |c: char| c.is_whitespace() || "=,[]{}#\"'".contains(c);
    let start = before
        .char_indices()
        .rev()
        .find(|(_, c)| ends(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let end = before.len() + after.find(ends).unwrap_or(after.len());
    start..end
}

fn table(entries: &DeTable<'_>, span: Span) -> Result<Node, Fault> {
    let mut nodes = entries
        .iter()
        .map(|(key, value)| entry(key, value))
        .collect::<Result<Vec<_>, _>>()?;
    // The parser sorts by name; steps of a composite run in the order they stand in.
    nodes.sort_by_key(|entry| entry.key_span.start);
    Ok(Node {
        span,
        data: Data::Table(nodes),
    })
}

fn entry(
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Entry, Fault> {
    let name = key.get_ref().to_string();
    if is_magic(&name) {
        return Err(fault(key.span(), "this key is reserved", None));
    }
    Ok(Entry {
        key: name,
        key_span: key.span(),
        value: node(value)?,
    })
}

fn node(value: &Spanned<DeValue<'_>>) -> Result<Node, Fault> {
    let span = value.span();
    let data = match value.get_ref() {
        DeValue::String(text) => Data::String(text.to_string()),
        DeValue::Integer(number) => Data::Number(integer(number, &span)?),
        DeValue::Float(number) => Data::Number(float(number.as_str(), &span)?),
        DeValue::Boolean(value) => Data::Bool(*value),
        DeValue::Datetime(_) => {
            return Err(fault(
                span,
                "a date or time has no JSON form",
                Some("write it between quotes"),
            ));
        }
        DeValue::Array(elements) => {
            Data::Array(elements.iter().map(node).collect::<Result<_, _>>()?)
        }
        DeValue::Table(entries) => return table(entries, span),
    };
    Ok(Node { span, data })
}

fn integer(number: &DeInteger<'_>, span: &Span) -> Result<String, Fault> {
    let digits = number.as_str().trim_start_matches('+');
    if number.radix() == 10 {
        return Ok(digits.to_owned());
    }
    i128::from_str_radix(digits, number.radix())
        .map(|value| value.to_string())
        .map_err(|_| fault(span.clone(), "this number is too large", None))
}

fn float(text: &str, span: &Span) -> Result<String, Fault> {
    if text.contains(['n', 'i']) {
        return Err(fault(
            span.clone(),
            "`inf` and `nan` have no JSON form",
            None,
        ));
    }
    Ok(text.trim_start_matches('+').to_owned())
}

fn fault(span: Span, message: &str, hint: Option<&str>) -> Fault {
    Fault {
        span,
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
    }
}
