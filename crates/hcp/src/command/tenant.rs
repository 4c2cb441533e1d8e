//! `hcp tenant`: who is kept apart from whom.

use clap::Subcommand;
use hcp_spec::ExitStatus;
use hcp_spec::name::TenantId;
use serde_json::{Value, json};

use super::{relative, rfc3339};
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Tenants {
    /// Add a tenant
    Add {
        /// Its name
        #[arg(value_name = "NAME")]
        id: TenantId,
    },
    /// List the tenants
    List {
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Remove a tenant with its grants, and close its sessions; its records stay
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        id: TenantId,
    },
}

impl Tenants {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        match self {
            Self::Add { id } => {
                installation.operator().add_tenant(&id)?;
                done(terminal, "added", &id);
            }
            Self::Remove { id } => {
                installation.operator().remove_tenant(&id)?;
                done(terminal, "removed", &id);
            }
            Self::List { limit } => {
                let all = installation.runtime.store().tenants()?;
                let all: Vec<_> = all.into_iter().take(limit.unwrap_or(usize::MAX)).collect();
                let data: Vec<Value> = all
                    .iter()
                    .map(|t| json!({ "id": t.id.as_str(), "added_at": rfc3339(t.added_at) }))
                    .collect();
                terminal.show(&Value::from(data), |page| {
                    let rows = all
                        .iter()
                        .map(|t| vec![t.id.to_string(), relative(t.added_at)]);
                    page.table(&["tenant", "added"], rows.collect(), "no tenants");
                });
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn done(terminal: &Terminal, what: &str, id: &TenantId) {
    terminal.show(&json!({ what: id.as_str() }), |page| {
        page.marked(Tone::Good, "✓", &format!("{what} tenant {id}"));
    });
}
