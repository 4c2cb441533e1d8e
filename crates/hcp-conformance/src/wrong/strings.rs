//! `String(x)` of ECMAScript, for the values of arguments (§6.4).

use serde_json::{Number, Value};

/// The text of a value. An object has none.
pub(super) fn to_text(value: &Value) -> Result<String, &'static str> {
    Ok(match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number_text(number)?,
        Value::String(text) => text.clone(),
        Value::Array(elements) => {
            let texts: Result<Vec<_>, _> = elements.iter().map(to_text).collect();
            texts?.join(",")
        }
        Value::Object(_) => return Err("an object has no form in argv"),
    })
}

/// Integers keep every digit; everything else is the double that it names.
fn number_text(number: &Number) -> Result<String, &'static str> {
    let text = number.to_string();
    if !text.contains(['.', 'e', 'E']) {
        return Ok(if text == "-0" { "0".to_owned() } else { text });
    }
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or("a number beyond a double has no form in argv")?;
    Ok(double_text(value))
}

/// A double as ECMAScript writes it.
pub(super) fn double_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    ryu_js::Buffer::new().format(value).to_owned()
}
