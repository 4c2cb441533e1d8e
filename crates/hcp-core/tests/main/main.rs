//! The runtime over real installations: real folders, real processes, the example tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::needless_pass_by_value, missing_docs)]

mod bounds;
mod crash;
mod flow;
mod refusals;
mod scene;
mod trip;
mod widening;
