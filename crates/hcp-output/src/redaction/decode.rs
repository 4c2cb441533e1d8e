//! Ways in which a text hides bytes behind escapes, undone for the search and traced back after it.
//!
//! Nothing is remembered while decoding: a match is rare, so its place is found by walking the text
//! a second time. A table of every escape would cost many times the text itself.

use std::ops::Range;

use memchr::memchr2;

/// A notation that writes some bytes as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `\"`, `\n`, `\u0061` and the other escapes of JSON, and `\'` and `\x61` of close relatives.
    Backslash,
    /// `%61`
    Percent,
    /// Line breaks that stand for nothing, as encoders put them into long lines, with what indents
    /// the line behind them.
    LineBreak,
}

/// A stretch of text that stands for itself, and the escape behind it.
struct Piece<'a> {
    plain: &'a [u8],
    /// Length of the escape in the text; 0 at the end.
    escape: usize,
    meaning: Meaning,
}

#[derive(Clone, Copy)]
struct Meaning {
    bytes: [u8; 4],
    length: usize,
}

impl Notation {
    /// The bytes behind the escapes, or `None` where there is no escape.
    pub(super) fn decode(self, source: &[u8]) -> Option<Vec<u8>> {
        let mut pieces = self.pieces(source).peekable();
        if pieces.peek().is_none_or(|piece| piece.escape == 0) {
            return None;
        }
        let mut decoded = Vec::with_capacity(source.len());
        for piece in pieces {
            decoded.extend_from_slice(piece.plain);
            decoded.extend(piece.meaning.iter());
        }
        Some(decoded)
    }

    /// Turns ranges of the decoded bytes, sorted and apart, into ranges of `source`; an escape that
    /// a range touches lies in it whole.
    pub(super) fn locate(self, source: &[u8], spans: &mut [Range<usize>]) {
        let (mut written, mut decoded) = (0, 0);
        let (mut starts, mut ends) = (0, 0);
        for piece in self.pieces(source) {
            let plain_end = decoded + piece.plain.len();
            let decoded_end = plain_end + piece.meaning.length;
            let escape_start = written + piece.plain.len();
            let escape_end = escape_start + piece.escape;
            while let Some(span) = spans.get_mut(starts)
                && span.start < decoded_end
            {
                span.start = if span.start < plain_end {
                    written + (span.start - decoded)
                } else {
                    escape_start
                };
                starts += 1;
            }
            while let Some(span) = spans.get_mut(ends)
                && span.end <= decoded_end
            {
                span.end = if span.end <= plain_end {
                    written + (span.end - decoded)
                } else {
                    escape_end
                };
                ends += 1;
            }
            written = escape_end;
            decoded = decoded_end;
        }
    }

    fn pieces(self, source: &[u8]) -> impl Iterator<Item = Piece<'_>> {
        let mut rest = source;
        std::iter::from_fn(move || {
            let mut plain = 0;
            loop {
                let ahead = rest.get(plain..).unwrap_or_default();
                let Some(found) = self.find(ahead) else {
                    let piece = Piece {
                        plain: rest,
                        escape: 0,
                        meaning: Meaning::NOTHING,
                    };
                    rest = &[];
                    return (!piece.plain.is_empty()).then_some(piece);
                };
                plain += found;
                if let Some((escape, meaning)) = self.read(ahead.get(found..).unwrap_or_default()) {
                    let (before, after) = rest.split_at_checked(plain)?;
                    rest = after.get(escape..).unwrap_or_default();
                    return Some(Piece {
                        plain: before,
                        escape,
                        meaning,
                    });
                }
                plain += 1;
            }
        })
    }

    /// Where the next escape may begin.
    fn find(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Backslash => memchr::memchr(b'\\', bytes),
            Self::Percent => memchr::memchr(b'%', bytes),
            Self::LineBreak => memchr2(b'\n', b'\r', bytes),
        }
    }

    /// The length and the meaning of the escape that `bytes` begins with.
    fn read(self, bytes: &[u8]) -> Option<(usize, Meaning)> {
        match self {
            Self::Backslash => backslash(bytes),
            Self::Percent => match bytes {
                [_, high, low, ..] => Some((3, Meaning::byte(hex(&[*high, *low])?))),
                _ => None,
            },
            Self::LineBreak => {
                let space = |byte: &&u8| matches!(**byte, b'\n' | b'\r' | b' ' | b'\t');
                Some((bytes.iter().take_while(space).count(), Meaning::NOTHING))
            }
        }
    }
}

