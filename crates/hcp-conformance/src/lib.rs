//! A conformance kit for §6: cases as data, and what it takes to run them against any runtime.
//!
//! A case is set up and called over a protocol of JSON lines (`README.md`), so the runtime under test
//! may be written in anything. What a case expects of the outside world (the argv that a child saw,
//! how often something was started or minted) is not asked of the runtime: the packs' bin is the
//! kit's own [`probe`], the credential helper its own [`mint`], and both keep a log of their own.

pub mod corpus;
pub mod error;
pub mod judge;
pub mod mint;
pub mod ours;
pub mod probe;
pub mod protocol;
pub mod report;
pub mod runner;
pub mod seen;
mod session;
pub mod workbench;
pub mod wrong;

pub use error::KitError;
