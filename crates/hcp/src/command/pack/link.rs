//! `hcp pack link`: one binary, called by its link's name, is the command line of a pack (§6.5).

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use clap::Args;
use hcp_spec::ExitStatus;
use hcp_spec::name::PackId;
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// What is there and is no link to this hcp is left alone
#[derive(Debug, Args)]
pub(crate) struct Link {
    /// Its id, which is the name of the link as well
    #[arg(value_name = "PACK")]
    id: String,
    /// The folder to put it in [default: ~/.local/bin]
    #[arg(long = "dir", value_name = "D")]
    folder: Option<PathBuf>,
    /// Take the link away again
    #[arg(long)]
    remove: bool,
}

/// What stands under the name of the link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occupant {
    Nobody,
    /// A link that leads to this very program.
    Ours,
    Other,
}

impl Link {
    pub(super) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let id = PackId::parse(&self.id)?;
        // By this name the binary is hcp itself.
        if id.as_str() == "hcp" {
            return Err(Failure::usage(
                "a link of the name `hcp` would be hcp itself",
                "`hcp run hcp` is the command line of this pack",
            ));
        }
        let Some(folder) = self.folder.or_else(|| ambient.programs()) else {
            return Err(Failure::usage(
                "HOME does not say where your programs are",
                "name a folder with --dir",
            ));
        };
        let link = folder.join(id.as_str());
        let failed = |error: io::Error| {
            Failure::usage(
                format!("the link `{}`: {error}", link.display()),
                "name a folder with --dir that you may write",
            )
        };
        let program = std::env::current_exe().map_err(failed)?;
        let occupant = occupant(&link, &program).map_err(failed)?;
        if occupant == Occupant::Other {
            return Err(Failure::usage(
                format!("`{}` is there and is no link to this hcp", link.display()),
                "name another folder with --dir, or move it away yourself",
            ));
        }
        let changed = if self.remove {
            remove(&link, occupant)?
        } else {
            ambient.open()?.operator().installed(id.as_str())?;
            make(&folder, &link, &program, occupant).map_err(failed)?
        };
        let shown = link.display().to_string();
        let data = json!({
            "pack_id": id.as_str(), "link": shown, "linked": !self.remove, "changed": changed
        });
        terminal.show(&data, |page| {
            let what = match (self.remove, changed) {
                (true, _) => "removed",
                (false, true) => "linked",
                (false, false) => "was there already:",
            };
            page.marked(Tone::Good, "✓", &format!("{what} {shown}"));
        });
        Ok(ExitStatus::Ok)
    }
}

fn occupant(link: &Path, program: &Path) -> io::Result<Occupant> {
    let found = match fs::symlink_metadata(link) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::Nobody),
        Err(error) => return Err(error),
    };
    let own = fs::metadata(program)?;
    let leads_here = fs::metadata(link)
        .is_ok_and(|target| (target.dev(), target.ino()) == (own.dev(), own.ino()));
    Ok(if found.is_symlink() && leads_here {
        Occupant::Ours
    } else {
        Occupant::Other
    })
}

/// Makes the link, if it is not there; a link never takes the place of anything.
fn make(folder: &Path, link: &Path, program: &Path, occupant: Occupant) -> io::Result<bool> {
    if occupant == Occupant::Ours {
        return Ok(false);
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)?;
    symlink(program, link)?;
    Ok(true)
}

fn remove(link: &Path, occupant: Occupant) -> Result<bool, Failure> {
    let absent = || {
        Failure::usage(
            format!("there is no link `{}`", link.display()),
            "name the folder that it is in with --dir",
        )
    };
    if occupant == Occupant::Nobody {
        return Err(absent());
    }
    fs::remove_file(link).map_err(|_| absent())?;
    Ok(true)
}
