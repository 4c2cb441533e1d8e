//! The acts of the operator: everything that changes what calls may do. Each act and its `admin`
//! record are one transaction, so neither is ever there without the other.

mod composites;
mod grants;
mod installation;
mod packs;
mod people;
mod sessions;

use hcp_spec::audit::{AuditEvent, AuditKind, DEFAULT_TENANT};
use hcp_spec::name::PrincipalName;
use hcp_store::{Changes, StoreError};

pub use grants::GrantTerms;
pub use installation::{Caller, Initialised, initialise};
pub use packs::{AddOptions, AddedPack};
pub use sessions::{OpenOptions, OpenedSession};

use crate::error::CoreError;
use crate::runtime::Runtime;

/// The operator at work on an opened installation.
pub struct Operator<'a> {
    runtime: &'a Runtime,
    principal: PrincipalName,
}

impl<'a> Operator<'a> {
    /// The operator is whoever may open the home; `principal` is who the records name.
    pub const fn new(runtime: &'a Runtime, principal: PrincipalName) -> Self {
        Self { runtime, principal }
    }

    /// Who acts.
    pub const fn principal(&self) -> &PrincipalName {
        &self.principal
    }

    /// Carries out one act with its record. `act` is what the command line calls it, `subject` what
    /// it is done to; the record belongs to the tenant that it concerns.
    fn change<T>(
        &self,
        act: &str,
        subject: &Subject<'_>,
        make: impl FnOnce(&Changes<'_>) -> Result<T, StoreError>,
    ) -> Result<T, CoreError> {
        let tenant = subject.tenant.unwrap_or(DEFAULT_TENANT);
        let event = AuditEvent {
            pack_id: subject.pack_id.map(str::to_owned),
            pack_digest: subject.digest.map(str::to_owned),
            verb_key: Some(act.to_owned()),
            ok: Some(true),
            detail: (!subject.detail.is_empty()).then(|| subject.detail.clone()),
            project_id: subject.project.map(str::to_owned),
            session_id: subject.session.map(str::to_owned),
            capability: subject.capability.map(str::to_owned),
            ..AuditEvent::new(
                AuditKind::Admin,
                tenant,
                self.principal.as_str(),
                self.runtime.runtime_id(),
            )
        };
        Ok(self.runtime.store().change(&event, make)?)
    }
}

/// What an act is done to, as its record tells it.
#[derive(Default)]
struct Subject<'a> {
    tenant: Option<&'a str>,
    project: Option<&'a str>,
    session: Option<&'a str>,
    pack_id: Option<&'a str>,
    digest: Option<&'a str>,
    capability: Option<&'a str>,
    detail: String,
}
