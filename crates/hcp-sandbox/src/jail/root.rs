//! The root of a jail: what it is made of, and making it.
//!
//! It is one small file system in memory, on which folders, files and mounts are put one after the
//! other; the host's root is never part of it. The list of what is put there is made ahead by the
//! runtime. What is below [`build`] runs in borrowed memory (see [`crate::sys`]).

use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

use rustix::io::Errno;

use crate::fitness::Identity;
use crate::sys::{self, MountAttributes};

pub(crate) const READ_ONLY: u64 = 1;
pub(crate) const NO_SET_ID: u64 = 2;
pub(crate) const NO_DEVICES: u64 = 4;
pub(crate) const NO_EXECUTE: u64 = 8;
const MAPPED: u64 = 0x0010_0000;

/// One thing that is put on the root. Paths are relative to it.
#[derive(Debug)]
pub(crate) enum Action {
    /// A folder, unless it is there.
    Folder {
        spot: Spot,
        mode: u32,
        own: bool,
    },
    /// A file with nothing in it, to mount on, unless it is there.
    Empty(Spot),
    /// A file, with what it holds.
    File {
        spot: Spot,
        content: Vec<u8>,
    },
    Link {
        spot: Spot,
        target: CString,
    },
    Mount(Mount),
    /// Processes of the jail, and nothing else of `/proc`.
    Processes {
        target: CString,
    },
}

/// Where a name is put.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The folder; the root itself when `None`.
    pub(crate) folder: Option<CString>,
    pub(crate) name: CString,
}

impl Spot {
    /// Calls `put` with the folder, which is found without leaving the root, whatever links there
    /// are in what is mounted.
    fn put(
        &self,
        root: RawFd,
        put: impl Fn(RawFd, &CStr) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let Some(folder) = &self.folder else {
            return put(root, &self.name);
        };
        let folder = sys::open_in_root(root, folder)?;
        let done = put(folder, &self.name);
        sys::close(folder);
        done
    }
}

/// Something of elsewhere that is shown in the jail.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) source: Source,
    pub(crate) target: CString,
    /// What is taken from it, as mount attributes.
    pub(crate) without: u64,
    /// The user namespace whose mapping lets the jail's user be the owner of the files.
    pub(crate) mapping: Option<RawFd>,
    /// Whether it can do without, on a file system that knows no mappings.
    pub(crate) mapping_may_fail: bool,
}

#[derive(Debug)]
pub(crate) enum Source {
    /// What stands at a path of the host.
    Host(CString),
    /// The same, if it is the very file that was checked.
    Checked(CString, Identity),
    /// A folder of the root itself.
    Own,
}

/// How large the file system of a root may get.
#[derive(Debug)]
pub(crate) struct Size {
    /// In bytes, as text.
    pub(crate) bytes: CString,
    /// Files, folders and links, as text.
    pub(crate) files: CString,
}

/// Where it failed: the number of the action, when it was one.
pub(crate) struct Fault {
    pub(crate) action: Option<usize>,
    pub(crate) errno: Errno,
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        let action = None;
        Self { action, errno }
    }
}

/// Makes the root in the mount namespace of the caller, which must be its own, and goes there.
pub(crate) fn build(size: &Size, actions: [&[Action]; 2], owner: u32) -> Result<(), Fault> {
    sys::make_mounts_private()?;
    sys::umask(0);
    let root = empty_root(size)?;
    for (index, action) in actions.into_iter().flatten().enumerate() {
        put(root, action, owner).map_err(|errno| Fault {
            action: Some(index),
            errno,
        })?;
    }
    let finished = MountAttributes {
        set: READ_ONLY,
        ..MountAttributes::default()
    };
    sys::mount_setattr(root, 0, &finished)?;
    sys::fchdir(root)?;
    sys::leave_old_root()?;
    sys::close(root);
    Ok(())
}

