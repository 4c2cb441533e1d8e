//! Removes the white space between the tokens of a JSON text and keeps every other byte.
//!
//! One pass checks the grammar and copies what stands between two gaps in one piece; a text without
//! gaps is not copied at all. The scanner of hcp-spec keeps the same grammar and hands out events;
//! results of many megabytes need none, and this is several times as fast. A property test holds the
//! two together.

use hcp_spec::json::plain_run;

/// The text without white space between tokens, or, when it is not one JSON text, the text itself.
pub(crate) fn compact(text: String) -> Result<String, String> {
    let mut gaps = Gaps::new(text.as_bytes());
    match read_text(&mut gaps) {
        None => Err(text),
        Some(()) if gaps.copied == 0 => Ok(text),
        Some(()) => {
            let mut kept = gaps.finish();
            kept.shrink_to_fit();
            // Only ASCII was taken out, so this is still UTF-8.
            String::from_utf8(kept).map_err(|_| text)
        }
    }
}

/// The text that is read, and the copy of it without gaps.
struct Gaps<'a> {
    json: &'a [u8],
    at: usize,
    kept: Vec<u8>,
    copied: usize,
}

impl<'a> Gaps<'a> {
    const fn new(json: &'a [u8]) -> Self {
        Self {
            json,
            at: 0,
            kept: Vec::new(),
            copied: 0,
        }
    }

    /// Leaves out white space and shows the byte behind it.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.json.get(self.at).copied();
        if byte.is_none_or(|byte| byte > b' ') {
            return byte;
        }
        self.leave_out();
        self.json.get(self.at).copied()
    }

    #[inline]
    fn leave_out(&mut self) {
        if self.copied == 0 {
            self.kept.reserve_exact(self.json.len() - self.at);
        }
        let rest = self.json.get(self.at..).unwrap_or_default();
        let length = white_space(rest);
        if length > 0 {
            self.copy();
            self.at += length;
            self.copied = self.at;
        }
    }

    #[inline]
    fn copy(&mut self) {
        let run = self.json.get(self.copied..self.at).unwrap_or_default();
        self.kept.extend_from_slice(run);
    }

    fn finish(mut self) -> Vec<u8> {
        self.copy();
        self.kept
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.json.get(self.at..).unwrap_or_default()
    }
}

/// Reads one JSON text to its end; `None` when it is none. Nesting is bounded by the cap on stdout
/// alone: it takes a byte a level, and no stack.
fn read_text(gaps: &mut Gaps<'_>) -> Option<()> {
    // `true` for an object, `false` for an array.
    let mut open: Vec<bool> = Vec::new();
    'value: loop {
        match gaps.next()? {
            b'{' => {
                gaps.at += 1;
                if gaps.next()? == b'}' {
                    gaps.at += 1;
                } else {
                    read_key(gaps)?;
                    open.push(true);
                    continue 'value;
                }
            }
            b'[' => {
                gaps.at += 1;
                if gaps.next()? == b']' {
                    gaps.at += 1;
                } else {
                    open.push(false);
                    continue 'value;
                }
            }
            b'"' => gaps.at += string(gaps.rest())?,
            b'-' | b'0'..=b'9' => gaps.at += number(gaps.rest())?,
            _ => gaps.at += word(gaps.rest())?,
        }
        loop {
            match (gaps.next(), open.last()) {
                (None, None) => return Some(()),
                (Some(b','), Some(object)) => {
                    gaps.at += 1;
                    if *object {
                        read_key(gaps)?;
                    }
                    continue 'value;
                }
                (Some(b'}'), Some(true)) | (Some(b']'), Some(false)) => {
                    gaps.at += 1;
                    open.pop();
                }
                _ => return None,
            }
        }
    }
}

/// A key and its colon.
#[inline]
fn read_key(gaps: &mut Gaps<'_>) -> Option<()> {
    if gaps.next()? != b'"' {
        return None;
    }
    gaps.at += string(gaps.rest())?;
    if gaps.next()? != b':' {
        return None;
    }
    gaps.at += 1;
    Some(())
}

/// The length of the string that `json` begins with, quotes included.
#[inline]
fn string(json: &[u8]) -> Option<usize> {
    let mut length = 1;
    loop {
        length += plain_run(json.get(length..)?);
        match json.get(length..)? {
            [b'"', ..] => return Some(length + 1),
            [
                b'\\',
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                ..,
            ] => length += 2,
            [b'\\', b'u', digits @ ..] => {
                let digits = digits.first_chunk::<4>()?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                length += 6;
            }
            _ => return None,
        }
    }
}

/// The length of the number that `json` begins with.
#[inline]
fn number(json: &[u8]) -> Option<usize> {
    let mut length = usize::from(json.first() == Some(&b'-'));
    length += match json.get(length)? {
        b'0' => 1,
        _ => digits(json, length)?,
    };
    if json.get(length) == Some(&b'.') {
        length += 1;
        length += digits(json, length)?;
    }
    if let Some(b'e' | b'E') = json.get(length) {
        length += 1;
        length += usize::from(matches!(json.get(length), Some(b'+' | b'-')));
        length += digits(json, length)?;
    }
    Some(length)
}

