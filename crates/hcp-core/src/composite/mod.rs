//! Composite commands (§6.6): several calls as one, in process, with one result envelope.
//!
//! A composite is a list of calls and nothing else; it has no rights of its own. Each inner call
//! enters the pipeline at step 1 under the Principal and session of the outer one, and is judged as
//! if it had come alone. What the composite adds is told by types that no envelope can hold: the
//! [`InnerCall`] mark says where a call comes from, and the confirmation inside it covers one verb
//! that the plan lists, because the composite itself passed a confirm gate.

mod condition;
mod explain;
mod inner;
mod plan;
mod progress;
mod reach;
mod reference;
mod report;
mod run;
mod template;

pub use explain::PlannedStep;
pub(crate) use explain::foresee;
pub use inner::InnerCall;
pub(crate) use plan::Plan;
pub(crate) use reach::check_reach;
pub use report::{InnerReport, State};
pub(crate) use run::{CompositeLimits, Outer, run};
