//! Principals, tenants and projects.

use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::name::{PrincipalName, ProjectId, TenantId};

use super::{Operator, Subject};
use crate::error::CoreError;

impl Operator<'_> {
    /// Makes a Principal known.
    ///
    /// # Errors
    /// When it is known already, or `local:`, which only `init` makes for the user who runs it.
    pub fn add_principal(&self, name: &PrincipalName) -> Result<(), CoreError> {
        if name.as_str().starts_with("local:") {
            return Err(CoreError::NotAllowed {
                what: format!("`{name}` stands for a user of this machine"),
                hint: "that user makes it with `hcp init`; others are human:, agent: or service:"
                    .to_owned(),
            });
        }
        let subject = Subject {
            detail: name.to_string(),
            ..Subject::default()
        };
        self.change("principal add", &subject, |changes| {
            changes.add_principal(name, None)
        })
    }

    /// Removes a Principal with its grants, and closes its sessions.
    ///
    /// # Errors
    /// When there is none, or it is the caller.
    pub fn remove_principal(&self, name: &PrincipalName) -> Result<(), CoreError> {
        self.demand_principal(name.as_str())?;
        if *name == self.principal {
            return Err(CoreError::NotAllowed {
                what: format!("`{name}` is who runs this command"),
                hint: "remove the home to end an installation".to_owned(),
            });
        }
        let subject = Subject {
            detail: name.to_string(),
            ..Subject::default()
        };
        self.change("principal remove", &subject, |changes| {
            changes.remove_principal(name.as_str())
        })
    }

    /// Adds a tenant.
    ///
    /// # Errors
    /// When it is there already.
    pub fn add_tenant(&self, id: &TenantId) -> Result<(), CoreError> {
        let subject = Subject {
            tenant: Some(id.as_str()),
            ..Subject::default()
        };
        self.change("tenant add", &subject, |changes| changes.add_tenant(id))
    }

    /// Removes a tenant with its grants, and closes its sessions. Its records stay.
    ///
    /// # Errors
    /// When there is none, or it is `default`.
    pub fn remove_tenant(&self, id: &TenantId) -> Result<(), CoreError> {
        self.demand_tenant(id.as_str())?;
        if id.as_str() == DEFAULT_TENANT {
            return Err(CoreError::NotAllowed {
                what: "the tenant `default` cannot be removed".to_owned(),
                hint: "close its sessions and remove its grants instead".to_owned(),
            });
        }
        let subject = Subject {
            tenant: Some(id.as_str()),
            ..Subject::default()
        };
        self.change("tenant remove", &subject, |changes| {
            changes.remove_tenant(id.as_str())
        })
    }

    /// Adds a project to a tenant.
    ///
    /// # Errors
    /// When it is there already, or the tenant does not exist.
    pub fn add_project(&self, tenant: &TenantId, id: &ProjectId) -> Result<(), CoreError> {
        self.demand_tenant(tenant.as_str())?;
        let subject = Subject {
            tenant: Some(tenant.as_str()),
            project: Some(id.as_str()),
            ..Subject::default()
        };
        self.change("project add", &subject, |changes| {
            changes.add_project(tenant, id)
        })
    }

    /// Removes a project with its grants, and closes its sessions.
    ///
    /// # Errors
    /// When there is none.
    pub fn remove_project(&self, tenant: &TenantId, id: &ProjectId) -> Result<(), CoreError> {
        self.demand_project(tenant.as_str(), id.as_str())?;
        let subject = Subject {
            tenant: Some(tenant.as_str()),
            project: Some(id.as_str()),
            ..Subject::default()
        };
        self.change("project remove", &subject, |changes| {
            changes.remove_project(tenant.as_str(), id.as_str())
        })
    }

    pub(super) fn demand_principal(&self, name: &str) -> Result<(), CoreError> {
        let store = self.runtime.store();
        if store.principal(name)?.is_some() {
            return Ok(());
        }
        let known: Vec<String> = store
            .principals()?
            .iter()
            .map(|p| p.name.to_string())
            .collect();
        Err(missing("Principal", name, &known))
    }

    pub(super) fn demand_tenant(&self, id: &str) -> Result<(), CoreError> {
        let store = self.runtime.store();
        if store.tenant(id)?.is_some() {
            return Ok(());
        }
        let known: Vec<String> = store
            .tenants()?
            .iter()
            .map(|tenant| tenant.id.to_string())
            .collect();
        Err(missing("tenant", id, &known))
    }

    pub(super) fn demand_project(&self, tenant: &str, id: &str) -> Result<(), CoreError> {
        let store = self.runtime.store();
        if store.project(tenant, id)?.is_some() {
            return Ok(());
        }
        let known: Vec<String> = store
            .projects(Some(tenant))?
            .iter()
            .map(|project| project.id.to_string())
            .collect();
        Err(missing("project", id, &known))
    }
}

fn missing(kind: &'static str, name: &str, known: &[String]) -> CoreError {
    CoreError::Missing {
        kind,
        name: name.to_owned(),
        state: "does not exist",
        nearest: hcp_pack::closest(name, known.iter().map(String::as_str)).map(str::to_owned),
    }
}
