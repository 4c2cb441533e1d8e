//! Arguments from the words of a command line: `k=v`, `k:=<json>`, `k=@-`.
//!
//! A text becomes the JSON value that it says without loss, or is refused: what a person typed and
//! what the tool is given can never be two things. No form reads a file.

use hcp_spec::envelope::Arguments;
use hcp_spec::json::parse_value;
use hcp_spec::manifest::{Argument, Command, Presentation};
use serde_json::{Number, Value};

use crate::arguments::ArgumentError;
use crate::render::{number_text, value_text};
use crate::schema;
use crate::violation::with_article;

/// How deep a value may nest: an envelope has 128 levels, of which it and `args` are two.
const MAX_DEPTH: usize = 126;

/// Reads the words behind `--`. `stdin` is asked at most once, for the one `k=@-`. The name of an
/// argument that is declared as an array may stand several times, once for every element.
///
/// # Errors
/// [`ArgumentError`] for a word of another form, a text that is not of the declared type, and a name
/// that is given twice.
pub fn parse_pairs(
    pairs: &[String],
    command: Option<&Command>,
    stdin: &mut dyn FnMut() -> std::io::Result<String>,
) -> Result<Arguments, ArgumentError> {
    let mut arguments = Arguments::new();
    let mut growing: Vec<&str> = Vec::new();
    let mut stdin_taken: Option<&str> = None;
    for pair in pairs {
        let Pair { name, form } = Pair::parse(pair)?;
        let argument = command.and_then(|command| command.args.get(name));
        let text = match form {
            Form::Json(text) => {
                let value = json(name, text)?;
                insert(&mut arguments, name, value)?;
                continue;
            }
            Form::Text(text) => std::borrow::Cow::Borrowed(text),
            Form::Stdin => {
                if let Some(taken) = stdin_taken.replace(name) {
                    return Err(ArgumentError::StdinTwice {
                        name: name.to_owned(),
                        taken: taken.to_owned(),
                    });
                }
                stdin()
                    .map_err(|error| ArgumentError::Stdin {
                        name: name.to_owned(),
                        reason: error.to_string(),
                    })?
                    .into()
            }
        };
        if let Some(element) = element_schema(argument) {
            let value = typed(name, &text, element)?;
            match arguments.get_mut(name) {
                Some(Value::Array(elements)) if growing.contains(&name) => elements.push(value),
                _ => insert(&mut arguments, name, Value::Array(vec![value]))?,
            }
            growing.push(name);
        } else {
            let value = match form {
                // Text from stdin is text, unless something else is declared.
                Form::Stdin if !is_typed(argument) => Value::String(text.into_owned()),
                _ => read_text(name, &text, argument)?,
            };
            insert(&mut arguments, name, value)?;
        }
    }
    Ok(arguments)
}

/// Reads one text as the value of an argument: as the declared type, or, where none is declared, as
/// `true`, `false`, `null` or a number whose text it is, and else as a string.
///
/// # Errors
/// [`ArgumentError::Invalid`] when the text is not of the declared type.
pub fn read_text(
    name: &str,
    text: &str,
    argument: Option<&Argument>,
) -> Result<Value, ArgumentError> {
    match argument {
        Some(argument) if argument.presentation == Some(Presentation::Switch) => {
            boolean(text).ok_or_else(|| unreadable(name, &["boolean"]))
        }
        Some(argument) if argument.access.is_some() && !is_typed(Some(argument)) => {
            Ok(Value::String(text.to_owned()))
        }
        Some(argument) => typed(name, text, argument.schema.as_ref()),
        None => Ok(untyped(text)),
    }
}

struct Pair<'a> {
    name: &'a str,
    form: Form<'a>,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Text(&'a str),
    Json(&'a str),
    Stdin,
}

