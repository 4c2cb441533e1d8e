//! Paths that arguments name, resolved beneath what the operator opened.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, open, statat};
use rustix::io::Errno;

use crate::beneath::open_beneath;

/// Folders (or single files) that the operator opened, held open.
#[derive(Debug, Default)]
pub struct Roots {
    roots: Vec<Root>,
    missing: Vec<PathBuf>,
}

#[derive(Debug)]
struct Root {
    path: PathBuf,
    place: OwnedFd,
}

/// A path that stands beneath a root, with what it led to when it was asked about.
#[derive(Debug)]
pub struct GrantedPath {
    path: PathBuf,
    place: OwnedFd,
    exists: bool,
}

impl Roots {
    /// Opens every root. One that is missing grants nothing and is remembered.
    ///
    /// # Errors
    /// When a root is there and cannot be opened, or is not absolute.
    pub fn open(paths: &[PathBuf]) -> io::Result<Self> {
        let mut opened = Self::default();
        for path in paths {
            if !path.is_absolute() {
                let message = format!("`{}` is not an absolute path", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            match open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                Ok(place) => opened.roots.push(Root {
                    path: path.clone(),
                    place,
                }),
                Err(Errno::NOENT | Errno::NOTDIR) => opened.missing.push(path.clone()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(opened)
    }

    /// The roots that are not there.
    pub fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// Resolves a path beneath one of the roots, or grants nothing.
    ///
    /// The path must be absolute and begin with the text of a root. From there on the kernel walks
    /// it: a `..` or a link that leads out is refused even where it would come back. The last
    /// component may be missing, so that a call can be given a file to make; nothing before it may.
    pub fn resolve(&self, path: &Path) -> Option<GrantedPath> {
        if !path.is_absolute() {
            return None;
        }
        self.roots.iter().find_map(|root| root.resolve(path))
    }
}

impl Root {
    fn resolve(&self, path: &Path) -> Option<GrantedPath> {
        let beneath = path.strip_prefix(&self.path).ok()?;
        let granted = |place, exists| GrantedPath {
            path: path.components().collect(),
            place,
            exists,
        };
        if beneath.as_os_str().is_empty() {
            return Some(granted(self.place.try_clone().ok()?, true));
        }
        match open_beneath(&self.place, beneath, OFlags::PATH) {
            Ok(place) => Some(granted(place, true)),
            Err(Errno::NOENT) => Some(granted(self.parent_of_missing(beneath)?, false)),
            Err(_) => None,
        }
    }

    /// The folder in which the last component could be made. A link that leads nowhere is something
    /// that is there: what is made through it would stand elsewhere.
    fn parent_of_missing(&self, beneath: &Path) -> Option<OwnedFd> {
        let Component::Normal(name) = beneath.components().next_back()? else {
            return None;
        };
        let parent = match beneath.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let place = open_beneath(&self.place, parent, OFlags::PATH | OFlags::DIRECTORY).ok()?;
        let found = statat(&place, name, AtFlags::SYMLINK_NOFOLLOW);
        matches!(found, Err(Errno::NOENT)).then_some(place)
    }
}

impl GrantedPath {
    /// The path as it was asked for, without `.` and doubled slashes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there. If not, the descriptor is that of the folder it would stand in.
    pub const fn exists(&self) -> bool {
        self.exists
    }
}

impl AsFd for GrantedPath {
    /// What was resolved, opened as a mere place (`O_PATH`).
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.place.as_fd()
    }
}
