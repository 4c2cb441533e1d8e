//! `hcp doctor`: what calls depend on, looked at one by one, with one mend each.

use std::path::Path;

use clap::Args;
use hcp_core::{Health, examine};
use hcp_spec::ExitStatus;
use serde_json::{Value, json};

use crate::ambient::{Ambient, FLOOR};
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// Changes nothing and mints nothing; the status is 1 when something is broken
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let findings = examine(&ambient.home()?, Some(Path::new(FLOOR)));
        let data: Vec<Value> = findings
            .iter()
            .map(|finding| {
                json!({
                    "subject": finding.subject,
                    "health": finding.health.as_str(),
                    "seen": finding.seen,
                    "mend": finding.mend,
                })
            })
            .collect();
        terminal.show(&Value::from(data), |page| {
            for finding in &findings {
                let (tone, mark) = match finding.health {
                    Health::Good => (Tone::Good, "✓"),
                    Health::Notable => (Tone::Strong, "!"),
                    Health::Broken => (Tone::Bad, "✗"),
                };
                page.marked(
                    tone,
                    mark,
                    &format!("{}: {}", finding.subject, finding.seen),
                );
                if let Some(mend) = &finding.mend {
                    page.field("", mend);
                }
            }
        });
        let broken = findings
            .iter()
            .any(|finding| finding.health == Health::Broken);
        Ok(if broken {
            ExitStatus::AdapterFailed
        } else {
            ExitStatus::Ok
        })
    }
}
