//! The command line, driven as its users drive it: the real binary, real homes, real packs.
//!
//! Every test has an installation of its own in a folder of its own and an environment that holds
//! nothing but what the test puts there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    missing_docs
)]

mod attack;
mod audit;
mod bindings;
mod concurrency;
mod endings;
mod envelopes;
mod environment;
mod explain;
mod homes;
mod identity;
mod installing;
mod order;
mod pack;
mod packs;
mod pairs;
mod rendering;
mod results;
mod schemas;
mod screen;
mod world;
