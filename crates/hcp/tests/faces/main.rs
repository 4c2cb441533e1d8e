//! The faces of a serving process, driven as their clients drive them: real processes and pipes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    missing_docs
)]

mod cases;
mod connect;
mod mcp;
mod scene;
mod serving;
mod stdio;
mod stress;
mod twin;
