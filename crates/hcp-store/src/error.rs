//! What can go wrong with the store: one line that names the file, and what to do about it.

use std::path::PathBuf;

use thiserror::Error;

/// Why the store could not answer, or would not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no database yet.
    #[error("no installation at `{}`", path.display())]
    NotInitialised {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// The file is no database, or the database of another program. It was not touched.
    #[error("`{}` is not a database of hcp", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// A newer hcp wrote the database, in a form that this one would misread.
    #[error("`{}` has schema {version}, and this hcp reads up to {known}", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version of the database.
        version: u32,
        /// The version that this program knows.
        known: u32,
    },
    /// An older hcp wrote the database, and reading must not bring it up to date.
    #[error("`{}` still has schema {version}, and this hcp reads {known}", path.display())]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// The version of the database.
        version: u32,
        /// The version that this program knows.
        known: u32,
    },
    /// Pages or rows do not hold what they must.
    #[error("`{}` is damaged: {what}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The file or its folder cannot be written.
    #[error("`{}` cannot be written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk, a quota or a limit of the process leaves no room.
    #[error("no room left to write `{}`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process kept the database for longer than we wait.
    #[error("`{}` is in use by another process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Others than the owner could rewrite the database.
    #[error("`{}` can be written by others (mode {mode:04o})", path.display())]
    WritableByOthers {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Any other fault of a file or folder.
    #[error("`{}`: {reason}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The system gave no random bits.
    #[error("no random bits to be had: {0}")]
    Random(String),
    /// What was to be added is there already.
    #[error("{kind} `{name}` is already there")]
    AlreadyThere {
        /// The kind of thing, as people call it.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A capability word of a pack that is to be added is somebody's already.
    #[error("capability `{word}` is already used by {by}")]
    CapabilityInUse {
        /// The word.
        word: String,
        /// Who uses it.
        by: String,
    },
    /// What was to be changed, used or removed is not there.
    #[error("{kind} `{name}` is not there")]
    NotThere {
        /// The kind of thing, as people call it.
        kind: &'static str,
        /// Its name.
        name: String,
    },
}

impl StoreError {
    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotInitialised { .. } => "run `hcp init`",
            Self::NotADatabase { .. } => {
                "it was left as it is; move it away, or choose another `HCP_HOME` or `store.url`"
            }
            Self::NewerSchema { .. } => "use the hcp that wrote it, or a newer one",
            Self::OlderSchema { .. } => {
                "any command that writes, like `hcp exec`, brings it up to date"
            }
            Self::Corrupt { .. } => {
                "keep a copy, look with `hcp audit verify`, and restore a backup"
            }
            Self::ReadOnly { .. } => {
                "check who owns the file and its folder, and whether they are mounted read-only"
            }
            Self::Full { .. } => "free some space; what was written before is whole",
            Self::Busy { .. } => "try again, or look for a process that holds it",
            Self::WritableByOthers { path, .. } => {
                return Some(format!("run `chmod 600 {}`", path.display()));
            }
            Self::Io { .. }
            | Self::Random(_)
            | Self::AlreadyThere { .. }
            | Self::CapabilityInUse { .. }
            | Self::NotThere { .. } => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}
