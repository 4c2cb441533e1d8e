//! Minting from outside: real files, real helpers, and a secret that no message may hold.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod exec;
mod files;
mod scene;
mod state;
