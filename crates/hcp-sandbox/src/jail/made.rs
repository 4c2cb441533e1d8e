//! Files that a call was given to make.
//!
//! A jail shows what is there, and such a file is not. It is made empty before the call, shown like
//! any other, and removed after it when nobody touched it. What the jail cannot do is put another
//! file in its place: a tool has to write the very file, not rename one over it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, openat, statat, unlinkat};

use crate::roots::GrantedPath;

/// An empty file that was made for a call.
#[derive(Debug)]
pub(crate) struct Made<'a> {
    granted: &'a GrantedPath,
    name: &'a OsStr,
    file: OwnedFd,
    fresh: Stat,
}

impl<'a> Made<'a> {
    /// Makes the file, which must not be there.
    ///
    /// # Errors
    /// When it cannot be made, or somebody made it meanwhile.
    pub(crate) fn new(granted: &'a GrantedPath) -> io::Result<Self> {
        let none = || io::Error::from(io::ErrorKind::InvalidInput);
        let name = granted.path().file_name().ok_or_else(none)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(granted, name, flags, mode)?;
        let fresh = fstat(&file)?;
        Ok(Self {
            granted,
            name,
            file,
            fresh,
        })
    }

    /// Where it stands.
    pub(crate) fn path(&self) -> &Path {
        self.granted.path()
    }

    fn is_untouched(&self) -> rustix::io::Result<bool> {
        let now = fstat(&self.file)?;
        let there = statat(self.granted, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let times = |stat: &Stat| (stat.st_mtime, stat.st_mtime_nsec, stat.st_size);
        let is_same = (there.st_dev, there.st_ino) == (now.st_dev, now.st_ino);
        Ok(is_same && times(&now) == times(&self.fresh))
    }
}

impl AsFd for Made<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        if self.is_untouched() == Ok(true) {
            let _ = unlinkat(self.granted, self.name, AtFlags::empty());
        }
    }
}
