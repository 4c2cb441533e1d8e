//! Which program may run: the pack's own, or one that the operator listed (§6.3 step 8, §6.4).
//!
//! A bin is looked up once, and the answer is a descriptor of the file that was examined, not a name
//! that could mean another file a moment later.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, open};
use rustix::io::Errno;
use thiserror::Error;

use crate::beneath::open_beneath;
use crate::fitness::{self, Identity, Needed};

/// Where bins are looked for and which are allowed.
#[derive(Clone, Copy, Debug)]
pub struct BinSearch<'a> {
    /// The folder of the pack; a bin with a leading `.` stands beneath it.
    pub pack_root: &'a Path,
    /// The operator's search path; entries that are not absolute are passed over.
    pub path: &'a [PathBuf],
    /// What the operator allows, by name or by absolute path.
    pub allowed: &'a [String],
}

/// Why a bin may not run. The caller adds the bin as the manifest writes it; `detail` is for the
/// operator only.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BinError {
    /// Neither within the pack nor listed.
    #[error("the bin is not allowlisted")]
    NotAllowlisted,
    /// Allowed, and not there.
    #[error("the bin is not found: {detail}")]
    NotFound {
        /// What was looked for.
        detail: String,
    },
    /// There, and not to be run.
    #[error("the bin is unfit: {detail}")]
    Unfit {
        /// What is wrong with the file.
        detail: String,
    },
}

/// A program that was examined, held open: what runs is this file, whatever its name comes to mean.
#[derive(Debug)]
pub struct CheckedBin {
    path: PathBuf,
    file: OwnedFd,
    identity: Identity,
    is_script: bool,
    needs: Vec<Needed>,
}

impl CheckedBin {
    /// Where it was found: absolute, before links were followed, and the child's `argv[0]`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it begins with `#!`, so that its interpreter opens it again by its path.
    pub const fn is_script(&self) -> bool {
        self.is_script
    }

    pub(crate) const fn identity(&self) -> Identity {
        self.identity
    }

    /// What is executed because this one is: interpreters, and what loads libraries.
    pub(crate) fn needs(&self) -> &[Needed] {
        &self.needs
    }
}

impl AsFd for CheckedBin {
    /// The file, opened as a mere place (`O_PATH`).
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Decides which file `bin` is, as the manifest writes it, and whether it may run.
///
/// - A leading `.`: beneath the pack root, links and `..` included. Such a bin needs no entry, and
///   no entry lets one out of the pack.
/// - A bare name: listed by that name, or the first hit on the search path is listed by its path.
/// - An absolute path: listed by the very same text.
/// - A relative path without the `.` is never allowed.
///
/// Either way the file must be regular, executable, not set-id, not writable by others, owned by
/// root or the runtime's user, and not the program of the runtime itself; the interpreter of a script
/// likewise.
///
/// # Errors
/// [`BinError`], of which only the kind is for the Invoker.
pub fn check_bin(bin: &str, search: &BinSearch<'_>) -> Result<CheckedBin, BinError> {
    let (path, file) = if bin.starts_with('.') {
        find_in_pack(bin, search.pack_root)?
    } else if bin.contains('/') {
        find_by_path(bin, search)?
    } else {
        find_by_name(bin, search)?
    };
    let unfit = |detail| BinError::Unfit { detail };
    let examined = fitness::examine(&file, &path).map_err(unfit)?;
    let mut needs = examined.needs;
    if let Some((path, file)) = examined
        .sought
        .and_then(|name| first_hit(&name, search.path))
    {
        let within = |detail| unfit(format!("interpreter {detail}"));
        let sought = fitness::examine(&file, &path).map_err(within)?;
        needs.extend(sought.needs);
        needs.push(Needed { path, place: file });
    }
    Ok(CheckedBin {
        path,
        file,
        identity: examined.identity,
        is_script: examined.is_script,
        needs,
    })
}

type Found = (PathBuf, OwnedFd);

fn find_in_pack(bin: &str, pack_root: &Path) -> Result<Found, BinError> {
    if leads_out(Path::new(bin)) {
        return Err(BinError::NotAllowlisted);
    }
    let place = std::path::absolute(pack_root)
        .map_err(|error| not_found(pack_root, &error.to_string()))?
        .join(bin)
        .components()
        .collect::<PathBuf>();
    let root = open(
        pack_root,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(|error| not_found(pack_root, &error.to_string()))?;
    match open_beneath(&root, Path::new(bin), OFlags::PATH) {
        Ok(file) => Ok((place, file)),
        Err(Errno::XDEV) => Err(BinError::NotAllowlisted),
        Err(error) => Err(not_found(&place, &error.to_string())),
    }
}

/// Whether the text alone climbs above where it starts. The kernel would say so too, but only where
/// every folder on the way exists.
fn leads_out(path: &Path) -> bool {
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

fn find_by_path(bin: &str, search: &BinSearch<'_>) -> Result<Found, BinError> {
    let path = Path::new(bin);
    if !path.is_absolute() || !search.allowed.iter().any(|entry| entry == bin) {
        return Err(BinError::NotAllowlisted);
    }
    match open_place(path) {
        Ok(file) => Ok((path.to_owned(), file)),
        Err(error) => Err(not_found(path, &error.to_string())),
    }
}

fn find_by_name(bin: &str, search: &BinSearch<'_>) -> Result<Found, BinError> {
    let by_name = search.allowed.iter().any(|entry| entry == bin);
    let paths = || {
        let absolute = search
            .allowed
            .iter()
            .map(Path::new)
            .filter(|entry| entry.is_absolute());
        absolute.filter(|entry| entry.file_name().is_some_and(|name| name == bin))
    };
    if bin.is_empty() || !by_name && paths().next().is_none() {
        return Err(BinError::NotAllowlisted);
    }
    let Some((path, file)) = first_hit(bin, search.path) else {
        return Err(BinError::NotFound {
            detail: format!("`{bin}` is in no folder of the search path"),
        });
    };
    if by_name || paths().any(|entry| entry == path) {
        Ok((path, file))
    } else {
        Err(BinError::NotAllowlisted)
    }
}

/// The first entry of that name that is no folder. One that is not fit to run is not passed over for
/// a later one: what a name means must not depend on a mode bit.
fn first_hit(bin: &str, folders: &[PathBuf]) -> Option<Found> {
    folders
        .iter()
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| {
            let path = folder.join(bin);
            let file = open_place(&path).ok()?;
            let stat = rustix::fs::fstat(&file).ok()?;
            (FileType::from_raw_mode(stat.st_mode) != FileType::Directory).then_some((path, file))
        })
}

fn open_place(path: &Path) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

fn not_found(path: &Path, why: &str) -> BinError {
    BinError::NotFound {
        detail: format!("`{}`: {why}", path.display()),
    }
}
