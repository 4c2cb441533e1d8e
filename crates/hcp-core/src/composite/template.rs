//! Values of a composite that references fill: the arguments of its calls, and its output.
//!
//! A string that is one `{{…}}` alone becomes what the reference leads to, of whatever type; a string
//! with text around it gets ECMAScript's `String(x)` of each. Nothing that was filled in is read for
//! references again.

use hcp_pack::value_text;
use hcp_spec::envelope::MAX_DEPTH;
use hcp_spec::json::parse_value;
use serde_json::{Map, Value};

use super::reference::{Found, Known, Problem, Reference};

/// One value with its references compiled.
#[derive(Debug)]
pub(super) struct Template {
    shape: Shape,
    /// As the manifest writes it.
    written: Value,
}

#[derive(Debug)]
enum Shape {
    Fixed(Value),
    Whole(Reference),
    Mixed(Vec<Part>),
    Array(Vec<Shape>),
    Object(Vec<(String, Shape)>),
}

#[derive(Debug)]
enum Part {
    Text(String),
    Reference(Reference),
}

impl Template {
    /// Compiles a value of the manifest.
    ///
    /// # Errors
    /// The reference that is none, and why.
    pub(super) fn compile(written: &Value, steps: &[&str]) -> Result<Self, String> {
        Ok(Self {
            shape: shape(written, steps)?,
            written: written.clone(),
        })
    }

    /// As the manifest writes it.
    pub(super) const fn written(&self) -> &Value {
        &self.written
    }

    /// Every reference in it.
    pub(super) fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        collect(&self.shape, &mut found);
        found
    }

    /// Whether its value is known before anything of the composite ran.
    pub(super) fn is_known_beforehand(&self) -> bool {
        self.references().iter().all(|one| one.step().is_none())
    }

    /// The value, as an argument of a call; `None` where all of it is one absent value.
    ///
    /// # Errors
    /// When a reference leads nowhere, what it leads to is no value, or a text lacks a part.
    pub(super) fn argument(&self, known: &Known<'_>) -> Result<Option<Value>, Problem> {
        argument(&self.shape, known)
    }

    /// Appends the value as JSON, results as their tools wrote them; what is absent is `null`.
    ///
    /// # Errors
    /// When a reference leads nowhere, or what stands within a text is no text.
    pub(super) fn append_json(&self, known: &Known<'_>, json: &mut String) -> Result<(), Problem> {
        append(&self.shape, known, json)
    }
}

fn shape(written: &Value, steps: &[&str]) -> Result<Shape, String> {
    Ok(match written {
        Value::String(text) => string(text, steps)?,
        Value::Array(elements) => {
            let shapes = elements.iter().map(|element| shape(element, steps));
            Shape::Array(shapes.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let shapes = members
                .iter()
                .map(|(key, member)| Ok((key.clone(), shape(member, steps)?)));
            Shape::Object(shapes.collect::<Result<_, String>>()?)
        }
        other => Shape::Fixed(other.clone()),
    })
}

fn string(text: &str, steps: &[&str]) -> Result<Shape, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inside, after) = after
            .split_once("}}")
            .ok_or_else(|| format!("the placeholder in `{text}` has no end"))?;
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let reference = Reference::parse(inside.trim(), steps)
            .map_err(|problem| format!("`{{{{{inside}}}}}` {problem}"))?;
        parts.push(Part::Reference(reference));
        rest = after;
    }
    if parts.is_empty() {
        return Ok(Shape::Fixed(Value::from(text)));
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    if let [Part::Reference(reference)] = parts.as_slice() {
        return Ok(Shape::Whole(reference.clone()));
    }
    Ok(Shape::Mixed(parts))
}

fn collect<'a>(shape: &'a Shape, found: &mut Vec<&'a Reference>) {
    match shape {
        Shape::Fixed(_) => {}
        Shape::Whole(reference) => found.push(reference),
        Shape::Mixed(parts) => found.extend(parts.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Text(_) => None,
        })),
        Shape::Array(elements) => elements.iter().for_each(|one| collect(one, found)),
        Shape::Object(members) => members.iter().for_each(|(_, one)| collect(one, found)),
    }
}

fn argument(shape: &Shape, known: &Known<'_>) -> Result<Option<Value>, Problem> {
    Ok(match shape {
        Shape::Fixed(value) => Some(value.clone()),
        Shape::Whole(reference) => value(reference, reference.find(known)?)?,
        Shape::Mixed(parts) => {
            let mut text = String::new();
            for part in parts {
                match part {
                    Part::Text(fixed) => text.push_str(fixed),
                    Part::Reference(reference) => {
                        let value = value(reference, reference.find(known)?)?
                            .filter(|value| !value.is_null())
                            .ok_or_else(|| Problem(format!("missing `{reference}`")))?;
                        text.push_str(&string_of(reference, &value)?);
                    }
                }
            }
            Some(Value::String(text))
        }
        Shape::Array(elements) => {
            let values = elements.iter().map(|element| argument(element, known));
            let values = values.map(|value| Ok(value?.unwrap_or(Value::Null)));
            Some(Value::Array(values.collect::<Result<_, Problem>>()?))
        }
        Shape::Object(members) => {
            let mut object = Map::with_capacity(members.len());
            for (key, member) in members {
                if let Some(value) = argument(member, known)? {
                    object.insert(key.clone(), value);
                }
            }
            Some(Value::Object(object))
        }
    })
}

