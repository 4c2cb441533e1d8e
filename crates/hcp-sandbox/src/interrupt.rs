//! Turning SIGINT, SIGTERM and SIGHUP into a cancelled call, so that a command line that is
//! interrupted still ends its child, writes the outcome and answers.

use std::io;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::cancel::Cancel;

/// The descriptor that the handler writes to; -1 as long as nobody asked.
static SWITCH: AtomicI32 = AtomicI32::new(-1);

impl Cancel {
    /// Switches this on when the process is asked to end. Later calls replace earlier ones; the
    /// second signal finds the switch on already and changes nothing.
    ///
    /// # Errors
    /// When the system refuses the handler or has no descriptor left.
    pub fn on_termination_signals(&self) -> io::Result<()> {
        // The handler may run at any later time, so it gets a descriptor that is never closed.
        let lasting = rustix::io::fcntl_dupfd_cloexec(self, 3)?.into_raw_fd();
        SWITCH.store(lasting, Ordering::SeqCst);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            install(signal)?;
        }
        Ok(())
    }
}

#[allow(unsafe_code)]
fn install(signal: i32) -> io::Result<()> {
    // SAFETY: an all-zero sigaction is a valid value: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = switch_on as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` lives over the call, and its handler does only what a handler may.
    let done = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[allow(unsafe_code)]
extern "C" fn switch_on(_: i32) {
    let on = 1_u64.to_ne_bytes();
    // SAFETY: write(2) may be called in a handler; the descriptor is never closed and the buffer
    // lives over the call. errno is put back, since the interrupted code may be about to read it.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let _ = libc::write(SWITCH.load(Ordering::SeqCst), on.as_ptr().cast(), on.len());
        *errno = before;
    }
}
