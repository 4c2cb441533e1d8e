//! Starting a jail, and the handle to it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid};

use super::held;
use super::identity::{USER, Way};
use super::init::{self, ASK, Fault, Goal, KILL, RUNS, Report, Setting, Stage, Walls};
use super::landlock::Rule;
use super::plan;
use super::root::{Action, Size};
use crate::bin::CheckedBin;
use crate::child::{keep_exit_statuses, without_signals};
use crate::launch::{End, LaunchError, cannot_start, owned_above_standard};
use crate::program::Program;
use crate::supervise::Supervised;
use crate::sys::{self, CloneArguments};

/// What a jail is started with.
pub(crate) struct Parts<'a> {
    /// How the child gets namespaces; `None` where it gets none.
    pub(crate) way: Option<Way>,
    pub(crate) landlock: usize,
    pub(crate) goal: Goal<'a>,
    pub(crate) standard: [RawFd; 3],
    pub(crate) limits: &'a [(u32, u64)],
    pub(crate) doors: &'a [RawFd],
    pub(crate) size: &'a Size,
    pub(crate) actions: &'a [Action],
    pub(crate) rules: &'a [Rule],
    pub(crate) filter: &'a [libc::sock_filter],
}

/// A jail in which a program runs. Dropping it ends everything in it.
pub(crate) struct Jailed {
    /// The first process.
    process: OwnedFd,
    line: OwnedFd,
    report: Box<Report>,
    /// Whether the end of the first process is the end of all: of a process namespace it is.
    is_namespace: bool,
    /// The stacks of both processes. The first uses its own until it is reaped.
    _stacks: Vec<u128>,
}

/// Words of the stack of each process: 64 KiB.
const STACK: usize = (64 << 10) / size_of::<u128>();

/// Starts a jail; returns once its program runs.
///
/// # Errors
/// [`LaunchError`]; nothing is left of the jail then.
pub(crate) fn start(parts: &Parts<'_>) -> Result<Jailed, LaunchError> {
    let mut pause = Duration::from_millis(1);
    loop {
        match start_once(parts)? {
            Ok(jailed) => return Ok(jailed),
            // Another thread may just be starting a child that still has the program open for
            // writing, until that one gets to its own `execve`.
            Err(fault)
                if fault.stage == Stage::Exec
                    && fault.errno == Errno::TXTBSY
                    && pause < Duration::from_millis(100) =>
            {
                sleep(pause);
                pause *= 2;
            }
            Err(fault) => return Err(explain(fault, parts)),
        }
    }
}

fn start_once(parts: &Parts<'_>) -> Result<Result<Jailed, Fault>, LaunchError> {
    let system = LaunchError::system("starting a jail");
    keep_exit_statuses().map_err(&system)?;
    let missing = |source| LaunchError::Isolation {
        layer: "network namespace",
        source,
    };
    let network = match parts.way {
        Some(Way::Privileged) => Some(held::empty_network().map_err(missing)?),
        _ => None,
    };
    let (ours, theirs) = line().map_err(&system)?;
    let theirs = owned_above_standard(theirs)?;
    let (user, group) = (
        format!("{USER} {} 1", rustix::process::geteuid().as_raw()),
        format!("{USER} {} 1", rustix::process::getegid().as_raw()),
    );
    let mut stacks = vec![0_u128; 2 * STACK];
    let (first, second) = stacks.split_at_mut(STACK);
    let report = Box::<Report>::default();
    let setting = Setting {
        goal: parts.goal,
        standard: parts.standard,
        limits: parts.limits,
        doors: parts.doors,
        walls: match parts.way {
            None => Walls::None,
            Some(way) => Walls::Namespaces {
                way,
                mapping: [user.as_bytes(), group.as_bytes()],
                network,
                size: parts.size,
                actions: [&plan::base().actions, parts.actions],
            },
        },
        rules: parts.rules,
        landlock: parts.landlock,
        filter: parts.filter,
        line: theirs.as_raw_fd(),
        report: &report,
        stack: stack(second),
    };
    let process = clone(&setting, stack(first))?;
    drop(theirs);
    let runs = hear(&ours);
    let jailed = Jailed {
        process,
        line: ours,
        report,
        is_namespace: parts.way.is_some(),
        _stacks: stacks,
    };
    if runs {
        return Ok(Ok(jailed));
    }
    jailed.reap();
    match jailed.report.fault() {
        Some(fault) => Ok(Err(fault)),
        None => Err(system(Errno::CHILD)),
    }
}

/// The jail's end has no number that the program's own descriptors are given.
fn line() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut both: [RawFd; 2] = [-1; 2];
    #[allow(unsafe_code)]
    // SAFETY: the array has room for the two descriptors that this makes.
    let result = unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        libc::socketpair(libc::AF_UNIX, kind, 0, both.as_mut_ptr())
    };
    if result != 0 {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    let [ours, theirs] = both;
    #[allow(unsafe_code)]
    // SAFETY: both were just made and belong to nobody else.
    let both = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    Ok(both)
}

fn stack(words: &mut [u128]) -> (u64, u64) {
    (words.as_mut_ptr().addr() as u64, size_of_val(words) as u64)
}

