//! The JSON Schema of an argument (draft 2020-12): compiled once, closed to the outside.
//!
//! A schema comes from a pack, so it may not make this process fetch anything, and its patterns are
//! run by an engine whose time grows linearly with the text.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::violation;

/// How large one compiled pattern may grow, in bytes.
const PATTERN_LIMIT: usize = 1 << 20;

/// Compiles a schema. Formats are checked, references leave the schema nowhere.
///
/// # Errors
/// Where in the schema the fault is, and what it is.
pub(crate) fn compile(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_LIMIT))
        .build(schema)
}

/// Checks a result against what its command says it looks like.
///
/// # Errors
/// What does not fit, to be put behind a name: `must be an object, not a string`. The value itself is
/// not repeated.
pub fn check_result(schema: &Value, result: &Value) -> Result<(), String> {
    let validator = compile(schema).map_err(|error| violation::schema_fault(&error))?;
    validator
        .validate(result)
        .map_err(|error| violation::problem(&error))
}

/// Whether a schema lists the values it takes, so that no caller can choose another.
pub(crate) fn is_closed(schema: Option<&Value>) -> bool {
    let Some(Value::Object(keywords)) = schema else {
        return false;
    };
    keywords.contains_key("const")
        || keywords
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|values| !values.is_empty())
}

/// The words of the keyword `type`, if it is there.
pub(crate) fn types(schema: Option<&Value>) -> Vec<&str> {
    match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The value that an absent argument takes.
pub(crate) fn default_of(schema: Option<&Value>) -> Option<&Value> {
    schema?.get("default").filter(|value| !value.is_null())
}

/// The values that the schema lists, if it lists any.
pub(crate) fn choices(schema: Option<&Value>) -> Option<Vec<&Value>> {
    let schema = schema?;
    if let Some(only) = schema.get("const") {
        return Some(vec![only]);
    }
    let values = schema.get("enum")?.as_array()?;
    Some(values.iter().collect())
}
