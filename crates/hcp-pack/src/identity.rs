//! A cheap sign that no file of a pack changed since its digest was taken.
//!
//! Hashing a pack for every call would cost more than many calls do. What the system knows about
//! every entry (its place, inode, size and times) changes with the entry, so as long as that stands,
//! the digest does.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat};
use sha2::{Digest, Sha256};

use crate::tree::hex;

/// Room for the entries of one read of a folder, in bytes.
const BUFFER: usize = 4096;

/// Eight numbers about one entry.
type Facts = [u8; 128];

/// What the system knew about every entry of a pack at one moment.
#[derive(Debug)]
pub struct Identity {
    root: OwnedFd,
    root_stat: Facts,
    entries: Vec<(CString, Facts)>,
}

impl Identity {
    /// Looks at every entry below `root`, the root included. No file is opened, no link followed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn take(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        let root_stat = facts_of(&rustix::fs::fstat(&root)?);
        let mut entries = Vec::new();
        let mut pending = vec![(Vec::new(), None)];
        while let Some((prefix, folder)) = pending.pop() {
            let folder: &OwnedFd = folder.as_ref().unwrap_or(&root);
            for name in names(folder)? {
                let stat = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                let path = join(&prefix, name.to_bytes());
                if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                    let flags = flags | OFlags::NOFOLLOW;
                    let inner = rustix::fs::openat(folder, &name, flags, Mode::empty())?;
                    pending.push((path.clone(), Some(inner)));
                }
                entries.push((CString::new(path)?, facts_of(&stat)));
            }
        }
        Ok(Self {
            root,
            root_stat,
            entries,
        })
    }

    /// A short text of it. Two equal texts mean that no name, mode, size or time changed in between.
    pub fn text(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.root_stat);
        for (path, facts) in &self.entries {
            hash.update(path.to_bytes().len().to_le_bytes());
            hash.update(path.to_bytes());
            hash.update(facts);
        }
        hex(&hash.finalize())
    }

    /// Whether all of it still stands: one look at each entry, without listing any folder, since a
    /// folder that gained or lost an entry has other times. A root that was moved away and replaced
    /// is told by `root`, the path that it had.
    pub fn still_stands(&self, root: &Path) -> bool {
        let at_path = rustix::fs::statat(rustix::fs::CWD, root, AtFlags::SYMLINK_NOFOLLOW);
        at_path.is_ok_and(|stat| facts_of(&stat) == self.root_stat)
            && self.entries.iter().all(|(path, facts)| {
                rustix::fs::statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| facts_of(&stat) == *facts)
            })
    }
}

/// The names in a folder, sorted.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        return name.to_owned();
    }
    [prefix, b"/", name].concat()
}

/// What the system knows about an entry, each number in a width that holds it on any machine.
fn facts_of(stat: &Stat) -> Facts {
    let numbers = [
        i128::from(stat.st_dev),
        i128::from(stat.st_ino),
        i128::from(stat.st_mode),
        i128::from(stat.st_size),
        i128::from(stat.st_mtime),
        i128::from(stat.st_mtime_nsec),
        i128::from(stat.st_ctime),
        i128::from(stat.st_ctime_nsec),
    ];
    let mut facts = [0; 128];
    for (place, number) in facts.chunks_exact_mut(16).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    facts
}
