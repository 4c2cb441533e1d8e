//! Files that only their owner may change: homes, configs, helpers, secrets (§6.7: what mints is not
//! what somebody else put there).
//!
//! A file is only as private as the way to it, so every folder and every link on the way is judged
//! as well, from the root on.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use thiserror::Error;

/// How private a file must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nobody but its owner and root may change it.
    NotWritableByOthers,
    /// A regular file that nobody but its owner and root may even read.
    Secret0600,
}

/// Why a file is not private enough. `kind` is what the file is to its reader: `config`, `secret`.
#[derive(Debug, Error)]
pub enum TrustError {
    /// It is not there, or cannot be looked at.
    #[error("{kind} `{path}`: {source}")]
    Unreadable {
        /// What the file is.
        kind: &'static str,
        /// Where it is.
        path: String,
        /// Why it cannot be looked at.
        source: io::Error,
    },
    /// Others may change it, or put another in its place.
    #[error("{kind} `{path}` can be changed by others: `{culprit}` has mode {mode:04o}")]
    Writable {
        /// What the file is.
        kind: &'static str,
        /// Where it is.
        path: String,
        /// The file itself, or a folder on the way to it.
        culprit: String,
        /// The mode of the culprit.
        mode: u32,
    },
    /// Others may read it.
    #[error("{kind} `{path}` can be read by others: it has mode {mode:04o}")]
    Readable {
        /// What the file is.
        kind: &'static str,
        /// Where it is.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// It, or a folder or link on the way to it, is somebody else's.
    #[error("{kind} `{path}` is not the runtime's own: `{culprit}` belongs to user {owner}")]
    Owner {
        /// What the file is.
        kind: &'static str,
        /// Where it is.
        path: String,
        /// The file itself, or a folder or link on the way to it.
        culprit: String,
        /// The user it belongs to.
        owner: u32,
    },
    /// It is a folder, a device, a pipe, where a file is wanted.
    #[error("{kind} `{path}` is not a regular file")]
    NotAFile {
        /// What the file is.
        kind: &'static str,
        /// Where it is.
        path: String,
    },
}

impl TrustError {
    /// What to do about it, where there is one thing to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Writable { culprit, .. } => Some(format!("chmod go-w {culprit}")),
            Self::Readable { path, .. } => Some(format!("chmod 600 {path}")),
            Self::Owner { culprit, .. } => Some(format!(
                "make the user of the runtime the owner of {culprit}"
            )),
            Self::Unreadable { .. } | Self::NotAFile { .. } => None,
        }
    }
}

/// Makes sure that a file or folder, and every folder and link on the way to it, belongs to root or
/// the runtime's user and can be changed by nobody else. A folder on the way may be open to others
/// when it is sticky, like `/tmp`.
///
/// # Errors
/// [`TrustError`], also when it is not there.
pub fn check_private(path: &Path, kind: &'static str, demand: Demand) -> Result<(), TrustError> {
    Subject { path, kind }.check(demand).map(drop)
}

/// Checks a regular file as [`check_private`] does and opens it for reading: the very file that was
/// checked.
///
/// # Errors
/// [`TrustError`]
pub fn open_private(path: &Path, kind: &'static str, demand: Demand) -> Result<File, TrustError> {
    let subject = Subject { path, kind };
    let (place, checked) = subject.check(demand)?;
    let unreadable = |source| subject.unreadable(source);
    if !checked.is_file() {
        return Err(subject.not_a_file());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(&place, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| unreadable(error.into()))?;
    let opened = file.metadata().map_err(unreadable)?;
    if (opened.dev(), opened.ino()) == (checked.dev(), checked.ino()) {
        Ok(file)
    } else {
        Err(unreadable(io::Error::other(
            "it changed while it was checked",
        )))
    }
}

struct Subject<'a> {
    path: &'a Path,
    kind: &'static str,
}

/// How many links one path may lead through, as in the kernel.
const LINKS: usize = 40;

impl Subject<'_> {
    /// Walks to the file as the kernel would, judging each step; says where it ended and what is there.
    fn check(&self, demand: Demand) -> Result<(PathBuf, Metadata), TrustError> {
        let unreadable = |source| self.unreadable(source);
        let start = std::path::absolute(self.path).map_err(unreadable)?;
        let mut ahead = steps(&start).collect::<VecDeque<_>>();
        let mut place = PathBuf::from("/");
        let mut found = place.symlink_metadata().map_err(unreadable)?;
        let mut links = 0;
        while let Some(step) = ahead.pop_front() {
            self.check_folder(&place, &found)?;
            if step == ".." {
                place.pop();
                found = place.symlink_metadata().map_err(unreadable)?;
                continue;
            }
            let next = place.join(step);
            let metadata = next.symlink_metadata().map_err(unreadable)?;
            if !metadata.is_symlink() {
                (place, found) = (next, metadata);
                continue;
            }
            self.check_owner(&next, &metadata)?;
            links += 1;
            if links > LINKS {
                return Err(unreadable(rustix::io::Errno::LOOP.into()));
            }
            let target = next.read_link().map_err(unreadable)?;
            if target.is_absolute() {
                place = PathBuf::from("/");
                found = place.symlink_metadata().map_err(unreadable)?;
            }
            for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                ahead.push_front(step);
            }
        }
        self.check_itself(&place, &found, demand)?;
        Ok((place, found))
    }

    fn check_folder(&self, place: &Path, found: &Metadata) -> Result<(), TrustError> {
        self.check_owner(place, found)?;
        if found.mode() & 0o022 != 0 && found.mode() & 0o1000 == 0 {
            return Err(self.writable(place, found));
        }
        Ok(())
    }

    fn check_itself(
        &self,
        place: &Path,
        found: &Metadata,
        demand: Demand,
    ) -> Result<(), TrustError> {
        self.check_owner(place, found)?;
        if found.mode() & 0o022 != 0 {
            return Err(self.writable(place, found));
        }
        match demand {
            Demand::Secret0600 if !found.is_file() => Err(self.not_a_file()),
            Demand::Secret0600 if found.mode() & 0o077 != 0 => Err(TrustError::Readable {
                kind: self.kind,
                path: self.path.display().to_string(),
                mode: found.mode() & 0o7777,
            }),
            Demand::Secret0600 | Demand::NotWritableByOthers => Ok(()),
        }
    }

    fn check_owner(&self, place: &Path, found: &Metadata) -> Result<(), TrustError> {
        let owner = found.uid();
        if owner == 0 || owner == rustix::process::geteuid().as_raw() {
            return Ok(());
        }
        Err(TrustError::Owner {
            kind: self.kind,
            path: self.path.display().to_string(),
            culprit: place.display().to_string(),
            owner,
        })
    }

    fn writable(&self, place: &Path, found: &Metadata) -> TrustError {
        TrustError::Writable {
            kind: self.kind,
            path: self.path.display().to_string(),
            culprit: place.display().to_string(),
            mode: found.mode() & 0o7777,
        }
    }

    fn not_a_file(&self) -> TrustError {
        TrustError::NotAFile {
            kind: self.kind,
            path: self.path.display().to_string(),
        }
    }

    fn unreadable(&self, source: io::Error) -> TrustError {
        TrustError::Unreadable {
            kind: self.kind,
            path: self.path.display().to_string(),
            source,
        }
    }
}

/// The names to walk through. `..` is one of them: after a link it leads elsewhere than it reads.
fn steps(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
