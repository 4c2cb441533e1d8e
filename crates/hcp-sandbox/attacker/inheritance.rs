//! What the runtime has and a call must not get.

use std::fs;

use crate::{Case, called};

pub(crate) const CASES: &[Case] = &[
    ("inherit-descriptor", |hints| {
        let mut text = [0_u8; 64];
        let read = unsafe {
            libc::pread(
                hints.number("descriptor"),
                text.as_mut_ptr().cast(),
                text.len(),
                0,
            )
        };
        called("pread", read as i64)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }),
    ("find-any-descriptor", |_| {
        let open =
            (3..4096).find(|descriptor| unsafe { libc::fcntl(*descriptor, libc::F_GETFD) } >= 0);
        open.map(|descriptor| descriptor.to_string())
            .ok_or_else(|| "none".to_owned())
    }),
    ("inherit-variable", |_| {
        std::env::var("HCP_CANARY").map_err(|error| error.to_string())
    }),
    ("read-variable-by-proc", |_| {
        let text = fs::read_to_string("/proc/self/environ").map_err(|error| error.to_string())?;
        if text.contains("HCP_CANARY") {
            Ok(text)
        } else {
            Err("not there".to_owned())
        }
    }),
    ("find-key", |_| {
        let (kind, name) = (c"user".as_ptr(), c"hcp-canary".as_ptr());
        called("keyctl", unsafe {
            libc::syscall(libc::SYS_keyctl, 10, -3, kind, name, 0)
        })
    }),
    ("attach-shared-memory", |hints| {
        called(
            "shmget",
            unsafe { libc::shmget(hints.number("shm"), 0, 0) }.into(),
        )
    }),
    ("have-terminal", |_| {
        // A session without one is what is asked for, so a session of the runtime's is the failure.
        let (own, parent) = unsafe { (libc::getsid(0), libc::getpid()) };
        if own == parent {
            Err("a session of its own".to_owned())
        } else {
            Ok(own.to_string())
        }
    }),
    ("loose-umask", |_| {
        let mask = unsafe { libc::umask(0) };
        if mask == 0o77 {
            Err("077".to_owned())
        } else {
            Ok(format!("{mask:o}"))
        }
    }),
];
