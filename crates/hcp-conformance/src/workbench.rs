//! The folder of one case: the probe and the helpers that its packs use, and the logs they write.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::corpus::Helper;
use crate::error::KitError;
use crate::mint;
use crate::probe::{self, Spawn};
use crate::protocol::PackFile;

/// The folder of a run, with the kit itself under a short path: what stands after `#!` may be neither
/// long nor hold spaces.
pub struct Workshop {
    folder: TempDir,
    kit: PathBuf,
}

impl Workshop {
    /// Makes the folder; `kit` is the program that probes and helpers are.
    ///
    /// # Errors
    /// [`KitError::Io`]
    pub fn new(kit: &Path) -> Result<Self, KitError> {
        let making = "making the folder of the run";
        let folder = tempfile::Builder::new()
            .prefix("hcp-kit-")
            .tempdir()
            .map_err(KitError::io(making))?;
        let short = folder.path().join("kit");
        place_kit(kit, &short).map_err(KitError::io(making))?;
        Ok(Self { folder, kit: short })
    }

    /// Makes the folder of the case with this number.
    ///
    /// # Errors
    /// [`KitError::Io`]
    pub fn bench(&self, number: usize) -> Result<Workbench, KitError> {
        let making = "making the folder of a case";
        let folder = self.folder.path().join(format!("case-{number}"));
        fs::create_dir(&folder).map_err(KitError::io(making))?;
        let bench = Workbench {
            spawn_log: folder.join("spawns.jsonl"),
            mint_log: folder.join("mints.jsonl"),
            outside: folder.join("outside-probe"),
            kit: self.kit.clone(),
            folder,
        };
        write_program(&bench.outside, &bench.probe())?;
        Ok(bench)
    }
}

/// The folder of one case, gone when it is dropped.
pub struct Workbench {
    folder: PathBuf,
    kit: PathBuf,
    spawn_log: PathBuf,
    mint_log: PathBuf,
    outside: PathBuf,
}

/// How far the logs have grown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    spawns: usize,
    mints: usize,
}

impl Workbench {
    /// The files of a pack, beside its manifest.
    pub fn pack_files(&self, pack_id: &str) -> Vec<PackFile> {
        vec![
            PackFile {
                path: "bin/probe".to_owned(),
                executable: true,
                text: self.probe(),
            },
            PackFile {
                path: probe::MARKER.to_owned(),
                executable: false,
                text: marker(pack_id),
            },
        ]
    }

    /// Makes a helper for the variables `env` of a pack and returns its path.
    ///
    /// # Errors
    /// [`KitError::Io`]
    pub fn helper(&self, pack_id: &str, mode: Helper, env: &[String]) -> Result<PathBuf, KitError> {
        let path = self.folder.join(format!("mint-{pack_id}"));
        write_program(&path, &mint::script(&self.kit, &self.mint_log, mode, env))?;
        Ok(path)
    }

    /// Replaces `{outside}` by the path of a probe that stands in no pack.
    pub fn fill_in(&self, text: &str) -> String {
        text.replace("{outside}", &self.outside.to_string_lossy())
    }

    /// The same for every text within a value.
    pub fn fill_in_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.fill_in(text),
            Value::Array(elements) => elements.iter_mut().for_each(|one| self.fill_in_value(one)),
            Value::Object(fields) => fields.values_mut().for_each(|one| self.fill_in_value(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Where the logs end now.
    ///
    /// # Errors
    /// [`KitError::Io`] when a log cannot be read.
    pub fn mark(&self) -> Result<Mark, KitError> {
        Ok(Mark {
            spawns: lines(&self.spawn_log)?.len(),
            mints: lines(&self.mint_log)?.len(),
        })
    }

    /// What was started since.
    ///
    /// # Errors
    /// [`KitError::Io`] when the log cannot be read.
    pub fn spawns_since(&self, mark: Mark) -> Result<Vec<Spawn>, KitError> {
        let lines = lines(&self.spawn_log)?;
        let new = lines.iter().skip(mark.spawns);
        Ok(new
            .map(|line| serde_json::from_str(line).unwrap_or_default())
            .collect())
    }

    /// How often something was minted since.
    ///
    /// # Errors
    /// [`KitError::Io`] when the log cannot be read.
    pub fn mints_since(&self, mark: Mark) -> Result<usize, KitError> {
        Ok(lines(&self.mint_log)?.len().saturating_sub(mark.mints))
    }

    fn probe(&self) -> String {
        probe::script(&self.kit, &self.spawn_log)
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Puts the kit under a short path. One that others may write (a build under a lax umask) is copied:
/// a careful runtime would rightly not start it.
fn place_kit(kit: &Path, short: &Path) -> std::io::Result<()> {
    if fs::metadata(kit)?.permissions().mode() & 0o022 == 0 {
        return symlink(kit, short);
    }
    fs::copy(kit, short)?;
    fs::set_permissions(short, fs::Permissions::from_mode(0o755))
}

/// What the marker file of a pack holds.
pub fn marker(pack_id: &str) -> String {
    format!("root of {pack_id}\n")
}

fn lines(log: &Path) -> Result<Vec<String>, KitError> {
    match fs::read_to_string(log) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(KitError::Io {
            what: "reading a log",
            error,
        }),
    }
}

pub(crate) fn write_program(path: &Path, text: &str) -> Result<(), KitError> {
    let writing = "writing a program";
    fs::write(path, text).map_err(KitError::io(writing))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(KitError::io(writing))
}
