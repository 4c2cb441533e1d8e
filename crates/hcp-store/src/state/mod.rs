//! What the operator decided, as values: packs, Principals, tenants, projects, sessions, grants.
//!
//! Times are milliseconds since the epoch, UTC.

mod changes;
mod column;
mod people;
mod questions;
pub(crate) mod read;
mod sessions;

use std::path::PathBuf;

use hcp_spec::name::{Capability, CapabilityPattern, PackId, PrincipalName, ProjectId, TenantId};

pub use changes::Changes;

/// A pack that was added to the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPack {
    /// Its id.
    pub id: PackId,
    /// SHA-256 of its whole tree, in hex.
    pub digest: String,
    /// Its version, as its author wrote it.
    pub version: String,
    /// Where it is run from.
    pub root: PackRoot,
    /// Identity and times of its files when the digest was last computed, as opaque text.
    pub identity: String,
    /// Bins that the operator allowed for this pack alone.
    pub allow_bins: Vec<String>,
    /// Every capability word of its policy, in order.
    pub capabilities: Vec<Capability>,
    /// When it was added.
    pub added_at: i64,
}

/// Where a pack is run from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackRoot {
    /// The copy in the home, under its digest.
    Pinned,
    /// Its author's folder.
    Linked(PathBuf),
}

/// Someone who may act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name, kind included.
    pub name: PrincipalName,
    /// The user of the system it stands for, where there is one.
    pub uid: Option<u32>,
    /// When it was added.
    pub added_at: i64,
}

/// A tenant of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// When it was added.
    pub added_at: i64,
}

/// A project of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Its id, unique in the tenant.
    pub id: ProjectId,
    /// When it was added.
    pub added_at: i64,
}

/// What a Principal works in: one tenant, at most one project, the packs activated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id, as [`crate::new_session_id`] makes it.
    pub id: String,
    /// Whose it is.
    pub principal: PrincipalName,
    /// The tenant of its calls.
    pub tenant_id: TenantId,
    /// The project of its calls.
    pub project_id: Option<ProjectId>,
    /// `default` for the one that is used when none is named.
    pub name: Option<String>,
    /// When it was opened.
    pub opened_at: i64,
    /// When it ends; never, where absent.
    pub expires_at: Option<i64>,
    /// Whether it was closed, by hand or because its Principal, tenant or project was removed.
    pub closed: bool,
    /// SHA-256 of its token, in hex.
    pub token_sha256: Option<String>,
    /// The packs activated on it, by id.
    pub packs: Vec<ActivatedPack>,
}

/// A pack activated on a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivatedPack {
    /// Its id.
    pub pack_id: PackId,
    /// The digest it had when it was activated.
    pub digest: String,
}

/// What a Principal may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number, never used twice.
    pub id: i64,
    /// Who holds it.
    pub principal: PrincipalName,
    /// What it covers.
    pub capability: CapabilityPattern,
    /// The tenant it holds in.
    pub tenant_id: TenantId,
    /// The project it is limited to.
    pub project_id: Option<ProjectId>,
    /// When it was added.
    pub added_at: i64,
}

/// Who would be affected by a pack that names a capability word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapabilityUsers {
    /// The packs whose policy names the word.
    pub packs: Vec<PackId>,
    /// The grants that cover it by its words. The bare `*` names no word, and is not among them.
    pub grants: Vec<Grant>,
}
