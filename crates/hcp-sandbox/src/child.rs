//! From `clone` to `execve`: the few steps in which a child is set up, and the handle to it after.
//!
//! The child borrows the memory of the runtime until it executes its program (`CLONE_VM` and
//! `CLONE_VFORK`), so that a runtime of a gigabyte starts one as fast as a runtime of a megabyte. In
//! return nothing in [`Context`] may allocate, take a lock or panic, and no signal handler of the
//! runtime may run there: every signal is blocked around the clone, and handlers are gone before
//! they are unblocked. What fails is told through the shared memory.

use std::cell::Cell;
use std::convert::Infallible;
use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use crate::fitness::Identity;
use crate::launch::End;
use crate::limits::ResourceLimit;
use crate::program::Program;
use crate::session::kill_session;
use crate::supervise::Supervised;

/// What a child is set up with.
pub(crate) struct Start<'a> {
    pub(crate) program: &'a Program,
    pub(crate) bin: BorrowedFd<'a>,
    /// For a script, which must be executed by its path: the file that the path must lead to.
    pub(crate) script: Option<Identity>,
    /// What becomes 0, 1 and 2; none of them is one of these numbers here.
    pub(crate) standard: [BorrowedFd<'a>; 3],
    pub(crate) limits: &'a [ResourceLimit],
}

/// Where the set-up failed, and how.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) stage: Stage,
    pub(crate) errno: Errno,
}

impl Fault {
    /// Whether somebody has the program open for writing.
    pub(crate) fn is_busy(self) -> bool {
        self.stage == Stage::Exec && self.errno == Errno::TXTBSY
    }
}

/// The steps of the set-up, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Clone,
    Signals,
    Session,
    ParentDeath,
    Privileges,
    WorkingDirectory,
    Limits,
    Descriptors,
    Verify,
    Exec,
}

impl Stage {
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Clone => "starting a process",
            Self::Signals => "resetting the signals of a child",
            Self::Session => "giving a child its own session",
            Self::ParentDeath => "tying a child to the runtime",
            Self::Privileges => "taking new privileges from a child",
            Self::WorkingDirectory => "entering the working directory",
            Self::Limits => "setting the limits of a child",
            Self::Descriptors => "closing the descriptors of a child",
            Self::Verify => "checking the program again",
            Self::Exec => "executing the program",
        }
    }

    const fn failed(self) -> impl Fn(Errno) -> Fault {
        move |errno| Fault { stage: self, errno }
    }
}

/// Starts a child. Returns once it executes its program, or with what kept it from doing so.
///
/// # Errors
/// [`Fault`]; there is no process left then.
pub(crate) fn spawn(start: &Start<'_>) -> Result<Child, Fault> {
    keep_exit_statuses().map_err(Stage::Signals.failed())?;
    let context = Context {
        start,
        runtime: rustix::process::getpid(),
        fault: Cell::new(None),
    };
    let child = without_signals(|| clone_into(&context)).map_err(Stage::Clone.failed())?;
    // A child that could not execute has exited by now; dropping it reaps it.
    context.fault.get().map_or(Ok(child), Err)
}

/// Words of the stack that the child has until it executes its program: 64 KiB.
const STACK: usize = (64 << 10) / size_of::<u128>();

#[allow(unsafe_code)]
fn clone_into(context: &Context<'_>) -> Result<Child, Errno> {
    let mut stack = vec![0_u128; STACK];
    let mut descriptor: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the stack is ours alone, 16-byte aligned at its end, and outlives the child's use of it,
    // as do `context` and `descriptor`, because CLONE_VFORK holds this thread until the child executes
    // or exits. `run` upholds what sharing memory asks for (see the module).
    let pid = unsafe {
        libc::clone(
            run,
            stack.as_mut_ptr_range().end.cast::<c_void>(),
            flags,
            std::ptr::from_ref(context).cast_mut().cast::<c_void>(),
            &raw mut descriptor,
        )
    };
    let pid = Pid::from_raw(pid)
        .filter(|_| pid > 0)
        .ok_or_else(last_error)?;
    // SAFETY: with CLONE_PIDFD a clone that succeeded stored a new descriptor that nobody else owns.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(Child { pid, descriptor })
}

