//! What a person sees: no character that moves the cursor, hides text or turns its direction.
//!
//! Words of a pack, an agent or a tool stand in prompts, approvals and logs next to ours. An escape
//! sequence could redraw ours, a bidirectional control could reverse a path, and a line break could
//! forge a record. They are shown by their code point instead, as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use hcp_spec::name::is_printable;

/// The text on one line: everything that [`EscapedWriter`] escapes, line breaks and tabs as well.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_except(text, &[])
}

/// The text with its line breaks; everything else is escaped as in [`escape`](fn@escape).
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_except(text, &['\n'])
}

/// Escapes text on its way to a person, line breaks and tabs excepted. A character that is cut
/// across two writes is put together again; bytes that are not UTF-8 become U+FFFD.
#[derive(Debug)]
pub struct EscapedWriter<W: Write> {
    inner: W,
    /// The beginning of a character whose end has not come yet.
    pending: Vec<u8>,
}

impl<W: Write> EscapedWriter<W> {
    /// Writes what is safe to `inner`.
    pub const fn new(inner: W) -> Self {
        Self {
            inner,
            pending: Vec::new(),
        }
    }

    /// Shows a last character that stayed incomplete, flushes, and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.pending.is_empty() {
            self.inner.write_all("\u{fffd}".as_bytes())?;
        }
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn write_escaped(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.utf8_chunks() {
            let text = escape_except(chunk.valid(), &['\n', '\t']);
            self.inner.write_all(text.as_bytes())?;
            if !chunk.invalid().is_empty() {
                self.inner.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for EscapedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined;
        let text = if self.pending.is_empty() {
            bytes
        } else {
            joined = [&self.pending, bytes].concat();
            &joined
        };
        let (whole, pending) = text
            .split_at_checked(text.len() - torn(text))
            .unwrap_or((text, &[]));
        self.write_escaped(whole)?;
        self.pending = pending.to_vec();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// How many bytes at the end begin a character that more bytes could complete.
fn torn(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(3))
        .find(|length| {
            let end = bytes.get(bytes.len() - length..).unwrap_or_default();
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

fn escape_except<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let shown = |character: char| is_visible(character) || kept.contains(&character);
    let Some(first) = text.find(|character| !shown(character)) else {
        return Cow::Borrowed(text);
    };
    let (before, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(before);
    for character in rest.chars() {
        match character {
            _ if shown(character) => escaped.push(character),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Writing to a string cannot fail.
            _ => _ = write!(escaped, "\\u{{{:x}}}", u32::from(character)),
        }
    }
    Cow::Owned(escaped)
}

/// Printable by the rule for names, and none of the characters that take no room or look like a
/// space: fillers, variation selectors, marks of notation. Text can be smuggled in any of them.
fn is_visible(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    is_printable(character)
        && !matches!(
            character,
            '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fff8}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0080}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::{EscapedWriter, escape, escape_lines};

    fn written(bytes: &[u8], size: usize) -> String {
        let mut writer = EscapedWriter::new(Vec::new());
        for chunk in bytes.chunks(size) {
            writer.write_all(chunk).unwrap();
        }
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn what_could_deceive_is_spelled_out() {
        let cases = [
            ("plain", "plain"),
            (
                "Grüße, 世界 \u{1f600} e\u{301}",
                "Grüße, 世界 \u{1f600} e\u{301}",
            ),
            ("\u{1b}[2Jx", "\\u{1b}[2Jx"),
            (
                "a\u{202e}b\u{2066}c\u{200b}d",
                "a\\u{202e}b\\u{2066}c\\u{200b}d",
            ),
            ("\u{9b}31m\0\u{7f}", "\\u{9b}31m\\u{0}\\u{7f}"),
            ("one\ntwo\r\n\tthree", "one\\ntwo\\r\\n\\tthree"),
            (
                "\u{2028}\u{feff}\u{3164}\u{e0041}\u{e0100}",
                "\\u{2028}\\u{feff}\\u{3164}\\u{e0041}\\u{e0100}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
        }
        assert_eq!(escape_lines("a\n\u{1b}\tb"), "a\n\\u{1b}\\tb");
    }

    #[test]
    fn a_writer_joins_what_was_cut_and_marks_what_is_no_text() {
        let cases: [(&[u8], &str); 5] = [
            (
                "é\u{202e}\u{1f600}\n\t".as_bytes(),
                "é\\u{202e}\u{1f600}\n\t",
            ),
            (b"a\xffb", "a\u{fffd}b"),
            (b"a\xe2\x82", "a\u{fffd}"),
            (b"\xe2\x1b[m", "\u{fffd}\\u{1b}[m"),
            (b"", ""),
        ];
        for (bytes, expected) in cases {
            for size in 1..=8 {
                assert_eq!(written(bytes, size), expected, "{size}");
            }
        }
    }

    #[test]
    fn naughty_strings_stay_on_one_line() {
        for text in naughty_strings::BLNS {
            let escaped = escape(text);
            assert!(!escaped.chars().any(char::is_control), "{escaped}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_left_and_nothing_is_lost(text in any::<String>(), size in 1..9_usize) {
            let escaped = escape(&text);
            prop_assert!(!escaped.chars().any(char::is_control));
            prop_assert_eq!(escape(&escaped), escaped.clone());
            let lines = escape_lines(&text);
            prop_assert_eq!(lines.matches('\n').count(), text.matches('\n').count());
            let whole = written(text.as_bytes(), text.len().max(1));
            prop_assert_eq!(written(text.as_bytes(), size), whole);
        }
    }
}
