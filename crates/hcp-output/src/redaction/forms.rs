//! The ways a secret is written: what exactly is searched for.
//!
//! Escapes that differ from writer to writer are undone by [`super::decode`] before the search. The
//! usual spelling of each is searched for as well, because a stray `\` or `%` in front of it shifts
//! the undoing by a character.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;
use zeroize::Zeroizing;

/// Secrets below this many bytes occur everywhere by chance. They are masked where they stand alone
/// as a word, and not inside one.
const SHORTEST: usize = 4;

/// A secret of hex digits below this many bytes is masked in its own case only.
const SHORTEST_HEX: usize = 16;

/// A line of a secret below this many bytes is not masked where it stands alone.
const SHORTEST_PART: usize = 12;

/// How many bytes of a text are brought to lowercase at once.
const FOLDED_AT_ONCE: usize = 1 << 16;

/// What is searched for on behalf of one or more secrets.
#[derive(Default)]
pub(super) struct Forms {
    /// As they are, base64 and hex: also searched for behind escapes.
    plain: Vec<Needle>,
    /// Hex, in lowercase: searched for in the text whatever the case of its letters.
    folded: Vec<Needle>,
    /// With escapes of their own: searched for in the text as it came.
    escaped: Vec<Needle>,
}

struct Needle {
    bytes: Zeroizing<Vec<u8>>,
    edge: Edge,
}

/// What stands around a match decides what is masked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The match, wherever it is.
    Anywhere,
    /// With the digits and the padding that hold the secret's first and last bits.
    Base64,
    /// Only where neither neighbour is part of a word.
    Word,
}

impl Forms {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Adds every form of one secret; nothing for an empty one.
    pub(super) fn add(&mut self, secret: &[u8]) {
        if secret.is_empty() {
            return;
        }
        let edge = if secret.len() < SHORTEST {
            Edge::Word
        } else {
            Edge::Anywhere
        };
        add(&mut self.plain, secret.to_vec(), edge);
        if secret.contains(&b' ') {
            let form = secret
                .iter()
                .map(|byte| if *byte == b' ' { b'+' } else { *byte });
            add(&mut self.plain, form.collect(), edge);
        }
        let digits = encode(secret, |byte| hex(byte, LOWER).to_vec());
        add(&mut self.folded, digits, edge);
        // A secret that consists of hex digits itself is as secret in the other case.
        if secret.len() >= SHORTEST_HEX && secret.iter().all(u8::is_ascii_hexdigit) {
            add(&mut self.folded, secret.to_ascii_lowercase(), edge);
        }
        self.add_base64(secret);
        for digits in [LOWER, UPPER] {
            let percent = |byte| {
                let [high, low] = hex(byte, digits);
                vec![b'%', high, low]
            };
            let reserved = |byte: u8| {
                if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                    vec![byte]
                } else {
                    percent(byte)
                }
            };
            let query = |byte| {
                if byte == b' ' {
                    vec![b'+']
                } else {
                    reserved(byte)
                }
            };
            add(&mut self.escaped, encode(secret, percent), edge);
            add(&mut self.escaped, encode(secret, reserved), edge);
            add(&mut self.escaped, encode(secret, query), edge);
        }
        add(&mut self.escaped, encode(secret, json_escape), edge);
    }

    /// Adds a part of a secret, as it is; not where it is so short that it occurs by chance.
    pub(super) fn add_part(&mut self, part: &[u8]) {
        if part.len() >= SHORTEST_PART {
            add(&mut self.plain, part.to_vec(), Edge::Anywhere);
        }
    }

    /// A secret inside a longer base64 text begins at one of three places within a digit group; the
    /// digits that depend on it alone are searched for.
    fn add_base64(&mut self, secret: &[u8]) {
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            if secret.len() < SHORTEST {
                let form = engine.encode(secret).into_bytes();
                add(&mut self.plain, form, Edge::Word);
                continue;
            }
            for before in 0..3 {
                let mut bytes = Zeroizing::new(vec![0; before]);
                bytes.extend_from_slice(secret);
                let digits = Zeroizing::new(engine.encode(&*bytes).into_bytes());
                let first = (before * 8).div_ceil(6);
                let last = bytes.len() * 8 / 6;
                let form = digits.get(first..last).unwrap_or_default().to_vec();
                add(&mut self.plain, form, Edge::Base64);
            }
        }
    }

    /// Calls `found` with the start and end of every match in `text`.
    pub(super) fn find(&self, text: &[u8], escaped: bool, mut found: impl FnMut(usize, usize)) {
        let escaped = if escaped {
            self.escaped.as_slice()
        } else {
            &[]
        };
        for needle in self.plain.iter().chain(escaped) {
            for start in memmem::find_iter(text, needle.bytes.as_slice()) {
                let end = start + needle.bytes.len();
                if let Some((start, end)) = needle.edge.widen(text, start, end) {
                    found(start, end);
                }
            }
        }
        self.find_folded(text, &mut found);
    }

    /// Goes through the text in stretches that overlap, so that no second copy of all of it is made.
    fn find_folded(&self, text: &[u8], found: &mut impl FnMut(usize, usize)) {
        let longest = self.folded.iter().map(|needle| needle.bytes.len()).max();
        let Some(longest) = longest else { return };
        let mut stretch = Vec::with_capacity(FOLDED_AT_ONCE + longest);
        for from in (0..text.len()).step_by(FOLDED_AT_ONCE) {
            let to = text.len().min(from + FOLDED_AT_ONCE + longest);
            stretch.clear();
            stretch.extend_from_slice(text.get(from..to).unwrap_or_default());
            stretch.make_ascii_lowercase();
            for needle in &self.folded {
                for start in memmem::find_iter(&stretch, needle.bytes.as_slice()) {
                    let start = from + start;
                    let end = start + needle.bytes.len();
                    if let Some((start, end)) = needle.edge.widen(text, start, end) {
                        found(start, end);
                    }
                }
            }
        }
    }
}

