//! Grants: which Principal holds which capability, in which tenant and project.

use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::name::{CapabilityPattern, PrincipalName, ProjectId, TenantId};
use hcp_store::NewGrant;

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
    /// Grants a capability. Granting the same again changes nothing.
    ///
    /// # Errors
    /// When the Principal, tenant or project does not exist.
    pub fn add_grant(&self, terms: &GrantTerms) -> Result<(), CoreError> {
        let tenant = terms
            .tenant
            .as_ref()
            .map_or(DEFAULT_TENANT, TenantId::as_str);
        self.demand_principal(terms.principal.as_str())?;
        self.demand_tenant(tenant)?;
        if let Some(project) = &terms.project {
            self.demand_project(tenant, project.as_str())?;
        }
        let grant = new_grant(terms, tenant);
        self.change("grant add", &subject(terms, tenant), |changes| {
            changes.add_grant(&grant)
        })
    }

    /// Takes a grant back, named as it was given.
    ///
    /// # Errors
    /// When there is no such grant.
    pub fn remove_grant(&self, terms: &GrantTerms) -> Result<(), CoreError> {
        let tenant = terms
            .tenant
            .as_ref()
            .map_or(DEFAULT_TENANT, TenantId::as_str);
        let grant = new_grant(terms, tenant);
        self.change("grant remove", &subject(terms, tenant), |changes| {
            changes.remove_grant(&grant)
        })
    }
}

fn new_grant(terms: &GrantTerms, tenant: &str) -> NewGrant {
    NewGrant {
        principal: terms.principal.as_str().to_owned(),
        capability: terms.capability.clone(),
        tenant_id: tenant.to_owned(),
        project_id: terms
            .project
            .as_ref()
            .map(|project| project.as_str().to_owned()),
    }
}

fn subject<'a>(terms: &'a GrantTerms, tenant: &'a str) -> Subject<'a> {
    Subject {
        tenant: Some(tenant),
        project: terms.project.as_ref().map(ProjectId::as_str),
        capability: Some(terms.capability.as_str()),
        detail: terms.principal.to_string(),
        ..Subject::default()
    }
}
