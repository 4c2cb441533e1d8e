//! Typed values from nodes, with errors that know their place and name no Rust types.

use std::fmt::Display;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::read_error::{Problem, ReadError};
use super::{Data, Entry, Fault, Node};
use crate::finding::PlacePart;

/// Reads a typed value.
pub(crate) fn read<T: DeserializeOwned>(root: &Node) -> Result<T, Fault> {
    read_discreetly(root, |_| false)
}

/// Reads a typed value; a fault repeats nothing of a value whose keys `private` says yes to.
pub(crate) fn read_discreetly<T: DeserializeOwned>(
    root: &Node,
    private: fn(&[PlacePart]) -> bool,
) -> Result<T, Fault> {
    T::deserialize(root).map_err(|error| error.into_fault(root, private))
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.data {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(*value),
            Data::Number(text) => visit_number(text, visitor),
            Data::String(text) => visitor.visit_str(text),
            Data::Array(elements) => visitor.visit_seq(Elements::new(elements)),
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
            Data::Array(elements) => visitor.visit_seq(Elements::new(elements)),
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

struct Elements<'de> {
    elements: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> Elements<'de> {
    fn new(elements: &'de [Node]) -> Self {
        Self {
            elements: elements.iter().enumerate(),
        }
    }
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some((index, element)) = self.elements.next() else {
            return Ok(None);
        };
        seed.deserialize(element).map(Some).map_err(|error| {
            error
                .about(element)
                .found_in(PlacePart::Index(index), &element.span)
        })
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
            .map_err(|error| error.about_key(entry))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let Some(entry) = self.current else {
            return Err(ReadError::custom("a value without its key"));
        };
        seed.deserialize(&entry.value).map_err(|error| {
            let span = if error.lacks_a_key() {
                &entry.key_span
            } else {
                &entry.value.span
            };
            error
                .about(&entry.value)
                .found_in(PlacePart::Key(entry.key.clone()), span)
        })
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
