//! What pack authors and operators do with packs, and the packs that come with hcp: the real binary,
//! an installation of its own for every test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod difference;
mod first_party;
mod format;
mod link;
mod lint;
mod new;
mod place;
mod test;
