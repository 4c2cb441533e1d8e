//! A pull scanner over one JSON text (RFC 8259): checks the grammar and hands out raw slices.

use thiserror::Error;

/// Why a text is not one JSON text, with the byte offset where it stops being one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JsonError {
    /// The grammar is broken.
    #[error("not JSON at byte {offset}: expected {what}")]
    Syntax {
        /// Byte offset of the fault.
        offset: usize,
        /// What would have had to stand there.
        what: &'static str,
    },
    /// Nested deeper than allowed.
    #[error("nested deeper than {limit} levels")]
    Depth {
        /// The limit, in levels.
        limit: usize,
    },
    /// The same key twice in one object.
    #[error("key \"{key}\" is given twice in one object")]
    DuplicateKey {
        /// The key, unescaped.
        key: String,
    },
}

/// What the scanner saw; slices are the very text, quotes and escapes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// The name of a member, quotes included.
    Key(&'a str),
    /// A string, quotes included.
    String(&'a str),
    /// A number, as written.
    Number(&'a str),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value, and nothing else.
    Value,
    /// A value or `]`.
    ValueOrArrayEnd,
    /// A key, and nothing else.
    Key,
    /// A key or `}`.
    KeyOrObjectEnd,
    /// `,` or the end of what is open.
    CommaOrEnd,
    /// White space only.
    End,
}

/// Walks one JSON text. Memory grows by one byte a level; there is no recursion.
#[derive(Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    offset: usize,
    /// One entry an open container: `true` for an object.
    open: Vec<bool>,
    expect: Expect,
    limit: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of `text`; more than `limit` nested containers are refused.
    pub const fn new(text: &'a str, limit: usize) -> Self {
        Self {
            text,
            offset: 0,
            open: Vec::new(),
            expect: Expect::Value,
            limit,
        }
    }

    /// Byte offset of what the scanner will read next.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next event, or `None` after the one value and the white space behind it.
    ///
    /// # Errors
    /// [`JsonError::Syntax`] or [`JsonError::Depth`]; the scanner is of no use afterwards.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Event<'a>>, JsonError> {
        self.skip_white_space();
        if self.expect == Expect::End {
            return match self.peek() {
                None => Ok(None),
                Some(_) => Err(self.fault("the end of the text")),
            };
        }
        if self.expect == Expect::CommaOrEnd {
            let object = self.open.last().copied().unwrap_or(false);
            match self.peek() {
                Some(b',') => {
                    self.offset += 1;
                    self.expect = if object { Expect::Key } else { Expect::Value };
                    self.skip_white_space();
                }
                Some(b'}') if object => return Ok(Some(self.close(Event::ObjectEnd))),
                Some(b']') if !object => return Ok(Some(self.close(Event::ArrayEnd))),
                _ => return Err(self.fault(if object { "`,` or `}`" } else { "`,` or `]`" })),
            }
        }
        match self.expect {
            Expect::Key | Expect::KeyOrObjectEnd => self.key(),
            _ => self.value(),
        }
    }

    fn key(&mut self) -> Result<Option<Event<'a>>, JsonError> {
        match self.peek() {
            Some(b'"') => {
                let raw = self.string()?;
                self.skip_white_space();
                if self.peek() != Some(b':') {
                    return Err(self.fault("`:`"));
                }
                self.offset += 1;
                self.expect = Expect::Value;
                Ok(Some(Event::Key(raw)))
            }
            Some(b'}') if self.expect == Expect::KeyOrObjectEnd => {
                Ok(Some(self.close(Event::ObjectEnd)))
            }
            _ => Err(self.fault("a key in quotes")),
        }
    }

    fn value(&mut self) -> Result<Option<Event<'a>>, JsonError> {
        let event = match self.peek() {
            Some(b'{') => return self.enter(true),
            Some(b'[') => return self.enter(false),
            Some(b']') if self.expect == Expect::ValueOrArrayEnd => {
                return Ok(Some(self.close(Event::ArrayEnd)));
            }
            Some(b'"') => Event::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Event::Number(self.number()?),
            Some(b't') => self.word("true", Event::Bool(true))?,
            Some(b'f') => self.word("false", Event::Bool(false))?,
            Some(b'n') => self.word("null", Event::Null)?,
            _ => return Err(self.fault("a value")),
        };
        self.after_value();
        Ok(Some(event))
    }

    fn enter(&mut self, object: bool) -> Result<Option<Event<'a>>, JsonError> {
        if self.open.len() >= self.limit {
            return Err(JsonError::Depth { limit: self.limit });
        }
        self.offset += 1;
        self.open.push(object);
        let (expect, event) = if object {
            (Expect::KeyOrObjectEnd, Event::ObjectStart)
        } else {
            (Expect::ValueOrArrayEnd, Event::ArrayStart)
        };
        self.expect = expect;
        Ok(Some(event))
    }

    fn close(&mut self, event: Event<'a>) -> Event<'a> {
        self.offset += 1;
        self.open.pop();
        self.after_value();
        event
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() {
            Expect::End
        } else {
            Expect::CommaOrEnd
        };
    }

    fn word(&mut self, word: &'static str, event: Event<'a>) -> Result<Event<'a>, JsonError> {
        if self.rest().starts_with(word.as_bytes()) {
            self.offset += word.len();
            Ok(event)
        } else {
            Err(self.fault("a value"))
        }
    }

    fn string(&mut self) -> Result<&'a str, JsonError> {
        let start = self.offset;
        self.offset += 1;
        loop {
            self.offset += plain_run(self.rest());
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(self.text.get(start..self.offset).unwrap_or_default());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault("no control character inside a string")),
                None => return Err(self.fault("the closing `\"`")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let length = match self.rest() {
            [
                _,
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                ..,
            ] => 2,
            [_, b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|hex| hex.is_ascii_hexdigit()) => {
                6
            }
            _ => return Err(self.fault("a known escape")),
        };
        self.offset += length;
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.offset;
        if self.peek() == Some(b'-') {
            self.offset += 1;
        }
        if self.peek() == Some(b'0') {
            self.offset += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.offset += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.offset += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.offset += 1;
            }
            self.digits()?;
        }
        Ok(self.text.get(start..self.offset).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let count = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count == 0 {
            return Err(self.fault("a digit"));
        }
        self.offset += count;
        Ok(())
    }

    fn skip_white_space(&mut self) {
        let rest = self.rest();
        if rest.first().is_none_or(|byte| *byte > b' ') {
            return;
        }
        // Indentation comes in long runs of spaces.
        let (chunks, _) = rest.as_chunks::<8>();
        let mut count = 8 * chunks
            .iter()
            .take_while(|chunk| **chunk == [b' '; 8])
            .count();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = rest.get(count) {
            count += 1;
        }
        self.offset += count;
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.offset..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    const fn fault(&self, what: &'static str) -> JsonError {
        JsonError::Syntax {
            offset: self.offset,
            what,
        }
    }
}

