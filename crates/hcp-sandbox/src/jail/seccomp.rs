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

/// Whether a call has namespaces of processes and of what they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alone {
    Yes,
    /// It runs among the other processes of its user, and is ended by its process group.
    No,
}

/// Denied as well where a call is not alone: leaving the process group, and what processes share.
const AMONG_OTHERS: &[c_long] = &[
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

/// Where a call is not alone, it does these to itself only: 0 in this argument.
const ON_ITSELF: &[(c_long, u32)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
];

/// The filter, ready for the kernel.
///
/// The number of a call is looked for by halves: the kernel, when it takes a filter, tries it with
/// every number there is, and a list would make that the dearest part of starting a jail.
pub(crate) fn filter(sockets: Sockets, alone: Alone) -> Vec<sock_filter> {
    let mut filter = vec![
        load(ARCHITECTURE),
        jump(EQUAL, MACHINE, 1, 0),
        answer(Answer::Kill),
        load(NUMBER),
    ];
    filter.extend(search(&judged(sockets, alone)));
    filter
}

/// From which number on which rule holds, up to the next.
type From = (u32, Vec<sock_filter>);

/// A rule for every number: those of the lists, what lies between them, and what is above. The second
/// set of calls that some machines have, with shorter pointers, has high numbers as well.
fn judged(sockets: Sockets, alone: Alone) -> Vec<From> {
    let error = |error| vec![answer(Answer::Error(error))];
    let mut single: Vec<From> = DENIED
        .iter()
        .map(|number| (word(*number), error(libc::EPERM)))
        .chain(
            ABSENT
                .iter()
                .map(|number| (word(*number), error(libc::ENOSYS))),
        )
        .chain(
            rules(sockets)
                .into_iter()
                .map(|(number, rule)| (word(number), rule)),
        )
        .collect();
    if alone == Alone::No {
        single.extend(
            AMONG_OTHERS
                .iter()
                .map(|number| (word(*number), error(libc::EPERM))),
        );
        single.extend(
            ON_ITSELF
                .iter()
                .map(|(number, argument)| (word(*number), one_of(*argument, &[0]))),
        );
    }
    single.sort_by_key(|(number, _)| *number);
    let mut from = Vec::new();
    let mut next = 0;
    for (number, rule) in single {
        if number > next {
            from.push((next, vec![answer(Answer::Allow)]));
        }
        from.push((number, rule));
        next = number + 1;
    }
    from.push((next, vec![answer(Answer::Allow)]));
    from.push((NEWEST + 1, error(libc::ENOSYS)));
    from
}

fn search(from: &[From]) -> Vec<sock_filter> {
    let (lower, upper) = from.split_at(from.len() / 2);
    match (lower, upper) {
        ([], [(_, rule)]) => rule.clone(),
        (_, [(middle, _), ..]) => {
            let (lower, upper) = (search(lower), search(upper));
            // A jump reaches 255 instructions far; the halves of this list are shorter.
            let over = u8::try_from(lower.len()).unwrap_or(0);
            let mut found = vec![jump(AT_LEAST, *middle, over, 0)];
            found.extend(lower);
            found.extend(upper);
            found
        }
        (_, []) => Vec::new(),
    }
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
        rule.extend([
            jump(EQUAL, *value, 0, 1),
            answer(Answer::Error(libc::EPERM)),
        ]);
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
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;

#[derive(Clone, Copy)]
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        ABSENT, ANY_BIT, AT_LEAST, Alone, DENIED, EQUAL, FCHMODAT2, MACHINE, NEWEST, Sockets,
        filter, sock_filter,
    };

    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;

    const fn error(error: i32) -> u32 {
        0x0005_0000 | error.cast_unsigned()
    }

    /// Runs a filter as the kernel would.
    fn run(filter: &[sock_filter], machine: u32, number: u32, arguments: &[(u32, u64)]) -> u32 {
        let arguments: BTreeMap<u32, u64> = arguments.iter().copied().collect();
        let (mut at, mut loaded) = (0, 0_u32);
        loop {
            let step = filter[at];
            at += 1;
            let holds = match step.code {
                0x06 => return step.k,
                0x20 => {
                    loaded = match step.k {
                        0 => number,
                        4 => machine,
                        place => {
                            assert_eq!((place - 16) % 8, 0, "the lower half");
                            let whole = arguments.get(&((place - 16) / 8)).copied();
                            u32::try_from(whole.unwrap_or(0) & 0xffff_ffff).unwrap()
                        }
                    };
                    continue;
                }
                0x54 => {
                    loaded &= step.k;
                    continue;
                }
                EQUAL => loaded == step.k,
                AT_LEAST => loaded >= step.k,
                ANY_BIT => loaded & step.k != 0,
                code => panic!("{code:#x}"),
            };
            at += usize::from(if holds { step.jt } else { step.jf });
        }
    }

    #[test]
    fn every_number_has_the_answer_of_the_lists() {
        let filter = filter(Sockets::Pairs, Alone::Yes);
        let judged = [
            libc::SYS_clone,
            libc::SYS_fchmod,
            libc::SYS_fchmodat,
            FCHMODAT2,
            libc::SYS_mknodat,
            libc::SYS_openat,
            libc::SYS_ioctl,
            libc::SYS_personality,
            libc::SYS_memfd_create,
            libc::SYS_socketpair,
            libc::SYS_socket,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open,
        ];
        for number in (0..2000).chain([0x4000_0000, 0x4000_0027, u32::MAX]) {
            let listed = i64::from(number);
            if judged.contains(&listed) {
                continue;
            }
            let expected = if DENIED.contains(&listed) {
                error(libc::EPERM)
            } else if ABSENT.contains(&listed) || number > NEWEST {
                error(libc::ENOSYS)
            } else {
                ALLOW
            };
            assert_eq!(run(&filter, MACHINE, number, &[]), expected, "{number}");
            assert_eq!(run(&filter, MACHINE ^ 1, number, &[]), KILL, "{number}");
        }
    }

    /// A call, its arguments, and the answers without and with a network.
    type Case<'a> = (i64, &'a [(u32, u64)], u32, u32);

    #[test]
    fn arguments_are_judged() {
        let (pairs, streams) = (
            filter(Sockets::Pairs, Alone::Yes),
            filter(Sockets::Streams, Alone::Yes),
        );
        let high = 1_u64 << 32;
        let perm = error(libc::EPERM);
        let family = error(libc::EAFNOSUPPORT);
        let nosys = error(libc::ENOSYS);
        let cases: &[Case<'_>] = &[
            (libc::SYS_clone, &[(0, 0x0120_0011)], ALLOW, ALLOW),
            (libc::SYS_clone, &[(0, 0x0002_0000)], perm, perm),
            (libc::SYS_clone, &[(0, 0x1000_0000)], perm, perm),
            (libc::SYS_clone, &[(0, 0x4000_0000)], perm, perm),
            (libc::SYS_ioctl, &[(1, 0x5401)], ALLOW, ALLOW),
            (libc::SYS_ioctl, &[(1, 0x5412)], perm, perm),
            (libc::SYS_ioctl, &[(1, high | 0x5412)], perm, perm),
            (libc::SYS_ioctl, &[(1, 0x541c)], perm, perm),
            (libc::SYS_personality, &[(0, 0)], ALLOW, ALLOW),
            (libc::SYS_personality, &[(0, 0xffff_ffff)], ALLOW, ALLOW),
            (libc::SYS_personality, &[(0, 0x0040_0000)], perm, perm),
            (libc::SYS_memfd_create, &[(1, 1)], nosys, nosys),
            (libc::SYS_memfd_create, &[(1, 9)], ALLOW, ALLOW),
            (libc::SYS_fchmod, &[(1, 0o755)], ALLOW, ALLOW),
            (libc::SYS_fchmod, &[(1, 0o4755)], perm, perm),
            (libc::SYS_fchmodat, &[(2, 0o2755)], perm, perm),
            (FCHMODAT2, &[(2, 0o4000)], perm, perm),
            (libc::SYS_mknodat, &[(2, 0o104_755)], perm, perm),
            (libc::SYS_openat, &[(2, 0x41), (3, 0o644)], ALLOW, ALLOW),
            (libc::SYS_openat, &[(2, 0x41), (3, 0o4755)], perm, perm),
            (libc::SYS_openat, &[(2, 0x40_0002), (3, 0o4755)], perm, perm),
            (libc::SYS_openat, &[(2, 1), (3, 0o7777)], ALLOW, ALLOW),
            (libc::SYS_socketpair, &[(0, 1), (1, 1)], ALLOW, ALLOW),
            (libc::SYS_socketpair, &[(0, 1), (1, 0x80001)], ALLOW, ALLOW),
            (libc::SYS_socketpair, &[(0, 1), (1, 5)], ALLOW, ALLOW),
            (libc::SYS_socketpair, &[(0, 1), (1, 2)], family, family),
            (libc::SYS_socketpair, &[(0, 30), (1, 1)], family, family),
            (libc::SYS_socket, &[(0, 2), (1, 1)], family, ALLOW),
            (
                libc::SYS_socket,
                &[(0, 10), (1, 0x80801), (2, 6)],
                family,
                ALLOW,
            ),
            (libc::SYS_socket, &[(0, 2), (1, 2)], family, family),
            (
                libc::SYS_socket,
                &[(0, 2), (1, 1), (2, 262)],
                family,
                family,
            ),
            (libc::SYS_socket, &[(0, 2), (1, 3)], family, family),
            (libc::SYS_socket, &[(0, 1), (1, 1)], family, family),
            (libc::SYS_socket, &[(0, 16), (1, 3)], family, family),
            (libc::SYS_socket, &[(0, 17), (1, 3)], family, family),
            (libc::SYS_socket, &[(0, 40), (1, 1)], family, family),
        ];
        for (number, arguments, without, with) in cases {
            let number = u32::try_from(*number).unwrap();
            let judge = |filter| run(filter, MACHINE, number, arguments);
            assert_eq!(judge(&pairs), *without, "{number} {arguments:x?}");
            assert_eq!(judge(&streams), *with, "{number} {arguments:x?}");
        }
    }
}
