//! Attempts to get out of a jail, from within, by the runtime's own code.
//!
//! A layer that was put on without an error is not yet a layer that holds: a kernel may be built
//! without half of one, a container may have put a file system in the way. So each is tried once.
//! This runs where a program would, in borrowed memory (see [`crate::sys`]).

use std::ffi::{CStr, c_int, c_long};

use rustix::io::Errno;

use super::identity::USER;
use crate::sys;

/// The layers that are tried, in the words that a refusal names them by.
const LAYERS: [&str; 6] = [
    "user change",
    "process namespace",
    "file-system view",
    "limits on writing",
    "limits on execution",
    "system call filter",
];

/// The layer that an exit status of the probe says is broken.
pub(crate) fn layer(status: i32) -> &'static str {
    usize::try_from(status)
        .ok()
        .and_then(|number| LAYERS.get(number.wrapping_sub(1)))
        .copied()
        .unwrap_or("limits on execution")
}

/// The number of the first layer that does not hold, from 1; 0 when all do.
pub(crate) fn attempt() -> c_int {
    let layers = [
        is_nobody,
        is_alone,
        sees_no_host,
        writes_nothing_else,
        starts_nothing_else,
        calls_nothing_else,
    ];
    for (number, holds) in (1..).zip(layers) {
        if !holds() {
            return number;
        }
    }
    0
}

/// The same where there are no namespaces.
pub(crate) fn attempt_among_others() -> c_int {
    let (viewing, starting, calling) = (3, 5, 6);
    let closed = [
        c"/proc/self/status",
        c"/tmp",
        c"/var",
        c"/sys",
        c"/dev/shm",
        c"/etc",
    ];
    if !closed
        .iter()
        .all(|path| open(path, libc::O_RDONLY) == Err(Errno::ACCESS))
    {
        viewing
    } else if !start_is_refused(c"/bin/sh") || !start_is_refused(c"/usr/bin/env") {
        starting
    } else if !calls_nothing_else()
        || attempted(libc::SYS_setsid, [0; 6]) != Err(Errno::PERM)
        || attempted(libc::SYS_setpgid, [0; 6]) != Err(Errno::PERM)
    {
        calling
    } else {
        0
    }
}

fn is_nobody() -> bool {
    let user = attempted(libc::SYS_geteuid, [0; 6]);
    // Whether any capability could still be had.
    let bound = |capability| {
        let read = libc::PR_CAPBSET_READ.unsigned_abs() as usize;
        attempted(libc::SYS_prctl, [read, capability, 0, 0, 0, 0])
    };
    user == Ok(USER as usize) && (0..41).all(|capability| bound(capability) != Ok(1))
}

fn is_alone() -> bool {
    attempted(libc::SYS_getpid, [0; 6]) == Ok(2) && attempted(libc::SYS_getppid, [0; 6]) == Ok(1)
}

fn sees_no_host() -> bool {
    let hidden = [
        c"/sys",
        c"/run",
        c"/var",
        c"/root",
        c"/etc/shadow",
        c"/proc/sys",
        c"/proc/1",
        c"/proc/self/root/sys",
        c"/dev/kmsg",
        c"/dev/mem",
    ];
    hidden.iter().all(|path| open(path, libc::O_PATH).is_err())
}

fn writes_nothing_else() -> bool {
    let making = libc::O_CREAT | libc::O_WRONLY;
    let closed = [
        c"/probe",
        c"/usr/probe",
        c"/etc/probe",
        c"/dev/probe",
        c"/home/probe",
    ];
    let own = [c"/tmp/probe", c"/home/hcp/probe"];
    closed.iter().all(|path| open(path, making).is_err())
        && open(c"/etc/passwd", libc::O_WRONLY).is_err()
        && own.iter().all(|path| open(path, making).is_ok())
}

/// Should one of these be executed, there is nobody left to say so, and the status is that of the
/// other program. It is made to fail: a shell without input does nothing, and `-` is no file.
fn starts_nothing_else() -> bool {
    let program = c"/tmp/probe";
    let written = open(program, libc::O_WRONLY).and_then(|file| sys::write(file, b"#!/bin/sh\n"));
    let executable = attempted(
        libc::SYS_fchmodat,
        [CURRENT, program.as_ptr().addr(), 0o700, 0, 0, 0],
    );
    written.is_ok()
        && executable.is_ok()
        && [program, c"/bin/sh", c"/usr/bin/env"]
            .iter()
            .all(|path| start_is_refused(path))
}

fn start_is_refused(path: &CStr) -> bool {
    let arguments = [
        path.as_ptr(),
        c"-c".as_ptr(),
        c"exit 5".as_ptr(),
        std::ptr::null(),
    ];
    let none = [std::ptr::null()];
    // SAFETY: both arrays end in a null pointer, and every string in a NUL.
    #[allow(unsafe_code)]
    let errno = unsafe { sys::execute(Err(path), arguments.as_ptr(), none.as_ptr()) };
    errno == Errno::ACCESS || errno == Errno::NOENT
}

fn calls_nothing_else() -> bool {
    let namespaces = (libc::CLONE_NEWUSER | libc::CLONE_NEWNS).unsigned_abs() as usize;
    let (local, internet, machine) = (1, 2, 40);
    let (stream, datagram) = (1, 2);
    let refused: [(c_long, [usize; 6], Errno); 16] = [
        (libc::SYS_unshare, [namespaces, 0, 0, 0, 0, 0], Errno::PERM),
        (libc::SYS_setns, [0, 0, 0, 0, 0, 0], Errno::PERM),
        (libc::SYS_mount, [0; 6], Errno::PERM),
        (libc::SYS_fsopen, [0; 6], Errno::PERM),
        (libc::SYS_pivot_root, [0; 6], Errno::PERM),
        (libc::SYS_ptrace, [0; 6], Errno::PERM),
        (libc::SYS_bpf, [0; 6], Errno::PERM),
        (libc::SYS_io_uring_setup, [0; 6], Errno::PERM),
        (libc::SYS_keyctl, [0; 6], Errno::PERM),
        (libc::SYS_perf_event_open, [0; 6], Errno::PERM),
        (libc::SYS_clone3, [0; 6], Errno::NOSYS),
        (
            libc::SYS_socket,
            [internet, stream, 0, 0, 0, 0],
            Errno::AFNOSUPPORT,
        ),
        (
            libc::SYS_socket,
            [local, stream, 0, 0, 0, 0],
            Errno::AFNOSUPPORT,
        ),
        (
            libc::SYS_socket,
            [machine, stream, 0, 0, 0, 0],
            Errno::AFNOSUPPORT,
        ),
        (
            libc::SYS_socketpair,
            [local, datagram, 0, 0, 0, 0],
            Errno::AFNOSUPPORT,
        ),
        (
            libc::SYS_memfd_create,
            [c"".as_ptr().addr(), 0, 0, 0, 0, 0],
            Errno::NOSYS,
        ),
    ];
    refused
        .iter()
        .all(|(number, words, error)| attempted(*number, *words) == Err(*error))
}

/// `AT_FDCWD`, as a register holds it.
const CURRENT: usize = (libc::AT_FDCWD as isize).cast_unsigned();

fn open(path: &CStr, flags: c_int) -> Result<c_int, Errno> {
    sys::open(libc::AT_FDCWD, path, flags, 0o600)
}

#[allow(unsafe_code)]
fn attempted(number: c_long, words: [usize; 6]) -> Result<usize, Errno> {
    // SAFETY: those that read memory are given a string that lives for good; the others are given
    // numbers, and null where they would read or write, which the kernel answers with an error.
    unsafe { sys::attempt(number, words) }
}
