//! Removes the white space between the tokens of a JSON text and keeps every other byte.
//!
//! Two passes: the scanner of hcp-spec says whether this is one JSON text at all, then the bytes
//! move together in place. A text that is none comes back untouched, and a result of 16 MiB never
//! stands in memory twice.

use hcp_spec::json::Scanner;

/// The text without white space between tokens, or, when it is not one JSON text, the text itself.
pub(crate) fn compact(text: String) -> Result<String, String> {
    if !is_json(&text) {
        return Err(text);
    }
    let mut bytes = text.into_bytes();
    let length = close_gaps(&mut bytes);
    bytes.truncate(length);
    bytes.shrink_to_fit();
    // Only ASCII was taken out, so this is still UTF-8.
    String::from_utf8(bytes).map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Nesting is bounded by the cap on stdout alone: the scanner keeps a byte a level and no stack.
fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text, usize::MAX);
    loop {
        match scanner.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Moves the tokens together and returns how many bytes they fill.
fn close_gaps(bytes: &mut [u8]) -> usize {
    let (mut read, mut write) = (0, 0);
    while read < bytes.len() {
        let rest = bytes.get(read..).unwrap_or_default();
        let run = run_of_tokens(rest);
        let gap = rest
            .get(run..)
            .unwrap_or_default()
            .iter()
            .take_while(|byte| is_white_space(**byte))
            .count();
        if read != write {
            bytes.copy_within(read..read + run, write);
        }
        write += run;
        read += run + gap;
    }
    write
}

/// The length of what stands before the next white space that is not inside a string.
fn run_of_tokens(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(rest) = bytes.get(length..) {
        let Some(found) = rest
            .iter()
            .position(|byte| *byte == b'"' || is_white_space(*byte))
        else {
            break;
        };
        length += found;
        if rest.get(found) != Some(&b'"') {
            return length;
        }
        length += string_length(rest.get(found..).unwrap_or_default());
    }
    bytes.len()
}

/// The length of the string token that `bytes` begins with, quotes included.
pub(crate) fn string_length(bytes: &[u8]) -> usize {
    let mut length = 1;
    while let Some(rest) = bytes.get(length..) {
        let Some(found) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
            break;
        };
        if rest.get(found) == Some(&b'"') {
            return length + found + 1;
        }
        length += found + 2;
    }
    bytes.len()
}

const fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
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
        fn agrees_with_serde_json(text in "[\\[\\]{},:\"\\\\u0-9a-fe.+\\- \n\ttruefalsn]{0,24}") {
            let theirs = serde_json::from_str::<Box<serde_json::value::RawValue>>(&text);
            let ours = compact(text.clone());
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text);
            if let Ok(ours) = ours {
                prop_assert_eq!(compact(ours.clone()), Ok(ours.clone()));
                prop_assert_eq!(without_gaps(&text), ours);
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
