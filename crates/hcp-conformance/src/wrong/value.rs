//! The text of a value in an argv, as it must be and as faults make it.

use hcp_spec::envelope::Arguments;
use hcp_spec::manifest::{Command, Presentation};
use serde_json::Value;

use super::WrongRuntime;
use super::strings::{double_text, to_text};

impl WrongRuntime {
    /// The text of an argument; none where it is absent or null.
    pub(super) fn value(
        &self,
        name: &str,
        command: &Command,
        given: &Arguments,
    ) -> Result<Option<String>, String> {
        let has = |name| self.faults.has(name);
        let Some(value) = given.get(name) else {
            return Ok(None);
        };
        if value.is_null() && !has("null-as-word") {
            return Ok(None);
        }
        let as_json = command.args.get(name).is_some_and(|argument| {
            argument.presentation == Some(Presentation::Json) && !has("as-ignored")
        });
        let text = match self.misrender(value) {
            Some(text) => text,
            None if as_json => value.to_string(),
            None => to_text(value).map_err(|reason| format!("args: `{name}`: {reason}"))?,
        };
        match text.split_once('\0') {
            Some((start, _)) if has("nul-cuts") => Ok(Some(start.to_owned())),
            Some(_) => Err(format!("args: `{name}` holds a NUL byte")),
            None => Ok(Some(text)),
        }
    }

    /// The text of a value as a faulty renderer makes it, where that differs.
    fn misrender(&self, value: &Value) -> Option<String> {
        let has = |name| self.faults.has(name);
        let text = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) if has("booleans-as-numbers") => u8::from(*value).to_string(),
            Value::Bool(false) if has("false-drops") => String::new(),
            Value::Number(number) if has("numbers-as-written") => number.to_string(),
            Value::Number(number) => self.misrender_number(number.as_f64()?)?,
            Value::String(text) if has("ascii-only") => text.replace(|c: char| !c.is_ascii(), ""),
            Value::Array(_) if has("arrays-as-json") => value.to_string(),
            Value::Array(elements) => {
                let texts = elements.iter().map(|one| {
                    self.misrender(one)
                        .filter(|_| has("null-as-word") || !one.is_null())
                });
                let texts: Vec<_> = texts.collect();
                if texts.iter().all(Option::is_none) {
                    return None;
                }
                let each = texts.into_iter().zip(elements);
                let each = each
                    .map(|(text, one)| text.unwrap_or_else(|| to_text(one).unwrap_or_default()));
                each.collect::<Vec<_>>().join(",")
            }
            Value::Object(_) if has("objects-as-javascript") => "[object Object]".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    // Losing digits is the fault.
    #[allow(clippy::cast_possible_truncation)]
    fn misrender_number(&self, number: f64) -> Option<String> {
        let has = |name| self.faults.has(name);
        if has("never-exponents") {
            Some(format!("{number}"))
        } else if has("numbers-with-point") && number.fract() == 0.0 {
            Some(format!("{number:.1}"))
        } else if has("single-precision") {
            Some(double_text(f64::from(number as f32)))
        } else if has("integers-as-doubles") {
            Some(double_text(number))
        } else {
            None
        }
    }
}
