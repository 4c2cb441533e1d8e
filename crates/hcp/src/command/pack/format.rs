//! `hcp pack fmt`: the keys of a manifest in order, its spaces in place, its comments kept.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use hcp_pack::{Format, format_manifest, manifest_source};
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// With --check nothing is written, and the exit status is 1 when something would be
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// The folder that holds hcp.toml or hcp.json
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only say whether the manifest is formatted
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(super) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let source = manifest_source(&self.folder)?;
        let formatted = format_manifest(&source)?;
        let name = match source.format {
            Format::Toml => "hcp.toml",
            Format::Json => "hcp.json",
        };
        let path = self.folder.join(name);
        let changes = formatted != source.text;
        if changes && !self.check {
            replace(&path, &formatted).map_err(|error| {
                Failure::usage(
                    format!("`{}` could not be written: {error}", path.display()),
                    "give yourself the right to write the folder; the file is as it was",
                )
            })?;
        }
        let what = match (changes, self.check) {
            (false, _) => "is formatted",
            (true, false) => "was formatted",
            (true, true) => "is not formatted",
        };
        let data = json!({ "file": path.display().to_string(), "changed": changes });
        terminal.show(&data, |page| {
            let (tone, mark) = if changes && self.check {
                (Tone::Bad, "✗")
            } else {
                (Tone::Good, "✓")
            };
            page.marked(tone, mark, &format!("{} {what}", path.display()));
        });
        Ok(if changes && self.check {
            ExitStatus::AdapterFailed
        } else {
            ExitStatus::Ok
        })
    }
}

/// Puts the text in the place of the file in one step, with the file's mode.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::symlink_metadata(path)?.permissions();
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(permissions))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
