//! The face of the jail on machines that it is not written for: there is none, and nothing runs in less
//! than was asked for.

use std::io;
use std::path::Path;

use hcp_spec::config::Level;

use crate::bin::CheckedBin;
use crate::launch::{Finished, Launch, LaunchError};
use crate::roots::GrantedPath;
use crate::scratch::Scratch;

/// What a jailed call would be given.
#[derive(Debug, Default)]
pub struct Jail<'a> {
    /// The pack.
    pub pack: Option<&'a Path>,
    /// The folder that lasts.
    pub state: Option<&'a Path>,
    /// What may be read.
    pub read: Vec<&'a GrantedPath>,
    /// What may be written.
    pub write: Vec<&'a GrantedPath>,
    /// Programs that the program itself may start.
    pub exec: &'a [CheckedBin],
    /// Where HOME and TMPDIR are at level `no-userns`.
    pub scratch: Option<&'a Scratch>,
}

impl Jail<'_> {
    /// What `HOME` would be inside.
    pub fn home_path() -> &'static Path {
        Path::new("/home/hcp")
    }

    /// What `TMPDIR` would be inside.
    pub fn temporary_path() -> &'static Path {
        Path::new("/tmp")
    }
}

/// How much isolation there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelReport {
    /// The highest level that can be had.
    pub level: Level,
    /// What is missing for the level above it.
    pub missing: Vec<String>,
}

/// A file that would keep the answer.
#[derive(Clone, Copy, Debug)]
pub enum LevelCache<'a> {
    /// Only looked at.
    Read(&'a Path),
    /// Looked at, and written when it does not say.
    Keep(&'a Path),
}

/// None.
pub fn available_level(_: LevelCache<'_>) -> LevelReport {
    LevelReport {
        level: Level::None,
        missing: vec![MISSING.to_owned()],
    }
}

const MISSING: &str = "a jail for this kind of machine";

/// Runs nothing.
///
/// # Errors
/// Always.
pub fn run_jailed(_: Launch<'_>, _: &Jail<'_>) -> Result<Finished, LaunchError> {
    Err(LaunchError::Isolation {
        layer: MISSING,
        source: io::ErrorKind::Unsupported.into(),
    })
}

/// Nothing is kept.
pub const fn tidy() {}

/// There is no jail that could leave anything unenforced.
pub const fn unenforced_in_jail(_: Level) -> Vec<&'static str> {
    Vec::new()
}
