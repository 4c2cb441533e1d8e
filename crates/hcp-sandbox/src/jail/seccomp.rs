//! Which system calls a jailed program may make: the last layer, put on right before it starts.
//!
//! The filter is written for the kernel's own machine, by hand and without a library, since it is
//! short. It denies what manages the system, what opens a second way around another layer, and every
//! call that is newer than this list, so that a kernel which grows does not open the jail.
//!
//! Arguments are compared in their lower half only: the kernel itself cuts each of those to an
//! `int`, and a filter that looked at the upper half could be passed by setting it.

use std::ffi::c_long;

use libc::sock_filter;

/// The last call this list was written for (`mseal`, the same number on every machine).
const NEWEST: u32 = 462;

/// Denied whatever their arguments: `EPERM`.
const DENIED: &[c_long] = &[
    // What is mounted, and where the root is.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    STATMOUNT,
    LISTMOUNT,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // What has been the way out of many a jail.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_memfd_secret,
    libc::SYS_vhangup,
    LSM_SET_SELF_ATTR,
    // The kernel, the clock and the machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Denied as if the kernel had none: their arguments stand in memory, where a filter cannot look, and
/// programs go on with the older call (`clone`, `openat`).
const ABSENT: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

// Newer than some versions of the C library.
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const LSM_SET_SELF_ATTR: c_long = 460;
const FCHMODAT2: c_long = 452;

/// A file that its group or everybody runs as its owner. Where the runtime is root, what a call makes
/// in a folder it was given belongs to root outside of the jail.
const SET_ID_BITS: u32 = 0o6000;
const NAMESPACE_BITS: u32 = 0x7e02_0000;
/// Filled in only where one of these is set; otherwise the mode is what happened to be in a register.
const MAKING_BITS: u32 = libc::O_CREAT.cast_unsigned() | 0o20_000_000;
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const MFD_NOEXEC_SEAL: u32 = 8;
/// `socket` takes flags in the same word as the type.
const SOCKET_TYPE: u32 = 0xf;

/// What a call has besides its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sockets {
    /// Pairs of its own only.
    Pairs,
    /// Streams of the Internet as well. For calls that were given an address to reach.
    #[allow(dead_code)]
    // No call can be given one yet; the filter is tested for it all the same.
    Streams,
}

/// The filter, ready for the kernel.
pub(crate) fn filter(sockets: Sockets) -> Vec<sock_filter> {
    let mut filter = vec![
        load(ARCHITECTURE),
        jump(EQUAL, MACHINE, 1, 0),
        answer(Answer::Kill),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        // The second set of calls of this machine, with shorter pointers.
        deny_if(&mut filter, jump(AT_LEAST, 0x4000_0000, 0, 1), libc::ENOSYS);
    }
    deny_if(&mut filter, jump(ABOVE, NEWEST, 0, 1), libc::ENOSYS);
    for (numbers, error) in [(DENIED, libc::EPERM), (ABSENT, libc::ENOSYS)] {
        for number in numbers {
            deny_if(&mut filter, jump(EQUAL, word(*number), 0, 1), error);
        }
    }
    for (number, rule) in rules(sockets) {
        let length = u8::try_from(rule.len()).unwrap_or(u8::MAX);
        filter.push(jump(EQUAL, word(number), 0, length));
        filter.extend(rule);
    }
    filter.push(answer(Answer::Allow));
    filter
}

/// Calls that are judged by their arguments. Each rule ends in an answer.
fn rules(sockets: Sockets) -> Vec<(c_long, Vec<sock_filter>)> {
    let mut rules = vec![
        (libc::SYS_clone, without(0, NAMESPACE_BITS)),
        (libc::SYS_fchmod, without(1, SET_ID_BITS)),
        (libc::SYS_fchmodat, without(2, SET_ID_BITS)),
        (FCHMODAT2, without(2, SET_ID_BITS)),
        (libc::SYS_mknodat, without(2, SET_ID_BITS)),
        (libc::SYS_openat, opening(2)),
        (libc::SYS_ioctl, none_of(1, &[TIOCSTI, TIOCLINUX])),
        (libc::SYS_personality, one_of(0, &[0, u32::MAX])),
        (libc::SYS_memfd_create, with(1, MFD_NOEXEC_SEAL)),
        (libc::SYS_socketpair, pairs()),
        (
            libc::SYS_socket,
            match sockets {
                Sockets::Pairs => vec![answer(Answer::Error(libc::EAFNOSUPPORT))],
                Sockets::Streams => streams(),
            },
        ),
    ];
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_chmod, without(1, SET_ID_BITS)),
        (libc::SYS_creat, without(1, SET_ID_BITS)),
        (libc::SYS_mknod, without(1, SET_ID_BITS)),
        (libc::SYS_open, opening(1)),
    ]);
    rules
}

