//! Masks what was minted for a call wherever the child repeats it (design: secrets never leave).
//!
//! A secret is found as it is, in base64 at any alignment, in hex, and behind the escapes of JSON
//! and of percent-encoding, two layers of each deep; base64 broken into lines counts as whole, and
//! of a secret of several lines each line that is not short is one as well. What is masked reads [`MASK`]. In JSON the whole token is masked, so that the text stays JSON.

mod decode;
mod forms;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use decode::Notation;
use forms::Forms;
use zeroize::Zeroizing;

use crate::compact::{compact, string_length};

/// What stands where a secret stood.
pub const MASK: &str = "[redacted]";

/// How many layers of escapes are undone, of each notation: JSON inside a string of JSON.
const LAYERS: usize = 2;

/// Knows the secrets of one call and masks them. `Debug` tells nothing of them, and the memory is
/// wiped when it is dropped.
#[derive(Default)]
pub struct Redactor {
    forms: Forms,
    longest: usize,
    binary: bool,
}

impl Redactor {
    /// Masks nothing: for a call without a Binding.
    pub fn none() -> Self {
        Self::default()
    }

    /// Masks these secrets. An empty one is left out. One of fewer than 4 bytes is masked where it
    /// stands alone as a word and not inside words, as it would occur everywhere by chance.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut redactor = Self::default();
        for secret in secrets {
            redactor.add(secret);
        }
        redactor
    }

    fn add(&mut self, secret: &[u8]) {
        self.forms.add(secret);
        self.longest = self.longest.max(secret.len());
        self.add_lines(secret);
        if let Some(decoded) = Notation::Backslash.decode(secret).map(Zeroizing::new) {
            // A key with `\n` for its line breaks, as variables often hold them.
            self.add_lines(&decoded);
        }
        let Ok(text) = std::str::from_utf8(secret) else {
            self.binary = true;
            return;
        };
        // A key file that is JSON itself may come back as part of a result, without its white space.
        if let Ok(json) = compact(text.to_owned())
            && json != text
        {
            self.forms.add(json.as_bytes());
        }
    }

    /// A secret of several lines may come back one by one, indented, with other line breaks, or with
    /// none. What frames a key is no secret.
    fn add_lines(&mut self, secret: &[u8]) {
        let lines = || {
            let lines = secret.split(|byte| matches!(byte, b'\n' | b'\r'));
            lines
                .map(<[u8]>::trim_ascii)
                .filter(|line| !line.is_empty())
        };
        if lines().count() < 2 {
            return;
        }
        let joined = Zeroizing::new(lines().collect::<Vec<_>>().concat());
        self.forms.add_part(&joined);
        let frames = |line: &&[u8]| line.starts_with(b"-----") && line.ends_with(b"-----");
        for line in lines().filter(|line| !frames(line)) {
            self.forms.add_part(line);
        }
    }

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The longest form in which a secret is masked, in bytes: whoever keeps the tail of a stream
    /// keeps this much in front of it.
    pub fn margin(&self) -> usize {
        // `\u0061` takes six bytes for one; the rest is for line breaks and padding.
        self.longest * 8
    }

    /// The text, secrets masked; unchanged, and not copied, where there is none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = self.spans(text.as_bytes());
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        for span in &mut spans {
            while !text.is_char_boundary(span.start) {
                span.start -= 1;
            }
            while !text.is_char_boundary(span.end) {
                span.end += 1;
            }
        }
        let masked = masked(text.as_bytes(), &merge(spans)).into_owned();
        Cow::Owned(match String::from_utf8(masked) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// The bytes, secrets masked; unchanged, and not copied, where there is none.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        masked(bytes, &self.spans(bytes))
    }

    /// JSON without white space between tokens, secrets masked by whole token: a string, key or
    /// number that holds one, or a part of one that reaches across tokens, becomes the string
    /// [`MASK`]. Where no token can hide a secret, because it consists of brackets and commas, the
    /// whole text becomes that string.
    pub fn json(&self, compact_json: String) -> String {
        let spans = self.spans(compact_json.as_bytes());
        if spans.is_empty() {
            return compact_json;
        }
        masked_tokens(&compact_json, &spans).unwrap_or_else(|| quoted_mask().to_owned())
    }

    /// Whether a secret is not UTF-8.
    pub(crate) const fn has_binary(&self) -> bool {
        self.binary
    }

    /// Where secrets stand, in order and apart.
    pub(crate) fn spans(&self, text: &[u8]) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut found = self.search(text, LAYERS, LAYERS);
        self.forms
            .find(text, true, |start, end| found.push(start..end));
        merge(found)
    }

    fn search(&self, text: &[u8], backslash: usize, percent: usize) -> Vec<Range<usize>> {
        let mut found = self.find(text);
        found.extend(behind(Notation::LineBreak, text, |decoded| {
            self.find(decoded)
        }));
        if let Some(fewer) = backslash.checked_sub(1) {
            found.extend(behind(Notation::Backslash, text, |decoded| {
                self.search(decoded, fewer, percent)
            }));
        }
        // Percent-encoding inside JSON is common, JSON inside percent-encoding is found the same way
        // round only where its escapes are encoded too; then the first layer has shown them.
        if let Some(fewer) = percent.checked_sub(1) {
            found.extend(behind(Notation::Percent, text, |decoded| {
                self.search(decoded, 0, fewer)
            }));
        }
        merge(found)
    }

    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.forms
            .find(text, false, |start, end| found.push(start..end));
        merge(found)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Redactor(redacted)")
    }
}

