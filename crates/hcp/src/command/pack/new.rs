//! `hcp pack new`: a pack to start from, which passes lint and its tests as it is written.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use hcp_spec::ExitStatus;
use hcp_spec::name::PackId;
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

const MANIFEST: &str = include_str!("template/hcp.toml");
const TOOL: &str = include_str!("template/tool");

/// The folder must be new or empty
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The id of the pack [default: the name of the folder]
    #[arg(long)]
    id: Option<String>,
}

impl New {
    pub(super) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let id = self.id()?;
        let id = id.as_str();
        let shown = self.folder.display().to_string();
        let failed = |error: io::Error| {
            Failure::usage(
                format!("the pack `{shown}` could not be written: {error}"),
                "name a folder that is not there yet, or an empty one, where you may write",
            )
        };
        let folder = self.folder.as_path();
        make_empty(folder).map_err(failed)?;
        let tool = format!("bin/{id}");
        // Editors complete and check the manifest by it; the manifest's first line names it.
        let schema = format!("{:#}\n", hcp_pack::manifest_schema());
        let files = [
            ("hcp.toml", MANIFEST.replace("PACK", id), 0o644),
            ("hcp.schema.json", schema, 0o644),
            (tool.as_str(), TOOL.to_owned(), 0o755),
        ];
        for (name, text, mode) in &files {
            write(&folder.join(name), text, *mode).map_err(failed)?;
        }
        let data = json!({
            "pack_id": id,
            "folder": shown,
            "files": files.each_ref().map(|(name, ..)| *name),
        });
        terminal.show(&data, |page| {
            page.marked(Tone::Good, "✓", &format!("wrote {id} to {shown}"));
            for next in ["lint", "test", "add"] {
                page.field("next", &format!("hcp pack {next} {shown}"));
            }
        });
        Ok(ExitStatus::Ok)
    }

    fn id(&self) -> Result<PackId, Failure> {
        let named = match &self.id {
            Some(id) => Some(id.clone()),
            None => std::path::absolute(&self.folder)
                .ok()
                .and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned())),
        };
        let named = named.unwrap_or_default();
        PackId::parse(&named).map_err(|error| {
            Failure::usage(
                error.to_string(),
                "name it with --id, like: hcp pack new DIR --id ledger",
            )
        })
    }
}

fn make_empty(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        return Err(io::Error::other("something is in it already"));
    }
    DirBuilder::new().mode(0o755).create(folder.join("bin"))
}

fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(text.as_bytes())
}
