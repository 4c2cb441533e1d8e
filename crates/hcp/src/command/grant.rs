//! `hcp grant`: who holds which capability.

use clap::{Args, Subcommand};
use hcp_core::operator::GrantTerms;
use hcp_spec::ExitStatus;
use hcp_spec::name::{CapabilityPattern, ProjectId, TenantId};
use serde_json::{Value, json};

use super::{relative, rfc3339};
use crate::ambient::{Ambient, Installation};
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Grants {
    /// Grant a capability, like: hcp grant add me ledger:read
    Add(Terms),
    /// List the grants
    List {
        /// Only those of this Principal; `me` is you
        #[arg(long)]
        principal: Option<String>,
        /// Only those in this tenant
        #[arg(long)]
        tenant: Option<TenantId>,
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Take a grant back, named as it was given
    Remove(Terms),
}

#[derive(Debug, Args)]
pub(crate) struct Terms {
    /// Who: a Principal like agent:builder, or `me`
    #[arg(value_name = "PRINCIPAL")]
    principal: String,
    /// What: a capability, or its leading words and `:*`; `*` is everything not destructive
    #[arg(value_name = "CAPABILITY")]
    capability: CapabilityPattern,
    /// In this tenant [default: default]
    #[arg(long)]
    tenant: Option<TenantId>,
    /// Only in this project
    #[arg(long)]
    project: Option<ProjectId>,
}

impl Terms {
    fn read(self, installation: &Installation) -> Result<GrantTerms, Failure> {
        Ok(GrantTerms {
            principal: installation.principal_named(&self.principal)?,
            capability: self.capability,
            tenant: self.tenant,
            project: self.project,
        })
    }
}

impl Grants {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        match self {
            Self::Add(terms) => {
                let terms = terms.read(&installation)?;
                let new = installation.operator().add_grant(&terms)?;
                let (what, by) = if new {
                    ("granted", "to")
                } else {
                    ("held before", "by")
                };
                done(terminal, what, by, &terms);
            }
            Self::Remove(terms) => {
                let terms = terms.read(&installation)?;
                installation.operator().remove_grant(&terms)?;
                done(terminal, "removed", "from", &terms);
            }
            Self::List {
                principal,
                tenant,
                limit,
            } => {
                let principal = principal
                    .map(|text| installation.principal_named(&text))
                    .transpose()?;
                let mut all = installation.runtime.store().grants()?;
                all.retain(|grant| {
                    principal
                        .as_ref()
                        .is_none_or(|name| grant.principal == *name)
                        && tenant.as_ref().is_none_or(|id| grant.tenant_id == *id)
                });
                all.truncate(limit.unwrap_or(usize::MAX));
                list(terminal, &all);
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn list(terminal: &Terminal, all: &[hcp_store::Grant]) {
    let data: Vec<Value> = all
        .iter()
        .map(|grant| {
            json!({
                "principal": grant.principal.as_str(),
                "capability": grant.capability.as_str(),
                "tenant_id": grant.tenant_id.as_str(),
                "project_id": grant.project_id,
                "added_at": rfc3339(grant.added_at),
            })
        })
        .collect();
    terminal.show(&Value::from(data), |page| {
        let rows = all
            .iter()
            .map(|grant| {
                vec![
                    grant.principal.to_string(),
                    grant.capability.to_string(),
                    grant.tenant_id.to_string(),
                    grant
                        .project_id
                        .as_ref()
                        .map_or("any".to_owned(), ToString::to_string),
                    relative(grant.added_at),
                ]
            })
            .collect();
        let head = ["principal", "capability", "tenant", "project", "granted"];
        page.table(
            &head,
            rows,
            "no grants; `hcp grant add PRINCIPAL CAPABILITY` makes one",
        );
    });
}

fn done(terminal: &Terminal, what: &str, preposition: &str, terms: &GrantTerms) {
    let data = json!({ what: terms.capability.as_str(), "principal": terms.principal.as_str() });
    terminal.show(&data, |page| {
        let text = format!(
            "{what} {} {preposition} {}",
            terms.capability, terms.principal
        );
        page.marked(Tone::Good, "✓", &text);
    });
}
