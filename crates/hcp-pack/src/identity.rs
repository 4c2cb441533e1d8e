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

/// Reads what the system knows about every entry below `root`, the root included, and gives a short
/// text of it. Two equal texts mean that no name, mode, size or time changed in between. No file is
/// opened, no link followed.
///
/// # Errors
/// Those of the system.
pub fn identity(root: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(root, flags, Mode::empty())?;
    // Everything is put together before it is hashed: for a few files that is one block or two.
    let mut facts = Vec::with_capacity(BUFFER);
    add_facts(&mut facts, &rustix::fs::fstat(&folder)?);
    let mut pending = vec![(Vec::new(), folder)];
    while let Some((prefix, folder)) = pending.pop() {
        for name in names(&folder)? {
            let stat = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)?;
            let path = join(&prefix, name.to_bytes());
            facts.extend_from_slice(&path.len().to_le_bytes());
            facts.extend_from_slice(&path);
            add_facts(&mut facts, &stat);
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                let flags = flags | OFlags::NOFOLLOW;
                let inner = rustix::fs::openat(&folder, &name, flags, Mode::empty())?;
                pending.push((path, inner));
            }
        }
    }
    Ok(hex(&Sha256::digest(&facts)))
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
    let mut path = Vec::with_capacity(prefix.len() + 1 + name.len());
    path.extend_from_slice(prefix);
    path.push(b'/');
    path.extend_from_slice(name);
    path
}

/// What the system knows about an entry, each number in a width that holds it on any machine.
fn add_facts(facts: &mut Vec<u8>, stat: &Stat) {
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
    for number in numbers {
        facts.extend_from_slice(&number.to_le_bytes());
    }
}
