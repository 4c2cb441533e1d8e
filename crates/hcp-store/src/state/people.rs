//! Changing who there is and what they may do: Principals, tenants, projects, grants.

use hcp_spec::name::{CapabilityPattern, PrincipalName, ProjectId, TenantId};
use rusqlite::params;

use super::changes::{already_there, found};
use super::{Changes, read};
use crate::audit::write::begin_trail;
use crate::error::StoreError;
use crate::identity::now;

impl Changes<'_> {
    /// Adds a Principal, with the user of the system it stands for.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`] when the name or the user is taken.
    pub fn add_principal(&self, name: &PrincipalName, uid: Option<u32>) -> Result<(), StoreError> {
        if let Some(uid) = uid {
            let holder = self.read(|connection| read::principal_of_uid(connection, uid))?;
            if let Some(holder) = holder {
                return Err(already_there("Principal", holder.name.as_str()));
            }
        }
        let added = self.execute(
            "INSERT INTO principal (name, uid, added_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![name.as_str(), uid, now()],
        )?;
        if added == 0 {
            return Err(already_there("Principal", name.as_str()));
        }
        Ok(())
    }

    /// Removes a Principal and its grants, and closes its sessions.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn remove_principal(&self, name: &str) -> Result<(), StoreError> {
        let removed = self.execute("DELETE FROM principal WHERE name = ?1", [name])?;
        found(removed, "Principal", name)?;
        self.execute(
            "UPDATE session SET closed = 1 WHERE principal = ?1 AND closed = 0",
            [name],
        )?;
        Ok(())
    }

    /// Adds a tenant and begins its audit trail, unless one is left from before.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`].
    pub fn add_tenant(&self, id: &TenantId) -> Result<(), StoreError> {
        let added = self.execute(
            "INSERT INTO tenant (id, added_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![id.as_str(), now()],
        )?;
        if added == 0 {
            return Err(already_there("tenant", id.as_str()));
        }
        begin_trail(self.connection, id.as_str()).map_err(|fault| fault.at(self.path))
    }

    /// Removes a tenant with its projects and grants, and closes its sessions. Its audit trail stays.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn remove_tenant(&self, id: &str) -> Result<(), StoreError> {
        let removed = self.execute("DELETE FROM tenant WHERE id = ?1", [id])?;
        found(removed, "tenant", id)?;
        self.execute(
            "UPDATE session SET closed = 1 WHERE tenant_id = ?1 AND closed = 0",
            [id],
        )?;
        Ok(())
    }

    /// Adds a project to a tenant.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for the tenant, [`StoreError::AlreadyThere`] for the project.
    pub fn add_project(&self, tenant_id: &TenantId, id: &ProjectId) -> Result<(), StoreError> {
        self.require_tenant(tenant_id)?;
        let added = self.execute(
            "INSERT INTO project (tenant_id, id, added_at) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![tenant_id.as_str(), id.as_str(), now()],
        )?;
        if added == 0 {
            return Err(already_there("project", id.as_str()));
        }
        Ok(())
    }

    /// Removes a project with the grants limited to it, and closes its sessions.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn remove_project(&self, tenant_id: &str, id: &str) -> Result<(), StoreError> {
        let place = [tenant_id, id];
        let removed = self.execute(
            "DELETE FROM project WHERE tenant_id = ?1 AND id = ?2",
            place,
        )?;
        found(removed, "project", id)?;
        self.execute(
            "UPDATE session SET closed = 1 WHERE tenant_id = ?1 AND project_id = ?2 AND closed = 0",
            place,
        )?;
        Ok(())
    }

    /// Grants a capability, in a tenant or only in one of its projects. Answers with the number of
    /// the grant.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for the Principal, tenant or project, [`StoreError::AlreadyThere`]
    /// for the very same grant.
    pub fn add_grant(
        &self,
        principal: &PrincipalName,
        capability: &CapabilityPattern,
        tenant_id: &TenantId,
        project_id: Option<&ProjectId>,
    ) -> Result<i64, StoreError> {
        self.require_principal(principal)?;
        self.require_tenant(tenant_id)?;
        self.require_project(tenant_id, project_id)?;
        let added = self.execute(
            "INSERT INTO principal_grant (principal, tenant_id, project_id, capability, added_at)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            params![
                principal.as_str(),
                tenant_id.as_str(),
                project_id.map(ProjectId::as_str),
                capability.as_str(),
                now()
            ],
        )?;
        if added == 0 {
            return Err(already_there("grant", capability.as_str()));
        }
        Ok(self.connection.last_insert_rowid())
    }

    /// Takes a grant back: the one with exactly this pattern, tenant and project.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn remove_grant(
        &self,
        principal: &str,
        capability: &str,
        tenant_id: &str,
        project_id: Option<&str>,
    ) -> Result<(), StoreError> {
        let removed = self.execute(
            "DELETE FROM principal_grant WHERE principal = ?1 AND tenant_id = ?2
             AND capability = ?3 AND ifnull(project_id, '') = ifnull(?4, '')",
            params![principal, tenant_id, capability, project_id],
        )?;
        found(removed, "grant", capability)
    }

    pub(super) fn require_principal(&self, name: &PrincipalName) -> Result<(), StoreError> {
        let there = self.read(|connection| read::principal(connection, name.as_str()))?;
        found(usize::from(there.is_some()), "Principal", name.as_str())
    }

    pub(super) fn require_tenant(&self, id: &TenantId) -> Result<(), StoreError> {
        let there = self.read(|connection| read::tenant(connection, id.as_str()))?;
        found(usize::from(there.is_some()), "tenant", id.as_str())
    }

    pub(super) fn require_project(
        &self,
        tenant_id: &TenantId,
        id: Option<&ProjectId>,
    ) -> Result<(), StoreError> {
        let Some(id) = id else {
            return Ok(());
        };
        let there =
            self.read(|connection| read::project(connection, tenant_id.as_str(), id.as_str()))?;
        found(usize::from(there.is_some()), "project", id.as_str())
    }
}
