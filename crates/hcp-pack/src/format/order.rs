//! The order of keys in each table of a manifest: that of the documentation.

/// How a table is to be ordered.
pub(super) enum Shape {
    /// These keys, in this order.
    Keys(&'static [(&'static str, &'static Self)]),
    /// Names that the author chose, in the author's order, each of one shape.
    Named(&'static Self),
    /// Left as it is written.
    Free,
}

impl Shape {
    /// Where a key stands among the others; keys of equal rank keep their order.
    pub(super) fn rank(&self, key: &str) -> usize {
        match self {
            Self::Keys(keys) => keys
                .iter()
                .position(|(name, _)| *name == key)
                .unwrap_or(keys.len()),
            Self::Named(_) | Self::Free => 0,
        }
    }

    /// The shape of what a key holds.
    pub(super) fn of(&self, key: &str) -> &'static Self {
        match self {
            Self::Keys(keys) => keys
                .iter()
                .find(|(name, _)| *name == key)
                .map_or(&FREE, |(_, shape)| shape),
            Self::Named(shape) => shape,
            Self::Free => &FREE,
        }
    }
}

pub(super) static FREE: Shape = Shape::Free;

pub(super) static MANIFEST: Shape = Shape::Keys(&[
    ("hcp", &FREE),
    ("id", &FREE),
    ("version", &FREE),
    ("summary", &FREE),
    ("kind", &FREE),
    ("privacy", &PRIVACY),
    ("wrap", &WRAP),
    ("sandbox", &SANDBOX),
    ("binding", &BINDING),
    ("commands", &Shape::Named(&COMMAND)),
    ("policy", &Shape::Named(&POLICY)),
]);

static PRIVACY: Shape = Shape::Keys(&[("land", &FREE)]);

static WRAP: Shape = Shape::Keys(&[
    ("bin", &FREE),
    ("argv_template", &FREE),
    ("json", &FREE),
    ("output", &FREE),
    ("success", &FREE),
    ("single", &FREE),
    ("rendering", &FREE),
    ("agent_env", &FREE),
]);

static SANDBOX: Shape = Shape::Keys(&[
    ("state", &FREE),
    ("exec", &FREE),
    ("network", &FREE),
    ("read", &FREE),
    ("level", &FREE),
    ("timeout", &FREE),
    ("output", &FREE),
    ("memory", &FREE),
    ("processes", &FREE),
]);

static BINDING: Shape = Shape::Keys(&[("env", &FREE), ("ttl", &FREE)]);

static COMMAND: Shape = Shape::Keys(&[
    ("summary", &FREE),
    ("kind", &FREE),
    ("effect", &FREE),
    ("bootstrap", &FREE),
    ("cli", &FREE),
    ("output", &FREE),
    ("args", &Shape::Named(&ARGUMENT)),
    ("steps", &Shape::Named(&CALL)),
    ("examples", &Shape::Named(&EXAMPLE)),
    ("result", &FREE),
]);

static ARGUMENT: Shape = Shape::Keys(&[
    ("required", &FREE),
    ("summary", &FREE),
    ("schema", &FREE),
    ("as", &FREE),
    ("dash", &FREE),
    ("access", &FREE),
]);

static CALL: Shape = Shape::Keys(&[("call", &FREE), ("args", &FREE), ("when", &FREE)]);

static EXAMPLE: Shape = Shape::Keys(&[("summary", &FREE), ("args", &FREE), ("argv", &FREE)]);

static POLICY: Shape = Shape::Keys(&[
    ("capability", &FREE),
    ("confirm", &FREE),
    ("approval", &FREE),
]);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::{MANIFEST, Shape};

    /// The keys that a schema has and those that have a place in the order are the same.
    fn compare(schema: &Value, whole: &Value, shape: &Shape, compared: &mut usize) {
        let schema = follow(schema, whole);
        match shape {
            Shape::Free => {}
            Shape::Named(inner) => {
                let patterns = schema["patternProperties"].as_object();
                let any = patterns.and_then(|patterns| patterns.values().next());
                let any = any.unwrap_or(&schema["additionalProperties"]);
                compare(any, whole, inner, compared);
            }
            Shape::Keys(keys) => {
                *compared += 1;
                let properties = schema["properties"].as_object().unwrap();
                let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
                let ordered: BTreeSet<&str> = keys.iter().map(|(key, _)| *key).collect();
                assert_eq!(ordered, known);
                for (key, inner) in *keys {
                    compare(&properties[*key], whole, inner, compared);
                }
            }
        }
    }

    fn follow<'a>(schema: &'a Value, whole: &'a Value) -> &'a Value {
        let reference = schema["$ref"].as_str().or_else(|| {
            let choices = schema["anyOf"].as_array().or(schema["allOf"].as_array())?;
            choices.iter().find_map(|choice| choice["$ref"].as_str())
        });
        match reference {
            Some(reference) => whole.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
            None => schema,
        }
    }

    #[test]
    fn every_key_of_a_manifest_has_its_place() {
        let schema = crate::manifest_schema();
        let mut compared = 0;
        compare(&schema, &schema, &MANIFEST, &mut compared);
        assert_eq!(compared, 10);
    }
}
