//! The files of a pack: their digest, and a copy that is known to be what was digested.
//!
//! The digest covers every folder and file: its path, whether it may be executed, and its bytes. It
//! leaves out what a copy cannot keep or what means nothing to a call: owners, times, other modes.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::PackError;
use crate::manifest::open_plain;

/// What the digest begins with, so that no other use of the same bytes gives the same one.
const FORMAT: &[u8] = b"hcp pack tree 1\n";

/// The files of a pack, as they were when they were scanned.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    /// In the order of their paths' bytes; a folder stands before what is in it.
    entries: Vec<Entry>,
    digest: String,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    path: PathBuf,
    kind: EntryKind,
}

/// How a file of one tree differs from that of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    /// Its path, relative to the root.
    pub path: PathBuf,
    /// What happened to it.
    pub change: FileChange,
}

/// What happened to a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It was not there before.
    Added,
    /// It is no longer there.
    Removed,
    /// Its bytes, or whether it may be executed, are others; or it is a folder now, or no longer one.
    Changed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EntryKind {
    Folder,
    File { executable: bool, digest: [u8; 32] },
}

impl Tree {
    /// Reads every file below `root`.
    ///
    /// # Errors
    /// [`PackError::SpecialFile`] for a link, pipe, socket or device and for a file that runs as
    /// another user or group; [`PackError::Io`] when the system refuses.
    pub fn scan(root: &Path) -> Result<Self, PackError> {
        let mut entries = Vec::new();
        let mut bytes = 0;
        let mut pending = vec![PathBuf::new()];
        while let Some(folder) = pending.pop() {
            let shown = if folder.as_os_str().is_empty() {
                root
            } else {
                &folder
            };
            let failed = |error: io::Error| PackError::io(shown, error);
            for entry in fs::read_dir(root.join(&folder)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = folder.join(entry.file_name());
                let kind = entry.file_type().map_err(failed)?;
                let kind = if kind.is_dir() {
                    pending.push(path.clone());
                    EntryKind::Folder
                } else if kind.is_file() {
                    let (kind, length) = scan_file(root, &path)?;
                    bytes += length;
                    kind
                } else {
                    return Err(special(path, kind));
                };
                entries.push(Entry { path, kind });
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self {
            root: root.to_owned(),
            digest: digest_of(&entries),
            entries,
            bytes,
        })
    }

    /// SHA-256 of the whole tree: 64 digits of lowercase hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The bytes of all files together.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Every file: its path relative to the root, and whether it may be executed.
    pub fn files(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.entries.iter().filter_map(|entry| match entry.kind {
            EntryKind::File { executable, .. } => Some((entry.path.as_path(), executable)),
            EntryKind::Folder => None,
        })
    }

    /// In what it differs from the tree that was before, in the order of paths.
    pub fn differences_from(&self, before: &Self) -> Vec<FileDifference> {
        use std::collections::BTreeMap;
        let by_path = |tree: &'_ Self| -> BTreeMap<PathBuf, EntryKind> {
            let entries = tree.entries.iter();
            entries
                .map(|entry| (entry.path.clone(), entry.kind.clone()))
                .collect()
        };
        let (before, after) = (by_path(before), by_path(self));
        let paths: std::collections::BTreeSet<&PathBuf> =
            before.keys().chain(after.keys()).collect();
        let change = |path: &PathBuf| match (before.get(path), after.get(path)) {
            (None, Some(_)) => Some(FileChange::Added),
            (Some(_), None) => Some(FileChange::Removed),
            (Some(was), Some(is)) if was != is => Some(FileChange::Changed),
            _ => None,
        };
        paths
            .into_iter()
            .filter_map(|path| {
                let change = change(path)?;
                Some(FileDifference {
                    path: path.clone(),
                    change,
                })
            })
            .collect()
    }