/// How many bytes at the start of `bytes` stand for themselves inside a string: neither `"`, `\` nor a
/// control character. Most of a large text is inside strings, so eight bytes are looked at together.
#[inline]
pub fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_bytes(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        // The lowest marked byte is exact; a borrow can only spoil those above it.
        let special = quote | backslash | control;
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    bytes.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{JsonError, Scanner, plain_run};

    fn accepts(text: &str, limit: usize) -> Result<usize, JsonError> {
        let mut scanner = Scanner::new(text, limit);
        let mut count = 0;
        while scanner.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    #[test]
    fn depth_is_counted_in_containers() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(accepts(&nested(128), 128).is_ok());
        assert_eq!(
            accepts(&nested(129), 128),
            Err(JsonError::Depth { limit: 128 })
        );
        assert!(accepts(&nested(1_000_000), usize::MAX).is_ok());
    }

    #[test]
    fn one_text_means_one() {
        for text in [
            "",
            " ",
            "1 2",
            "{}{}",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "[",
            "01",
            "1.",
            "-",
            "+1",
        ] {
            assert!(accepts(text, 128).is_err(), "{text}");
        }
        for text in [" 1 ", "\"\\ud800\"", "[]", "{\"\":[{}]}", "1e400", "-0"] {
            assert!(accepts(text, 128).is_ok(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn eight_bytes_together_are_as_one_by_one(
            mut bytes in proptest::collection::vec(0x20..=0xff_u8, 0..40),
            place in 0..40_usize,
            special in 0..=0xff_u8,
        ) {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = special;
            }
            let plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..=0x1f);
            prop_assert_eq!(plain_run(&bytes), bytes.iter().take_while(plain).count());
        }

        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{},:\"\\\\u0-9a-fe.+\\- \ntruefalsn]{0,24}") {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(accepts(&text, 1000).is_ok(), theirs, "{}", text);
        }
    }
}
