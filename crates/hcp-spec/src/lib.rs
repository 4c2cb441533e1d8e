//! The wire of hcp: what crosses a boundary, and nothing that does anything.
//!
//! Exec and result envelopes (§6.1, §6.2), the nine steps and their refusals (§6.3), the types of a
//! pack's manifest and of the operator's config, the audit event (§6.3 step 9) and the documented
//! exit statuses. Every other crate depends on this one; it touches no file, clock or terminal.

pub mod audit;
pub mod config;
pub mod envelope;
pub mod exit;
pub mod json;
pub mod manifest;
pub mod name;
pub mod quantity;
pub mod refusal;
pub mod result;
pub mod schema;
pub mod step;

pub use envelope::{ExecEnvelope, InvalidEnvelope};
pub use exit::ExitStatus;
pub use refusal::Refusal;
pub use result::{ResultEnvelope, ResultValue};
pub use step::Step;
