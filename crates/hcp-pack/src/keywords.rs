//! The words of JSON Schema (draft 2020-12): which an argument's schema may use, and where in it.
//!
//! A keyword that a validator does not know means nothing to it: `minimun = 1` would let every number
//! through. So authors are told, and a wrong `type`, which does keep a pack out, is told in words.

use serde_json::{Map, Value};

use crate::finding::{Finding, Place};
use crate::suggestion::closest;
use crate::wording::{listed, ticked};

/// The values of `type`.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// What other languages call a type, where that is not like the word of JSON Schema.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("decimal", "number"),
    ("dict", "object"),
    ("double", "number"),
    ("float", "number"),
    ("list", "array"),
    ("map", "object"),
    ("none", "null"),
    ("text", "string"),
];

/// Keywords whose value is a schema.
const SCHEMA: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
const SCHEMA_LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is a table of schemas, by names that are the author's.
const SCHEMA_TABLE: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// All other keywords.
const PLAIN: [&str; 38] = [
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// A word of a schema that means nothing there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownKeyword<'a> {
    /// Where it stands.
    pub(crate) place: Place,
    /// The word.
    pub(crate) word: &'a str,
    /// The nearest keyword there is.
    pub(crate) suggestion: Option<&'static str>,
}

/// The keywords that no validator of draft 2020-12 knows, those beginning with `x-` apart, which
/// authors may use for their own ends.
pub(crate) fn unknown_keywords(place: Place, schema: &Value) -> Vec<UnknownKeyword<'_>> {
    let mut found = Vec::new();
    for (place, keywords) in schemas(place, schema) {
        let unknown = keywords
            .keys()
            .filter(|word| !word.starts_with("x-") && !known().any(|known| known == *word));
        found.extend(unknown.map(|word| UnknownKeyword {
            place: place.clone().name(word),
            word,
            suggestion: closest(word, known()),
        }));
    }
    found
}

/// Checks that every `type` is one that JSON Schema has.
///
/// # Errors
/// A [`Finding`] at the first that is not.
pub(crate) fn check_types(place: Place, schema: &Value) -> Result<(), Finding> {
    for (place, keywords) in schemas(place, schema) {
        let place = place.key("type");
        match keywords.get("type") {
            Some(Value::String(word)) => check_type(place, word)?,
            Some(Value::Array(words)) => {
                for (index, word) in words.iter().enumerate() {
                    if let Value::String(word) = word {
                        check_type(place.clone().index(index), word)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_type(place: Place, word: &str) -> Result<(), Finding> {
    if TYPES.contains(&word) {
        return Ok(());
    }
    let message = format!(
        "`type` must be one of {}, not {}",
        listed(TYPES.into_iter(), ticked),
        ticked(word)
    );
    let known = OTHER_NAMES.iter().find(|(name, _)| *name == word);
    let near = known
        .map(|(_, known)| *known)
        .or_else(|| closest(word, TYPES.into_iter()));
    let finding = Finding::new(place, message);
    Err(match near {
        Some(near) => finding.hint(format!("did you mean `{near}`?")),
        None => finding,
    })
}

fn known() -> impl Iterator<Item = &'static str> {
    PLAIN
        .into_iter()
        .chain(SCHEMA)
        .chain(SCHEMA_LIST)
        .chain(SCHEMA_TABLE)
}

/// Every schema within a schema that is a table, itself first, with its place.
fn schemas(place: Place, schema: &Value) -> Vec<(Place, &Map<String, Value>)> {
    let mut found = Vec::new();
    let mut pending = vec![(place, schema)];
    while let Some((place, schema)) = pending.pop() {
        let Value::Object(keywords) = schema else {
            continue;
        };
        found.push((place.clone(), keywords));
        let inner = keywords.iter().flat_map(|(word, value)| {
            let place = place.clone().key(word);
            match value {
                _ if SCHEMA.contains(&word.as_str()) => vec![(place, value)],
                Value::Array(schemas) if SCHEMA_LIST.contains(&word.as_str()) => schemas
                    .iter()
                    .enumerate()
                    .map(|(index, schema)| (place.clone().index(index), schema))
                    .collect(),
                Value::Object(schemas) if SCHEMA_TABLE.contains(&word.as_str()) => schemas
                    .iter()
                    .map(|(name, schema)| (place.clone().key(name), schema))
                    .collect(),
                _ => Vec::new(),
            }
        });
        let mut inner: Vec<_> = inner.collect();
        inner.reverse();
        pending.append(&mut inner);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{check_types, unknown_keywords};
    use crate::finding::{Place, dotted};

    #[test]
    fn keywords_are_known_wherever_a_schema_stands() {
        let schema = json!({
            "type": ["object", "null"],
            "x-note": 1,
            "minimun": 1,
            "default": { "minimun": 1 },
            "enum": [{ "minimun": 1 }],
            "properties": { "minimun": { "patern": "x" }, "a": true },
            "items": { "nullable": true },
            "anyOf": [{}, { "requird": [] }],
            "$defs": { "a": { "not": { "typ": "string" } } },
            "$recursiveRef": "#",
        });
        let found: Vec<_> = unknown_keywords(Place::default(), &schema)
            .into_iter()
            .map(|unknown| (dotted(unknown.place.parts()), unknown.suggestion))
            .collect();
        assert_eq!(
            found,
            [
                ("minimun".to_owned(), Some("minimum")),
                ("$recursiveRef".to_owned(), None),
                ("properties.minimun.patern".to_owned(), Some("pattern")),
                ("items.nullable".to_owned(), None),
                ("anyOf[1].requird".to_owned(), Some("required")),
                ("$defs.a.not.typ".to_owned(), Some("type")),
            ]
        );
        assert!(unknown_keywords(Place::default(), &json!(true)).is_empty());
    }

    #[test]
    fn a_type_is_one_of_seven() {
        for (word, hint) in [
            ("int", Some("did you mean `integer`?")),
            ("str", Some("did you mean `string`?")),
            ("bool", Some("did you mean `boolean`?")),
            ("Number", Some("did you mean `number`?")),
            ("float", Some("did you mean `number`?")),
            ("list", Some("did you mean `array`?")),
            ("path", None),
        ] {
            for schema in [
                json!({ "type": word }),
                json!({ "type": ["null", word] }),
                json!({ "items": { "type": word } }),
            ] {
                let finding = check_types(Place::default(), &schema).unwrap_err();
                assert!(
                    finding
                        .message
                        .starts_with("`type` must be one of `array`, ")
                );
                assert_eq!(finding.hint.as_deref(), hint, "{word}");
            }
        }
        for schema in [
            json!({ "type": "integer", "properties": { "type": { "type": "null" } } }),
            json!({ "const": { "type": "int" } }),
            json!({ "type": 1 }),
            json!(false),
        ] {
            assert_eq!(check_types(Place::default(), &schema), Ok(()));
        }
    }
}
