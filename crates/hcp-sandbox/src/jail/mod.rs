//! The jail: mode `sandbox`.
//!
//! A call runs in namespaces of its own, on a root that holds nothing but what it was given, as a
//! user that owns nothing, under Landlock and a filter for system calls, within bounds for the whole
//! of it. See [`run_jailed`].

mod cgroup;
mod held;
mod identity;
mod init;
mod landlock;
mod level;
mod made;
mod plan;
mod probe;
mod root;
mod seccomp;
mod start;

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::time::Instant;

use crate::bin::CheckedBin;
use crate::launch::{End, Finished, Launch, LaunchError, Streaming};
use crate::limits::Limits;
use crate::program::Program;
use crate::roots::GrantedPath;
use crate::scratch::Scratch;
use crate::supervise::supervise;

use cgroup::{Bounds, Group, Loan};
use identity::Way;
use init::Goal;
use made::Made;
use plan::Plan;
use root::Size;
use seccomp::{Alone, Sockets};
use start::{Parts, start};

pub use level::{LevelCache, LevelReport, available_level};

pub use cgroup::{tidy, unenforced_in_jail};

/// What a jailed call is given besides what every jail has. Everything is shown at its own path.
#[derive(Debug, Default)]
pub struct Jail<'a> {
    /// The pack: read-only, and its programs may be executed by name only.
    pub pack: Option<&'a Path>,
    /// The folder that lasts: writable, nothing in it can be executed.
    pub state: Option<&'a Path>,
    /// What may be read.
    pub read: Vec<&'a GrantedPath>,
    /// What may be written.
    pub write: Vec<&'a GrantedPath>,
    /// Programs that the program itself may start.
    pub exec: &'a [CheckedBin],
    /// Where HOME and TMPDIR are, for a jail of level `no-userns`, which has none of its own. Without
    /// it the jail is of level `full`.
    pub scratch: Option<&'a Scratch>,
}

impl Jail<'_> {
    /// What `HOME` is inside: fresh for each call.
    pub fn home_path() -> &'static Path {
        Path::new(plan::HOME)
    }

    /// What `TMPDIR` is inside: fresh for each call.
    pub fn temporary_path() -> &'static Path {
        Path::new(plan::TEMPORARY)
    }
}

/// Bytes of the files in HOME and TMPDIR where nothing bounds the memory.
const SCRATCH: u64 = 256 << 20;
/// Files, folders and links in HOME and TMPDIR.
const SCRATCH_FILES: u32 = 65_536;

/// Runs a child in a jail, to its end, and everything it started with it.
///
/// It sees `/usr`, a few files of `/etc`, four devices, its own processes, its pack and what `jail`
/// gives it; it can write HOME and TMPDIR, which are gone afterwards, and what it was given to write;
/// it can execute its program, the interpreter of it, and what `jail` names. It is nobody to the
/// host, has no capability, no network and no socket, and the system calls that manage a machine are
/// closed to it. Memory and processes are bounded for the whole call where the system lets groups be
/// made, else for each process.
///
/// The call returns once the program is gone; what it leaves behind may go on writing for half a
/// second, and is then gone as well. When the runtime dies, the jail dies.
///
/// # Errors
/// [`LaunchError`] when nothing ran; [`LaunchError::Isolation`] names the layer that is missing. How
/// a program that ran ended is never an error.
pub fn run_jailed(launch: Launch<'_>, jail: &Jail<'_>) -> Result<Finished, LaunchError> {
    let started = Instant::now();
    let way = match jail.scratch {
        Some(_) => None,
        None => Some(Way::of_this_process().ok_or_else(no_user)?),
    };
    let landlock = landlock_version(way)?;
    let Streaming {
        input,
        child_stdout,
        child_stderr,
        streams,
    } = Streaming::new(launch.stdin, &launch.limits)?;
    let program = Program::new(
        launch.bin.path(),
        &launch.argv,
        &launch.environment,
        &launch.working_directory,
    )?;
    let made = made(jail)?;
    let mut plan = planned(way, launch.bin, jail, &made)?;
    let actions = plan.actions()?;
    let group = Loan::new(Bounds {
        memory: launch.limits.memory,
        processes: launch.limits.processes,
    });
    let child = start(&Parts {
        way,
        landlock,
        goal: Goal::Run {
            program: &program,
            bin: launch.bin,
        },
        standard: [
            input.as_raw_fd(),
            child_stdout.as_raw_fd(),
            child_stderr.as_raw_fd(),
        ],
        limits: &limits(&launch.limits, &group, way),
        doors: &group.doors(),
        size: &size(&launch.limits)?,
        actions: &actions,
        rules: &plan.rules,
        filter: &seccomp::filter(Sockets::Pairs, alone(way)),
    })?;
    drop((input, child_stdout, child_stderr, program));
    drop((launch.argv, launch.environment));
    let finished = supervise(child, streams, &launch.limits, launch.cancel, started)?;
    Ok(Finished {
        end: match finished.end {
            End::Exited(0) | End::TimedOut | End::Cancelled | End::OutputOver => finished.end,
            _ if group.ran_out_of_memory() => End::OutOfMemory,
            end => end,
        },
        ..finished
    })
}