    /// Copies the tree to `destination`, a folder that must not be there yet, all of it read-only.
    /// What is copied is what was digested: a file that changed in between is an error. The copy of
    /// a failed call is left incomplete; [`remove_copy`] removes it.
    ///
    /// # Errors
    /// [`PackError::Changed`], or [`PackError::Io`] when the system refuses.
    pub fn copy_to(&self, destination: &Path) -> Result<(), PackError> {
        let mut folders = vec![destination.to_owned()];
        make_folder(destination)?;
        for entry in &self.entries {
            let target = destination.join(&entry.path);
            match &entry.kind {
                EntryKind::Folder => {
                    make_folder(&target)?;
                    folders.push(target);
                }
                EntryKind::File { executable, digest } => {
                    let mode = if *executable { 0o500 } else { 0o400 };
                    if copy_file(&self.root, &entry.path, &target, mode)? != *digest {
                        return Err(PackError::Changed(entry.path.clone()));
                    }
                }
            }
        }
        for folder in folders.iter().rev() {
            sync_and_protect(folder).map_err(|error| PackError::io(folder, error))?;
        }
        Ok(())
    }
}

/// Removes a copy that [`Tree::copy_to`] made; its folders are read-only and would not let it go.
///
/// # Errors
/// Those of the system.
pub fn remove_copy(root: &Path) -> io::Result<()> {
    let mut pending = vec![root.to_owned()];
    while let Some(folder) = pending.pop() {
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(root)
}

/// Bytes as lowercase hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn scan_file(root: &Path, path: &Path) -> Result<(EntryKind, u64), PackError> {
    let mut file = open_plain(&root.join(path), path)?;
    let failed = |error: io::Error| PackError::io(path, error);
    let mode = file.metadata().map_err(failed)?.mode();
    if mode & 0o6000 != 0 {
        return Err(PackError::SpecialFile {
            path: path.to_owned(),
            what: "a file that runs as another user or group",
        });
    }
    let (digest, length) = stream(&mut file, &mut io::sink()).map_err(failed)?;
    let executable = mode & 0o111 != 0;
    Ok((EntryKind::File { executable, digest }, length))
}

fn copy_file(root: &Path, path: &Path, target: &Path, mode: u32) -> Result<[u8; 32], PackError> {
    let mut source = open_plain(&root.join(path), path)?;
    let failed = |error: io::Error| PackError::io(target, error);
    let mut copy = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)
        .map_err(failed)?;
    let (digest, _) = stream(&mut source, &mut copy).map_err(failed)?;
    copy.set_permissions(Permissions::from_mode(mode))
        .map_err(failed)?;
    copy.sync_all().map_err(failed)?;
    Ok(digest)
}

/// Hands everything from one side to the other; gives the SHA-256 and the number of bytes.
fn stream(from: &mut impl Read, to: &mut impl Write) -> io::Result<([u8; 32], u64)> {
    let mut hash = Sha256::new();
    let mut length = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok((hash.finalize().into(), length)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        hash.update(bytes);
        to.write_all(bytes)?;
        length += count as u64;
    }
}

/// One record for an entry: its kind, the length of its path, the path, and for a file the digest of
/// its bytes. Lengths are fixed or told, so no two trees have the same records.
fn digest_of(entries: &[Entry]) -> String {
    let mut hash = Sha256::new();
    hash.update(FORMAT);
    for entry in entries {
        let path = OsStr::as_bytes(entry.path.as_os_str());
        let (kind, digest) = match &entry.kind {
            EntryKind::Folder => (b'd', None),
            EntryKind::File { executable, digest } => {
                (if *executable { b'x' } else { b'f' }, Some(digest))
            }
        };
        hash.update([kind]);
        hash.update((path.len() as u64).to_be_bytes());
        hash.update(path);
        if let Some(digest) = digest {
            hash.update(digest);
        }
    }
    hex(&hash.finalize())
}

fn make_folder(path: &Path) -> Result<(), PackError> {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|error| PackError::io(path, error))
}

fn sync_and_protect(folder: &Path) -> io::Result<()> {
    let handle = File::open(folder)?;
    handle.set_permissions(Permissions::from_mode(0o500))?;
    handle.sync_all()
}

fn special(path: PathBuf, kind: fs::FileType) -> PackError {
    let what = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    PackError::SpecialFile { path, what }
}
