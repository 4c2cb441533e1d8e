//! Spaces, line breaks and comments around keys and values.

use toml_edit::{Decor, RawString};

/// The text, or nothing where there is none.
pub(super) fn text(raw: Option<&RawString>) -> &str {
    raw.and_then(RawString::as_str).unwrap_or_default()
}

/// Whether there is more than spaces.
pub(super) fn is_plain(decor: &Decor) -> bool {
    [decor.prefix(), decor.suffix()]
        .into_iter()
        .all(|raw| text(raw).bytes().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// Comment lines as they stand before a key or a header: without indentation, at most one empty line
/// in a row, and before them one when `apart`.
pub(super) fn lines_before(raw: &str, apart: bool) -> String {
    let mut lines = String::new();
    let mut empty = 0;
    // What stands behind the last line break is the indentation of the key, or a comment that ends
    // the file.
    let end = raw.rfind('\n').map_or(0, |at| at + 1);
    let (whole, last) = raw.split_at_checked(end).unwrap_or(("", raw));
    let raw = if last.trim().is_empty() { whole } else { raw };
    for line in raw.lines().map(str::trim) {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if empty > 0 && !lines.is_empty() {
            lines.push('\n');
        }
        empty = 0;
        lines.push_str(line);
        lines.push('\n');
    }
    // An empty line behind the comment keeps it apart from what follows.
    if empty > 0 && !lines.is_empty() {
        lines.push('\n');
    }
    if apart {
        lines.insert(0, '\n');
    }
    lines
}

/// Whether an empty line comes first.
pub(super) fn begins_apart(raw: &str) -> bool {
    raw.split_once('\n')
        .is_some_and(|(first, _)| first.trim().is_empty())
}

/// A comment behind a value, one space away from it.
pub(super) fn behind(raw: &str) -> String {
    match raw.trim() {
        "" => String::new(),
        comment => format!(" {comment}"),
    }
}

/// The comment of the whole file, which stands before that of its first key: everything up to the
/// last empty line.
pub(super) fn split_head(raw: &str) -> (&str, &str) {
    raw.rfind("\n\n")
        .and_then(|at| raw.split_at_checked(at + 2))
        .unwrap_or(("", raw))
}
