//! The crate from outside: results stay as the tool wrote them, and no secret leaves in any form.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::print_stderr,
    missing_docs
)]

mod redaction;
mod speed;
mod verbatim;
