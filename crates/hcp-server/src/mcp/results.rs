//! Results that were too long for one text, kept for a while to be read in ranges.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Resource;

use super::answer::cut;

/// What is kept at most in bytes, all results together; the newest is kept whatever its length.
const MOST_BYTES: usize = 16 << 20;
const SCHEME: &str = "hcp://results/";

/// The newest long results of one serving.
#[derive(Default)]
pub(super) struct KeptResults {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    count: u64,
    bytes: usize,
    kept: VecDeque<(u64, Arc<str>)>,
}

/// A part of a kept result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The text, cut at characters.
    pub(super) text: String,
    /// Where it begins, in bytes.
    pub(super) offset: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// The length of the whole.
    pub(super) total: usize,
}

impl KeptResults {
    /// Keeps a text and tells where it is to be had.
    pub(super) fn keep(&self, text: Arc<str>) -> String {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        state.bytes += text.len();
        let number = state.count;
        state.kept.push_back((number, text));
        while state.bytes > MOST_BYTES && state.kept.len() > 1 {
            if let Some((_, oldest)) = state.kept.pop_front() {
                state.bytes -= oldest.len();
            }
        }
        format!("{SCHEME}{number}")
    }

    /// What `uri` names: a whole result, or `?offset=` and `length=` of it in bytes. `None` when it
    /// names nothing, or nothing any more.
    pub(super) fn read(&self, uri: &str) -> Option<Part> {
        let rest = uri.strip_prefix(SCHEME)?;
        let (number, query) = rest.split_once('?').unwrap_or((rest, ""));
        let number: u64 = number.parse().ok()?;
        let (mut offset, mut length) = (0, usize::MAX);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=')? {
                ("offset", value) => offset = value.parse().ok()?,
                ("length", value) => length = value.parse().ok()?,
                _ => return None,
            }
        }
        let text = self.find(number)?;
        let start = cut(&text, offset);
        let end = cut(&text, offset.saturating_add(length)).max(start);
        Some(Part {
            text: text.get(start..end)?.to_owned(),
            offset: start,
            end,
            total: text.len(),
        })
    }

    /// What is kept now.
    pub(super) fn list(&self) -> Vec<Resource> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let describe = |(number, text): &(u64, Arc<str>)| {
            Resource::new(format!("{SCHEME}{number}"), format!("result {number}"))
                .with_mime_type("application/json")
                .with_size(text.len() as u64)
        };
        state.kept.iter().map(describe).collect()
    }

    fn find(&self, number: u64) -> Option<Arc<str>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = state.kept.iter().find(|(known, _)| *known == number);
        found.map(|(_, text)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptResults, MOST_BYTES};

    #[test]
    fn parts_join_to_the_whole_and_are_cut_at_characters() {
        let kept = KeptResults::default();
        let text = "aé€😀".repeat(50);
        let uri = kept.keep(text.as_str().into());
        assert_eq!(kept.read(&uri).unwrap().text, text);
        let (mut joined, mut offset) = (String::new(), 0);
        while offset < text.len() {
            let part = kept
                .read(&format!("{uri}?offset={offset}&length=7"))
                .unwrap();
            assert_eq!((part.offset, part.total), (offset, text.len()));
            joined.push_str(&part.text);
            offset = part.end;
        }
        assert_eq!(joined, text);
        assert_eq!(kept.read(&format!("{uri}?offset=9999")).unwrap().text, "");
        for wrong in [
            "",
            "hcp://results/",
            "hcp://results/9",
            "x://results/1",
            "hcp://results/1?a=1",
        ] {
            assert_eq!(kept.read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_oldest_give_way() {
        let kept = KeptResults::default();
        let half = "x".repeat(MOST_BYTES / 2 + 1);
        let first = kept.keep(half.as_str().into());
        let second = kept.keep(half.as_str().into());
        assert!(kept.read(&first).is_none());
        assert!(kept.read(&second).is_some());
        assert_eq!(kept.list().len(), 1);
    }
}