fn without(argument: u32, bits: u32) -> Vec<sock_filter> {
    vec![
        load_argument(argument),
        jump(ANY_BIT, bits, 0, 1),
        answer(Answer::Error(libc::EPERM)),
        answer(Answer::Allow),
    ]
}

/// Memory that can be made a program of, if not said otherwise, would be a way around the limits on
/// what may be executed.
fn with(argument: u32, bits: u32) -> Vec<sock_filter> {
    vec![
        load_argument(argument),
        jump(ANY_BIT, bits, 1, 0),
        answer(Answer::Error(libc::ENOSYS)),
        answer(Answer::Allow),
    ]
}

fn none_of(argument: u32, values: &[u32]) -> Vec<sock_filter> {
    let mut rule = vec![load_argument(argument)];
    for value in values {
        deny_if(&mut rule, jump(EQUAL, *value, 0, 1), libc::EPERM);
    }
    rule.push(answer(Answer::Allow));
    rule
}

fn one_of(argument: u32, values: &[u32]) -> Vec<sock_filter> {
    let mut rule = vec![load_argument(argument)];
    for value in values {
        rule.extend([jump(EQUAL, *value, 0, 1), answer(Answer::Allow)]);
    }
    rule.push(answer(Answer::Error(libc::EPERM)));
    rule
}

/// `flags` stand before `mode`.
fn opening(flags: u32) -> Vec<sock_filter> {
    let mut rule = vec![
        load_argument(flags),
        jump(ANY_BIT, MAKING_BITS, 1, 0),
        answer(Answer::Allow),
    ];
    rule.extend(without(flags + 1, SET_ID_BITS));
    rule
}

/// Streams and packets between two of its own processes. A datagram socket of a pair can be pointed
/// elsewhere later; these cannot.
fn pairs() -> Vec<sock_filter> {
    vec![
        load_argument(0),
        jump(EQUAL, libc::AF_UNIX.cast_unsigned(), 0, 4),
        load_argument(1),
        keep(SOCKET_TYPE),
        jump(EQUAL, libc::SOCK_STREAM.cast_unsigned(), 2, 0),
        jump(EQUAL, libc::SOCK_SEQPACKET.cast_unsigned(), 1, 0),
        answer(Answer::Error(libc::EAFNOSUPPORT)),
        answer(Answer::Allow),
    ]
}

fn streams() -> Vec<sock_filter> {
    vec![
        load_argument(0),
        jump(EQUAL, libc::AF_INET.cast_unsigned(), 1, 0),
        jump(EQUAL, libc::AF_INET6.cast_unsigned(), 0, 6),
        load_argument(1),
        keep(SOCKET_TYPE),
        jump(EQUAL, libc::SOCK_STREAM.cast_unsigned(), 0, 3),
        load_argument(2),
        jump(EQUAL, libc::IPPROTO_TCP.cast_unsigned(), 2, 0),
        jump(EQUAL, 0, 1, 0),
        answer(Answer::Error(libc::EAFNOSUPPORT)),
        answer(Answer::Allow),
    ]
}

fn deny_if(filter: &mut Vec<sock_filter>, test: sock_filter, error: i32) {
    filter.extend([test, answer(Answer::Error(error))]);
}

#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xc000_00b7;

// Where things stand in `seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

// The four comparisons of the filter's language.
const EQUAL: u16 = 0x15;
const ABOVE: u16 = 0x25;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;

enum Answer {
    Allow,
    Kill,
    Error(i32),
}

const fn load(offset: u32) -> sock_filter {
    instruction(0x20, 0, 0, offset)
}

/// The lower half of an argument, which comes first in memory on these machines.
const fn load_argument(index: u32) -> sock_filter {
    load(ARGUMENTS + 8 * index)
}

/// Keeps these bits of what was loaded.
const fn keep(bits: u32) -> sock_filter {
    instruction(0x54, 0, 0, bits)
}

/// Skips so many instructions when the comparison holds, and so many otherwise.
const fn jump(comparison: u16, value: u32, holds: u8, otherwise: u8) -> sock_filter {
    instruction(comparison, holds, otherwise, value)
}

const fn answer(answer: Answer) -> sock_filter {
    let value = match answer {
        Answer::Allow => 0x7fff_0000,
        Answer::Kill => 0x8000_0000,
        Answer::Error(error) => 0x0005_0000 | error.cast_unsigned(),
    };
    instruction(0x06, 0, 0, value)
}

const fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// Numbers of calls are small and positive.
fn word(number: c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