fn empty_root(size: &Size) -> Result<RawFd, Errno> {
    let context = sys::fsopen(c"tmpfs")?;
    sys::fsconfig_set(context, c"mode", Some(c"0755"))?;
    sys::fsconfig_set(context, c"size", Some(&size.bytes))?;
    sys::fsconfig_set(context, c"nr_inodes", Some(&size.files))?;
    let root = sys::fsmount(context, NO_SET_ID | NO_DEVICES | NO_EXECUTE)?;
    sys::close(context);
    // It has to stand somewhere to become the root. From here on it is only reached by descriptor.
    let host = sys::open(libc::AT_FDCWD, c"/", libc::O_PATH, 0)?;
    sys::move_mount(root, host)?;
    sys::close(host);
    Ok(root)
}

fn put(root: RawFd, action: &Action, owner: u32) -> Result<(), Errno> {
    match action {
        Action::Folder { spot, mode, own } => spot.put(root, |folder, name| {
            match sys::mkdir(folder, name, *mode) {
                // Within something that is mounted: whether it suits shows when it is used.
                Err(Errno::EXIST | Errno::ROFS) => Ok(()),
                Ok(()) if *own => sys::chown(folder, name, owner),
                done => done,
            }
        }),
        Action::Empty(spot) => spot.put(root, |folder, name| {
            match sys::make_file(folder, name, 0o644) {
                Err(Errno::EXIST | Errno::ROFS) => Ok(()),
                done => done,
            }
        }),
        Action::File { spot, content } => spot.put(root, |folder, name| {
            let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
            let file = sys::open(folder, name, flags, 0o644)?;
            // So little is taken at once, or not at all.
            let written = sys::write(file, content);
            sys::close(file);
            written.map(drop)
        }),
        Action::Link { spot, target } => {
            spot.put(root, |folder, name| sys::symlink(target, folder, name))
        }
        Action::Mount(mount) => show(root, mount),
        Action::Processes { target } => {
            let context = sys::fsopen(c"proc")?;
            sys::fsconfig_set(context, c"subset", Some(c"pid"))?;
            sys::fsconfig_set(context, c"hidepid", Some(c"ptraceable"))?;
            let attributes = READ_ONLY | NO_SET_ID | NO_DEVICES | NO_EXECUTE;
            let mount = sys::fsmount(context, attributes)?;
            sys::close(context);
            place(mount, root, target)
        }
    }
}

/// Gives a mount its place, found without leaving the root.
fn place(mount: RawFd, root: RawFd, target: &CStr) -> Result<(), Errno> {
    let target = sys::open_in_root(root, target)?;
    sys::move_mount(mount, target)?;
    sys::close(target);
    sys::close(mount);
    Ok(())
}

fn show(root: RawFd, mount: &Mount) -> Result<(), Errno> {
    let below = libc::AT_RECURSIVE;
    let tree = match &mount.source {
        Source::Own => sys::open_tree(root, &mount.target, 0)?,
        Source::Host(path) => sys::open_tree(libc::AT_FDCWD, path, below)?,
        Source::Checked(path, identity) => {
            // Opened anew, since a descriptor of the runtime belongs to the runtime's mounts. What
            // matters is that it is the same file.
            let place = sys::open(libc::AT_FDCWD, path, libc::O_PATH, 0)?;
            if sys::identity(place)? != *identity {
                return Err(Errno::STALE);
            }
            let tree = sys::open_tree(place, c"", below | libc::AT_EMPTY_PATH)?;
            sys::close(place);
            tree
        }
    };
    let mapping = mount.mapping.and_then(|fd| u64::try_from(fd).ok());
    let attributes = MountAttributes {
        set: mount.without | mapping.map_or(0, |_| MAPPED),
        user_namespace: mapping.unwrap_or(0),
        ..MountAttributes::default()
    };
    match sys::mount_setattr(tree, below, &attributes) {
        Err(Errno::INVAL) if mount.mapping_may_fail && mapping.is_some() => {
            let attributes = MountAttributes {
                set: mount.without,
                ..MountAttributes::default()
            };
            sys::mount_setattr(tree, below, &attributes)?;
        }
        done => done?,
    }
    place(tree, root, &mount.target)
}
