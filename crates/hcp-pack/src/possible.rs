//! What a token of a template can become: nothing, a text of the author's, or what a caller writes.
//!
//! A placeholder that is limited to listed values is as good as text, which is to say that each of
//! the values is judged as if the author had written it there.

use hcp_spec::manifest::{Argument, Command, Presentation};
use serde_json::Value;

use crate::render::value_text;
use crate::schema::{self, choices, default_of, is_closed, types};
use crate::template::{Segment, Token};

/// How many texts the listed values of one token may be put together to; beyond it, they count as
/// what a caller writes.
const MOST_TEXTS: usize = 1_000;

/// One thing that a token can become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// No element of argv: the token behind it moves up.
    Removed,
    /// This text.
    Text(String),
    /// This text, and behind it whatever the caller writes.
    Free(String),
}

/// Everything that this token can become, without doubles.
pub(crate) fn possibilities(command: &Command, token: &Token) -> Vec<Element> {
    let mut all = match token {
        Token::Literal(text) => vec![Element::Text(text.clone())],
        Token::Bare(name) => {
            let slot = Slot::of(command, name);
            let mut all = slot.elements("");
            if slot.may_be_absent() || slot.may_be_empty() {
                all.push(Element::Removed);
            }
            all
        }
        Token::Flag { flag, name } => {
            let slot = Slot::of(command, name);
            let mut all = if slot.is_switch() {
                vec![Element::Text(flag.clone()), Element::Removed]
            } else {
                slot.elements(&format!("{flag}="))
            };
            if slot.may_be_absent() {
                all.push(Element::Removed);
            }
            all
        }
        Token::Mixed(segments) => mixed(command, segments),
    };
    for element in &mut all {
        if *element == Element::Text(String::new()) {
            *element = Element::Removed;
        }
    }
    all.sort_by_key(|element| *element == Element::Removed);
    all.dedup();
    all
}

/// Whether no value that fits this schema is code, or names a program: the author lists them, or
/// they are numbers, `true` and `false`.
pub(crate) fn is_no_code(schema: Option<&Value>) -> bool {
    const HARMLESS: [&str; 4] = ["boolean", "integer", "null", "number"];
    let types = types(schema);
    is_closed(schema) || (!types.is_empty() && types.iter().all(|word| HARMLESS.contains(word)))
}

fn mixed(command: &Command, segments: &[Segment]) -> Vec<Element> {
    let mut texts = vec![String::new()];
    for segment in segments {
        let more = match segment {
            Segment::Text(text) => vec![text.clone()],
            Segment::Slot(name) => match Slot::of(command, name).texts() {
                Some(more) if more.len() * texts.len() <= MOST_TEXTS => more,
                _ => return free(command, segments, texts),
            },
        };
        texts = texts
            .iter()
            .flat_map(|text| more.iter().map(move |more| format!("{text}{more}")))
            .collect();
    }
    texts.into_iter().map(Element::Text).collect()
}

/// What a mixed token becomes whose values are not all listed.
fn free(command: &Command, segments: &[Segment], texts: Vec<String>) -> Vec<Element> {
    let can_vanish = segments.iter().all(|segment| match segment {
        Segment::Text(_) => false,
        Segment::Slot(name) => Slot::of(command, name).may_be_empty(),
    });
    let mut all: Vec<_> = texts.into_iter().map(Element::Free).collect();
    if can_vanish {
        all.push(Element::Removed);
    }
    all
}

/// The place of one argument in a token.
struct Slot<'a> {
    argument: Option<&'a Argument>,
}

impl<'a> Slot<'a> {
    fn of(command: &'a Command, name: &str) -> Self {
        Self {
            argument: command.args.get(name),
        }
    }

    fn schema(&self) -> Option<&'a Value> {
        self.argument?.schema.as_ref()
    }

    fn is_presented(&self, presentation: Presentation) -> bool {
        self.argument
            .is_some_and(|argument| argument.presentation == Some(presentation))
    }

    fn is_switch(&self) -> bool {
        self.is_presented(Presentation::Switch)
    }

    fn elements(&self, before: &str) -> Vec<Element> {
        match self.texts() {
            Some(texts) => texts
                .into_iter()
                .map(|text| Element::Text(format!("{before}{text}")))
                .collect(),
            None => vec![Element::Free(before.to_owned())],
        }
    }

    /// The texts that the value can be written as, where it cannot be code; one stands for every
    /// number.
    fn texts(&self) -> Option<Vec<String>> {
        let schema = self.schema();
        if !is_no_code(schema) {
            return None;
        }
        let json = self.is_presented(Presentation::Json);
        let text = |value: &Value| match value_text(value) {
            Some(text) if !json => text,
            _ => value.to_string(),
        };
        Some(match choices(schema) {
            Some(values) => values.into_iter().map(text).collect(),
            None if types(schema).contains(&"boolean") => {
                ["0", "true", "false"].map(str::to_owned).to_vec()
            }
            None => vec!["0".to_owned()],
        })
    }

    fn may_be_absent(&self) -> bool {
        !self.argument.is_some_and(|argument| {
            argument.required || default_of(argument.schema.as_ref()).is_some()
        })
    }

    /// Whether a value that is there can be written as nothing: `""`, or an array of that.
    fn may_be_empty(&self) -> bool {
        const NEVER: [&str; 5] = ["boolean", "integer", "null", "number", "string"];
        let Some(argument) = self.argument else {
            return true;
        };
        if argument.access.is_some() || self.is_presented(Presentation::Json) {
            // A resource is a string, and nothing that the operator opened has the empty name.
            return false;
        }
        if let Some(texts) = self.texts() {
            return texts.iter().any(String::is_empty);
        }
        let schema = self.schema();
        let types = types(schema);
        let only_texts = !types.is_empty() && types.iter().all(|word| NEVER.contains(word));
        !only_texts
            || schema.is_none_or(|schema| {
                schema::compile(schema).is_ok_and(|validator| validator.is_valid(&Value::from("")))
            })
    }
}