fn append(shape: &Shape, known: &Known<'_>, json: &mut String) -> Result<(), Problem> {
    match shape {
        Shape::Fixed(value) => json.push_str(&value.to_string()),
        Shape::Whole(reference) => match reference.find(known)? {
            Found::Value(value) => json.push_str(&value.to_string()),
            Found::Json(text) => json.push_str(text),
            Found::Nothing => json.push_str("null"),
        },
        Shape::Mixed(parts) => {
            let mut text = String::new();
            for part in parts {
                match part {
                    Part::Text(fixed) => text.push_str(fixed),
                    Part::Reference(reference) => {
                        let value = value(reference, reference.find(known)?)?;
                        text.push_str(&string_of(reference, &value.unwrap_or_default())?);
                    }
                }
            }
            json.push_str(&Value::String(text).to_string());
        }
        Shape::Array(elements) => {
            json.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                append(element, known, json)?;
            }
            json.push(']');
        }
        Shape::Object(members) => {
            json.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                json.push_str(&Value::from(key.as_str()).to_string());
                json.push(':');
                append(member, known, json)?;
            }
            json.push('}');
        }
    }
    Ok(())
}

fn value(reference: &Reference, found: Found<'_>) -> Result<Option<Value>, Problem> {
    Ok(match found {
        Found::Value(value) => Some(value.clone()),
        Found::Nothing => None,
        Found::Json(text) => Some(
            parse_value(text, MAX_DEPTH)
                .map_err(|error| Problem(format!("`{reference}` leads to no value: {error}")))?,
        ),
    })
}

fn string_of(reference: &Reference, value: &Value) -> Result<String, Problem> {
    value_text(value)
        .ok_or_else(|| Problem(format!("`{reference}` leads to what has no text form")))
}

#[cfg(test)]
mod tests {
    use hcp_spec::ResultValue;
    use hcp_spec::envelope::Arguments;
    use serde_json::json;

    use super::super::reference::Taken;
    use super::*;

    fn filled(written: &Value) -> (Result<Option<Value>, Problem>, Result<String, Problem>) {
        let Value::Object(args) = json!({"to": "Ost", "n": 3, "{{args.n}}": 1}) else {
            return (Ok(None), Ok(String::new()));
        };
        let args: Arguments = args;
        let raw = r#"{"price":1.10,"big":9007199254740993,"odd":"\ud800","trap":"{{args.n}}","none":null,"o":{},"far":1e400}"#;
        let result = ResultValue::from_compact_json(raw.to_owned());
        let known = Known {
            args: &args,
            results: vec![Some(Taken::Result(&result)), Some(Taken::Skipped), None],
        };
        let template = Template::compile(written, &["q", "skipped", "later"]).unwrap();
        let mut text = String::new();
        let appended = template.append_json(&known, &mut text);
        (template.argument(&known), appended.map(|()| text))
    }

    #[test]
    fn alone_a_reference_keeps_type_and_digits_and_in_a_text_it_is_string_of_it() {
        for (written, argument, text) in [
            (json!("{{steps.q.result.price}}"), "1.10", "1.10"),
            (
                json!("{{ steps.q.result.big }}"),
                "9007199254740993",
                "9007199254740993",
            ),
            (json!("{{steps.q.result.far}}"), "1e+400", "1e400"),
            (
                json!("to {{args.to}}: {{steps.q.result.price}}"),
                "\"to Ost: 1.1\"",
                "\"to Ost: 1.1\"",
            ),
            (
                json!("{{steps.q.result.trap}}"),
                "\"{{args.n}}\"",
                "\"{{args.n}}\"",
            ),
            (
                json!(["{{args.n}}", {"k": "{{args.absent}}"}, "{{args.absent}}"]),
                "[3,{},null]",
                "[3,{\"k\":null},null]",
            ),
            (json!({"a": 1.50}), "{\"a\":1.5}", "{\"a\":1.5}"),
            (
                json!("plain }} text"),
                "\"plain }} text\"",
                "\"plain }} text\"",
            ),
        ] {
            let (as_argument, as_text) = filled(&written);
            assert_eq!(
                as_argument.unwrap().unwrap().to_string(),
                argument,
                "{written}"
            );
            assert_eq!(as_text.unwrap(), text, "{written}");
        }
    }

    #[test]
    fn what_is_not_there_is_absent_or_null_and_never_made_up() {
        for written in ["{{args.absent}}", "{{steps.skipped.result.a.b}}"] {
            let (as_argument, as_text) = filled(&json!(written));
            assert_eq!(as_argument, Ok(None));
            assert_eq!(as_text.as_deref(), Ok("null"));
        }
        for (written, argument) in [
            ("x{{args.absent}}", "missing `args.absent`"),
            (
                "x{{steps.skipped.result}}",
                "missing `steps.skipped.result`",
            ),
            ("x{{steps.q.result.none}}", "missing `steps.q.result.none`"),
            ("{{steps.q.result.x}}", "`steps.q.result.x` leads nowhere"),
            ("{{args.to.x}}", "`args.to.x` leads nowhere"),
            (
                "{{steps.later.result}}",
                "`steps.later.result` is not known yet",
            ),
            (
                "x{{steps.q.result.o}}",
                "`steps.q.result.o` leads to what has no text form",
            ),
            (
                "x{{steps.q.result.far}}",
                "`steps.q.result.far` leads to what has no text form",
            ),
        ] {
            assert_eq!(filled(&json!(written)).0, Err(Problem(argument.to_owned())));
        }
        let (lone, text) = filled(&json!("{{steps.q.result.odd}}"));
        assert!(lone.unwrap_err().0.contains("leads to no value"));
        assert_eq!(text.as_deref(), Ok("\"\\ud800\""));
        assert_eq!(
            filled(&json!("x{{args.absent}}")).1.as_deref(),
            Ok("\"xnull\"")
        );
    }
}
