//! System calls made by themselves, for code that runs in borrowed memory.
//!
//! The first process of a jail shares the memory of the runtime, thread-local storage included. The C
//! library writes `errno` there, under the feet of the thread that is using it; so what runs in a
//! jail before its program does calls the kernel directly, and gets its errors as values.
//!
//! Nothing here allocates, locks or panics.

#![allow(unsafe_code)]
// Registers hold words: every conversion below is one, of a value the kernel reads back as it was.
#![allow(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

use std::arch::asm;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::os::fd::RawFd;

use rustix::io::Errno;

use crate::fitness::Identity;

type Answer<T> = Result<T, Errno>;

/// # Safety
/// The words must be what this system call takes, and what they point to must be as large as it says
/// and live over the call.
unsafe fn call(number: c_long, words: [usize; 6]) -> Answer<usize> {
    let [first, second, third, fourth, fifth, sixth] = words;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the convention of the kernel on this machine; the caller vouches for the words.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") first, in("rsi") second, in("rdx") third,
            in("r10") fourth, in("r8") fifth, in("r9") sixth,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") first as isize => result,
            in("x1") second, in("x2") third, in("x3") fourth, in("x4") fifth, in("x5") sixth,
            options(nostack),
        );
    }
    answer(result)
}

/// Makes a call that a jail must refuse, and says what it answers. `words` as for any call.
///
/// # Safety
/// As for [`call`], should it not be refused.
pub(crate) unsafe fn attempt(number: c_long, words: [usize; 6]) -> Answer<usize> {
    // SAFETY: the caller's promise.
    unsafe { call(number, words) }
}

fn answer(result: isize) -> Answer<usize> {
    if (-4095..0).contains(&result) {
        Err(Errno::from_raw_os_error(result.wrapping_neg() as c_int))
    } else {
        Ok(result as usize)
    }
}

/// `clone_args` of the kernel, up to and with `cgroup`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct CloneArguments {
    pub(crate) flags: u64,
    pub(crate) pidfd: u64,
    pub(crate) child_tid: u64,
    pub(crate) parent_tid: u64,
    pub(crate) exit_signal: u64,
    pub(crate) stack: u64,
    pub(crate) stack_size: u64,
    pub(crate) tls: u64,
    pub(crate) set_tid: u64,
    pub(crate) set_tid_size: u64,
    pub(crate) cgroup: u64,
}

/// Starts a process that runs `run` with `argument`, on the stack that the arguments name.
///
/// # Safety
/// The stack must be the new process's alone, with its end 16-byte aligned, and must live as long as
/// the process does, or until it executes another program; `argument` must suit `run`.
pub(crate) unsafe fn clone3(
    arguments: &CloneArguments,
    run: extern "C" fn(*mut c_void) -> !,
    argument: *mut c_void,
) -> Answer<c_int> {
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the new process begins behind the call with these registers and its own stack, where
    // `run` is called and never comes back; ours goes on at the label. The caller vouches for the
    // rest.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r8",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 as isize => result,
            in("rdi") std::ptr::from_ref(arguments),
            in("rsi") size_of::<CloneArguments>(),
            in("r8") argument,
            in("r9") run,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x2",
            "blr x3",
            "brk 1",
            "2:",
            in("x8") libc::SYS_clone3,
            inlateout("x0") std::ptr::from_ref(arguments) as isize => result,
            in("x1") size_of::<CloneArguments>(),
            in("x2") argument,
            in("x3") run,
            lateout("x30") _,
        );
    }
    answer(result).map(|pid| pid as c_int)
}

/// What can stand in a register: numbers, and the address of what is borrowed over the call.
trait Word {
    fn word(self) -> usize;
}

macro_rules! words {
    ($($number:ty)*) => { $(impl Word for $number { fn word(self) -> usize { self as usize } })* };
}
words!(i32 u32 i64 u64 usize);

impl Word for &CStr {
    fn word(self) -> usize {
        self.as_ptr() as usize
    }
}

impl Word for Option<&CStr> {
    fn word(self) -> usize {
        self.map_or(0, Word::word)
    }
}

impl<T> Word for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

/// Zeros for the rest: a system call does not look at what it does not take.
fn filled<const COUNT: usize>(given: [usize; COUNT]) -> [usize; 6] {
    let mut words = [0; 6];
    for (slot, word) in words.iter_mut().zip(given) {
        *slot = word;
    }
    words
}

macro_rules! call {
    ($number:ident $(, $word:expr)*) => {{
        let words = filled([$(Word::word($word)),*]);
        // SAFETY: the wrapper around this passes what the system call takes; everything it points to
        // is borrowed by the wrapper and as large as its type, or as the length beside it.
        unsafe { call(libc::$number, words) }
    }};
}

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

pub(crate) fn fsopen(kind: &CStr) -> Answer<RawFd> {
    const FSOPEN_CLOEXEC: u32 = 1;
    call!(SYS_fsopen, kind, FSOPEN_CLOEXEC).map(|fd| fd as RawFd)
}

/// Sets one option of a file system in the making; without a value, a flag.
pub(crate) fn fsconfig_set(context: RawFd, key: &CStr, value: Option<&CStr>) -> Answer<()> {
    const SET_FLAG: u32 = 0;
    const SET_STRING: u32 = 1;
    let command = if value.is_some() {
        SET_STRING
    } else {
        SET_FLAG
    };
    call!(SYS_fsconfig, context, command, key, value, 0_u32).map(drop)
}

