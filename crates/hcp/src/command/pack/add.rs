//! `hcp pack add`: copy a pack into the home and pin its bytes.

use std::path::PathBuf;

use clap::Args;
use hcp_core::operator::{AddOptions, AddedPack};
use hcp_spec::ExitStatus;
use serde_json::{Value, json};

use super::difference;
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
    /// Put it in the place of the installed one; what changes is shown first, and asked about on a
    /// terminal
    #[arg(long)]
    replace: bool,
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
        if !self.replace {
            show(&operator.add_pack(&self.folder, &options)?, None, terminal);
            return Ok(ExitStatus::Ok);
        }
        let mut accepted = None;
        let added = operator.replace_pack(&self.folder, &options, |difference| {
            difference::tell(difference, terminal);
            accepted = Some(difference::to_json(difference));
            terminal.ask("put it in the place of the installed one?") != Some(false)
        })?;
        let Some(added) = added else {
            terminal.note("nothing was changed");
            return Ok(ExitStatus::Refused);
        };
        show(&added, accepted, terminal);
        Ok(ExitStatus::Ok)
    }
}

fn show(added: &AddedPack, replaced: Option<Value>, terminal: &Terminal) {
    for warning in &added.warnings {
        terminal.warn(&warning.message, &warning.hint);
    }
    let id = added.manifest.id.as_str();
    let mut data = json!({
        "pack_id": id,
        "version": added.manifest.version,
        "digest": added.digest,
        "added": !added.already_there,
    });
    let what = match (added.already_there, &replaced) {
        (true, _) => "was there already:",
        (false, None) => "added",
        (false, Some(_)) => "replaced",
    };
    if let (Some(replaced), Some(members)) = (replaced, data.as_object_mut()) {
        members.insert("replaced".to_owned(), replaced);
    }
    terminal.show(&data, |page| {
        let version = &added.manifest.version;
        page.marked(Tone::Good, "✓", &format!("{what} {id} {version}"));
        page.field("digest", &added.digest);
        page.field("next", &format!("hcp activate {id}"));
    });
}
