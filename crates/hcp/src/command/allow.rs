//! `hcp allow`: the one line that most people want, made of grants.

use std::collections::BTreeSet;

use clap::Args;
use hcp_core::operator::GrantTerms;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::Effect;
use hcp_spec::name::{Capability, CapabilityPattern, ProjectId, TenantId};
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// Grants the capabilities of a pack's verbs, each by its own word, like: hcp allow me ledger --read
#[derive(Debug, Args)]
pub(crate) struct Allow {
    /// Who: a Principal like agent:builder, or `me`
    #[arg(value_name = "PRINCIPAL")]
    principal: String,
    /// The pack
    pack: String,
    /// Those of its verbs that only read
    #[arg(long, required_unless_present_any = ["write", "destructive"])]
    read: bool,
    /// Those of its verbs that write
    #[arg(long)]
    write: bool,
    /// Those of its verbs that may destroy
    #[arg(long)]
    destructive: bool,
    /// In this tenant [default: default]
    #[arg(long)]
    tenant: Option<TenantId>,
    /// Only in this project
    #[arg(long)]
    project: Option<ProjectId>,
}

impl Allow {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let principal = installation.principal_named(&self.principal)?;
        let operator = installation.operator();
        let manifest = operator.load_pack(&self.pack)?.manifest;
        let reaches = |effect| match effect {
            Effect::Read => self.read,
            Effect::Write => self.write,
            Effect::Destructive => self.destructive,
        };
        let (mut words, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (key, policy) in &manifest.policy {
            match manifest.commands.get(key) {
                Some(command) if reaches(command.effect) => words.insert(&policy.capability),
                Some(_) => others.insert(&policy.capability),
                None => false,
            };
        }
        // A word that also opens a verb of another effect would grant more than was asked for.
        if let Some(word) = words.iter().find(|word| others.contains(**word)) {
            return Err(Failure::usage(
                format!(
                    "capability `{word}` opens other verbs of `{}` as well",
                    self.pack
                ),
                format!(
                    "grant it knowingly: hcp grant add {} {word}",
                    self.principal
                ),
            ));
        }
        let mut granted = Vec::new();
        for word in words {
            let terms = GrantTerms {
                principal: principal.clone(),
                capability: exactly(word)?,
                tenant: self.tenant.clone(),
                project: self.project.clone(),
            };
            operator.add_grant(&terms)?;
            granted.push(word.as_str());
        }
        let data = json!({ "principal": principal.as_str(), "granted": granted });
        terminal.show(&data, |page| {
            if granted.is_empty() {
                page.line(&format!("`{}` has no verb of that effect", self.pack));
            } else {
                let text = format!("{principal} holds {}", granted.join(", "));
                page.marked(Tone::Good, "✓", &text);
            }
        });
        Ok(ExitStatus::Ok)
    }
}

fn exactly(capability: &Capability) -> Result<CapabilityPattern, Failure> {
    Ok(CapabilityPattern::parse(capability.as_str())?)
}