/// Makes the file system and a mount of it that stands nowhere yet.
pub(crate) fn fsmount(context: RawFd, attributes: u64) -> Answer<RawFd> {
    const CMD_CREATE: u32 = 6;
    const FSMOUNT_CLOEXEC: u32 = 1;
    call!(SYS_fsconfig, context, CMD_CREATE, 0_usize, 0_usize, 0_u32)?;
    call!(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes).map(|fd| fd as RawFd)
}

/// A copy of what is mounted at a path, that stands nowhere yet.
pub(crate) fn open_tree(folder: RawFd, path: &CStr, flags: c_int) -> Answer<RawFd> {
    const OPEN_TREE_CLONE: c_int = 1;
    let flags = flags | OPEN_TREE_CLONE | libc::O_CLOEXEC;
    call!(SYS_open_tree, folder, path, flags).map(|fd| fd as RawFd)
}

/// Gives a mount its place, on top of what `place` is of.
pub(crate) fn move_mount(mount: RawFd, place: RawFd) -> Answer<()> {
    const BOTH_EMPTY_PATHS: u32 = 0x44;
    call!(SYS_move_mount, mount, c"", place, c"", BOTH_EMPTY_PATHS).map(drop)
}

/// `mount_attr` of the kernel.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) clear: u64,
    pub(crate) propagation: u64,
    pub(crate) user_namespace: u64,
}

pub(crate) fn mount_setattr(
    mount: RawFd,
    flags: c_int,
    attributes: &MountAttributes,
) -> Answer<()> {
    let (flags, size) = (flags | libc::AT_EMPTY_PATH, size_of::<MountAttributes>());
    call!(
        SYS_mount_setattr,
        mount,
        c"",
        flags,
        std::ptr::from_ref(attributes),
        size
    )
    .map(drop)
}

/// Lets nothing that is mounted here be seen elsewhere, nor the other way round.
pub(crate) fn make_mounts_private() -> Answer<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    call!(SYS_mount, 0_usize, c"/", 0_usize, flags, 0_usize).map(drop)
}

/// Makes the current folder the root, and forgets the old one.
pub(crate) fn leave_old_root() -> Answer<()> {
    call!(SYS_pivot_root, c".", c".")?;
    call!(SYS_umount2, c".", libc::MNT_DETACH).map(drop)
}

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

pub(crate) fn drop_groups() -> Answer<()> {
    call!(SYS_setgroups, 0_usize, 0_usize).map(drop)
}

pub(crate) fn set_group(group: u32) -> Answer<()> {
    call!(SYS_setresgid, group, group, group).map(drop)
}

pub(crate) fn set_user(user: u32) -> Answer<()> {
    call!(SYS_setresuid, user, user, user).map(drop)
}

/// Empties the permitted, effective and inheritable capabilities of this process.
pub(crate) fn drop_capabilities() -> Answer<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    call!(SYS_capset, header.as_ptr(), none.as_ptr()).map(drop)
}

/// Of `prctl`, what takes numbers only.
pub(crate) fn prctl(option: c_int, value: usize, other: usize) -> Answer<()> {
    call!(SYS_prctl, option, value, other, 0_usize, 0_usize).map(drop)
}

pub(crate) fn join_new_keyring() -> Answer<()> {
    const JOIN_SESSION_KEYRING: c_int = 1;
    call!(SYS_keyctl, JOIN_SESSION_KEYRING, 0_usize).map(drop)
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

/// `landlock_ruleset_attr` of the kernel.
#[repr(C)]
pub(crate) struct RulesetAttributes {
    pub(crate) files: u64,
    pub(crate) network: u64,
    pub(crate) scopes: u64,
}

pub(crate) fn landlock_ruleset(attributes: &RulesetAttributes) -> Answer<RawFd> {
    let size = size_of::<RulesetAttributes>();
    let attributes = std::ptr::from_ref(attributes);
    call!(SYS_landlock_create_ruleset, attributes, size, 0_u32).map(|fd| fd as RawFd)
}

/// The version of Landlock; an error where there is none.
pub(crate) fn landlock_version() -> Answer<usize> {
    const VERSION: u32 = 1;
    call!(SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION)
}

pub(crate) fn landlock_allow(ruleset: RawFd, place: RawFd, access: u64) -> Answer<()> {
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        place: RawFd,
    }
    const PATH_BENEATH: u32 = 1;
    let rule = PathBeneath { access, place };
    call!(
        SYS_landlock_add_rule,
        ruleset,
        PATH_BENEATH,
        &raw const rule,
        0_u32
    )
    .map(drop)
}

pub(crate) fn landlock_restrict(ruleset: RawFd) -> Answer<()> {
    call!(SYS_landlock_restrict_self, ruleset, 0_u32).map(drop)
}

pub(crate) fn seccomp(filter: &[libc::sock_filter]) -> Answer<()> {
    const SET_MODE_FILTER: u32 = 1;
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    call!(SYS_seccomp, SET_MODE_FILTER, 0_u32, &raw const program).map(drop)
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
