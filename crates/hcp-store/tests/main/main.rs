//! What the store promises, on real files and with real processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::too_many_lines,
    unreachable_pub,
    missing_docs
)]

mod child;
mod concurrency;
mod cost;
mod faults;
mod home;
mod opening;
mod reading;
mod recovery;
mod state;
mod tamper;
mod trail;
