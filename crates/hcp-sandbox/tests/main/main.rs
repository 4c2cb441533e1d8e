//! Real processes and real files against the public face of the crate, by kind of fault.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod arguments;
mod bins;
mod jail;
mod output;
mod processes;
mod roots;
mod set_up;
mod stress;
mod support;
mod trust;
