//! The crate from outside: results stay as the tool wrote them, and no secret leaves in any form.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod redaction;
mod speed;
mod verbatim;
