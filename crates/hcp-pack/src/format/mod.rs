//! A manifest with its keys in order and its spaces in place, and with every comment that it had.
//!
//! Keys stand as the documentation lists them; commands stay in the order that their author chose,
//! each followed by its Policy entry. What is written as one line stays one, what has lines of its
//! own keeps them.

mod decor;
mod order;
mod toml;

use serde_json::Value;

use self::order::{MANIFEST, Shape};
use crate::error::PackError;
use crate::manifest::parse_manifest;
use crate::source::{Format, SourceFile};

/// The text of a manifest, formatted. Formatting twice gives what formatting once does.
///
/// # Errors
/// [`PackError`] when it is no manifest; also when the formatted text would say something else, which
/// would be a fault of the formatter and must not reach the file.
pub fn format_manifest(source: &SourceFile) -> Result<String, PackError> {
    let manifest = parse_manifest(source)?;
    let text = match source.format {
        Format::Toml => toml::format(&source.text)?,
        Format::Json => json(&source.text)?,
    };
    let formatted = SourceFile {
        text,
        ..source.clone()
    };
    if parse_manifest(&formatted).is_ok_and(|again| again == manifest) {
        return Ok(formatted.text);
    }
    Err(failed("the formatted text would not say the same"))
}

fn failed(why: &str) -> PackError {
    PackError::Manifest {
        message: format!("the manifest could not be formatted: {why}"),
        hint: Some("this is a fault of hcp; the file is as it was".to_owned()),
    }
}

fn json(text: &str) -> Result<String, PackError> {
    let value: Value = serde_json::from_str(text).map_err(|error| failed(&error.to_string()))?;
    Ok(format!("{:#}\n", sorted(value, &MANIFEST)))
}

fn sorted(value: Value, shape: &Shape) -> Value {
    match value {
        Value::Object(members) if !matches!(shape, Shape::Free) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by_key(|(key, _)| shape.rank(key));
            members
                .into_iter()
                .map(|(key, value)| {
                    let value = sorted(value, shape.of(&key));
                    (key, value)
                })
                .collect()
        }
        other => other,
    }
}
