//! Mounts, by the interface that names them by descriptors.

use std::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use super::{Answer, Word, call, filled};

pub(crate) fn fsopen(kind: &CStr) -> Answer<RawFd> {
    const FSOPEN_CLOEXEC: u32 = 1;
    call!(SYS_fsopen, kind, FSOPEN_CLOEXEC).map(|fd| fd as RawFd)
}

/// Sets one option of a file system in the making; without a value, a flag.
pub(crate) fn fsconfig_set(context: RawFd, key: &CStr, value: Option<&CStr>) -> Answer<()> {
    const SET_FLAG: u32 = 0;
    const SET_STRING: u32 = 1;
    let command = if value.is_some() {
        SET_STRING
    } else {
        SET_FLAG
    };
    call!(SYS_fsconfig, context, command, key, value, 0_u32).map(drop)
}

/// Makes the file system and a mount of it that stands nowhere yet.
pub(crate) fn fsmount(context: RawFd, attributes: u64) -> Answer<RawFd> {
    const CMD_CREATE: u32 = 6;
    const FSMOUNT_CLOEXEC: u32 = 1;
    call!(SYS_fsconfig, context, CMD_CREATE, 0_usize, 0_usize, 0_u32)?;
    call!(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes).map(|fd| fd as RawFd)
}

/// A copy of what is mounted at a path, that stands nowhere yet.
pub(crate) fn open_tree(folder: RawFd, path: &CStr, flags: c_int) -> Answer<RawFd> {
    const OPEN_TREE_CLONE: c_int = 1;
    let flags = flags | OPEN_TREE_CLONE | libc::O_CLOEXEC;
    call!(SYS_open_tree, folder, path, flags).map(|fd| fd as RawFd)
}

/// Gives a mount its place, on top of what `place` is of.
pub(crate) fn move_mount(mount: RawFd, place: RawFd) -> Answer<()> {
    const BOTH_EMPTY_PATHS: u32 = 0x44;
    call!(SYS_move_mount, mount, c"", place, c"", BOTH_EMPTY_PATHS).map(drop)
}

/// `mount_attr` of the kernel.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) clear: u64,
    pub(crate) propagation: u64,
    pub(crate) user_namespace: u64,
}

pub(crate) fn mount_setattr(
    mount: RawFd,
    flags: c_int,
    attributes: &MountAttributes,
) -> Answer<()> {
    let (flags, size) = (flags | libc::AT_EMPTY_PATH, size_of::<MountAttributes>());
    call!(
        SYS_mount_setattr,
        mount,
        c"",
        flags,
        std::ptr::from_ref(attributes),
        size
    )
    .map(drop)
}

/// Lets nothing that is mounted here be seen elsewhere, nor the other way round.
pub(crate) fn make_mounts_private() -> Answer<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    call!(SYS_mount, 0_usize, c"/", 0_usize, flags, 0_usize).map(drop)
}

/// Makes the current folder the root, and forgets the old one.
pub(crate) fn leave_old_root() -> Answer<()> {
    call!(SYS_pivot_root, c".", c".")?;
    call!(SYS_umount2, c".", libc::MNT_DETACH).map(drop)
}
