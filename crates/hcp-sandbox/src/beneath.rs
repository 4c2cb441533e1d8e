//! Opening a path that may not lead out of a folder, judged by the kernel while it walks.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::{Errno, Result};

/// How often a walk is tried again that a rename elsewhere disturbed. The kernel gives up on `..`
/// when it cannot rule out that the folder was moved away meanwhile.
const ATTEMPTS: usize = 16;

/// Opens `path` from the folder `root`. No `..`, absolute link or `/proc` link leads out of it:
/// those fail with `EXDEV` (or `ELOOP`), whatever happens to the tree meanwhile.
pub(crate) fn open_beneath(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut last = Errno::AGAIN;
    for _ in 0..ATTEMPTS {
        match openat2(
            root.as_fd(),
            path,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        ) {
            Err(error @ (Errno::AGAIN | Errno::INTR)) => last = error,
            done => return done,
        }
    }
    Err(last)
}
