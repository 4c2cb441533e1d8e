//! Typed values from nodes, with errors that know their place and name no Rust types.
//!
//! `serde` reports an unknown or missing key where it stands in the code, not in the text. The error
//! type here keeps what was wrong as data and takes on the place while it travels outwards.

use std::fmt::{self, Display};

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Data, Entry, Fault, Node};
use crate::source::Span;
use crate::suggestion::closest;
use crate::wording::{listed, one_line, ticked};

/// Reads a typed value.
pub(crate) fn read<T: DeserializeOwned>(root: &Node) -> Result<T, Fault> {
    T::deserialize(root).map_err(|error| error.into_fault(root))
}

#[derive(Debug)]
pub(crate) struct ReadError {
    problem: Problem,
    span: Option<Span>,
    /// Keys from the outside in, put together while the error travels outwards.
    keys: Vec<String>,
}

#[derive(Debug)]
enum Problem {
    UnknownKey {
        key: String,
        known: &'static [&'static str],
    },
    MissingKey(&'static str),
    UnknownWord {
        word: String,
        known: &'static [&'static str],
    },
    WrongType {
        wanted: String,
        given: &'static str,
    },
    Other(String),
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(*value),
            Data::Number(text) => visit_number(text, visitor),
            Data::String(text) => visitor.visit_str(text),
            Data::Array(elements) => visitor.visit_seq(Elements(elements.iter())),
            Data::Table(entries) => visitor.visit_map(Entries::new(entries)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.data {
            Data::Bool(value) => visitor.visit_bool(value),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_u8(self.whole_number(u8::MAX)?)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_u16(self.whole_number(u16::MAX)?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_u32(self.whole_number(u32::MAX)?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_u64(self.whole_number(u64::MAX)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::String(text) => visitor.visit_str(text),
            _ => Err(self.wrong("a string")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.data {
            Data::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::Array(elements) => visitor.visit_seq(Elements(elements.iter())),
            _ => Err(self.wrong("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::Table(entries) => visitor.visit_map(Entries::new(entries)),
            _ => Err(self.wrong("a table")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::String(word) => visitor.visit_enum(Word(word)),
            _ => Err(self.wrong("a string")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}

impl Node {
    fn wrong(&self, wanted: impl Into<String>) -> ReadError {
        ReadError::new(Problem::WrongType {
            wanted: wanted.into(),
            given: self.data.describe(),
        })
    }

    fn whole_number<T: std::str::FromStr + Display + Copy>(&self, most: T) -> Result<T, ReadError> {
        let number = match &self.data {
            Data::Number(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| {
            ReadError::new(Problem::WrongType {
                wanted: format!("a whole number from 0 to {most}"),
                given: match &self.data {
                    Data::Number(_) => "another number",
                    other => other.describe(),
                },
            })
        })
    }
}

/// Numbers that fit are given as such; all others by their text, under the key by which
/// `serde_json` takes a number without rounding it.
fn visit_number<'de, V: Visitor<'de>>(text: &'de str, visitor: V) -> Result<V::Value, ReadError> {
    if let Ok(number) = text.parse::<u64>() {
        return visitor.visit_u64(number);
    }
    if text != "-0"
        && let Ok(number) = text.parse::<i64>()
    {
        return visitor.visit_i64(number);
    }
    visitor.visit_map(ExactNumber(Some(text)))
}

struct ExactNumber<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for ExactNumber<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        if self.0.is_none() {
            return Ok(None);
        }
        let key: StrDeserializer<'_, ReadError> =
            "$serde_json::private::Number".into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let text: StrDeserializer<'_, ReadError> =
            self.0.take().unwrap_or_default().into_deserializer();
        seed.deserialize(text)
    }
}

struct Elements<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some(element) = self.0.next() else {
            return Ok(None);
        };
        seed.deserialize(element)
            .map(Some)
            .map_err(|error| error.found_at(&element.span))
    }
}

struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    current: Option<&'de Entry>,
}

impl<'de> Entries<'de> {
    fn new(entries: &'de [Entry]) -> Self {
        Self {
            entries: entries.iter(),
            current: None,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.current = self.entries.next();
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, ReadError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key)
            .map(Some)
            .map_err(|error| error.found_at(&entry.key_span))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let Some(entry) = self.current else {
            return Err(ReadError::custom("a value without its key"));
        };
        seed.deserialize(&entry.value)
            .map_err(|error| error.found_in(entry))
    }
}

struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let word: StrDeserializer<'_, ReadError> = self.0.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, ReadError> {
        Err(ReadError::custom("a word alone does not say enough here"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ReadError> {
        Err(ReadError::custom("a word alone does not say enough here"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ReadError> {
        Err(ReadError::custom("a word alone does not say enough here"))
    }
}

impl ReadError {
    const fn new(problem: Problem) -> Self {
        Self {
            problem,
            span: None,
            keys: Vec::new(),
        }
    }

    fn found_at(mut self, span: &Span) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    fn found_in(mut self, entry: &Entry) -> Self {
        self.keys.insert(0, entry.key.clone());
        let missing = matches!(self.problem, Problem::MissingKey(_));
        self.found_at(if missing {
            &entry.key_span
        } else {
            &entry.value.span
        })
    }

    fn into_fault(self, root: &Node) -> Fault {
        let keys = ticked(&self.keys.join("."));
        let (message, hint) = match self.problem {
            Problem::UnknownKey { key, known } => (
                format!("unknown key {}", ticked(&key)),
                Some(offer(&key, known, "known keys here are")),
            ),
            Problem::MissingKey(key) if self.keys.is_empty() => {
                (format!("missing key `{key}`"), None)
            }
            Problem::MissingKey(key) => (format!("missing key `{key}` in {keys}"), None),
            Problem::UnknownWord { word, known } => (
                format!("{} is no value of {keys}", ticked(&word)),
                Some(offer(&word, known, "it takes")),
            ),
            Problem::WrongType { wanted, given } if self.keys.is_empty() => {
                (format!("this must be {wanted}, not {given}"), None)
            }
            Problem::WrongType { wanted, given } => {
                (format!("{keys} must be {wanted}, not {given}"), None)
            }
            Problem::Other(message) => (message, None),
        };
        let root_span = match root.data {
            Data::Table(_) => 0..0,
            _ => root.span.clone(),
        };
        Fault {
            span: self.span.unwrap_or(root_span),
            message,
            hint,
        }
    }
}

fn offer(word: &str, known: &[&str], otherwise: &str) -> String {
    match closest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {}?", ticked(near)),
        None if known.is_empty() => "nothing is allowed here".to_owned(),
        None => format!("{otherwise} {}", listed(known.iter().copied(), ticked)),
    }
}

impl std::error::Error for ReadError {}

impl Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.problem)
    }
}

impl Error for ReadError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Problem::Other(one_line(&message.to_string())))
    }

    fn invalid_type(given: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(Problem::WrongType {
            wanted: wanted.to_string(),
            given: match given {
                Unexpected::Bool(_) => "a boolean",
                Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => {
                    "a number"
                }
                Unexpected::Str(_) => "a string",
                Unexpected::Seq => "a list",
                Unexpected::Map => "a table",
                Unexpected::Unit => "null",
                _ => "something else",
            },
        })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey {
            key: key.to_owned(),
            known,
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Problem::MissingKey(key))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownWord {
            word: word.to_owned(),
            known,
        })
    }
}