impl<'a> Pair<'a> {
    fn parse(word: &'a str) -> Result<Self, ArgumentError> {
        let wrong = || ArgumentError::NotAPair {
            text: word.to_owned(),
        };
        let (key, text) = word.split_once('=').ok_or_else(wrong)?;
        let (name, form) = match key.strip_suffix(':') {
            Some(name) => (name, Form::Json(text)),
            None if text == "@-" => (key, Form::Stdin),
            None => (key, Form::Text(text)),
        };
        if name.is_empty() {
            return Err(wrong());
        }
        Ok(Self { name, form })
    }
}

fn insert(arguments: &mut Arguments, name: &str, value: Value) -> Result<(), ArgumentError> {
    if arguments.contains_key(name) {
        return Err(ArgumentError::Repeated {
            name: name.to_owned(),
        });
    }
    arguments.insert(name.to_owned(), value);
    Ok(())
}

fn json(name: &str, text: &str) -> Result<Value, ArgumentError> {
    parse_value(text, MAX_DEPTH)
        .map_err(|error| ArgumentError::invalid(name, format!("cannot be read: {error}")))
}

fn is_typed(argument: Option<&Argument>) -> bool {
    let Some(argument) = argument else {
        return false;
    };
    let schema = argument.schema.as_ref();
    argument.presentation == Some(Presentation::Switch)
        || !schema::types(schema).is_empty()
        || schema::choices(schema).is_some()
}

/// The schema of one element, for an argument that is declared as an array and nothing else.
#[allow(clippy::option_option)]
fn element_schema(argument: Option<&Argument>) -> Option<Option<&Value>> {
    let schema = argument?.schema.as_ref();
    (schema::types(schema) == ["array"]).then(|| schema.and_then(|schema| schema.get("items")))
}

fn typed(name: &str, text: &str, schema: Option<&Value>) -> Result<Value, ArgumentError> {
    let types = schema::types(schema);
    if types.is_empty() {
        let choice = schema::choices(schema).map(|choices| {
            choices
                .into_iter()
                .find(|choice| value_text(choice).as_deref() == Some(text))
        });
        return Ok(match choice {
            Some(Some(choice)) => choice.clone(),
            // What is not among them is left to the check, whose message lists them.
            Some(None) => Value::String(text.to_owned()),
            None => untyped(text),
        });
    }
    // From the narrowest to the widest: a string can be anything.
    let read = |word: &str| match word {
        "null" => null(text),
        "boolean" => boolean(text),
        "integer" => integer(text),
        "number" => number(text),
        _ => Some(Value::String(text.to_owned())),
    };
    ["null", "boolean", "integer", "number", "string"]
        .into_iter()
        .filter(|word| types.contains(word))
        .find_map(read)
        .ok_or_else(|| unreadable(name, &types))
}

fn unreadable(name: &str, types: &[&str]) -> ArgumentError {
    let wanted = types
        .iter()
        .map(|word| with_article(word))
        .collect::<Vec<_>>();
    let mut problem = format!("must be {}", wanted.join(" or "));
    if types.iter().any(|word| matches!(*word, "object" | "array")) {
        problem.push_str(", which is written as name:=<json>");
    }
    ArgumentError::invalid(name, problem)
}

fn untyped(text: &str) -> Value {
    null(text)
        .or_else(|| boolean(text))
        .or_else(|| number(text).filter(|value| value_text(value).as_deref() == Some(text)))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn null(text: &str) -> Option<Value> {
    (text == "null").then_some(Value::Null)
}

fn boolean(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn integer(text: &str) -> Option<Value> {
    let number = parse_number(text)?;
    (!text.contains(['.', 'e', 'E']) && number_text(&number).as_deref() == Some(text))
        .then_some(Value::Number(number))
}

fn number(text: &str) -> Option<Value> {
    parse_number(text).map(Value::Number)
}

/// A number by the grammar of JSON, kept as written.
fn parse_number(text: &str) -> Option<Number> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match plain.then(|| parse_value(text, 1))? {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}
