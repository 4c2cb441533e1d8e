//! System calls that manage a machine, or have been the way out of many a jail.

use std::mem::zeroed;
use std::ptr::null;

use libc::{EPERM, syscall};

use crate::{Case, Outcome, called, got_past};

const USER: i32 = libc::CLONE_NEWUSER;

pub(crate) const CASES: &[Case] = &[
    ("mount", |_| {
        in_own_mounts(|| {
            let kind = c"tmpfs".as_ptr();
            called(
                "mount",
                unsafe { libc::mount(kind, c"/usr".as_ptr(), kind, 0, null()) }.into(),
            )
        })
    }),
    ("remount-writable", |_| {
        in_own_mounts(|| {
            let flags = libc::MS_REMOUNT | libc::MS_BIND;
            let mounted = unsafe { libc::mount(null(), c"/".as_ptr(), null(), flags, null()) };
            called("mount", mounted.into())
        })
    }),
    ("unmount", |_| {
        in_own_mounts(|| {
            called(
                "umount",
                unsafe { libc::umount2(c"/proc".as_ptr(), libc::MNT_DETACH) }.into(),
            )
        })
    }),
    ("new-file-system", |_| {
        in_own_mounts(|| {
            called("fsopen", unsafe {
                syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0)
            })
        })
    }),
    ("copy-mount", |_| {
        in_own_mounts(|| {
            let path = c"/".as_ptr();
            called("open_tree", unsafe {
                syscall(libc::SYS_open_tree, libc::AT_FDCWD, path, 1)
            })
        })
    }),
    ("list-mounts", |_| {
        let request = [32_u64, u64::MAX, 0, 0];
        let mut found = [0_u64; 64];
        let listed = unsafe { syscall(458, request.as_ptr(), found.as_mut_ptr(), 64, 0) };
        got_past("listmount", listed, &[EPERM])
    }),
    ("new-user-namespace", |_| {
        called("unshare", unsafe { libc::unshare(USER) }.into())
    }),
    ("new-mount-namespace", |_| {
        called(
            "unshare",
            unsafe { libc::unshare(libc::CLONE_NEWNS) }.into(),
        )
    }),
    ("new-user-namespace-by-clone", |_| {
        let flags = USER | libc::SIGCHLD;
        let pid = unsafe { syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
        if pid == 0 {
            unsafe { libc::_exit(0) };
        }
        called("clone", pid)
    }),
    ("new-user-namespace-by-clone3", |_| {
        let arguments = [USER as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
        let pid = unsafe { syscall(libc::SYS_clone3, arguments.as_ptr(), 64) };
        if pid == 0 {
            unsafe { libc::_exit(0) };
        }
        called("clone3", pid)
    }),
    ("enter-namespace", |_| {
        let own = unsafe { libc::open(c"/proc/self/ns/uts".as_ptr(), libc::O_RDONLY) };
        called("setns", unsafe { libc::setns(own, 0) }.into())
    }),
    ("change-root", |_| {
        called("chroot", unsafe { libc::chroot(c"/".as_ptr()) }.into())
    }),
    ("climb-out-of-root", |_| {
        // The oldest way out: a root below the current folder, and then up.
        let inner = c"/tmp/hcp-attacker-root".as_ptr();
        let done = unsafe {
            libc::mkdir(inner, 0o700);
            let done = libc::chroot(inner);
            libc::rmdir(inner);
            done
        };
        called("chroot", done.into())
    }),
    ("pivot-root", |_| {
        let here = c"/".as_ptr();
        got_past(
            "pivot_root",
            unsafe { syscall(libc::SYS_pivot_root, here, here) },
            &[EPERM],
        )
    }),
    ("host-name", |_| {
        let mut name = [0_u8; 64];
        called(
            "gethostname",
            unsafe { libc::gethostname(name.as_mut_ptr().cast(), 64) }.into(),
        )?;
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(0);
        let set = unsafe { libc::sethostname(name.as_ptr().cast(), length) };
        called("sethostname", set.into())
    }),
    ("bpf", |_| {
        let none = [0_u64; 16];
        got_past(
            "bpf",
            unsafe { syscall(libc::SYS_bpf, 0, none.as_ptr(), 128) },
            &[EPERM],
        )
    }),
    ("io-uring", |_| {
        let mut parameters = [0_u8; 120];
        called("io_uring", unsafe {
            syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr())
        })
    }),
    ("user-fault", |_| {
        called("userfaultfd", unsafe { syscall(libc::SYS_userfaultfd, 1) })
    }),
    ("performance-events", |_| {
        let mut attributes = [0_u32; 32];
        attributes[0] = 1;
        attributes[1] = 128;
        // Excludes the kernel and the hypervisor, which an ordinary user may.
        attributes[10] = 0b110_0001;
        let pointer = attributes.as_ptr();
        called("perf", unsafe {
            syscall(libc::SYS_perf_event_open, pointer, 0, -1, -1, 0)
        })
    }),
    ("add-key", |_| {
        let (kind, name) = (c"user".as_ptr(), c"hcp-attacker".as_ptr());
        called("add_key", unsafe {
            syscall(libc::SYS_add_key, kind, name, name, 4, -4)
        })
    }),
    ("request-key", |_| {
        let (kind, name) = (c"user".as_ptr(), c"hcp-attacker-none".as_ptr());
        let asked = unsafe { syscall(libc::SYS_request_key, kind, name, null::<u8>(), 0) };
        got_past("request_key", asked, &[EPERM])
    }),
    ("session-keyring", |_| {
        called("keyctl", unsafe { syscall(libc::SYS_keyctl, 0, -3, 0) })
    }),
    ("push-terminal-input", |_| ioctl(0x5412)),
    ("push-terminal-input-by-high-bits", |_| {
        ioctl(0x5412 | 1 << 32)
    }),
    ("paste-into-console", |_| ioctl(0x541c)),
    ("no-randomization", |_| personality(0x0004_0000)),
    ("readable-is-executable", |_| personality(0x0040_0000)),
    ("x32", |_| {
        // Many kernels have none; then nothing holds it back but its absence.
        got_past(
            "getpid",
            unsafe { syscall(0x4000_0000 | libc::SYS_getpid) },
            &[libc::ENOSYS],
        )
    }),
    ("calls-of-32-bits", |_| {
        #[cfg(target_arch = "x86_64")]
        {
            let answer: i64;
            unsafe { std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => answer) };
            if answer > 0 {
                return Ok(format!("getpid = {answer}"));
            }
        }
        Err("there are none".to_owned())
    }),
    ("kernel-log", |_| {
        let mut buffer = [0_u8; 16];
        called("syslog", unsafe {
            syscall(libc::SYS_syslog, 3, buffer.as_mut_ptr(), 16)
        })
    }),
    ("quota", |_| {
        got_past(
            "quotactl",
            unsafe { syscall(libc::SYS_quotactl, 0, 0, 0, 0) },
            &[EPERM],
        )
    }),
    ("swap", |_| {
        let path = c"/nowhere".as_ptr();
        got_past(
            "swapon",
            unsafe { syscall(libc::SYS_swapon, path, 0) },
            &[EPERM],
        )
    }),
    ("restart", |_| {
        // Without the magic numbers it only says whether it would have listened.
        got_past(
            "reboot",
            unsafe { syscall(libc::SYS_reboot, 0, 0, 0, 0) },
            &[EPERM],
        )
    }),
    ("load-kernel", |_| {
        got_past(
            "kexec_load",
            unsafe { syscall(libc::SYS_kexec_load, 0, 17, 0, 1) },
            &[EPERM],
        )
    }),
    ("load-module", |_| {
        let nothing = c"".as_ptr();
        got_past(
            "init_module",
            unsafe { syscall(libc::SYS_init_module, 0, 0, nothing) },
            &[EPERM],
        )
    }),
    ("account", |_| {
        let path = c"/nowhere/at/all".as_ptr();
        got_past("acct", unsafe { syscall(libc::SYS_acct, path) }, &[EPERM])
    }),
    ("set-clock", |_| {
        let mut nothing: libc::timex = unsafe { zeroed() };
        called(
            "adjtimex",
            unsafe { libc::adjtimex(&raw mut nothing) }.into(),
        )
    }),
    ("watch-file-system", |_| {
        called("fanotify_init", unsafe {
            syscall(libc::SYS_fanotify_init, 0x200, 0)
        })
    }),
    ("local-descriptors", |_| {
        #[cfg(target_arch = "x86_64")]
        {
            let mut table = [0_u8; 64];
            let read = unsafe { syscall(libc::SYS_modify_ldt, 0, table.as_mut_ptr(), 64) };
            called("modify_ldt", read)
        }
        #[cfg(not(target_arch = "x86_64"))]
        Err("there are none".to_owned())
    }),
    ("machine-ports", |_| {
        #[cfg(target_arch = "x86_64")]
        return called("ioperm", unsafe { libc::ioperm(0x80, 1, 1) }.into());
        #[cfg(not(target_arch = "x86_64"))]
        Err("there are none".to_owned())
    }),
    ("call-of-tomorrow", |_| {
        // The newest one this kernel has beyond the list (`file_getattr`).
        let mut found = [0_u8; 64];
        let pointer = found.as_mut_ptr();
        let asked = unsafe { syscall(468, libc::AT_FDCWD, c"/".as_ptr(), pointer, 24, 0) };
        got_past("file_getattr", asked, &[libc::ENOSYS])
    }),
];

/// Outside, with rights to do so: in mounts of its own, so that the host keeps its.
fn in_own_mounts(attack: impl Fn() -> Outcome) -> Outcome {
    let outside = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0 || libc::unshare(USER | libc::CLONE_NEWNS) == 0
    };
    if outside {
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        unsafe { libc::mount(null(), c"/".as_ptr(), null(), flags, null()) };
    }
    attack()
}

fn ioctl(request: i64) -> Outcome {
    let byte = 10_u8;
    let done = unsafe { syscall(libc::SYS_ioctl, 0, request, &raw const byte) };
    got_past("ioctl", done, &[EPERM])
}

fn personality(which: u64) -> Outcome {
    called("personality", unsafe {
        syscall(libc::SYS_personality, which)
    })
}
