//! State as a [`Store`] answers for it; every question about one thing costs the same, however much
//! there is.

use hcp_spec::name::Capability;

use super::{CapabilityUsers, Grant, InstalledPack, Principal, Project, Session, Tenant, read};
use crate::error::StoreError;
use crate::store::Store;

/// The name of the session that is used when none is named.
const DEFAULT_SESSION: &str = "default";

/// Answers with what the database says; fails with [`StoreError::Corrupt`] where a row does not hold
/// what it must.
impl Store {
    /// The pack of this id.
    ///
    /// # Errors
    /// Those of the database.
    pub fn pack(&self, id: &str) -> Result<Option<InstalledPack>, StoreError> {
        self.ask(|connection| read::pack(connection, id))
    }

    /// Every pack, by id.
    ///
    /// # Errors
    /// Those of the database.
    pub fn packs(&self) -> Result<Vec<InstalledPack>, StoreError> {
        self.ask(read::packs)
    }

    /// The Principal of this name.
    ///
    /// # Errors
    /// Those of the database.
    pub fn principal(&self, name: &str) -> Result<Option<Principal>, StoreError> {
        self.ask(|connection| read::principal(connection, name))
    }

    /// The Principal that stands for a user of the system.
    ///
    /// # Errors
    /// Those of the database.
    pub fn principal_of_uid(&self, uid: u32) -> Result<Option<Principal>, StoreError> {
        self.ask(|connection| read::principal_of_uid(connection, uid))
    }

    /// Every Principal, by name.
    ///
    /// # Errors
    /// Those of the database.
    pub fn principals(&self) -> Result<Vec<Principal>, StoreError> {
        self.ask(read::principals)
    }

    /// The tenant of this id.
    ///
    /// # Errors
    /// Those of the database.
    pub fn tenant(&self, id: &str) -> Result<Option<Tenant>, StoreError> {
        self.ask(|connection| read::tenant(connection, id))
    }

    /// Every tenant, by id.
    ///
    /// # Errors
    /// Those of the database.
    pub fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.ask(read::tenants)
    }

    /// How many tenants there are.
    ///
    /// # Errors
    /// Those of the database.
    pub fn tenant_count(&self) -> Result<u64, StoreError> {
        self.ask(read::tenant_count)
    }

    /// The project of this id in a tenant.
    ///
    /// # Errors
    /// Those of the database.
    pub fn project(&self, tenant_id: &str, id: &str) -> Result<Option<Project>, StoreError> {
        self.ask(|connection| read::project(connection, tenant_id, id))
    }

    /// Every project, of one tenant or of all.
    ///
    /// # Errors
    /// Those of the database.
    pub fn projects(&self, tenant_id: Option<&str>) -> Result<Vec<Project>, StoreError> {
        self.ask(|connection| read::projects(connection, tenant_id))
    }

    /// The session of this id, closed or not, with its activated packs.
    ///
    /// # Errors
    /// Those of the database.
    pub fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        self.ask(|connection| read::session(connection, id))
    }

    /// The session whose token has this SHA-256, in hex; closed or not.
    ///
    /// # Errors
    /// Those of the database.
    pub fn session_of_token(&self, sha256: &str) -> Result<Option<Session>, StoreError> {
        self.ask(|connection| read::session_of_token(connection, sha256))
    }

    /// The session that is used when a Principal names none.
    ///
    /// # Errors
    /// Those of the database.
    pub fn default_session(&self, principal: &str) -> Result<Option<Session>, StoreError> {
        self.ask(|connection| read::named_session(connection, principal, DEFAULT_SESSION))
    }

    /// Every session, closed ones too.
    ///
    /// # Errors
    /// Those of the database.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        self.ask(read::sessions)
    }

    /// What a Principal was granted in a tenant, its projects included.
    ///
    /// # Errors
    /// Those of the database.
    pub fn grants_of(&self, principal: &str, tenant_id: &str) -> Result<Vec<Grant>, StoreError> {
        self.ask(|connection| read::grants_of(connection, principal, tenant_id))
    }

    /// Every grant, oldest first.
    ///
    /// # Errors
    /// Those of the database.
    pub fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.ask(read::grants)
    }

    /// The packs that name a capability word, and the grants that cover it by its words.
    ///
    /// # Errors
    /// Those of the database.
    pub fn capability_users(&self, capability: &Capability) -> Result<CapabilityUsers, StoreError> {
        self.ask(|connection| read::capability_users(connection, capability))
    }
}