impl Edge {
    /// What is masked of a match, if anything.
    fn widen(self, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        let before = start.checked_sub(1).and_then(|before| text.get(before));
        let after = text.get(end);
        match self {
            Self::Anywhere => Some((start, end)),
            Self::Word => {
                let alone = ![before, after]
                    .into_iter()
                    .flatten()
                    .any(|byte| is_word(*byte));
                alone.then_some((start, end))
            }
            Self::Base64 => {
                let digit = |byte: Option<&u8>| byte.is_some_and(|byte| is_base64(*byte));
                let start = start - usize::from(digit(before));
                let end = end + usize::from(digit(after));
                let rest = text.get(end..).unwrap_or_default();
                let padding = rest
                    .iter()
                    .take(2)
                    .take_while(|byte| **byte == b'=')
                    .count();
                Some((start, end + padding))
            }
        }
    }
}

fn add(needles: &mut Vec<Needle>, bytes: Vec<u8>, edge: Edge) {
    let bytes = Zeroizing::new(bytes);
    if !needles
        .iter()
        .any(|needle| needle.bytes == bytes && needle.edge == edge)
    {
        needles.push(Needle { bytes, edge });
    }
}

fn encode(secret: &[u8], form: impl Fn(u8) -> Vec<u8>) -> Vec<u8> {
    // Grown at once, so that no half-written copy is left behind in freed memory.
    let mut encoded = Vec::with_capacity(secret.len() * 6);
    for byte in secret {
        encoded.extend(form(*byte));
    }
    encoded
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    let digit = |half: u8| digits.get(usize::from(half)).copied().unwrap_or_default();
    [digit(byte >> 4), digit(byte & 0xf)]
}

/// As the usual writers of JSON do it: only what must be escaped, and in its short form.
fn json_escape(byte: u8) -> Vec<u8> {
    match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        0x08 => b"\\b".to_vec(),
        0x0c => b"\\f".to_vec(),
        b'\n' => b"\\n".to_vec(),
        b'\r' => b"\\r".to_vec(),
        b'\t' => b"\\t".to_vec(),
        0..=0x1f => {
            let [high, low] = hex(byte, LOWER);
            vec![b'\\', b'u', b'0', b'0', high, low]
        }
        _ => vec![byte],
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
