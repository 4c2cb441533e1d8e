//! `hcp config`: the operator's config as it takes effect, and where each part of it comes from.

use std::path::Path;

use clap::Subcommand;
use hcp_core::Settings;
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::ambient::{Ambient, FLOOR};
use crate::failure::Failure;
use crate::terminal::Terminal;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the config as it takes effect; secrets are files, and only their paths are shown
    Show {
        /// Say for each key whether it is written in a file or a default
        #[arg(long)]
        origin: bool,
    },
}

impl ConfigCommand {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let Self::Show { origin } = self;
        let home = ambient.home()?;
        let settings = Settings::read(&home, Some(Path::new(FLOOR)))?;
        let (sandbox, written) = (&settings.sandbox, &settings.config.sandbox);
        let from = |is_written: bool| if is_written { "written" } else { "default" };
        let rows = [
            (
                "store",
                json!(settings.store_file(&home)?),
                from(settings.config.store.url.is_some()),
            ),
            (
                "sandbox.mode",
                json!(sandbox.mode),
                from(written.mode.is_some()),
            ),
            (
                "sandbox.level",
                json!(sandbox.level),
                from(written.level.is_some()),
            ),
            (
                "sandbox.path",
                json!(sandbox.path),
                from(written.path.is_some()),
            ),
            (
                "sandbox.allow_bins",
                json!(sandbox.allow_bins),
                from(written.allow_bins.is_some()),
            ),
            (
                "sandbox.read",
                json!(sandbox.read),
                from(written.read.is_some()),
            ),
            (
                "sandbox.write",
                json!(sandbox.write),
                from(written.write.is_some()),
            ),
            (
                "sandbox.network",
                json!(sandbox.network),
                from(written.network.is_some()),
            ),
            (
                "sandbox.timeout_max",
                json!(sandbox.timeout_max),
                from(written.timeout_max.is_some()),
            ),
            ("bindings", json!(settings.config.bindings), "written"),
            ("tenants", json!(settings.config.tenants), "written"),
            ("policy", json!(settings.config.policy), "written"),
        ];
        let data = rows
            .iter()
            .map(|(key, value, origin_of)| {
                let shown = if origin {
                    json!({ "value": value, "origin": origin_of })
                } else {
                    value.clone()
                };
                ((*key).to_owned(), shown)
            })
            .collect::<serde_json::Map<_, _>>();
        terminal.show(&data.into(), |page| {
            let rows = rows
                .iter()
                .map(|(key, value, origin_of)| {
                    let mut row = vec![(*key).to_owned(), value.to_string()];
                    row.extend(origin.then(|| (*origin_of).to_owned()));
                    row
                })
                .collect();
            let head: &[&str] = if origin {
                &["key", "value", "origin"]
            } else {
                &["key", "value"]
            };
            page.table(head, rows, "no keys");
        });
        Ok(ExitStatus::Ok)
    }
}
