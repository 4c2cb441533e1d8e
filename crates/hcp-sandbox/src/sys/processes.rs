//! Processes, their signals and their end.

use std::ffi::{CStr, c_char, c_int};
use std::os::fd::RawFd;

use rustix::io::Errno;

use super::{Answer, Word, call, filled};

pub(crate) fn fchdir(folder: RawFd) -> Answer<()> {
    call!(SYS_fchdir, folder).map(drop)
}

pub(crate) fn chdir(path: &CStr) -> Answer<()> {
    call!(SYS_chdir, path).map(drop)
}

pub(crate) fn umask(mask: u32) {
    let _ = call!(SYS_umask, mask);
}

pub(crate) fn setns(namespace: RawFd, kind: c_int) -> Answer<()> {
    call!(SYS_setns, namespace, kind).map(drop)
}

pub(crate) fn sethostname(name: &CStr) -> Answer<()> {
    call!(SYS_sethostname, name, name.count_bytes()).map(drop)
}

pub(crate) fn setsid() -> Answer<()> {
    call!(SYS_setsid).map(drop)
}

/// Sets both limits of this process.
pub(crate) fn set_limit(resource: u32, limit: u64) -> Answer<()> {
    let both = [limit, limit];
    call!(SYS_prlimit64, 0_usize, resource, both.as_ptr(), 0_usize).map(drop)
}

/// A descriptor that is readable while one of these signals, which must be blocked, is pending.
pub(crate) fn signalfd(signals: u64) -> Answer<RawFd> {
    let size = size_of::<u64>();
    call!(
        SYS_signalfd4,
        -1,
        &raw const signals,
        size,
        libc::SFD_CLOEXEC
    )
    .map(|fd| fd as RawFd)
}

/// A process that ended: its id, and `si_code` and `si_status` of it.
pub(crate) struct Ended {
    pub(crate) pid: c_int,
    pub(crate) code: c_int,
    pub(crate) status: c_int,
}

/// Reaps a child that ended; `None` when none has yet.
///
/// # Errors
/// `ECHILD` when there is none at all.
pub(crate) fn reap() -> Answer<Option<Ended>> {
    wait(libc::P_ALL, 0, 0)
}

fn wait(which: libc::idtype_t, pid: c_int, options: c_int) -> Answer<Option<Ended>> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = options | libc::WEXITED | libc::WNOHANG;
    call!(SYS_waitid, which, pid, &raw mut info, options, 0_usize)?;
    // SAFETY: the kernel filled these in, or left them zero.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    let code = info.si_code;
    Ok((pid != 0).then_some(Ended { pid, code, status }))
}

/// How this child ended, if it did; it is not reaped by that.
pub(crate) fn peek(pid: c_int) -> Answer<Option<Ended>> {
    wait(libc::P_PID, pid, libc::WNOWAIT)
}

pub(crate) fn kill_group(leader: c_int, signal: c_int) {
    // Fails when nobody is left: nothing to do about it.
    let _ = call!(SYS_kill, leader.wrapping_neg(), signal);
}

/// As `prctl` takes it.
pub(crate) const SIGKILL: usize = libc::SIGKILL as usize;

/// Waits for any signal: for a process that only has to be there.
pub(crate) fn sleep_forever() -> ! {
    loop {
        let _ = call!(SYS_ppoll, 0_usize, 0_usize, 0_usize, 0_usize, 0_usize);
    }
}

pub(crate) fn exit(status: c_int) -> ! {
    loop {
        let _ = call!(SYS_exit_group, status);
    }
}

/// The highest number of a signal, real-time ones included.
const LAST_SIGNAL: c_int = 64;

/// Gives every signal its default, and unblocks all.
pub(crate) fn default_signals() -> Answer<()> {
    // The kernel's structure for "default, no flags, no mask" is all zeros on every machine.
    let (action, size) = ([0_u64; 4], size_of::<u64>());
    for signal in 1..=LAST_SIGNAL {
        if signal != libc::SIGKILL && signal != libc::SIGSTOP {
            call!(SYS_rt_sigaction, signal, action.as_ptr(), 0_usize, size)?;
        }
    }
    let none = 0_u64;
    call!(
        SYS_rt_sigprocmask,
        libc::SIG_SETMASK,
        &raw const none,
        0_usize,
        size
    )
    .map(drop)
}

/// A null-terminated array of C strings.
pub(crate) type Strings = *const *const c_char;

/// Comes back only when it failed.
///
/// # Safety
/// Both arrays must end in a null pointer, and each of their strings in a NUL.
pub(crate) unsafe fn execute(
    file: Result<RawFd, &CStr>,
    arguments: Strings,
    environment: Strings,
) -> Errno {
    let result = match file {
        Ok(descriptor) => {
            let flags = libc::AT_EMPTY_PATH;
            call!(SYS_execveat, descriptor, c"", arguments, environment, flags)
        }
        Err(path) => call!(SYS_execve, path, arguments, environment),
    };
    result.err().unwrap_or(Errno::IO)
}
