//! Other processes, and being somebody else.

use std::fs;

use crate::{Case, Hints, Outcome, called, told};

pub(crate) const CASES: &[Case] = &[
    ("signal-host-process", |hints| {
        called("kill", unsafe { libc::kill(hints.number("pid"), 0) }.into())
    }),
    ("signal-parent", |_| {
        called("kill", unsafe { libc::kill(libc::getppid(), 0) }.into())
    }),
    ("trace-host-process", |hints| trace(hints.number("pid"))),
    ("trace-parent", |_| trace(unsafe { libc::getppid() })),
    ("read-memory-of-host-process", |hints| {
        read_memory(hints.number("pid"))
    }),
    ("read-memory-of-parent", |_| {
        read_memory(unsafe { libc::getppid() })
    }),
    ("open-memory-of-host-process", |hints| {
        open_memory(hints.number("pid"))
    }),
    ("open-memory-of-parent", |_| {
        open_memory(unsafe { libc::getppid() })
    }),
    ("read-environment-of-host-process", |hints| {
        told(fs::read_to_string(format!(
            "/proc/{}/environ",
            hints.get("pid")
        )))
    }),
    ("see-host-processes", |_| {
        let names = fs::read_dir("/proc").map_err(|error| error.to_string())?;
        let count = names
            .filter_map(|name| name.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .count();
        if count > 3 {
            Ok(format!("{count} processes"))
        } else {
            Err(format!("only {count}"))
        }
    }),
    ("find-runtime", |hints| {
        told(fs::read_to_string(format!(
            "/proc/{}/cmdline",
            hints.get("runtime")
        )))
    }),
    ("hold-host-process", |hints| {
        let held = unsafe { libc::syscall(libc::SYS_pidfd_open, hints.number("pid"), 0) };
        called("pidfd_open", held)
    }),
    ("take-descriptor-of-host-process", |hints| {
        let held = unsafe { libc::syscall(libc::SYS_pidfd_open, hints.number("pid"), 0) };
        called("pidfd_open", held)?;
        called("pidfd_getfd", unsafe {
            libc::syscall(libc::SYS_pidfd_getfd, held, 0, 0)
        })
    }),
    ("slow-host-process", |hints| {
        let who = hints.number("pid") as libc::id_t;
        called(
            "setpriority",
            unsafe { libc::setpriority(libc::PRIO_PROCESS, who, 1) }.into(),
        )
    }),
    ("limit-host-process", |hints| {
        let none = std::ptr::null::<libc::rlimit>();
        let mut found = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        let asked = unsafe {
            libc::prlimit(
                hints.number("pid"),
                libc::RLIMIT_NOFILE,
                none,
                &raw mut found,
            )
        };
        called("prlimit", asked.into())
    }),
    ("move-host-process", |hints| {
        let all: libc::cpu_set_t = unsafe {
            let mut set = std::mem::zeroed();
            libc::CPU_SET(0, &mut set);
            set
        };
        let size = size_of::<libc::cpu_set_t>();
        let moved = unsafe { libc::sched_setaffinity(hints.number("pid"), size, &raw const all) };
        called("sched_setaffinity", moved.into())
    }),
    ("compare-with-host-process", |hints| {
        let (own, other) = (unsafe { libc::getpid() }, hints.number("pid"));
        called("kcmp", unsafe {
            libc::syscall(libc::SYS_kcmp, own, other, 0, 0, 0)
        })
    }),
    ("become-root", |_| {
        called("setuid", unsafe { libc::setuid(0) }.into())
    }),
    ("become-another", |_| {
        called("setuid", unsafe { libc::setuid(12_345) }.into())
    }),
    ("join-group", |_| {
        let group = 0;
        called(
            "setgroups",
            unsafe { libc::setgroups(1, &raw const group) }.into(),
        )
    }),
    ("raise-capabilities", |_| {
        let header = [0x2008_0522_u32, 0];
        let every = [1_u32, 1, 1, 0, 0, 0];
        let raised = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), every.as_ptr()) };
        called("capset", raised)
    }),
    ("have-capabilities", |_| {
        let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
        let any = status.lines().find(|line| {
            line.starts_with("Cap")
                && line.bytes().any(|byte| {
                    (b'1'..=b'f').contains(&byte) && !line.ends_with("0000000000000000")
                })
        });
        any.map(str::to_owned).ok_or_else(|| "none".to_owned())
    }),
    ("be-host-root", |hints| {
        let mapping = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let user = unsafe { libc::getuid() };
        let outside = mapping.lines().find_map(|line| {
            let words: Vec<u32> = line
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            let inside = user.checked_sub(words[0])?;
            (inside < words[2]).then(|| words[1].wrapping_add(inside))
        });
        let root: u32 = hints.get("root").parse().unwrap();
        if outside == Some(root) {
            Ok("root".to_owned())
        } else {
            Err(format!("{outside:?}"))
        }
    }),
    ("raise-limits", |_| {
        let limit = libc::rlimit {
            rlim_cur: 5000,
            rlim_max: 5000,
        };
        called(
            "setrlimit",
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }.into(),
        )
    }),
    ("dump-core", |_| {
        let limit = libc::rlimit {
            rlim_cur: 1 << 20,
            rlim_max: 1 << 20,
        };
        called(
            "setrlimit",
            unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) }.into(),
        )
    }),
    ("gain-privileges", |_| {
        let set = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) };
        if set == 0 {
            Ok("may gain".to_owned())
        } else {
            Err("may not".to_owned())
        }
    }),
    ("outlive-in-session", |hints| outlive(hints, 1)),
    ("outlive-as-daemon", |hints| outlive(hints, 2)),
    ("outlive-by-chain", |hints| outlive(hints, 50)),
];

fn trace(pid: i32) -> Outcome {
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) };
    called("ptrace", seized)
}

fn read_memory(pid: i32) -> Outcome {
    let mut buffer = [0_u8; 8];
    let own = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: 8,
    };
    // Any address will do: being allowed to look is what counts.
    let other = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(4096),
        iov_len: 8,
    };
    let read = unsafe { libc::process_vm_readv(pid, &raw const own, 1, &raw const other, 1, 0) };
    crate::got_past("process_vm_readv", read as i64, &[libc::EPERM, libc::ESRCH])
}

fn open_memory(pid: i32) -> Outcome {
    told(fs::File::open(format!("/proc/{pid}/mem")))
}

/// Leaves a process behind that is so many forks away, under a name that can be seen from outside.
fn outlive(hints: &Hints, forks: usize) -> Outcome {
    let name = crate::files::c_string(hints.get("mark"));
    let first = unsafe { libc::getpid() };
    for _ in 0..forks {
        match unsafe { libc::fork() } {
            -1 => return called("fork", -1),
            0 => {
                unsafe { libc::setsid() };
            }
            // The first one tells; what follows is nobody's child.
            _ if unsafe { libc::getpid() } == first => {
                std::thread::sleep(std::time::Duration::from_millis(100));
                return Ok("left one behind".to_owned());
            }
            _ => unsafe { libc::_exit(0) },
        }
    }
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
        for descriptor in 0..3 {
            libc::close(descriptor);
        }
        libc::sleep(300);
        libc::_exit(0)
    }
}
