//! The lock of a running runtime: a file that the kernel lets go of when the process is gone, however
//! it went. Whoever can take the lock knows that its owner is dead.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::database::make_private_folder;
use crate::error::StoreError;
use crate::fault::io_error;

/// A lock that is held. It ends with the value; the file stays until it is [removed](Self::remove).
#[derive(Debug)]
pub(crate) struct RuntimeLock {
    path: PathBuf,
    file: File,
}

/// Who holds the lock of a runtime.
#[derive(Debug)]
pub(crate) enum Owner {
    /// The runtime itself: it lives.
    Alive,
    /// We do now, or there is no file to hold: the runtime is gone.
    Gone(Option<RuntimeLock>),
}

impl RuntimeLock {
    /// Makes the file of `runtime_id` and locks it.
    pub(crate) fn take(locks: &Path, runtime_id: &str) -> Result<Self, StoreError> {
        make_private_folder(locks)?;
        let path = locks.join(runtime_id);
        loop {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&path)
                .map_err(|error| io_error(&path, &error))?;
            file.lock().map_err(|error| io_error(&path, &error))?;
            let lock = Self {
                path: path.clone(),
                file,
            };
            // A sweep may have taken the file for a dead one in between; then it is no longer there.
            if lock.is_in_place() {
                return Ok(lock);
            }
        }
    }

    /// Removes the file, and with it the lock.
    pub(crate) fn remove(self) {
        // One that stays is harmless: the next sweep finds it unlocked.
        let _ = fs::remove_file(&self.path);
    }

    fn is_in_place(&self) -> bool {
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
            _ => false,
        }
    }
}

/// Finds out whether the runtime of this id lives.
pub(crate) fn owner_of(locks: &Path, runtime_id: &str) -> Result<Owner, StoreError> {
    // The id comes from the file; it must not lead anywhere else.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if runtime_id.is_empty() || !runtime_id.bytes().all(plain) {
        return Ok(Owner::Gone(None));
    }
    let path = locks.join(runtime_id);
    let file = match OpenOptions::new().write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Owner::Gone(None)),
        Err(error) => return Err(io_error(&path, &error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Owner::Gone(Some(RuntimeLock { path, file }))),
        Err(TryLockError::WouldBlock) => Ok(Owner::Alive),
        Err(TryLockError::Error(error)) => Err(io_error(&path, &error)),
    }
}

/// Removes the files of runtimes that are gone and left no intent behind.
pub(crate) fn sweep(locks: &Path) {
    let Ok(entries) = fs::read_dir(locks) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("run_")) else {
            continue;
        };
        if let Ok(Owner::Gone(Some(lock))) = owner_of(locks, name) {
            lock.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_tells_life_and_a_dropped_one_death() {
        let locks = tempfile::tempdir().unwrap();
        assert!(matches!(
            owner_of(locks.path(), "run_a").unwrap(),
            Owner::Gone(None)
        ));
        let held = RuntimeLock::take(locks.path(), "run_a").unwrap();
        assert!(matches!(
            owner_of(locks.path(), "run_a").unwrap(),
            Owner::Alive
        ));
        drop(held);
        let owner = owner_of(locks.path(), "run_a").unwrap();
        assert!(matches!(&owner, Owner::Gone(Some(_))));
        assert!(matches!(
            owner_of(locks.path(), "run_a").unwrap(),
            Owner::Alive
        ));
    }

    #[test]
    fn a_sweep_takes_dead_files_and_leaves_living_and_foreign_ones() {
        let locks = tempfile::tempdir().unwrap();
        let _alive = RuntimeLock::take(locks.path(), "run_alive").unwrap();
        drop(RuntimeLock::take(locks.path(), "run_dead").unwrap());
        fs::write(locks.path().join("notes"), "mine").unwrap();
        sweep(locks.path());
        let mut left: Vec<_> = fs::read_dir(locks.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["notes", "run_alive"]);
    }

    #[test]
    fn an_id_never_leads_out_of_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let locks = home.path().join("locks");
        fs::create_dir(&locks).unwrap();
        fs::write(home.path().join("victim"), "").unwrap();
        for id in ["../victim", "", ".", "a/b"] {
            assert!(
                matches!(owner_of(&locks, id).unwrap(), Owner::Gone(None)),
                "{id}"
            );
        }
    }
}