fn no_user() -> LaunchError {
    LaunchError::Isolation {
        layer: "user namespace",
        source: rustix::io::Errno::PERM.into(),
    }
}

const fn alone(way: Option<Way>) -> Alone {
    match way {
        Some(_) => Alone::Yes,
        None => Alone::No,
    }
}

/// Where there are no namespaces, Landlock alone holds back signals and TCP.
fn landlock_version(way: Option<Way>) -> Result<usize, LaunchError> {
    let least = match way {
        Some(_) => landlock::LEAST,
        None => landlock::COMPLETE,
    };
    let missing = |errno: rustix::io::Errno| LaunchError::Isolation {
        layer: "Landlock",
        source: errno.into(),
    };
    match crate::sys::landlock_version().map_err(missing)? {
        version if version >= least => Ok(version),
        _ => Err(missing(rustix::io::Errno::OPNOTSUPP)),
    }
}

/// The files that the call was given to make.
fn made<'a>(jail: &Jail<'a>) -> Result<Vec<Made<'a>>, LaunchError> {
    let missing = jail.write.iter().filter(|path| !path.exists());
    missing
        .map(|path| Made::new(path).map_err(unseen(path.path())))
        .collect()
}

fn planned(
    way: Option<Way>,
    bin: &CheckedBin,
    jail: &Jail<'_>,
    made: &[Made<'_>],
) -> Result<Plan, LaunchError> {
    let mut plan = match (way, jail.scratch) {
        (Some(way), _) => Plan::new(way),
        (None, Some(scratch)) => Plan::on_host(&[scratch.home(), scratch.temporary()]),
        (None, None) => return Err(no_user()),
    };
    if let Some(pack) = jail.pack {
        let place = plan::open_place(pack).map_err(unseen(pack))?;
        plan.programs(pack, place.as_fd()).map_err(unseen(pack))?;
    }
    if let Some(state) = jail.state {
        let place = plan::open_place(state).map_err(unseen(state))?;
        plan.write(state, place.as_fd())?;
    }
    for path in jail.read.iter().filter(|path| path.exists()) {
        plan.read(path.path(), path.as_fd())?;
    }
    for path in jail.write.iter().filter(|path| path.exists()) {
        plan.write(path.path(), path.as_fd())?;
    }
    for made in made {
        plan.write(made.path(), made.as_fd())?;
    }
    for bin in std::iter::once(bin).chain(jail.exec) {
        plan.program(bin.path(), bin.as_fd())
            .map_err(unseen(bin.path()))?;
        for needed in bin.needs() {
            let path = &needed.path;
            plan.program(path, needed.place.as_fd())
                .map_err(unseen(path))?;
        }
    }
    Ok(plan)
}

fn unseen(path: &Path) -> impl Fn(std::io::Error) -> LaunchError {
    let path = path.display().to_string();
    move |source| LaunchError::Unseen {
        path: path.clone(),
        source,
    }
}

/// At most half of the memory, so that filling them is no way to run out of it.
fn size(limits: &Limits) -> Result<Size, LaunchError> {
    let bytes = limits.memory.map_or(SCRATCH, |memory| memory / 2).max(4096);
    let text = |number: u64| CString::new(number.to_string()).map_err(|_| LaunchError::PathNul);
    Ok(Size {
        bytes: text(bytes)?,
        files: text(SCRATCH_FILES.into())?,
    })
}

/// The limits of the system on each process: those that no group keeps, and the rest.
fn limits(limits: &Limits, group: &Group, way: Option<Way>) -> Vec<(u32, u64)> {
    // In a user namespace, the first process of the jail counts as one more.
    let extra = u32::from(way == Some(Way::UserNamespace));
    // Without any, the system would count every process of the user.
    let processes = limits
        .processes
        .filter(|_| !group.keeps_processes && way.is_some());
    let memory = limits.memory.filter(|_| !group.keeps_memory);
    limits.of_jail(memory, processes.map(|count| count.saturating_add(extra)))
}
