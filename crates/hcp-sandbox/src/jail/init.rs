//! The two processes of a jail, from `clone` to the end: the first one, which makes the jail and
//! watches over it, and the one that becomes the program.
//!
//! Both begin in the memory of the runtime; the first one stays there, so that starting a call costs
//! the same however large the runtime is. It runs on a stack of its own, calls the kernel directly
//! (see [`crate::sys`]), allocates nothing and cannot panic. What it has to say it writes in
//! [`Report`]. It ends as soon as the program has nobody left, or when the runtime hangs up, and with
//! it the kernel ends everything in its process namespace: nothing outlives a call.

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use rustix::io::Errno;

use super::identity::{self, Way};
use super::landlock::{self, Rule};
use super::probe;
use super::root::{self, Action, Size};
use crate::bin::CheckedBin;
use crate::fitness::Identity;
use crate::program::Program;
use crate::sys::{self, CloneArguments};

/// Everything the two processes need until the program runs. The runtime keeps it until then.
pub(crate) struct Setting<'a> {
    pub(crate) goal: Goal<'a>,
    pub(crate) standard: [RawFd; 3],
    pub(crate) limits: &'a [(u32, u64)],
    pub(crate) doors: &'a [RawFd],
    pub(crate) walls: Walls<'a>,
    pub(crate) rules: &'a [Rule],
    pub(crate) landlock: usize,
    pub(crate) filter: &'a [libc::sock_filter],
    /// The first process's end of the line to the runtime.
    pub(crate) line: RawFd,
    pub(crate) report: &'a Report,
    /// A stack for the program's process, of the first process's own.
    pub(crate) stack: (u64, u64),
}

/// What is around the program besides Landlock and the filter for system calls.
#[derive(Clone, Copy)]
pub(crate) enum Walls<'a> {
    /// Namespaces and a root of its own.
    Namespaces {
        way: Way,
        /// Lines of `uid_map` and `gid_map`.
        mapping: [&'a [u8]; 2],
        /// The namespace without a network; one of its own is made where there is none to join.
        network: Option<RawFd>,
        size: &'a Size,
        /// What every jail has, then what this one has.
        actions: [&'a [Action]; 2],
    },
    /// Nothing. The program cannot leave its process group, which is how it is ended.
    None,
}

/// What the jail is made for.
#[derive(Clone, Copy)]
pub(crate) enum Goal<'a> {
    /// Running a program.
    Run {
        program: &'a Program,
        bin: &'a CheckedBin,
    },
    /// Finding out whether it holds.
    Probe,
}

/// What the first process tells. Lives until it is reaped.
#[derive(Debug, Default)]
pub(crate) struct Report {
    stage: AtomicU32,
    errno: AtomicI32,
    item: AtomicU32,
    /// `si_code` and `si_status` of the program, once it ended.
    code: AtomicI32,
    status: AtomicI32,
}

/// Where making a jail failed, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) stage: Stage,
    pub(crate) errno: Errno,
    /// For [`Stage::Root`], which action it was.
    pub(crate) item: Option<usize>,
}

macro_rules! stages {
    ($($stage:ident)*) => {
        /// The steps of making a jail, in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Stage { $($stage),* }

        impl Stage {
            const ALL: &[Self] = &[$(Self::$stage),*];
        }
    };
}
stages! {
    Namespaces UserNamespace Network Root HostName Privileges ParentDeath Signals
    Session Group Limits Descriptors WorkingDirectory Verify Landlock Filter Exec
}

impl Report {
    fn fail(&self, fault: Fault) {
        let item = fault.item.and_then(|item| u32::try_from(item).ok());
        self.item.store(item.unwrap_or(u32::MAX), Ordering::Relaxed);
        self.errno
            .store(fault.errno.raw_os_error(), Ordering::Relaxed);
        let stage = (fault.stage as u32).wrapping_add(1);
        self.stage.store(stage, Ordering::Release);
    }

    /// What kept the program from starting, if anything did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let stage = self.stage.load(Ordering::Acquire).checked_sub(1)?;
        let item = self.item.load(Ordering::Relaxed);
        Some(Fault {
            stage: *Stage::ALL.get(usize::try_from(stage).ok()?)?,
            errno: Errno::from_raw_os_error(self.errno.load(Ordering::Relaxed)),
            item: (item != u32::MAX).then_some(item as usize),
        })
    }

    /// `si_code` and `si_status` of the program, when it ended.
    pub(crate) fn ended(&self) -> Option<(c_int, c_int)> {
        let code = self.code.load(Ordering::Acquire);
        (code != 0).then(|| (code, self.status.load(Ordering::Relaxed)))
    }
}

