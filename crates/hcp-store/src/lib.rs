//! State and audit of one installation, in one SQLite file.
//!
//! Everything the operator decides (packs, Principals, tenants, grants, sessions) and everything that
//! was ever asked of the installation (§6.3 step 9) lives here, so that a change and the record of it
//! are one transaction. The crate promises four things:
//!
//! - **Durable when it returns.** A record, an intent, a change is on the disk before its function
//!   answers; a process killed at any instant leaves a database that opens, with a whole trail.
//! - **Tampering shows.** Each tenant's records form a chain of hashes over every column; see
//!   [`Store::verify`] for what it can tell and what needs a [`Checkpoint`] kept elsewhere.
//! - **No call is forgotten.** An [`Intent`] without an outcome is found by the next start through the
//!   lock of the runtime that wrote it; see [`Store::recover`].
//! - **Reading writes nothing** where it is said so; see [`Store::open_to_read`].
//!
//! A [`Store`] is one connection. Several processes, and several stores in one process, may use one
//! file at once.

mod audit;
mod database;
mod error;
mod fault;
mod identity;
mod lock;
mod schema;
mod state;
mod store;

pub use audit::checkpoint::{Checkpoint, CheckpointError};
pub use audit::read::RecordFilter;
pub use audit::verify::Verdict;
pub use audit::write::Intent;
pub use error::StoreError;
pub use identity::new_session_id;
pub use state::{
    ActivatedPack, CapabilityUsers, Changes, Grant, InstalledPack, PackRoot, Principal, Project,
    Session, Tenant,
};
pub use store::Store;
