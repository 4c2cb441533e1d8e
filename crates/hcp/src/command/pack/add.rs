//! `hcp pack add`: copy a pack into the home and pin its bytes.

use std::path::PathBuf;

use clap::Args;
use hcp_core::operator::AddOptions;
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The folder that holds hcp.toml or hcp.json
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A bin outside of the pack that it may use; may be given several times
    #[arg(long = "allow-bin", value_name = "BIN")]
    allow_bins: Vec<String>,
    /// A capability word that it may share with other packs and standing grants
    #[arg(long = "share-capability", value_name = "WORD")]
    share_capabilities: Vec<String>,
    /// Run it from where it is, unpinned; for authors
    #[arg(long)]
    link: bool,
}

impl Add {
    pub(super) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let operator = installation.operator();
        let options = AddOptions {
            allow_bins: self.allow_bins,
            share_capabilities: self.share_capabilities,
            link: self.link,
        };
        let added = operator.add_pack(&self.folder, &options)?;
        for warning in &added.warnings {
            terminal.warn(&warning.message, &warning.hint);
        }
        let id = added.manifest.id.as_str();
        let data = json!({
            "pack_id": id,
            "version": added.manifest.version,
            "digest": added.digest,
            "added": !added.already_there,
        });
        terminal.show(&data, |page| {
            let what = if added.already_there {
                "was there already:"
            } else {
                "added"
            };
            page.marked(
                Tone::Good,
                "✓",
                &format!("{what} {id} {}", added.manifest.version),
            );
            page.field("digest", &added.digest);
            page.field("next", &format!("hcp activate {id}"));
        });
        Ok(ExitStatus::Ok)
    }
}
