//! The tail of a stream as text: masked first and cut second, so that no cut leaves half a secret.

use crate::redaction::{Redactor, masked};

/// The last `cap` bytes of a stream as text, secrets masked.
///
/// `tail` holds the last bytes of the stream, at least `cap` plus [`Redactor::margin`] where the
/// stream was longer than that (`truncated`). What stands in that margin is only context: a secret
/// that was cut when the tail was taken ends within it, and so is never shown in part. Bytes that
/// are not UTF-8 become U+FFFD, and the cut falls between characters.
pub fn read_tail(tail: &[u8], truncated: bool, cap: usize, redactor: &Redactor) -> String {
    let spans = redactor.spans(tail);
    let margin = if truncated { redactor.margin() } else { 0 };
    // A secret that reaches out of the margin was found whole, and its mask is shown.
    let start = spans
        .iter()
        .find(|span| span.contains(&margin))
        .map_or(margin, |span| span.start);
    let mut shown = tail.get(start..).unwrap_or_default();
    if truncated {
        shown = without_torn_character(shown);
    }
    let first = tail.len() - shown.len();
    let spans: Vec<_> = spans
        .into_iter()
        .filter(|span| span.start >= first)
        .map(|span| span.start - first..span.end - first)
        .collect();
    let text = String::from_utf8_lossy(&masked(shown, &spans)).into_owned();
    last_bytes(text, cap)
}

/// The bytes without those at their start that continue a character begun before.
fn without_torn_character(bytes: &[u8]) -> &[u8] {
    let torn = bytes
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, 0x80..=0xbf))
        .count();
    bytes.get(torn..).unwrap_or_default()
}

fn last_bytes(mut text: String, cap: usize) -> String {
    let mut cut = text.len().saturating_sub(cap);
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    text.drain(..cut);
    text
}

#[cfg(test)]
mod tests {
    use super::{Redactor, read_tail};

    const SECRET: &str = "hunter2-hunter2";

    fn redactor() -> Redactor {
        Redactor::new([SECRET.as_bytes()])
    }

    #[test]
    fn a_short_stream_is_shown_whole() {
        let text = format!("error: {SECRET} is wrong\n");
        assert_eq!(
            read_tail(text.as_bytes(), false, 1024, &redactor()),
            "error: [redacted] is wrong\n"
        );
        assert_eq!(read_tail(b"", false, 1024, &redactor()), "");
        assert_eq!(read_tail(b"a\xffb", false, 1024, &redactor()), "a\u{fffd}b");
    }

    #[test]
    fn no_cut_leaves_half_a_secret() {
        // Many masks make the text shorter than the cap: the start of the tail must not come back.
        for repeats in [1, 20] {
            let stream = format!("{SECRET} ").repeat(repeats) + &"x".repeat(40);
            for kept in 0..stream.len() {
                let tail = &stream.as_bytes()[stream.len() - kept..];
                let shown = read_tail(tail, true, 4096, &redactor());
                for part in 4..SECRET.len() {
                    assert!(!shown.contains(&SECRET[part..]), "{kept}: {shown}");
                }
            }
        }
    }

    #[test]
    fn a_cut_falls_between_characters() {
        let text = "é".repeat(10);
        for cap in 0..=20 {
            let shown = read_tail(text.as_bytes(), false, cap, &Redactor::none());
            assert_eq!(shown, "é".repeat(cap / 2));
        }
        let torn = &text.as_bytes()[1..];
        assert_eq!(read_tail(torn, true, 64, &Redactor::none()), "é".repeat(9));
    }
}
