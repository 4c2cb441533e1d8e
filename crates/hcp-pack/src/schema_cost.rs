//! What a schema may cost: bounded when the manifest is read, because a call cannot be stopped while
//! its arguments are checked.
//!
//! A few references that each lead on to two more unfold into more schemas than any machine can
//! evaluate. So references are followed here, every schema is counted as often as it would be
//! evaluated for one value, and what only the value would end is refused.

use std::collections::HashMap;

use serde_json::Value;

use crate::finding::{Finding, Place};
use crate::wording::ticked;

/// How many schemas one may come to, with its references followed.
const MOST_SCHEMAS: u64 = 2_000;
/// How deep schemas may stand in each other, with their references followed.
const DEEPEST: usize = 200;

/// Keywords whose value is data, whatever it looks like.
const DATA: [&str; 5] = ["const", "default", "enum", "examples", "required"];
/// Keywords whose value is a table of schemas under names of the author's.
const TABLES: [&str; 5] = [
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
/// Schemas that count only where a reference leads to them.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Checks that a value can be held against this schema in bounded time.
///
/// # Errors
/// A [`Finding`] for a schema that refers to itself, that refers in a way that is not followed, or
/// that comes to too many schemas.
pub(crate) fn check(place: &Place, schema: &Value) -> Result<(), Finding> {
    let mut cost = Cost {
        root: schema,
        known: HashMap::new(),
    };
    match cost.of(schema, 0) {
        Ok(count) if count <= MOST_SCHEMAS => Ok(()),
        Ok(_) => Err(Refused {
            message: format!(
                "the schema comes to more than {MOST_SCHEMAS} schemas once its references are followed"
            ),
            hint: "branch less, and refer to a branching schema from fewer places",
        }),
        Err(refused) => Err(refused),
    }
    .map_err(|refused| Finding::new(place.clone(), refused.message).hint(refused.hint))
}

struct Refused {
    message: String,
    hint: &'static str,
}

struct Cost<'a> {
    root: &'a Value,
    /// By reference: what it comes to, or `None` while that is being counted.
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Cost<'a> {
    /// How many schemas are evaluated for one value: this one and all that it leads to.
    fn of(&mut self, schema: &'a Value, depth: usize) -> Result<u64, Refused> {
        if depth > DEEPEST {
            return Err(Refused {
                message: format!("the schema is more than {DEEPEST} schemas deep"),
                hint: "refer to fewer schemas in a row",
            });
        }
        let Value::Object(keywords) = schema else {
            return Ok(1);
        };
        let mut count: u64 = 1;
        for (keyword, value) in keywords {
            let keyword = keyword.as_str();
            let more = match (keyword, value) {
                ("$ref", Value::String(reference)) => self.referred(reference, depth)?,
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(unfollowed(keyword));
                }
                ("$id", _) if depth > 0 => return Err(unfollowed("$id")),
                (_, Value::Object(schemas)) if TABLES.contains(&keyword) => {
                    self.sum(schemas.values(), depth)?
                }
                _ if DATA.contains(&keyword) || DEFINITIONS.contains(&keyword) => 0,
                (_, Value::Object(_)) => self.of(value, depth + 1)?,
                (_, Value::Array(schemas)) => self.sum(schemas.iter(), depth)?,
                _ => 0,
            };
            count = count.saturating_add(more);
        }
        Ok(count)
    }

    fn sum(
        &mut self,
        schemas: impl Iterator<Item = &'a Value>,
        depth: usize,
    ) -> Result<u64, Refused> {
        let mut count: u64 = 0;
        for schema in schemas {
            count = count.saturating_add(self.of(schema, depth + 1)?);
        }
        Ok(count)
    }

    fn referred(&mut self, reference: &'a str, depth: usize) -> Result<u64, Refused> {
        match self.known.get(reference) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => {
                return Err(Refused {
                    message: format!(
                        "the schema refers to itself by {}, without an end",
                        ticked(reference)
                    ),
                    hint: "write it out as deep as values may be",
                });
            }
            None => {}
        }
        let outside = || Refused {
            message: "this schema refers to one that it does not hold itself".to_owned(),
            hint: "put the schema into `$defs` and refer to it as `#/$defs/name`",
        };
        let pointer = percent_decoded(reference.strip_prefix('#').ok_or_else(outside)?);
        if !(pointer.is_empty() || pointer.starts_with('/')) {
            return Err(unfollowed("$anchor"));
        }
        let target = self.root.pointer(&pointer).ok_or_else(outside)?;
        self.known.insert(reference, None);
        let count = self.of(target, depth + 1)?;
        self.known.insert(reference, Some(count));
        Ok(count)
    }
}

fn unfollowed(keyword: &str) -> Refused {
    Refused {
        message: format!("{} has no place in a schema here", ticked(keyword)),
        hint: "put the schema into `$defs` and refer to it as `#/$defs/name`",
    }
}

/// The pointer behind the `#` of a reference, as it would be written outside of one.
fn percent_decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = match after {
            [high, low, ..] if *first == b'%' => hex(*high, *low),
            _ => None,
        };
        bytes.push(escape.unwrap_or(*first));
        rest = match escape {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