/// How many digits stand at `start`, at least one.
#[inline]
fn digits(json: &[u8], start: usize) -> Option<usize> {
    let rest = json.get(start..)?;
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(count)
}

fn word(json: &[u8]) -> Option<usize> {
    let words: [&[u8]; 3] = [b"true", b"false", b"null"];
    let found = words.into_iter().find(|word| json.starts_with(word))?;
    Some(found.len())
}

#[inline]
fn white_space(json: &[u8]) -> usize {
    // Indentation comes in long runs of spaces, mostly behind one line break.
    let (chunks, _) = json.get(1..).unwrap_or_default().as_chunks::<8>();
    let spaces = chunks.iter().take_while(|chunk| **chunk == [b' '; 8]);
    let mut length = match json.first() {
        Some(b' ' | b'\t' | b'\n' | b'\r') => 1 + 8 * spaces.count(),
        _ => return 0,
    };
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = json.get(length) {
        length += 1;
    }
    length
}

/// The length of the string token that `json`, known to be JSON, begins with, quotes included.
pub(crate) fn string_length(json: &[u8]) -> usize {
    string(json).unwrap_or(json.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::compact;

    #[test]
    fn only_white_space_between_tokens_goes() {
        let cases = [
            (" 9007199254740993\n", "9007199254740993"),
            ("[ 1.10 , 1e400,\t-0 ]", "[1.10,1e400,-0]"),
            (r#"{ "b" : 1 , "a" : 2 }"#, r#"{"b":1,"a":2}"#),
            (r#"{"k": 1, "k": 2}"#, r#"{"k":1,"k":2}"#),
            ("\"\\ud800 \\u0041 \\/\"", "\"\\ud800 \\u0041 \\/\""),
            ("[\"a \\\" b\" , \" \\\\\" ]", "[\"a \\\" b\",\" \\\\\"]"),
            ("\r\n null \r\n", "null"),
            ("{\"é \" :\"\u{1f600} \"}", "{\"é \":\"\u{1f600} \"}"),
        ];
        for (text, expected) in cases {
            assert_eq!(compact(text.to_owned()), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn a_text_that_is_not_json_comes_back_untouched() {
        for text in [
            "",
            " ",
            "{\"a\":1}\nlog",
            "1 2",
            " hello \n",
            "\u{feff}1",
            "NaN",
        ] {
            assert_eq!(compact(text.to_owned()), Err(text.to_owned()));
        }
    }

    #[test]
    fn a_million_levels_need_no_stack() {
        let text = "[ ".repeat(1_000_000) + &" ]".repeat(1_000_000);
        let expected = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(compact(text), Ok(expected));
    }

    proptest! {
        #[test]
        fn accepts_what_the_scanner_accepts(
            place in 0..80_usize, taken in 0..3_usize, put in "[\\[\\]{},:\"\\\\u0-9eE.+\\- \n\u{1}\u{e9}]{0,3}"
        ) {
            let mut text = SAMPLE.to_owned();
            let start = (0..=place.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap();
            let end = (start + taken).min(text.len());
            if text.is_char_boundary(end) {
                text.replace_range(start..end, &put);
            }
            prop_assert_eq!(compact(text.clone()).is_ok(), scans(&text), "{}", text);
        }

        #[test]
        fn agrees_with_the_other_readers(text in "[\\[\\]{},:\"\\\\u0-9a-fe.+\\- \n\ttruefalsn]{0,24}") {
            let theirs = serde_json::from_str::<Box<serde_json::value::RawValue>>(&text);
            let ours = compact(text.clone());
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text);
            prop_assert_eq!(ours.is_ok(), scans(&text), "{}", text);
            if let Ok(ours) = ours {
                prop_assert_eq!(compact(ours.clone()), Ok(ours.clone()));
                prop_assert_eq!(without_gaps(&text), ours);
            }
        }
    }

    const SAMPLE: &str =
        "{ \"a\\u00e9\\\\\" : [ 1.5e+3, -0, true, null, {} ],\n  \"b\": { \"c\": [ false, [] ] } }";

    fn scans(text: &str) -> bool {
        let mut scanner = hcp_spec::json::Scanner::new(text, usize::MAX);
        loop {
            match scanner.next() {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// The slow and obvious way to say the same.
    fn without_gaps(text: &str) -> String {
        let (mut kept, mut inside, mut escaped) = (String::new(), false, false);
        for character in text.chars() {
            if inside || !matches!(character, ' ' | '\t' | '\n' | '\r') {
                kept.push(character);
            }
            match character {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                _ => {}
            }
        }
        kept
    }
}
