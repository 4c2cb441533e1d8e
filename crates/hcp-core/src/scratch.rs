//! The folder in which the calls of one runtime have their own. The runtime holds a lock on it for as
//! long as it lives, so the next start can tell what a killed one left behind, and clear it away.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder of a runtime, made when its first call needs it.
pub(crate) struct RuntimeScratch {
    path: PathBuf,
    lock: Mutex<Option<File>>,
}

impl RuntimeScratch {
    pub(crate) fn new(parent: &Path, runtime_id: &str) -> Self {
        Self {
            path: parent.join(runtime_id),
            lock: Mutex::new(None),
        }
    }

    /// The folder, which is there and locked.
    pub(crate) fn folder(&self) -> io::Result<&Path> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            *lock = Some(self.make()?);
        }
        Ok(&self.path)
    }

    fn make(&self) -> io::Result<File> {
        loop {
            match DirBuilder::new().mode(0o700).create(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let folder = match File::open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            folder.lock()?;
            // A start that clears up may have taken it for a dead one's before it was locked.
            if is_in_place(&folder, &self.path) {
                return Ok(folder);
            }
        }
    }
}

impl RuntimeScratch {
    /// Removes the folder when it is empty; one that is not is cleared by the next start.
    pub(crate) fn leave(&self) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_some() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

impl Drop for RuntimeScratch {
    fn drop(&mut self) {
        hcp_sandbox::tidy();
        let lock = self.lock.get_mut().unwrap_or_else(PoisonError::into_inner);
        if lock.is_some() {
            // What a call could not remove keeps it; the next start tries again.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Clears away what runtimes that are gone left in `parent`, as far as it can be.
pub(crate) fn clear(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(folder) = File::open(&path) else {
            continue;
        };
        match folder.try_lock() {
            Ok(()) if is_in_place(&folder, &path) => {
                if let Err(error) = hcp_sandbox::remove_tree(&path) {
                    tracing::warn!(folder = %path.display(), %error, "not cleared away");
                }
            }
            Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

fn is_in_place(held: &File, path: &Path) -> bool {
    match (held.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{RuntimeScratch, clear};

    #[test]
    fn a_living_runtime_keeps_its_folder_and_a_dead_one_does_not() {
        let parent = tempfile::tempdir().unwrap();
        let living = RuntimeScratch::new(parent.path(), "run_living");
        fs::create_dir(living.folder().unwrap().join("home")).unwrap();
        fs::create_dir_all(parent.path().join("run_dead/home/deep")).unwrap();
        fs::write(parent.path().join("note"), "mine").unwrap();
        clear(parent.path());
        assert!(parent.path().join("run_living/home").exists());
        assert!(!parent.path().join("run_dead").exists());
        assert!(parent.path().join("note").exists());
        fs::remove_dir(living.folder().unwrap().join("home")).unwrap();
        drop(living);
        assert!(!parent.path().join("run_living").exists());
    }

    #[test]
    fn no_folder_is_made_before_it_is_needed() {
        let parent = tempfile::tempdir().unwrap();
        drop(RuntimeScratch::new(parent.path(), "run_idle"));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
