//! What is wrong with a value, in words: the wanted thing and the kind of the given one.
//!
//! The value itself is never repeated. It may be a secret, and these texts reach logs.

use hcp_spec::envelope::describe;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::wording::{listed, one_line, quoted};

/// What is wrong, to be put behind the name of the argument: `must be an integer, not a string`.
pub(crate) fn problem(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let what = what(error.kind(), error.instance());
    if place.is_empty() {
        what
    } else {
        format!("at {} {what}", one_line(&place))
    }
}

fn what(kind: &ValidationErrorKind, value: &Value) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("must be {}, not {}", wanted(kind), given(kind, value)),
        Kind::Enum { options } => one_of(options),
        Kind::Constant { expected_value } => format!("must be {}", bounded(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {}", bounded(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", bounded(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", bounded(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", bounded(limit)),
        Kind::MultipleOf { multiple_of } => {
            format!("must be a multiple of {multiple_of}")
        }
        Kind::MinLength { limit } => format!("must have at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", counted(*limit, "element")),
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "element")),
        Kind::MinProperties { limit } => format!("must have at least {}", counted(*limit, "key")),
        Kind::MaxProperties { limit } => format!("must have at most {}", counted(*limit, "key")),
        Kind::UniqueItems => "holds the same element twice".to_owned(),
        Kind::Pattern { pattern } => format!("does not match the pattern {}", one_line(pattern)),
        Kind::Format { format } => format!("is not of the format {}", one_line(format)),
        Kind::Required { property } => format!("lacks {}", bounded(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!(
                "may not have {}",
                listed(unexpected.iter().map(String::as_str), quoted)
            )
        }
        Kind::AdditionalItems { limit } => {
            format!("must have at most {}", counted(*limit as u64, "element"))
        }
        Kind::FalseSchema => "is not allowed".to_owned(),
        other => format!("does not fit its schema (`{}`)", one_line(other.keyword())),
    }
}

fn wanted(kind: &TypeKind) -> String {
    let words: Vec<&str> = match kind {
        TypeKind::Single(word) => vec![with_article(word.as_str())],
        TypeKind::Multiple(words) => words
            .iter()
            .map(|word| with_article(word.as_str()))
            .collect(),
    };
    words.join(" or ")
}

fn given(kind: &TypeKind, value: &Value) -> &'static str {
    let integer = match kind {
        TypeKind::Single(word) => word.as_str() == "integer",
        TypeKind::Multiple(words) => words.iter().any(|word| word.as_str() == "integer"),
    };
    match value {
        Value::Number(_) if integer => "a number with a fraction",
        other => describe(other),
    }
}

/// A type of JSON Schema with its article.
pub(crate) fn with_article(word: &str) -> &'static str {
    match word {
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        "string" => "a string",
        "array" => "an array",
        "object" => "an object",
        "null" => "null",
        _ => "something else",
    }
}

fn one_of(options: &Value) -> String {
    let options: Vec<String> = match options {
        Value::Array(options) => options.iter().map(bounded).collect(),
        other => vec![bounded(other)],
    };
    match options.as_slice() {
        [one] => format!("must be {one}"),
        many => format!(
            "must be one of {}",
            listed(many.iter().map(String::as_str), str::to_owned)
        ),
    }
}

/// A value of the schema, which the author wrote, on one bounded line.
fn bounded(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => one_line(&other.to_string()),
    }
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

/// Why a schema is none, with the place inside it.
pub(crate) fn schema_fault(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "this schema refers to one that it does not hold itself".to_owned()
        }
        _ => format!("not a JSON Schema: {}", problem(error)),
    }
}
