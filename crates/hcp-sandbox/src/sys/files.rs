//! Descriptors and files.

use std::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use rustix::io::Errno;

use super::{Answer, Word, call, filled};
use crate::fitness::Identity;

pub(crate) fn open(folder: RawFd, path: &CStr, flags: c_int, mode: u32) -> Answer<RawFd> {
    call!(SYS_openat, folder, path, flags | libc::O_CLOEXEC, mode).map(|fd| fd as RawFd)
}

/// Opens a mere place, with `root` as the root: neither links nor `..` lead out of it.
pub(crate) fn open_in_root(root: RawFd, path: &CStr) -> Answer<RawFd> {
    #[repr(C)]
    struct How {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const NO_MAGIC_LINKS: u64 = 2;
    const IN_ROOT: u64 = 16;
    let how = How {
        flags: (libc::O_PATH | libc::O_CLOEXEC) as u64,
        mode: 0,
        resolve: NO_MAGIC_LINKS | IN_ROOT,
    };
    let size = size_of::<How>();
    call!(SYS_openat2, root, path, &raw const how, size).map(|fd| fd as RawFd)
}

pub(crate) fn close(descriptor: RawFd) {
    // A descriptor is gone after `close`, whatever it answers.
    let _ = call!(SYS_close, descriptor);
}

pub(crate) fn close_range(first: RawFd, last: u32, flags: u32) -> Answer<()> {
    call!(SYS_close_range, first, last, flags).map(drop)
}

pub(crate) fn dup3(source: RawFd, target: RawFd, flags: c_int) -> Answer<()> {
    call!(SYS_dup3, source, target, flags).map(drop)
}

pub(crate) fn read(descriptor: RawFd, buffer: &mut [u8]) -> Answer<usize> {
    call!(SYS_read, descriptor, buffer.as_mut_ptr(), buffer.len())
}

pub(crate) fn write(descriptor: RawFd, bytes: &[u8]) -> Answer<usize> {
    call!(SYS_write, descriptor, bytes.as_ptr(), bytes.len())
}

/// `send` without a signal where nobody reads any more.
pub(crate) fn send(socket: RawFd, bytes: &[u8]) -> Answer<usize> {
    let (length, flags) = (bytes.len(), libc::MSG_NOSIGNAL);
    call!(
        SYS_sendto,
        socket,
        bytes.as_ptr(),
        length,
        flags,
        0_usize,
        0_usize
    )
}

/// Which file a descriptor is of, `O_PATH` ones included.
pub(crate) fn identity(descriptor: RawFd) -> Answer<Identity> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    call!(
        SYS_newfstatat,
        descriptor,
        c"",
        &raw mut stat,
        libc::AT_EMPTY_PATH
    )?;
    Ok(Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
    })
}

pub(crate) fn mkdir(folder: RawFd, path: &CStr, mode: u32) -> Answer<()> {
    call!(SYS_mkdirat, folder, path, mode).map(drop)
}

/// An empty file, made without opening it.
pub(crate) fn make_file(folder: RawFd, path: &CStr, mode: u32) -> Answer<()> {
    call!(SYS_mknodat, folder, path, libc::S_IFREG | mode, 0_u32).map(drop)
}

pub(crate) fn symlink(target: &CStr, folder: RawFd, path: &CStr) -> Answer<()> {
    call!(SYS_symlinkat, target, folder, path).map(drop)
}

pub(crate) fn chown(folder: RawFd, path: &CStr, user: u32) -> Answer<()> {
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    call!(SYS_fchownat, folder, path, user, user, flags).map(drop)
}

/// Waits until one of these is ready.
pub(crate) fn poll(set: &mut [libc::pollfd]) -> Answer<()> {
    call!(
        SYS_ppoll,
        set.as_mut_ptr(),
        set.len(),
        0_usize,
        0_usize,
        0_usize
    )
    .map(drop)
}

/// Waits until there is no child any more.
pub(crate) fn reap_all() -> Answer<()> {
    loop {
        let options = libc::WEXITED;
        match call!(SYS_waitid, libc::P_ALL, 0, 0_usize, options, 0_usize) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Ok(()),
        }
    }
}
