//! `hcp status`: the installation on one screen.

use clap::Args;
use hcp_sandbox::{LevelCache, LevelReport, available_level};
use hcp_spec::ExitStatus;
use hcp_spec::config::Mode;
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Mints nothing and changes nothing
#[derive(Debug, Args)]
pub(crate) struct Status {}

impl Status {
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let runtime = &installation.runtime;
        let home = runtime.home();
        let sandbox = &runtime.settings().sandbox;
        let isolation = available_level(LevelCache::Read(&home.isolation_file()));
        let session = ambient.session(None);
        let session = installation.operator().session(session.as_deref()).ok();
        let (packs, principals, tenants, grants) = {
            let store = runtime.store();
            let counted = (store.packs()?.len(), store.principals()?.len());
            (
                counted.0,
                counted.1,
                store.tenant_count()?,
                store.grants()?.len(),
            )
        };
        let active: Vec<String> = session
            .iter()
            .flat_map(|session| session.packs.iter().map(|pack| pack.pack_id.to_string()))
            .collect();
        let data = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "home": home.data_folder(),
            "config": home.config_file(),
            "config_exists": home.config_file().exists(),
            "principal": installation.principal.as_str(),
            "session_id": session.as_ref().map(|session| session.id.clone()),
            "activated": active,
            "sandbox_mode": sandbox.mode.as_str(),
            "isolation_level": isolation.level.as_str(),
            "isolation_missing": isolation.missing,
            "standing": "advisory",
            "packs": packs,
            "principals": principals,
            "tenants": tenants,
            "grants": grants,
        });
        terminal.show(&data, |page| {
            page.field("hcp", env!("CARGO_PKG_VERSION"));
            page.field("home", &home.data_folder().display().to_string());
            let config = home.config_file();
            let there = if config.exists() {
                ""
            } else {
                " (absent: every default)"
            };
            page.field("config", &format!("{}{there}", config.display()));
            page.field("you are", installation.principal.as_str());
            page.field(
                "session",
                session.as_ref().map_or("none", |session| &session.id),
            );
            let active = active.join(" ");
            page.field(
                "activated",
                if active.is_empty() {
                    "no pack"
                } else {
                    &active
                },
            );
            page.field("sandbox", &mode(sandbox.mode, &isolation));
            page.field(
                "standing",
                "advisory: what runs as your own user could open this home itself",
            );
            page.field(
                "holds",
                &format!(
                    "packs {packs}, Principals {principals}, tenants {tenants}, grants {grants}"
                ),
            );
        });
        Ok(ExitStatus::Ok)
    }
}

fn mode(mode: Mode, isolation: &LevelReport) -> String {
    match mode {
        Mode::Sandbox if isolation.missing.is_empty() => {
            format!("sandbox: level {}", isolation.level.as_str())
        }
        Mode::Sandbox => format!(
            "sandbox: level {}; missing for more: {}",
            isolation.level.as_str(),
            isolation.missing.join(", ")
        ),
        Mode::NativeLocal => "native-local: limits, no isolation; chosen in the config".to_owned(),
    }
}
