//! `hcp principal`: who may act.

use clap::Subcommand;
use hcp_spec::ExitStatus;
use hcp_spec::name::PrincipalName;
use serde_json::{Value, json};

use super::{relative, rfc3339};
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Principals {
    /// Make a Principal known, like agent:builder
    Add {
        /// human:, agent: or service: and a name
        #[arg(value_name = "PRINCIPAL")]
        name: PrincipalName,
    },
    /// List the Principals
    List {
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Remove a Principal with its grants, and close its sessions
    Remove {
        /// The Principal
        #[arg(value_name = "PRINCIPAL")]
        name: PrincipalName,
    },
}

impl Principals {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        match self {
            Self::Add { name } => {
                installation.operator().add_principal(&name)?;
                done(terminal, "added", &name);
            }
            Self::Remove { name } => {
                installation.operator().remove_principal(&name)?;
                done(terminal, "removed", &name);
            }
            Self::List { limit } => {
                let all = installation.runtime.store().principals()?;
                let all: Vec<_> = all.into_iter().take(limit.unwrap_or(usize::MAX)).collect();
                let data: Vec<Value> = all
                    .iter()
                    .map(|p| json!({ "name": p.name.as_str(), "uid": p.uid, "added_at": rfc3339(p.added_at) }))
                    .collect();
                terminal.show(&Value::from(data), |page| {
                    let rows = all
                        .iter()
                        .map(|p| vec![p.name.to_string(), relative(p.added_at)]);
                    page.table(&["principal", "added"], rows.collect(), "no Principals");
                });
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn done(terminal: &Terminal, what: &str, name: &PrincipalName) {
    terminal.show(&json!({ what: name.as_str() }), |page| {
        page.marked(Tone::Good, "✓", &format!("{what} {name}"));
    });
}
