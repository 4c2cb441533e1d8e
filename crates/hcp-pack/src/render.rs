//! Values into argv (§6.4): a template compiled once, one element at most for every token.

use hcp_spec::envelope::Arguments;
use hcp_spec::manifest::{Argument, Presentation};
use indexmap::IndexMap;
use serde_json::{Number, Value};

use crate::arguments::ArgumentError;
use crate::template::{Segment, Token};

/// The longest argv element that Linux takes, in bytes, without its closing NUL.
const MAX_ELEMENT: usize = 131_071;
/// The longest argv that is tried, in bytes: below what Linux takes with its usual stack limit, with
/// room for the environment.
const MAX_ARGV: usize = 1_800_000;

/// The template of one command, ready to be filled.
#[derive(Debug)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
    /// What is appended last, always.
    tail: Vec<String>,
    /// Whether the letter of §6.4 holds where we are stricter.
    literal: bool,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Bare(Slot),
    Flag { flag: String, slot: Slot },
    Mixed(Vec<Part>),
}

#[derive(Debug)]
enum Part {
    Text(String),
    Slot(Slot),
}

/// The place of one value.
#[derive(Debug)]
struct Slot {
    name: String,
    presentation: Option<Presentation>,
    /// Whether an element that begins with this value may begin with `-`.
    dash: bool,
}

impl Template {
    /// Compiles the tokens of a command.
    pub(crate) fn new(
        tokens: Vec<Token>,
        arguments: &IndexMap<String, Argument>,
        tail: Vec<String>,
        literal: bool,
    ) -> Self {
        let mut flags_ended = false;
        let pieces = tokens
            .into_iter()
            .map(|token| {
                let slot = |name: String| {
                    let argument = arguments.get(&name);
                    Slot {
                        presentation: argument.and_then(|argument| argument.presentation),
                        dash: literal
                            || flags_ended
                            || argument.is_some_and(|argument| argument.dash),
                        name,
                    }
                };
                match token {
                    Token::Literal(text) => {
                        flags_ended |= text == "--";
                        Piece::Literal(text)
                    }
                    Token::Bare(name) => Piece::Bare(slot(name)),
                    Token::Flag { flag, name } => Piece::Flag {
                        flag,
                        slot: slot(name),
                    },
                    Token::Mixed(segments) => Piece::Mixed(
                        segments
                            .into_iter()
                            .map(|segment| match segment {
                                Segment::Text(text) => Part::Text(text),
                                Segment::Slot(name) => Part::Slot(slot(name)),
                            })
                            .collect(),
                    ),
                }
            })
            .collect();
        Self {
            pieces,
            tail,
            literal,
        }
    }

    /// Fills the template.
    pub(crate) fn render(&self, values: &Arguments) -> Result<Vec<String>, ArgumentError> {
        let mut argv = Vec::with_capacity(self.pieces.len() + self.tail.len());
        for piece in &self.pieces {
            if let Some(element) = self.element(piece, values)? {
                argv.push(element);
            }
        }
        argv.extend(self.tail.iter().cloned());
        let bytes = argv.iter().map(|element| element.len() + 1).sum();
        if bytes > MAX_ARGV {
            return Err(ArgumentError::TooMuch {
                bytes,
                limit: MAX_ARGV,
            });
        }
        Ok(argv)
    }

    fn element(&self, piece: &Piece, values: &Arguments) -> Result<Option<String>, ArgumentError> {
        match piece {
            Piece::Literal(text) => Ok(Some(text.clone())),
            Piece::Bare(slot) => self.bare(slot, values),
            Piece::Flag { flag, slot } => self.flag(flag, slot, values),
            Piece::Mixed(parts) => self.mixed(parts, values),
        }
    }

    fn bare(&self, slot: &Slot, values: &Arguments) -> Result<Option<String>, ArgumentError> {
        let Some(value) = slot.value(values) else {
            return Ok(None);
        };
        let mut element = String::new();
        self.append(&mut element, slot, value)?;
        if element.is_empty() {
            return Ok(None);
        }
        if element.starts_with('-') && !slot.dash && !value.is_number() {
            return Err(ArgumentError::Dash {
                name: slot.name.clone(),
            });
        }
        fits(&slot.name, element).map(Some)
    }

    fn flag(
        &self,
        flag: &str,
        slot: &Slot,
        values: &Arguments,
    ) -> Result<Option<String>, ArgumentError> {
        let Some(value) = slot.value(values) else {
            return Ok(None);
        };
        if slot.presentation == Some(Presentation::Switch) {
            return match value {
                Value::Bool(true) => Ok(Some(flag.to_owned())),
                Value::Bool(false) => Ok(None),
                _ => Err(ArgumentError::invalid(&slot.name, "must be a boolean")),
            };
        }
        let mut element = String::with_capacity(flag.len() + 16);
        element.push_str(flag);
        element.push('=');
        self.append(&mut element, slot, value)?;
        fits(&slot.name, element).map(Some)
    }