/// What `search` finds behind one layer of escapes, as places in `text`.
fn behind(
    notation: Notation,
    text: &[u8],
    search: impl FnOnce(&[u8]) -> Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let Some(decoded) = notation.decode(text) else {
        return Vec::new();
    };
    let mut found = search(&decoded);
    if !found.is_empty() {
        notation.locate(text, &mut found);
    }
    found
}

/// In order, and what overlaps or touches as one.
fn merge(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| span.start);
    spans.dedup_by(|next, kept| {
        let touches = next.start <= kept.end;
        if touches {
            kept.end = kept.end.max(next.end);
        }
        touches
    });
    spans
}

/// The bytes with a mask for each span; the spans are in order and apart.
pub(crate) fn masked<'a>(bytes: &'a [u8], spans: &[Range<usize>]) -> Cow<'a, [u8]> {
    if spans.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for span in spans {
        kept.extend_from_slice(bytes.get(from..span.start).unwrap_or_default());
        kept.extend_from_slice(MASK.as_bytes());
        from = span.end;
    }
    kept.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Cow::Owned(kept)
}

/// The JSON with a mask for each token that a span touches, or `None` where a span touches none.
fn masked_tokens(json: &str, spans: &[Range<usize>]) -> Option<String> {
    let mut kept = String::with_capacity(json.len());
    let mut spans = spans.iter().peekable();
    // Whether a part of the next span is masked already.
    let mut hidden = false;
    let (mut start, mut copied) = (0, 0);
    while let Some(rest) = json.as_bytes().get(start..).filter(|rest| !rest.is_empty()) {
        let (length, scalar) = token(rest);
        let end = start + length;
        if scalar && spans.peek().is_some_and(|span| span.start < end) {
            kept.push_str(json.get(copied..start)?);
            kept.push_str(quoted_mask());
            copied = end;
            hidden = true;
        }
        while spans.next_if(|span| span.end <= end).is_some() {
            if !hidden {
                return None;
            }
            hidden = scalar;
        }
        hidden &= spans.peek().is_some_and(|span| span.start < end);
        start = end;
    }
    kept.push_str(json.get(copied..)?);
    Some(kept)
}

/// The length of the token that `rest` begins with, and whether it is more than punctuation.
fn token(rest: &[u8]) -> (usize, bool) {
    match rest.first() {
        Some(b'"') => (string_length(rest), true),
        Some(b'{' | b'}' | b'[' | b']' | b',' | b':') => (1, false),
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':');
            (rest.iter().position(ends).unwrap_or(rest.len()), true)
        }
    }
}

const fn quoted_mask() -> &'static str {
    "\"[redacted]\""
}