/// A runtime that was started with SIGCHLD ignored would never learn how a child ended.
#[allow(unsafe_code)]
pub(crate) fn keep_exit_statuses() -> Result<(), Errno> {
    // SAFETY: a zeroed `sigaction` is a valid one, and both pointers are to this function's own.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let result = libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action);
        let is_lost =
            action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0;
        if result != 0 || !is_lost {
            result
        } else {
            if action.sa_sigaction == libc::SIG_IGN {
                action.sa_sigaction = libc::SIG_DFL;
            }
            action.sa_flags &= !libc::SA_NOCLDWAIT;
            libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut())
        }
    };
    checked(result)
}

/// Runs `action` with every signal of this thread blocked.
#[allow(unsafe_code)]
pub(crate) fn without_signals<T>(action: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    // SAFETY: both sets are this function's own, and written before they are read.
    let before = unsafe {
        let mut every: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut every);
        let code = libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
        if code != 0 {
            return Err(Errno::from_raw_os_error(code));
        }
        before
    };
    let result = action();
    // SAFETY: `before` is what the call above wrote. Restoring it cannot fail.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}

/// What the child finds in the memory that it borrows.
struct Context<'a> {
    start: &'a Start<'a>,
    runtime: Pid,
    /// Written by the child while the runtime's thread stands still, read by it afterwards.
    fault: Cell<Option<Fault>>,
}

#[allow(unsafe_code)]
extern "C" fn run(context: *mut c_void) -> c_int {
    // SAFETY: `clone_into` passes a `Context` that outlives the child's use of it, and its own thread
    // does not touch it meanwhile.
    let context = unsafe { &*context.cast::<Context<'_>>() };
    let Err(fault) = context.become_program();
    context.fault.set(Some(fault));
    // SAFETY: ends the child without running any exit handler of the runtime, whose memory it is.
    unsafe { libc::_exit(127) }
}

impl Context<'_> {
    fn become_program(&self) -> Result<Infallible, Fault> {
        default_signals().map_err(Stage::Signals.failed())?;
        rustix::process::setsid().map_err(Stage::Session.failed())?;
        self.die_with_runtime()
            .map_err(Stage::ParentDeath.failed())?;
        rustix::thread::set_no_new_privs(true).map_err(Stage::Privileges.failed())?;
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        rustix::process::chdir(self.start.program.working_directory.as_c_str())
            .map_err(Stage::WorkingDirectory.failed())?;
        for (resource, limit) in self.start.limits {
            rustix::process::setrlimit(*resource, *limit).map_err(Stage::Limits.failed())?;
        }
        self.keep_standard_descriptors()
            .map_err(Stage::Descriptors.failed())?;
        self.verify_script().map_err(Stage::Verify.failed())?;
        unblock_signals().map_err(Stage::Signals.failed())?;
        Err(Stage::Exec.failed()(self.execute()))
    }

    /// The system kills the child when the thread that started it ends, and that thread supervises
    /// it. Had it ended already, nothing would come any more.
    fn die_with_runtime(&self) -> Result<(), Errno> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() == Some(self.runtime) {
            Ok(())
        } else {
            Err(Errno::SRCH)
        }
    }

    #[allow(unsafe_code)]
    fn keep_standard_descriptors(&self) -> Result<(), Errno> {
        for (target, source) in (0..).zip(self.start.standard) {
            // SAFETY: the table of descriptors is the child's own copy; the source is open.
            checked(unsafe { libc::dup2(source.as_raw_fd(), target) }.min(0))?;
        }
        // SAFETY: as above. They are closed by `execve`, so that the program can still be named by one.
        let result = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                libc::STDERR_FILENO + 1,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        checked(if result == 0 { 0 } else { -1 })
    }

    fn verify_script(&self) -> Result<(), Errno> {
        let Some(checked) = self.start.script else {
            return Ok(());
        };
        let stat = rustix::fs::stat(self.start.program.path.as_c_str())?;
        let found = Identity {
            device: stat.st_dev,
            inode: stat.st_ino,
        };
        if found == checked {
            Ok(())
        } else {
            Err(Errno::STALE)
        }
    }

    /// A program is executed by its descriptor. A script cannot be, without leaving its interpreter
    /// a descriptor to read it from, and goes by its path.
    #[allow(unsafe_code)]
    fn execute(&self) -> Errno {
        let program = self.start.program;
        let (arguments, environment) = (program.arguments.as_ptr(), program.environment.as_ptr());
        // SAFETY: both arrays end in a null pointer, and every string in them and the path in a NUL.
        unsafe {
            if self.start.script.is_some() {
                libc::execve(program.path.as_ptr(), arguments, environment);
            } else {
                libc::syscall(
                    libc::SYS_execveat,
                    self.start.bin.as_raw_fd(),
                    c"".as_ptr(),
                    arguments,
                    environment,
                    libc::AT_EMPTY_PATH,
                );
            }
        }
        last_error()
    }
}

