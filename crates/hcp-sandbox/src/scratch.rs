//! Folders that live as long as one call: its HOME and its TMPDIR.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, mkdir, openat, renameat, unlinkat};
use rustix::io::Errno;

/// A fresh HOME and a fresh TMPDIR; dropping it removes both, with everything in them.
#[derive(Debug)]
pub struct Scratch {
    home: Folder,
    temporary: Folder,
}

/// A folder that is removed when it is dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Scratch {
    /// Makes the two folders, mode 0700, in `parent`, which must be there. What a runtime that was
    /// killed left behind is never taken over.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn create(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        Ok(Self {
            home: Folder::create(&parent, "home")?,
            temporary: Folder::create(&parent, "tmp")?,
        })
    }

    /// The folder for `HOME`.
    pub fn home(&self) -> &Path {
        &self.home.0
    }

    /// The folder for `TMPDIR`.
    pub fn temporary(&self) -> &Path {
        &self.temporary.0
    }
}

/// Tells the folders of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Folder {
    fn create(parent: &Path, purpose: &str) -> io::Result<Self> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{purpose}-{}-{number}", std::process::id()));
            match mkdir(&folder, Mode::RWXU) {
                Ok(()) => return Ok(Self(folder)),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed, because something that got away still writes in it, stays behind in
        // a folder that nobody else can enter.
        let _ = remove_tree(&self.0);
    }
}

/// Removes a folder with everything in it. Follows no link, needs three descriptors however deep the
/// tree is (a folder within a folder is first moved to the top), and makes folders writable that
/// were made read-only.
///
/// # Errors
/// When something in it cannot be removed.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let top = open_folder(
        rustix::fs::CWD,
        &CString::new(folder.as_os_str().as_encoded_bytes())?,
    )?;
    let mut moved = 0_u64;
    loop {
        let names = entries(&top)?;
        if names.is_empty() {
            break;
        }
        for (name, is_folder) in names {
            if is_folder {
                empty_folder(&top, &name, &mut moved)?;
                remove(&top, &name, AtFlags::REMOVEDIR)?;
            } else {
                remove(&top, &name, AtFlags::empty())?;
            }
        }
    }
    Ok(rustix::fs::rmdir(folder)?)
}

/// Removes what is in the folder `name` of `top`, and moves the folders in it up to `top`.
fn empty_folder(top: &OwnedFd, name: &CString, moved: &mut u64) -> io::Result<()> {
    let folder = open_folder(top.as_fd(), name)?;
    for (name, is_folder) in entries(&folder)? {
        if !is_folder {
            remove(&folder, &name, AtFlags::empty())?;
            continue;
        }
        // A folder must be writable to be moved: its `..` changes.
        drop(open_folder(folder.as_fd(), &name)?);
        loop {
            *moved += 1;
            match renameat(&folder, &name, top, format!("moved-{moved}")) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                done => break done?,
            }
        }
    }
    Ok(())
}

/// That somebody else removed it meanwhile is as good.
fn remove(folder: &OwnedFd, name: &CString, flags: AtFlags) -> io::Result<()> {
    match unlinkat(folder, name, flags) {
        Err(Errno::NOENT) => Ok(()),
        done => Ok(done?),
    }
}

/// Opens a folder, never through a link, and makes it ours to read and change. Its mode is changed
/// through the descriptor: by its name, something else could have taken its place.
fn open_folder(parent: BorrowedFd<'_>, name: &CString) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(parent, name.as_c_str(), flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::RWXU)?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(&place, c".", flags, Mode::empty())?)
}

/// The names in a folder, and whether each is a folder.
fn entries(folder: &OwnedFd) -> io::Result<Vec<(CString, bool)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        found.push((name.to_owned(), kind == FileType::Directory));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::Scratch;

    #[test]
    fn folders_are_private_distinct_and_gone_afterwards() {
        let parent = tempfile::tempdir().unwrap();
        let one = Scratch::create(parent.path()).unwrap();
        let two = Scratch::create(parent.path()).unwrap();
        assert_ne!(one.home(), two.home());
        for folder in [one.home(), one.temporary()] {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o700);
            assert!(folder.is_absolute());
        }
        drop((one, two));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let kept = parent.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        let scratch = Scratch::create(parent.path()).unwrap();
        symlink(&kept, scratch.home().join("link")).unwrap();
        symlink("/nowhere", scratch.home().join("dangling")).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        assert!(kept.join("file").exists());
    }

    #[test]
    fn deep_and_read_only_trees_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(parent.path()).unwrap();
        let mut folder = scratch.home().to_owned();
        for _ in 0..50 {
            folder.push("moved-1");
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("file"), "x").unwrap();
        }
        for depth in folder.ancestors().take(50) {
            fs::set_permissions(depth, fs::Permissions::from_mode(0o500)).unwrap();
        }
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