fn backslash(bytes: &[u8]) -> Option<(usize, Meaning)> {
    let simple = |byte| Some((2, Meaning::byte(u32::from(byte))));
    match bytes.get(1)? {
        byte @ (b'"' | b'\\' | b'/' | b'\'') => simple(*byte),
        b'b' => simple(0x08),
        b'f' => simple(0x0c),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'x' => Some((4, Meaning::byte(hex(bytes.get(2..4)?)?))),
        b'u' => {
            let first = hex(bytes.get(2..6)?)?;
            if let Some(character) = char::from_u32(first) {
                return Some((6, Meaning::character(character)));
            }
            let second = match bytes.get(6..12)? {
                [b'\\', b'u', digits @ ..] => hex(digits)?,
                _ => return None,
            };
            let pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
            let code = 0x1_0000 + (((first & 0x3ff) << 10) | (second & 0x3ff));
            let character = char::from_u32(code).filter(|_| pair)?;
            Some((12, Meaning::character(character)))
        }
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| {
        Some(number * 16 + char::from(*digit).to_digit(16)?)
    })
}

impl Meaning {
    const NOTHING: Self = Self {
        bytes: [0; 4],
        length: 0,
    };

    /// One byte; the number is below 256.
    fn byte(number: u32) -> Self {
        let [byte, ..] = number.to_le_bytes();
        Self {
            bytes: [byte, 0, 0, 0],
            length: 1,
        }
    }

    fn character(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }

    fn iter(&self) -> impl Iterator<Item = &u8> {
        self.bytes.iter().take(self.length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Notation::{self, Backslash, LineBreak, Percent};

    #[test]
    fn escapes_are_undone_and_what_is_none_stays() {
        let cases: [(Notation, &str, Option<&str>); 13] = [
            (Backslash, "plain", None),
            (Backslash, r"\", None),
            (Backslash, r"\q\u12", None),
            (Backslash, r"a\u0062c\n", Some("abc\n")),
            (Backslash, r"\\u0061", Some(r"\u0061")),
            (Backslash, r"\ud83d\ude00\u00e9", Some("\u{1f600}é")),
            (Backslash, r"\ud83d\u0041", Some(r"\ud83dA")),
            (Backslash, r"\x41\'\q", Some(r"A'\q")),
            (Percent, "100%", None),
            (Percent, "%zz%4", None),
            (Percent, "%%41%62%2", Some("%Ab%2")),
            (LineBreak, "a\r\nb\n", Some("ab")),
            (LineBreak, "a b\n \t\n  c ", Some("a bc ")),
        ];
        for (notation, text, expected) in cases {
            let decoded = notation.decode(text.as_bytes());
            assert_eq!(decoded.as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }

    proptest! {
        #[test]
        fn places_lead_back_to_the_text(
            text in "[a\\\\u0061%\n\"]{0,16}", start in 0..12_usize, length in 1..6_usize
        ) {
            for notation in [Backslash, Percent, LineBreak] {
                let source = text.as_bytes();
                let Some(decoded) = notation.decode(source) else { continue };
                let end = (start + length).min(decoded.len());
                if start >= end || end == decoded.len() { continue }
                let mut spans = [start..end, end..decoded.len()];
                notation.locate(source, &mut spans);
                let [written, rest] = spans.map(|span| &source[span]);
                let again = |text: &[u8]| notation.decode(text).unwrap_or_else(|| text.to_vec());
                let wanted = &decoded[start..end];
                prop_assert!(again(written).windows(wanted.len()).any(|window| window == wanted));
                prop_assert!(again(rest).ends_with(&decoded[end..]));
            }
        }
    }
}