/// What goes over the line: the program runs, the program ended; the program is to end, everything
/// is to end at once.
pub(crate) const RUNS: u8 = b'r';
pub(crate) const ENDED: u8 = b'e';
pub(crate) const ASK: u8 = b't';
pub(crate) const KILL: u8 = b'k';

fn failed(stage: Stage) -> impl Fn(Errno) -> Fault {
    move |errno| Fault {
        stage,
        errno,
        item: None,
    }
}

/// Where the first process begins. `setting` is a [`Setting`] that lives until it says [`RUNS`], and
/// whose report lives until it is reaped.
#[allow(unsafe_code)]
pub(crate) extern "C" fn first(setting: *mut c_void) -> ! {
    // SAFETY: the runtime passes what this asks for, and only reads it meanwhile.
    let setting = unsafe { &*setting.cast::<Setting<'_>>() };
    let (line, report) = (setting.line, setting.report);
    let is_alone = matches!(setting.walls, Walls::Namespaces { .. });
    let program = match make_jail(setting).and_then(|()| start_program(setting)) {
        Ok(program) => program,
        Err(fault) => {
            report.fail(fault);
            sys::exit(1)
        }
    };
    // From here on `setting` is gone.
    let _ = keep_only(line).and_then(|signals| {
        if is_alone {
            watch(program, signals, report)
        } else {
            guard(program, signals, report)
        }
    });
    sys::exit(0)
}

fn make_jail(setting: &Setting<'_>) -> Result<(), Fault> {
    // A terminal's signals are for the runtime.
    sys::setsid().map_err(failed(Stage::Session))?;
    let Walls::Namespaces {
        way,
        mapping: [user, group],
        network,
        size,
        actions,
    } = setting.walls
    else {
        // What the program leaves behind comes to this process, which waits for its end.
        return sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0)
            .and_then(|()| sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0))
            .map_err(failed(Stage::Privileges));
    };
    if way == Way::UserNamespace {
        identity::map_self(user, group).map_err(failed(Stage::UserNamespace))?;
    }
    if let Some(network) = network {
        sys::setns(network, libc::CLONE_NEWNET).map_err(failed(Stage::Network))?;
    }
    root::build(size, actions, identity::USER).map_err(|fault| Fault {
        stage: Stage::Root,
        errno: fault.errno,
        item: fault.action,
    })?;
    sys::sethostname(c"hcp").map_err(failed(Stage::HostName))?;
    identity::give_up_privileges(way).map_err(failed(Stage::Privileges))?;
    // Only now: a change of user forgets it. Should the runtime have died before, the line is dead.
    sys::prctl(libc::PR_SET_PDEATHSIG, sys::SIGKILL, 0).map_err(failed(Stage::ParentDeath))
}

/// Returns once the program runs.
#[allow(unsafe_code)]
fn start_program(setting: &Setting<'_>) -> Result<c_int, Fault> {
    let (stack, stack_size) = setting.stack;
    let arguments = CloneArguments {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK).cast_unsigned().into(),
        exit_signal: libc::SIGCHLD.cast_unsigned().into(),
        stack,
        stack_size,
        ..CloneArguments::default()
    };
    let argument = std::ptr::from_ref(setting).cast_mut().cast::<c_void>();
    // SAFETY: the stack is the new process's alone; CLONE_VFORK holds this one until it is not used
    // any more, and `setting` with it.
    let program = unsafe { sys::clone3(&arguments, second, argument) };
    let program = program.map_err(failed(Stage::Session))?;
    match setting.report.fault() {
        None => Ok(program),
        Some(fault) => Err(fault),
    }
}

