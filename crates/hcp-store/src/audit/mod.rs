//! The audit trail (§6.3 step 9): one chain of records per tenant.

pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod read;
pub(crate) mod recover;
mod trail;
pub(crate) mod verify;
pub(crate) mod write;