#[allow(unsafe_code)]
fn clone(setting: &Setting<'_>, (stack, stack_size): (u64, u64)) -> Result<OwnedFd, LaunchError> {
    let mut descriptor: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_PIDFD | namespaces(setting.walls);
    let arguments = CloneArguments {
        flags: flags.cast_unsigned().into(),
        pidfd: (&raw mut descriptor).addr() as u64,
        exit_signal: libc::SIGCHLD.cast_unsigned().into(),
        stack,
        stack_size,
        ..CloneArguments::default()
    };
    let argument = std::ptr::from_ref(setting).cast_mut().cast();
    // SAFETY: the stack is the process's own and is kept by `Jailed` until it is reaped, as is the
    // report; the rest of the setting lives until `hear` comes back, which is when the program runs
    // or the process ended. `first` upholds what sharing memory asks for.
    let pid = without_signals(|| unsafe { sys::clone3(&arguments, init::first, argument) });
    pid.map_err(|errno| LaunchError::Isolation {
        layer: "namespaces",
        source: errno.into(),
    })?;
    // SAFETY: a clone that succeeded with CLONE_PIDFD stored a descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// What the first process leaves behind with its first step.
fn namespaces(walls: Walls<'_>) -> i32 {
    let Walls::Namespaces { way, network, .. } = walls else {
        return 0;
    };
    let every = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let user = match way {
        Way::UserNamespace => libc::CLONE_NEWUSER,
        Way::Privileged => 0,
    };
    match network {
        Some(_) => every | user,
        None => every | user | libc::CLONE_NEWNET,
    }
}

/// Waits until the jail says that its program runs; `false` when it hangs up before.
fn hear(line: &OwnedFd) -> bool {
    let mut word = [0_u8];
    loop {
        match rustix::io::read(line, &mut word) {
            Err(Errno::INTR) => {}
            Ok(1) => return word == [RUNS],
            _ => return false,
        }
    }
}

impl Jailed {
    /// Waits for the end of a probe, and gives its exit status.
    pub(crate) fn probed(self) -> Option<i32> {
        hear(&self.line);
        self.reap();
        match self.report.ended() {
            Some((libc::CLD_EXITED, status)) => Some(status),
            _ => None,
        }
    }

    /// Both fail when it is gone already.
    fn signal(&self) {
        if self.is_namespace {
            let _ = pidfd_send_signal(&self.process, Signal::KILL);
        } else {
            let _ = sys::send(self.line.as_raw_fd(), &[KILL]);
        }
    }

    /// The kernel lets the first process end only after everything else in its namespace did; where
    /// there is none, the first process ends after it killed the others.
    fn reap(&self) {
        self.signal();
        let wait = || waitid(WaitId::PidFd(self.process.as_fd()), WaitIdOptions::EXITED);
        while let Err(Errno::INTR) = wait() {}
    }
}

impl Drop for Jailed {
    fn drop(&mut self) {
        self.reap();
    }
}

impl AsFd for Jailed {
    /// The line, readable once the program ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

impl Supervised for Jailed {
    fn ended(&self) -> rustix::io::Result<Option<End>> {
        let mut word = [0_u8];
        match rustix::io::read(&self.line, &mut word) {
            Ok(_) | Err(Errno::CONNRESET) => {}
            Err(Errno::INTR) => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(match self.report.ended() {
            Some((libc::CLD_EXITED, status)) => End::Exited(status),
            Some((_, signal)) => End::Signalled(signal),
            // The whole jail was killed, and not from here.
            None => End::Signalled(libc::SIGKILL),
        }))
    }

    fn ask(&self) {
        // Fails when the program is gone already.
        let _ = sys::send(self.line.as_raw_fd(), &[ASK]);
    }

    fn kill(&self) {
        self.signal();
    }

    fn end_everything(&self, _: bool) {
        self.signal();
    }
}

/// What went wrong, in words.
fn explain(fault: Fault, parts: &Parts<'_>) -> LaunchError {
    let source = io::Error::from(fault.errno);
    let layer = match fault.stage {
        Stage::Namespaces => "namespaces",
        Stage::UserNamespace => "user namespace",
        Stage::Network => "network namespace",
        Stage::Root => return explain_root(fault, parts),
        Stage::HostName => "host name namespace",
        Stage::Privileges => "giving up privileges",
        Stage::Landlock => "Landlock",
        Stage::Filter => "system call filter",
        Stage::Group => "control group",
        Stage::ParentDeath => "tying a jail to the runtime",
        Stage::Signals | Stage::Session | Stage::Limits | Stage::Descriptors => {
            "setting up a program"
        }
        Stage::WorkingDirectory | Stage::Verify | Stage::Exec => match parts.goal {
            Goal::Run { program, bin } => return explain_program(fault, program, bin),
            Goal::Probe => "setting up a program",
        },
    };
    LaunchError::Isolation { layer, source }
}

fn explain_program(fault: Fault, program: &Program, bin: &CheckedBin) -> LaunchError {
    match fault.stage {
        Stage::WorkingDirectory => LaunchError::WorkingDirectory {
            path: program.working_directory.to_string_lossy().into_owned(),
            source: fault.errno.into(),
        },
        stage => cannot_start(bin, stage == Stage::Verify, fault.errno),
    }
}

fn explain_root(fault: Fault, parts: &Parts<'_>) -> LaunchError {
    let source = io::Error::from(fault.errno);
    let own = fault
        .item
        .and_then(|item| item.checked_sub(plan::base().actions.len()));
    match own.and_then(|item| parts.actions.get(item)) {
        Some(Action::Mount(mount)) => LaunchError::Unseen {
            path: format!("/{}", mount.target.to_string_lossy()),
            source,
        },
        _ => LaunchError::Isolation {
            layer: "constructed root",
            source,
        },
    }
}
