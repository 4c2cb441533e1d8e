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
use std::ffi::{CStr, c_int, c_long, c_void};

use rustix::io::Errno;

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

mod confinement;
mod files;
mod mounts;
mod processes;

pub(crate) use {confinement::*, files::*, mounts::*, processes::*};