    fn mixed(&self, parts: &[Part], values: &Arguments) -> Result<Option<String>, ArgumentError> {
        let mut element = String::new();
        // The slot that the element begins with.
        let mut leading: Option<&Slot> = None;
        let mut only_numbers = true;
        let mut last = "";
        for part in parts {
            match part {
                Part::Text(text) => element.push_str(text),
                Part::Slot(slot) => {
                    let value = slot.value(values).ok_or_else(|| ArgumentError::Missing {
                        name: slot.name.clone(),
                    })?;
                    if element.is_empty() {
                        leading = Some(slot);
                    }
                    only_numbers &= value.is_number();
                    last = &slot.name;
                    self.append(&mut element, slot, value)?;
                }
            }
        }
        if element.is_empty() {
            return Ok(None);
        }
        if let Some(slot) = leading
            && element.starts_with('-')
            && !slot.dash
            && !only_numbers
        {
            return Err(ArgumentError::Dash {
                name: slot.name.clone(),
            });
        }
        fits(last, element).map(Some)
    }

    fn append(
        &self,
        element: &mut String,
        slot: &Slot,
        value: &Value,
    ) -> Result<(), ArgumentError> {
        if slot.presentation == Some(Presentation::Json) {
            element.push_str(&value.to_string());
            return Ok(());
        }
        append_text(element, value, self.literal, false).map_err(|problem| problem.of(&slot.name))
    }
}

impl Slot {
    /// The value of the argument; `null` counts as absent.
    fn value<'a>(&self, values: &'a Arguments) -> Option<&'a Value> {
        values.get(&self.name).filter(|value| !value.is_null())
    }
}

/// Why a value has no argv form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoForm {
    Object { within: bool },
    BeyondDouble,
    Nul,
}

impl NoForm {
    fn of(self, name: &str) -> ArgumentError {
        let name = name.to_owned();
        match self {
            Self::Object { within } => ArgumentError::Object { name, within },
            Self::BeyondDouble => ArgumentError::BeyondDouble { name },
            Self::Nul => ArgumentError::Nul { name },
        }
    }
}

/// Appends ECMAScript's `String(value)`. `literal` gives objects and endless numbers the text that
/// ECMAScript gives them; otherwise they have none.
fn append_text(
    text: &mut String,
    value: &Value,
    literal: bool,
    within: bool,
) -> Result<(), NoForm> {
    match value {
        Value::Null if within => {}
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => append_number(text, number, literal)?,
        Value::String(string) if string.contains('\0') => return Err(NoForm::Nul),
        Value::String(string) => text.push_str(string),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                append_text(text, element, literal, true)?;
            }
        }
        Value::Object(_) if literal => text.push_str("[object Object]"),
        Value::Object(_) => return Err(NoForm::Object { within }),
    }
    Ok(())
}

fn append_number(text: &mut String, number: &Number, literal: bool) -> Result<(), NoForm> {
    let written = number.as_str();
    if written == "-0" {
        text.push('0');
    } else if !written.contains(['.', 'e', 'E']) {
        text.push_str(written);
    } else {
        match written.parse::<f64>() {
            Ok(double) if double.is_finite() => {
                text.push_str(ryu_js::Buffer::new().format_finite(double));
            }
            _ if literal && written.starts_with('-') => text.push_str("-Infinity"),
            _ if literal => text.push_str("Infinity"),
            _ => return Err(NoForm::BeyondDouble),
        }
    }
    Ok(())
}

/// ECMAScript's `String(number)`, where the number has one.
pub(crate) fn number_text(number: &Number) -> Option<String> {
    let mut text = String::new();
    append_number(&mut text, number, false).ok().map(|()| text)
}

/// ECMAScript's `String(value)` (§6.4). `None` where the value has no argv form: an object, a number
/// beyond a double, a text with a NUL byte.
pub fn value_text(value: &Value) -> Option<String> {
    let mut text = String::new();
    append_text(&mut text, value, false, false)
        .ok()
        .map(|()| text)
}

fn fits(name: &str, element: String) -> Result<String, ArgumentError> {
    if element.len() > MAX_ELEMENT {
        return Err(ArgumentError::TooLong {
            name: name.to_owned(),
            bytes: element.len(),
            limit: MAX_ELEMENT,
        });
    }
    Ok(element)
}
