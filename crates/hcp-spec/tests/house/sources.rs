//! What a source file has to look like: short, opened by its own purpose, and safe.

use std::path::{Path, PathBuf};

/// Longest source file, in lines, tests left out.
const MAX_LINES: usize = 600;
/// The one crate that may be unsafe.
const UNSAFE_CRATE: &str = "crates/hcp-sandbox";

/// Every Rust file below `root`, relative to it, build products and hidden folders left out.
pub(super) fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().unwrap();
            let skipped = name == "target" || name.as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|end| end == "rs") {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// What is wrong with a file, one line each.
pub(super) fn faults(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!("{shown}: does not open with `//!`"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES && !path.iter().any(|part| part == "tests") {
        faults.push(format!("{shown}: {lines} lines, more than {MAX_LINES}"));
    }
    if !path.starts_with(UNSAFE_CRATE) {
        let unsafe_lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| breaks_safety(line));
        faults.extend(
            unsafe_lines
                .map(|(index, _)| format!("{shown}:{}: unsafe outside {UNSAFE_CRATE}", index + 1)),
        );
    }
    faults
}

/// Whether a line begins something unsafe, or takes the lint against it back. Prose is left alone:
/// there, the word is not followed by what it is followed by in code.
fn breaks_safety(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let follows = ["{", "(", "fn ", "impl", "extern", "trait"];
    let begins = code.match_indices("unsafe").any(|(start, word)| {
        let (before, rest) = (&code[..start], code[start + word.len()..].trim_start());
        let whole = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        whole && follows.iter().any(|follow| rest.starts_with(follow))
    });
    let takes_back = code.trim_start().starts_with('#')
        && code.contains("unsafe_code")
        && ["allow(", "expect(", "warn("]
            .iter()
            .any(|word| code.contains(word));
    begins || takes_back
}

#[test]
fn each_fault_is_seen_and_named() {
    let long = "//!\n".repeat(MAX_LINES + 1);
    let block = format!("//! x\nfn a() {{ {} {{ b() }} }}\n", "unsafe");
    let back = format!("//! x\n#![allow({}_code)]\n", "unsafe");
    let cases = [
        ("crates/a/src/lib.rs", "//! x\n", None),
        ("crates/a/src/lib.rs", "use b;\n", Some("does not open")),
        ("crates/a/src/lib.rs", long.as_str(), Some("601 lines")),
        ("crates/a/tests/main.rs", long.as_str(), None),
        (
            "crates/a/src/lib.rs",
            block.as_str(),
            Some("lib.rs:2: unsafe"),
        ),
        (
            "crates/a/tests/main.rs",
            back.as_str(),
            Some("main.rs:2: unsafe"),
        ),
        ("crates/hcp-sandbox/src/lib.rs", block.as_str(), None),
        (
            "crates/a/src/lib.rs",
            "//! An unsafe word.\n// unsafe {}\n",
            None,
        ),
    ];
    for (path, text, expected) in cases {
        let faults = faults(Path::new(path), text);
        match expected {
            None => assert_eq!(faults, Vec::<String>::new(), "{path}"),
            Some(part) => {
                assert_eq!(faults.len(), 1, "{faults:?}");
                assert!(faults[0].contains(part), "{faults:?}");
            }
        }
    }
}
