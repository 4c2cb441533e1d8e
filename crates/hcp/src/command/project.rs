//! `hcp project`: what a tenant works on.

use clap::Subcommand;
use hcp_spec::ExitStatus;
use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::name::{ProjectId, TenantId};
use serde_json::{Value, json};

use super::{relative, rfc3339};
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Projects {
    /// Add a project
    Add {
        /// Its name
        #[arg(value_name = "NAME")]
        id: ProjectId,
        /// Its tenant
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: TenantId,
    },
    /// List the projects
    List {
        /// Only those of this tenant
        #[arg(long)]
        tenant: Option<TenantId>,
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Remove a project with its grants, and close its sessions
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        id: ProjectId,
        /// Its tenant
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: TenantId,
    },
}

impl Projects {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        match self {
            Self::Add { id, tenant } => {
                installation.operator().add_project(&tenant, &id)?;
                done(terminal, "added", &id, &tenant);
            }
            Self::Remove { id, tenant } => {
                installation.operator().remove_project(&tenant, &id)?;
                done(terminal, "removed", &id, &tenant);
            }
            Self::List { tenant, limit } => {
                let tenant = tenant.as_ref().map(TenantId::as_str);
                let all = installation.runtime.store().projects(tenant)?;
                let all: Vec<_> = all.into_iter().take(limit.unwrap_or(usize::MAX)).collect();
                let data: Vec<Value> = all
                    .iter()
                    .map(|p| {
                        let added = rfc3339(p.added_at);
                        json!({ "tenant_id": p.tenant_id.as_str(), "id": p.id.as_str(), "added_at": added })
                    })
                    .collect();
                terminal.show(&Value::from(data), |page| {
                    let rows = all.iter().map(|p| {
                        vec![
                            p.tenant_id.to_string(),
                            p.id.to_string(),
                            relative(p.added_at),
                        ]
                    });
                    page.table(
                        &["tenant", "project", "added"],
                        rows.collect(),
                        "no projects",
                    );
                });
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn done(terminal: &Terminal, what: &str, id: &ProjectId, tenant: &TenantId) {
    terminal.show(
        &json!({ what: id.as_str(), "tenant_id": tenant.as_str() }),
        |page| {
            page.marked(
                Tone::Good,
                "✓",
                &format!("{what} project {id} of tenant {tenant}"),
            );
        },
    );
}
