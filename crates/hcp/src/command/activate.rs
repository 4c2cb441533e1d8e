//! `hcp activate` and `hcp deactivate`: which packs a session runs.

use clap::Args;
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// The packs are pinned to the bytes they have now
#[derive(Debug, Args)]
pub(crate) struct Activate {
    /// Packs to activate
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<String>,
    /// Session to activate them on [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
}

/// The session can no longer run them
#[derive(Debug, Args)]
pub(crate) struct Deactivate {
    /// Packs to take off
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<String>,
    /// Session to take them off [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
}

impl Activate {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let session = ambient.session(self.session);
        let id = installation
            .operator()
            .activate(session.as_deref(), &self.packs)?;
        show(terminal, "activated", &id, &self.packs);
        Ok(ExitStatus::Ok)
    }
}

impl Deactivate {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let session = ambient.session(self.session);
        let id = installation
            .operator()
            .deactivate(session.as_deref(), &self.packs)?;
        show(terminal, "deactivated", &id, &self.packs);
        Ok(ExitStatus::Ok)
    }
}

fn show(terminal: &Terminal, what: &str, session: &str, packs: &[String]) {
    terminal.show(&json!({ "session_id": session, what: packs }), |page| {
        page.marked(
            Tone::Good,
            "✓",
            &format!("{what} {} on {session}", packs.join(", ")),
        );
    });
}
