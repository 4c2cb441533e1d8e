//! The tail of a stream as text: masked first and cut second, so that no cut leaves half a secret.

use crate::redaction::{Redactor, masked};

/// The last `cap` bytes of a stream as text, secrets masked.
///
/// `tail` holds the last bytes of the stream, at least `cap` plus [`Redactor::margin`] where the
/// stream was longer than that (`truncated`). What stands in that margin is only context: a secret
/// that was cut when the tail was taken ends within it, and so is never shown in part. Bytes that
/// are not UTF-8 become U+FFFD, and the cut falls between characters.
pub fn read_tail(tail: &[u8], truncated: bool, cap: usize, redactor: &Redactor) -> String {
    read(tail, truncated, false, cap, redactor)
}

/// The last `cap` bytes of what was kept of a stream that went on beyond it (`output over …`), as
/// text, secrets masked. A secret may be cut at the end of `head` as well, so that the last
/// [`Redactor::margin`] bytes are only context; otherwise as [`read_tail`].
pub fn read_head(head: &[u8], cap: usize, redactor: &Redactor) -> String {
    read(head, false, true, cap, redactor)
}

fn read(
    bytes: &[u8],
    cut_before: bool,
    cut_behind: bool,
    cap: usize,
    redactor: &Redactor,
) -> String {
    let margin = redactor.margin();
    // No more than could be shown is searched, however much was kept.
    let wanted = cap.saturating_add(margin.saturating_mul(2));
    let skipped = bytes.len().saturating_sub(wanted);
    let cut_before = cut_before || skipped > 0;
    let bytes = bytes.get(skipped..).unwrap_or_default();
    let mut spans = redactor.spans(bytes);
    let first = if cut_before {
        margin.min(bytes.len())
    } else {
        0
    };
    let last = if cut_behind {
        bytes.len().saturating_sub(margin).max(first)
    } else {
        bytes.len()
    };
    // A secret that reaches over an edge was found whole, and its mask is shown.
    let over = |edge: usize| {
        spans
            .iter()
            .find(|span| span.start < edge && edge < span.end)
    };
    let first = over(first).map_or(first, |span| span.start);
    let last = over(last).map_or(last, |span| span.end);
    let mut shown = bytes.get(first..last).unwrap_or_default();
    if cut_before {
        shown = without_torn_character(shown);
    }
    let first = last - shown.len();
    spans.retain(|span| first <= span.start && span.end <= last);
    for span in &mut spans {
        *span = span.start - first..span.end - first;
    }
    last_bytes(
        String::from_utf8_lossy(&masked(shown, &spans)).into_owned(),
        cap,
    )
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
    use super::{Redactor, read_head, read_tail};

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
    fn no_end_of_a_head_is_half_a_secret() {
        let stream = "x".repeat(200) + &format!("{SECRET} ").repeat(20);
        for kept in 0..stream.len() {
            let shown = read_head(&stream.as_bytes()[..kept], 4096, &redactor());
            for part in 4..SECRET.len() {
                assert!(!shown.contains(&SECRET[..part]), "{kept}: {shown}");
            }
        }
    }

    #[test]
    fn more_than_is_shown_may_be_kept() {
        let stream = format!("{SECRET} é").repeat(10_000);
        for truncated in [false, true] {
            let shown = read_tail(stream.as_bytes(), truncated, 100, &redactor());
            assert!(
                shown.len() <= 100 && shown.ends_with(" é[redacted] é"),
                "{shown}"
            );
        }
        assert_eq!(
            read_tail(b"some words", false, 5, &Redactor::none()),
            "words"
        );
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
