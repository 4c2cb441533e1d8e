//! Grants: which Principal holds which capability, in which tenant and project.

use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::name::{CapabilityPattern, PrincipalName, ProjectId, TenantId};

use super::{Operator, Subject};
use crate::error::CoreError;

/// What a grant is about.
#[derive(Clone, Debug)]
pub struct GrantTerms {
    /// Who holds it.
    pub principal: PrincipalName,
    /// What it covers.
    pub capability: CapabilityPattern,
    /// In which tenant; `default` when absent.
    pub tenant: Option<TenantId>,
    /// In which project; everywhere in the tenant when absent.
    pub project: Option<ProjectId>,
}

impl Operator<'_> {
    /// Grants a capability. Granting the same again changes nothing and says so with `false`.
    ///
    /// # Errors
    /// When the Principal, tenant or project does not exist.
    pub fn add_grant(&self, terms: &GrantTerms) -> Result<bool, CoreError> {
        let tenant = terms.tenant()?;
        self.demand_principal(terms.principal.as_str())?;
        self.demand_tenant(tenant.as_str())?;
        if let Some(project) = &terms.project {
            self.demand_project(tenant.as_str(), project.as_str())?;
        }
        let held = self
            .runtime
            .store()
            .grants_of(terms.principal.as_str(), tenant.as_str())?;
        if held
            .iter()
            .any(|grant| grant.capability == terms.capability && grant.project_id == terms.project)
        {
            return Ok(false);
        }
        self.change("grant add", &terms.subject(&tenant), |changes| {
            let project = terms.project.as_ref();
            changes.add_grant(&terms.principal, &terms.capability, &tenant, project)
        })?;
        Ok(true)
    }

    /// Takes a grant back, named as it was given.
    ///
    /// # Errors
    /// When there is no such grant.
    pub fn remove_grant(&self, terms: &GrantTerms) -> Result<(), CoreError> {
        let tenant = terms.tenant()?;
        self.change("grant remove", &terms.subject(&tenant), |changes| {
            changes.remove_grant(
                terms.principal.as_str(),
                terms.capability.as_str(),
                tenant.as_str(),
                terms.project.as_ref().map(ProjectId::as_str),
            )
        })
    }
}

impl GrantTerms {
    fn tenant(&self) -> Result<TenantId, CoreError> {
        match &self.tenant {
            Some(tenant) => Ok(tenant.clone()),
            None => Ok(TenantId::parse(DEFAULT_TENANT)?),
        }
    }

    fn subject<'a>(&'a self, tenant: &'a TenantId) -> Subject<'a> {
        Subject {
            tenant: Some(tenant.as_str()),
            project: self.project.as_ref().map(ProjectId::as_str),
            capability: Some(self.capability.as_str()),
            detail: self.principal.to_string(),
            ..Subject::default()
        }
    }
}