/// The highest number of a signal on Linux, real-time ones included.
const LAST_SIGNAL: c_int = 64;

/// The system call itself, since the library's wrapper refuses the two signals it keeps for itself.
#[allow(unsafe_code)]
fn default_signals() -> Result<(), Errno> {
    // The kernel's structure for "default, no flags, no mask" is all zeros on every machine.
    let action = [0_u64; 4];
    for signal in 1..=LAST_SIGNAL {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        // SAFETY: `action` is at least as large as the kernel's structure; the old one is not asked
        // for. Handlers are the child's own copy, since CLONE_SIGHAND is not among the flags.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                action.as_ptr(),
                std::ptr::null::<c_void>(),
                size_of::<u64>(),
            )
        };
        checked(if result == 0 { 0 } else { -1 })?;
    }
    Ok(())
}

#[allow(unsafe_code)]
fn unblock_signals() -> Result<(), Errno> {
    // SAFETY: a zeroed set is valid and made empty besides; the old one is not asked for.
    checked(unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut())
    })
}

fn checked(result: c_int) -> Result<(), Errno> {
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A child that was started. Dropping it kills what is left of its process group and reaps it.
pub(crate) struct Child {
    /// Also the id of its process group and session. It means nothing else until it is reaped.
    pid: Pid,
    descriptor: OwnedFd,
}

impl Child {
    /// How it ended, once its descriptor is readable. It is not reaped by that.
    ///
    /// # Errors
    /// When somebody else in the process reaped it.
    fn status(&self) -> rustix::io::Result<Option<WaitIdStatus>> {
        self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
    }

    /// Sends a signal to the process group. Its number means that group only as long as nobody, in
    /// whatever part of the process, reaped the child.
    fn signal_group(&self, signal: Signal) {
        if self.status().is_ok() {
            // Fails when nobody is left, or none of them may be signalled: nothing to do about it.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    fn wait(&self, options: WaitIdOptions) -> rustix::io::Result<Option<WaitIdStatus>> {
        loop {
            match waitid(WaitId::PidFd(self.descriptor.as_fd()), options) {
                Err(Errno::INTR) => {}
                done => return done,
            }
        }
    }
}

impl Supervised for Child {
    fn ended(&self) -> rustix::io::Result<Option<End>> {
        let status = self.status()?;
        Ok(status.map(|status| match status.exit_status() {
            Some(code) => End::Exited(code),
            None => End::Signalled(status.terminating_signal().unwrap_or(libc::SIGKILL)),
        }))
    }

    fn ask(&self) {
        self.signal_group(Signal::TERM);
    }

    fn kill(&self) {
        self.signal_group(Signal::KILL);
    }

    fn end_everything(&self, thorough: bool) {
        self.signal_group(Signal::KILL);
        if thorough {
            kill_session(self.pid);
        }
    }
}

impl AsFd for Child {
    /// The process itself, readable once it ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal_group(Signal::KILL);
        // Fails only where it was reaped elsewhere, and then there is nothing left to reap.
        let _ = self.wait(WaitIdOptions::EXITED);
    }
}
