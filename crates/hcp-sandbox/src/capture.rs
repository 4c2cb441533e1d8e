//! What is kept of a child's output: the start of stdout up to its cap, the end of stderr.
//!
//! Both count every byte exactly and hold a bounded number of them, however much comes (a line of
//! 600 MB, ten gigabytes of progress messages).

/// The first bytes of a stream, up to a cap.
#[derive(Default)]
pub(crate) struct Head {
    kept: Vec<u8>,
    cap: usize,
    total: u64,
}

impl Head {
    pub(crate) fn new(cap: u64) -> Self {
        Self {
            kept: Vec::new(),
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.cap.saturating_sub(self.kept.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.make_room(taken.len());
        self.kept.extend_from_slice(taken);
    }

    /// Whether more came than the cap lets through.
    pub(crate) fn is_over(&self) -> bool {
        self.total > self.cap as u64
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, u64) {
        (self.kept, self.total)
    }

    /// Doubles like `Vec`, but never beyond the cap.
    fn make_room(&mut self, more: usize) {
        if self.kept.capacity() - self.kept.len() >= more {
            return;
        }
        let wanted = (self.kept.capacity() * 2)
            .max(self.kept.len() + more)
            .min(self.cap);
        self.kept.reserve_exact(wanted - self.kept.len());
    }
}

/// The last bytes of a stream.
#[derive(Default)]
pub(crate) struct Tail {
    /// Up to twice the size, so that moving the end to the front pays for as many bytes again.
    kept: Vec<u8>,
    size: usize,
    total: u64,
}

impl Tail {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            kept: Vec::new(),
            size,
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let skipped = bytes.len().saturating_sub(self.size);
        let last = bytes.get(skipped..).unwrap_or_default();
        if self.kept.len() + last.len() > self.size.saturating_mul(2) {
            self.drop_start(self.size.saturating_sub(last.len()));
        }
        self.kept.extend_from_slice(last);
    }

    pub(crate) fn into_parts(mut self) -> (Vec<u8>, u64) {
        self.drop_start(self.size);
        (self.kept, self.total)
    }

    fn drop_start(&mut self, left: usize) {
        let surplus = self.kept.len().saturating_sub(left);
        self.kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Head, Tail};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn head_and_tail_are_those_of_the_whole(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40),
            size in 0_usize..100,
        ) {
            let whole = chunks.concat();
            let (mut head, mut tail) = (Head::new(size as u64), Tail::new(size));
            for chunk in &chunks {
                head.push(chunk);
                tail.push(chunk);
                prop_assert!(head.kept.capacity() <= size);
                prop_assert!(tail.kept.len() <= 2 * size);
            }
            prop_assert_eq!(head.is_over(), whole.len() > size);
            let kept = size.min(whole.len());
            prop_assert_eq!(head.into_parts(), (whole[..kept].to_vec(), whole.len() as u64));
            let start = whole.len() - kept;
            prop_assert_eq!(tail.into_parts(), (whole[start..].to_vec(), whole.len() as u64));
        }
    }
}
