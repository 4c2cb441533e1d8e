//! The rules of the house, checked over the whole workspace. They stand with the crate that all
//! others depend on, since they belong to none of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, missing_docs)]

mod house;
