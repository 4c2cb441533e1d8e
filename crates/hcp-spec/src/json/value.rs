//! Values from a JSON text: no key twice, numbers as written.

use std::str::FromStr;

use serde_json::{Map, Number, Value};

use super::scanner::{Event, JsonError, Scanner};

/// Parses `text` as one JSON text of at most `limit` levels. Unlike `serde_json`, a key that stands
/// twice in one object is an error, anywhere; numbers keep every digit.
///
/// # Errors
/// [`JsonError`], which tells the place. A lone surrogate escape has no value and is a syntax error.
pub fn parse_value(text: &str, limit: usize) -> Result<Value, JsonError> {
    let mut scanner = Scanner::new(text, limit);
    let first = scanner.next()?.ok_or_else(|| unfinished(&scanner))?;
    let value = build(&mut scanner, first)?;
    scanner.next()?;
    Ok(value)
}

/// The text of a raw JSON string, quotes included, or `None` when an escape has no character (a lone
/// surrogate).
pub fn unescape(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    serde_json::from_str(raw).ok()
}

fn build(scanner: &mut Scanner<'_>, event: Event<'_>) -> Result<Value, JsonError> {
    Ok(match event {
        Event::ObjectStart => Value::Object(object(scanner)?),
        Event::ArrayStart => Value::Array(array(scanner)?),
        Event::String(raw) => Value::String(text(scanner, raw)?),
        Event::Number(raw) => Value::Number(number(scanner, raw)?),
        Event::Bool(value) => Value::Bool(value),
        Event::Null => Value::Null,
        Event::Key(_) | Event::ObjectEnd | Event::ArrayEnd => return Err(unfinished(scanner)),
    })
}

fn object(scanner: &mut Scanner<'_>) -> Result<Map<String, Value>, JsonError> {
    let mut members = Map::new();
    loop {
        match scanner.next()? {
            Some(Event::ObjectEnd) => return Ok(members),
            Some(Event::Key(raw)) => {
                let key = text(scanner, raw)?;
                if members.contains_key(&key) {
                    return Err(JsonError::DuplicateKey { key });
                }
                let event = scanner.next()?.ok_or_else(|| unfinished(scanner))?;
                let value = build(scanner, event)?;
                members.insert(key, value);
            }
            _ => return Err(unfinished(scanner)),
        }
    }
}

fn array(scanner: &mut Scanner<'_>) -> Result<Vec<Value>, JsonError> {
    let mut elements = Vec::new();
    loop {
        match scanner.next()? {
            Some(Event::ArrayEnd) => return Ok(elements),
            Some(event) => elements.push(build(scanner, event)?),
            None => return Err(unfinished(scanner)),
        }
    }
}

fn text(scanner: &Scanner<'_>, raw: &str) -> Result<String, JsonError> {
    unescape(raw).ok_or(JsonError::Syntax {
        offset: scanner.offset(),
        what: "both halves of a surrogate pair",
    })
}

fn number(scanner: &Scanner<'_>, raw: &str) -> Result<Number, JsonError> {
    Number::from_str(raw).map_err(|_| JsonError::Syntax {
        offset: scanner.offset(),
        what: "a number",
    })
}

const fn unfinished(scanner: &Scanner<'_>) -> JsonError {
    JsonError::Syntax {
        offset: scanner.offset(),
        what: "a value",
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonError, parse_value};

    #[test]
    fn a_key_stands_once_in_one_object() {
        assert!(parse_value("{\"a\":{\"b\":1},\"c\":{\"b\":1}}", 128).is_ok());
        for text in ["{\"a\":1,\"a\":1}", "[{\"x\":{\"a\":1,\"\\u0061\":2}}]"] {
            assert_eq!(
                parse_value(text, 128),
                Err(JsonError::DuplicateKey {
                    key: "a".to_owned()
                })
            );
        }
    }

    #[test]
    fn numbers_keep_every_digit() {
        for text in [
            "9007199254740993",
            "1.10",
            "1e+400",
            "-0",
            "123456789012345678901234567890",
        ] {
            assert_eq!(parse_value(text, 128).unwrap().to_string(), text);
        }
    }

    #[test]
    fn no_key_is_magic() {
        let text = "{\"$serde_json::private::Number\":\"1\"}";
        assert!(parse_value(text, 128).unwrap().is_object());
    }
}
