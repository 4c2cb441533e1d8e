//! What a record's hash is taken over, and what a trail begins with.
//!
//! The text that is hashed holds, for every column but `hash` that is not NULL, its name, its storage
//! class and its value, each behind its length, in the order of the names. So no value can pass for
//! another column's, an absent value differs from an empty one, `5` from `'5'`, and a column that a
//! later version adds leaves the hash of every earlier record as it was.

use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

use crate::identity::hex;

/// Keeps these hashes apart from all others, and names the form of what is hashed.
const RECORD: &[u8] = b"hcp audit record, form 1";
const GENESIS: &[u8] = b"hcp audit genesis, form 1";

/// The hash of a record under construction. Columns are added in the order of their names.
pub(crate) struct RecordHash(Sha256);

impl RecordHash {
    pub(crate) fn new() -> Self {
        let mut hash = Sha256::new();
        put(&mut hash, RECORD);
        Self(hash)
    }

    pub(crate) fn column(&mut self, name: &str, value: ValueRef<'_>) {
        let hash = &mut self.0;
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => cell(hash, name, b"i", &number.to_be_bytes()),
            ValueRef::Real(number) => cell(hash, name, b"r", &number.to_bits().to_be_bytes()),
            ValueRef::Text(text) => cell(hash, name, b"t", text),
            ValueRef::Blob(bytes) => cell(hash, name, b"b", bytes),
        }
    }

    /// The hash in hex.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// What stands before the first record of a tenant: it ties the trail to its installation.
pub(crate) fn genesis(installation: &str, tenant_id: &str) -> String {
    let mut hash = Sha256::new();
    put(&mut hash, GENESIS);
    put(&mut hash, installation.as_bytes());
    put(&mut hash, tenant_id.as_bytes());
    hex(&hash.finalize())
}

fn cell(hash: &mut Sha256, name: &str, class: &[u8], value: &[u8]) {
    put(hash, name.as_bytes());
    hash.update(class);
    put(hash, value);
}

fn put(hash: &mut Sha256, bytes: &[u8]) {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    hash.update(length.to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash_of(columns: &[(String, Cell)]) -> String {
        let mut hash = RecordHash::new();
        for (name, cell) in columns {
            hash.column(name, cell.value());
        }
        hash.finish()
    }

    #[derive(Clone, Debug, PartialEq)]
    enum Cell {
        Null,
        Integer(i64),
        Text(String),
        Blob(Vec<u8>),
    }

    impl Cell {
        fn value(&self) -> ValueRef<'_> {
            match self {
                Self::Null => ValueRef::Null,
                Self::Integer(number) => ValueRef::Integer(*number),
                Self::Text(text) => ValueRef::Text(text.as_bytes()),
                Self::Blob(bytes) => ValueRef::Blob(bytes),
            }
        }
    }

    fn cells() -> impl Strategy<Value = Vec<(String, Cell)>> {
        let cell = prop_oneof![
            Just(Cell::Null),
            (0_i64..3).prop_map(Cell::Integer),
            "[it0-9]{0,3}".prop_map(Cell::Text),
            prop::collection::vec(0_u8..3, 0..9).prop_map(Cell::Blob),
        ];
        prop::collection::btree_map("[ab]{1,2}", cell, 0..4)
            .prop_map(|columns| columns.into_iter().collect())
    }

    fn without_nulls(columns: &[(String, Cell)]) -> Vec<(String, Cell)> {
        let mut columns = columns.to_vec();
        columns.retain(|(_, cell)| *cell != Cell::Null);
        columns
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equal_hashes_mean_equal_records(one in cells(), other in cells()) {
            let same = without_nulls(&one) == without_nulls(&other);
            prop_assert_eq!(hash_of(&one) == hash_of(&other), same);
        }
    }

    #[test]
    fn neighbours_that_a_careless_encoding_confuses_differ() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let pairs = [
            (vec![("a", Cell::Null)], vec![("a", text(""))]),
            (vec![("a", Cell::Integer(5))], vec![("a", text("5"))]),
            (
                vec![("a", text("5"))],
                vec![("a", Cell::Blob(b"5".to_vec()))],
            ),
            (
                vec![("a", text("xy")), ("b", text(""))],
                vec![("a", text("x")), ("b", text("y"))],
            ),
            (vec![("a", text("x"))], vec![("b", text("x"))]),
        ];
        for (one, other) in pairs {
            let named = |columns: Vec<(&str, Cell)>| -> Vec<(String, Cell)> {
                columns
                    .into_iter()
                    .map(|(name, cell)| (name.to_owned(), cell))
                    .collect()
            };
            let (one, other) = (named(one), named(other));
            assert_ne!(hash_of(&one), hash_of(&other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn trails_of_other_tenants_and_installations_begin_elsewhere() {
        let starts = [genesis("ab", "c"), genesis("a", "bc"), genesis("ab", "d")];
        assert_ne!(starts[0], starts[1]);
        assert_ne!(starts[0], starts[2]);
    }
}
