//! Namespaces that the runtime holds open for its jails to use.
//!
//! A namespace is made by a process in it, which then only has to be there until it is held open.
//! Two kinds are: an empty network, which jails of root share, since making one for each call is the
//! dearest part of a jail and there is nothing in it; and mappings of owners for mounts. A runtime of
//! root keeps packs and state readable to root alone, and the jail is somebody else: a mount with a
//! mapping shows files as the jail's user's in one place, and leaves them as they are on disk.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::identity::USER;
use crate::child::without_signals;
use crate::sys::{self, CloneArguments};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Network,
    Mapping { user: u32, group: u32 },
}

static HELD: Mutex<BTreeMap<Kind, OwnedFd>> = Mutex::new(BTreeMap::new());

/// A network namespace with nothing in it.
///
/// # Errors
/// When the system makes none.
pub(crate) fn empty_network() -> io::Result<RawFd> {
    hold(Kind::Network)
}

/// A user namespace in which files of this user and group are the jail's.
///
/// # Errors
/// When the system makes none.
pub(crate) fn mapping_of(user: u32, group: u32) -> io::Result<RawFd> {
    hold(Kind::Mapping { user, group })
}

/// The descriptor stays open for as long as the process lives.
fn hold(kind: Kind) -> io::Result<RawFd> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(namespace) = held.get(&kind) {
        return Ok(namespace.as_raw_fd());
    }
    let namespace = make(kind)?;
    let descriptor = namespace.as_raw_fd();
    held.insert(kind, namespace);
    Ok(descriptor)
}

/// Words of the stack of a process that does nothing.
const STACK: usize = 1024;

#[allow(unsafe_code)]
fn make(kind: Kind) -> io::Result<OwnedFd> {
    let mut stack = vec![0_u128; STACK];
    let mut descriptor: RawFd = -1;
    let namespace = match kind {
        Kind::Network => libc::CLONE_NEWNET,
        Kind::Mapping { .. } => libc::CLONE_NEWUSER,
    };
    let flags = libc::CLONE_VM | libc::CLONE_PIDFD | namespace;
    let arguments = CloneArguments {
        flags: flags.cast_unsigned().into(),
        pidfd: (&raw mut descriptor).addr() as u64,
        exit_signal: libc::SIGCHLD.cast_unsigned().into(),
        stack: stack.as_mut_ptr().addr() as u64,
        stack_size: size_of_val(stack.as_slice()) as u64,
        ..CloneArguments::default()
    };
    // SAFETY: the stack is the process's own and is kept until it was reaped; it takes no argument.
    let pid = without_signals(|| unsafe { sys::clone3(&arguments, stay, std::ptr::null_mut()) })?;
    // SAFETY: a clone that succeeded with CLONE_PIDFD stored a descriptor that nobody else owns.
    let process = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let opened = open_namespace(pid, kind);
    let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
    let wait = || rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty());
    while let Err(Errno::INTR) = wait() {}
    drop(stack);
    opened
}

extern "C" fn stay(_: *mut c_void) -> ! {
    let _ = sys::prctl(libc::PR_SET_PDEATHSIG, sys::SIGKILL, 0);
    sys::sleep_forever()
}

fn open_namespace(pid: c_int, kind: Kind) -> io::Result<OwnedFd> {
    let name = match kind {
        Kind::Network => "net",
        Kind::Mapping { user, group } => {
            fs::write(format!("/proc/{pid}/gid_map"), format!("{group} {USER} 1"))?;
            fs::write(format!("/proc/{pid}/uid_map"), format!("{user} {USER} 1"))?;
            "user"
        }
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(format!("/proc/{pid}/ns/{name}"), flags, Mode::empty())?;
    Ok(opened)
}