/// Where the program's process begins; `setting` as for [`first`].
#[allow(unsafe_code)]
extern "C" fn second(setting: *mut c_void) -> ! {
    // SAFETY: as for `first`, which stands still meanwhile.
    let setting = unsafe { &*setting.cast::<Setting<'_>>() };
    let done = prepare(setting).and_then(|()| match setting.goal {
        Goal::Run { program, bin } => Err(run(program, bin)),
        Goal::Probe => Ok(match setting.walls {
            Walls::Namespaces { .. } => probe::attempt(),
            Walls::None => probe::attempt_among_others(),
        }),
    });
    match done {
        Ok(broken) => sys::exit(broken),
        Err(fault) => {
            setting.report.fail(fault);
            sys::exit(127)
        }
    }
}

/// Comes back only when it failed.
#[allow(unsafe_code)]
fn run(program: &Program, bin: &CheckedBin) -> Fault {
    // Opened as the jail sees it.
    let file = match verify(&program.path, bin.identity()) {
        Ok(_) if bin.is_script() => Err(program.path.as_c_str()),
        Ok(file) => Ok(file),
        Err(errno) => return failed(Stage::Verify)(errno),
    };
    let (arguments, environment) = (program.arguments.as_ptr(), program.environment.as_ptr());
    // SAFETY: both arrays end in a null pointer, and every string in them in a NUL.
    let errno = unsafe { sys::execute(file, arguments, environment) };
    failed(Stage::Exec)(errno)
}

/// Everything that must hold when the program starts.
fn prepare(setting: &Setting<'_>) -> Result<(), Fault> {
    sys::setsid().map_err(failed(Stage::Session))?;
    sys::umask(0o077);
    for door in setting.doors {
        sys::write(*door, b"0").map_err(failed(Stage::Group))?;
    }
    for (resource, limit) in setting.limits {
        sys::set_limit(*resource, *limit).map_err(failed(Stage::Limits))?;
    }
    keep_standard(setting.standard).map_err(failed(Stage::Descriptors))?;
    if let Goal::Run { program, .. } = setting.goal {
        sys::chdir(&program.working_directory).map_err(failed(Stage::WorkingDirectory))?;
    }
    sys::default_signals().map_err(failed(Stage::Signals))?;
    landlock::restrict(setting.rules, setting.landlock).map_err(failed(Stage::Landlock))?;
    sys::seccomp(setting.filter).map_err(failed(Stage::Filter))
}

/// The others are closed by `execve`: the ruleset and the program are still to be opened.
fn keep_standard(standard: [RawFd; 3]) -> Result<(), Errno> {
    for (target, source) in (0..).zip(standard) {
        sys::dup3(source, target, 0)?;
    }
    sys::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

/// Opens the program as the jail sees it, if it is the file that was checked.
fn verify(path: &CStr, checked: Identity) -> Result<RawFd, Errno> {
    let file = sys::open(libc::AT_FDCWD, path, libc::O_PATH, 0)?;
    if sys::identity(file)? == checked {
        Ok(file)
    } else {
        Err(Errno::STALE)
    }
}

/// Where the line stands once nothing else is open.
const LINE: RawFd = 0;
const SIGNALS: RawFd = 1;

/// Says that the program runs, and closes everything but the line and a descriptor for children that
/// ended. It must not hold a pipe of the program's.
fn keep_only(line: RawFd) -> Result<RawFd, Errno> {
    sys::dup3(line, LINE, 0)?;
    let child = 1_u64 << (libc::SIGCHLD.wrapping_sub(1));
    let signals = sys::signalfd(child)?;
    sys::dup3(signals, SIGNALS, 0)?;
    sys::close_range(2, u32::MAX, 0)?;
    sys::send(LINE, &[RUNS])?;
    Ok(SIGNALS)
}

/// Reaps until nobody is left or the runtime hangs up, and passes on what it asks for.
fn watch(program: c_int, signals: RawFd, report: &Report) -> Result<(), Errno> {
    let mut buffer = [0_u8; 128];
    loop {
        while let Some(ended) = sys::reap()? {
            if ended.pid == program {
                report.status.store(ended.status, Ordering::Relaxed);
                report.code.store(ended.code, Ordering::Release);
                // Whoever is left may still write; how long, the runtime decides.
                match sys::reap() {
                    Err(Errno::CHILD) => return Ok(()),
                    _ => sys::send(LINE, &[ENDED])?,
                };
            }
        }
        let ready = |descriptor| libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut set = [ready(LINE), ready(signals)];
        sys::poll(&mut set)?;
        let [line, children] = set;
        if line.revents != 0 {
            match sys::read(LINE, &mut buffer)? {
                0 => return Ok(()),
                _ => sys::kill_group(program, libc::SIGTERM),
            }
        }
        if children.revents != 0 {
            sys::read(signals, &mut buffer)?;
        }
    }
}

/// Watches over a process group rather than a namespace. The program is not reaped before its group was
/// killed: as long as it is there, its number means that group and no other.
fn guard(program: c_int, signals: RawFd, report: &Report) -> Result<(), Errno> {
    let mut buffer = [0_u8; 128];
    loop {
        let ready = |descriptor| libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut set = [ready(LINE), ready(signals)];
        sys::poll(&mut set)?;
        let [line, children] = set;
        if children.revents != 0 {
            sys::read(signals, &mut buffer)?;
            if let Some(ended) = sys::peek(program)? {
                report.status.store(ended.status, Ordering::Relaxed);
                report.code.store(ended.code, Ordering::Release);
                let _ = sys::send(LINE, &[ENDED]);
            }
        }
        if line.revents != 0 {
            let length = sys::read(LINE, &mut buffer).unwrap_or(0);
            let words = buffer.get(..length).unwrap_or(&[]);
            if words.is_empty() || words.contains(&KILL) {
                sys::kill_group(program, libc::SIGKILL);
                return sys::reap_all();
            }
            sys::kill_group(program, libc::SIGTERM);
        }
    }
}
