//! Running one child from its start to its end, in mode native-local.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use thiserror::Error;

use crate::bin::CheckedBin;
use crate::cancel::Cancel;
use crate::child::{self, Child, Fault, Stage, Start};
use crate::limits::Limits;
use crate::program::{LONGEST, Program};
use crate::supervise::{Streams, supervise};

/// What to run, and with what. No `Debug`: environment and stdin hold credentials.
pub struct Launch<'a> {
    /// The program.
    pub bin: &'a CheckedBin,
    /// Its arguments, without `argv[0]`; each reaches it byte for byte (§6.4).
    pub argv: Vec<OsString>,
    /// Its whole environment; nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder it starts in (§6.4).
    pub working_directory: PathBuf,
    /// What it reads.
    pub stdin: Stdin,
    /// What it may use at most.
    pub limits: Limits,
    /// Ends it early.
    pub cancel: &'a Cancel,
}

/// What a child reads. No `Debug`, as for [`Launch`].
#[derive(Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// What a child wrote and how it ended.
#[derive(Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Its stdout, up to the limit.
    pub stdout: Vec<u8>,
    /// The end of its stderr.
    pub stderr: Vec<u8>,
    /// Bytes of stdout that came, kept or not.
    pub stdout_total: u64,
    /// Bytes of stderr that came, kept or not.
    pub stderr_total: u64,
    /// From before the start to after the end.
    pub duration: Duration,
}

impl fmt::Debug for Finished {
    /// Without what the child wrote: it is not redacted yet.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Finished")
            .field("end", &self.end)
            .field("stdout_total", &self.stdout_total)
            .field("stderr_total", &self.stderr_total)
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

/// How a child ended. Where more than one applies, the runtime's own reason to end it wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, not sent from here.
    Signalled(i32),
    /// The wall clock ran out.
    TimedOut,
    /// It was taken back.
    Cancelled,
    /// It hit the limit of memory and was ended for it. Only a jail can tell.
    OutOfMemory,
    /// It wrote more to stdout than it may.
    OutputOver,
}

/// Why a child could not be run. No message holds the value of an argument or variable.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// One argument is longer than the system takes.
    #[error("argument {position} is {length} bytes, and the system takes {LONGEST} at most")]
    ArgumentTooLong {
        /// Its place, from 1.
        position: usize,
        /// Its length in bytes.
        length: usize,
    },
    /// One argument holds a NUL byte.
    #[error("argument {position} holds a NUL byte")]
    ArgumentNul {
        /// Its place, from 1.
        position: usize,
    },
    /// Arguments and environment together are longer than the system takes.
    #[error("the arguments and variables together are longer than the system takes")]
    ArgumentsTooLong,
    /// The name of a variable is empty or holds `=` or a NUL byte.
    #[error("the name of a variable is empty, or holds `=` or a NUL byte")]
    VariableName,
    /// A variable cannot be given to a child.
    #[error("variable `{name}`: {reason}")]
    Variable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A path holds a NUL byte.
    #[error("a path holds a NUL byte")]
    PathNul,
    /// The bin was found fit and still cannot be started, or is another file by now.
    #[error("`{path}` cannot be started: {reason}")]
    Unfit {
        /// The bin.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The child cannot enter its working directory.
    #[error("working directory `{path}`: {source}")]
    WorkingDirectory {
        /// The folder.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A layer of isolation is missing, so nothing was run.
    #[error("{layer}: {source}")]
    Isolation {
        /// Which.
        layer: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A path cannot be shown where it stands, since the jail has its own there.
    #[error("`{path}` cannot be shown in the jail, which has its own there")]
    Place {
        /// The path.
        path: String,
    },
    /// A path that the call was given cannot be shown in the jail.
    #[error("`{path}` cannot be shown in the jail: {source}")]
    Unseen {
        /// The path.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The system refused something that a child needs.
    #[error("{what}: {source}")]
    System {
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl LaunchError {
    pub(crate) fn system(what: &'static str) -> impl Fn(Errno) -> Self {
        move |error| Self::System {
            what,
            source: error.into(),
        }
    }
}

/// Runs a plain child to its end: a session of its own without a terminal, exactly the environment
/// given, no descriptor but 0 to 2, umask 077, no new privileges, the limits of the system.
///
/// The call returns once the child itself is gone. Its descendants are then given half a second to
/// finish what they write, and are killed as long as they stayed in its session; one that left the
/// session outlives the call, which only a jail prevents. When the calling thread ends, or its whole
/// process is killed, the system kills the child.
///
/// # Errors
/// [`LaunchError`] when nothing ran. How a child that ran ended is never an error.
pub fn run_native_local(launch: Launch<'_>) -> Result<Finished, LaunchError> {
    let started = Instant::now();
    let Launch {
        bin,
        argv,
        environment,
        working_directory,
        stdin,
        limits,
        cancel,
    } = launch;
    let program = Program::new(bin.path(), &argv, &environment, &working_directory)?;
    let Streaming {
        input,
        child_stdout,
        child_stderr,
        streams,
    } = Streaming::new(stdin, &limits)?;
    let moved = above_standard(bin.as_fd())?;
    let start = Start {
        program: &program,
        bin: moved.as_ref().map_or(bin.as_fd(), AsFd::as_fd),
        script: bin.is_script().then(|| bin.identity()),
        standard: [input.as_fd(), child_stdout.as_fd(), child_stderr.as_fd()],
        limits: &limits.resource_limits(),
    };
    let child = spawn(&start).map_err(|fault| explain(fault, bin, &working_directory))?;
    // The child has its own now; ours would keep the pipes open, and credentials in memory.
    drop((
        input,
        child_stdout,
        child_stderr,
        program,
        argv,
        environment,
    ));
    supervise(child, streams, &limits, cancel, started)
}

/// What a child reads and writes, and what is read of it.
pub(crate) struct Streaming {
    pub(crate) input: OwnedFd,
    pub(crate) child_stdout: OwnedFd,
    pub(crate) child_stderr: OwnedFd,
    pub(crate) streams: Streams,
}

impl Streaming {
    pub(crate) fn new(stdin: Stdin, limits: &Limits) -> Result<Self, LaunchError> {
        let input = open_stdin(stdin)?;
        let (stdout, child_stdout) = output_pipe()?;
        let (stderr, child_stderr) = output_pipe()?;
        Ok(Self {
            input,
            child_stdout,
            child_stderr,
            streams: Streams::new(stdout, stderr, limits),
        })
    }
}

/// A program that was written a moment ago may still be open for writing in a child that another
/// thread is just starting, until that one gets to its own `execve`. That passes by itself.
fn spawn(start: &Start<'_>) -> Result<Child, Fault> {
    let mut pause = Duration::from_millis(1);
    loop {
        match child::spawn(start) {
            Err(fault) if fault.is_busy() && pause < Duration::from_millis(100) => {
                sleep(pause);
                pause *= 2;
            }
            done => return done,
        }
    }
}

/// Bytes go into memory that the child reads as a file: nobody has to feed it while it runs.
fn open_stdin(stdin: Stdin) -> Result<OwnedFd, LaunchError> {
    let opened = match stdin {
        Stdin::Null => {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            rustix::fs::open("/dev/null", flags, Mode::empty())
                .map_err(LaunchError::system("opening `/dev/null`"))?
        }
        Stdin::Bytes(bytes) => in_memory(&bytes).map_err(|source| LaunchError::System {
            what: "holding the input of a child",
            source,
        })?,
    };
    owned_above_standard(opened)
}

fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know that memory can be no program.
    let made = rustix::fs::memfd_create("stdin", flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create("stdin", flags));
    let mut file = File::from(made?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// The end that is read here, without blocking, and the end that the child writes.
fn output_pipe() -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let (read, write) =
        pipe_with(PipeFlags::CLOEXEC).map_err(LaunchError::system("making a pipe"))?;
    rustix::io::ioctl_fionbio(&read, true).map_err(LaunchError::system("making a pipe"))?;
    Ok((read, owned_above_standard(write)?))
}

/// Descriptors 0 to 2 of the child are filled one after the other, so none of them may be the source
/// of another. They only are where the runtime itself was started without them.
pub(crate) fn owned_above_standard(descriptor: OwnedFd) -> Result<OwnedFd, LaunchError> {
    Ok(above_standard(descriptor.as_fd())?.unwrap_or(descriptor))
}

fn above_standard(descriptor: BorrowedFd<'_>) -> Result<Option<OwnedFd>, LaunchError> {
    if descriptor.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(None);
    }
    rustix::io::fcntl_dupfd_cloexec(descriptor, libc::STDERR_FILENO + 1)
        .map(Some)
        .map_err(LaunchError::system("moving a descriptor"))
}

/// What went wrong between `clone` and `execve`, in words.
fn explain(fault: Fault, bin: &CheckedBin, working_directory: &Path) -> LaunchError {
    let source = io::Error::from(fault.errno);
    match fault.stage {
        Stage::WorkingDirectory => LaunchError::WorkingDirectory {
            path: working_directory.display().to_string(),
            source,
        },
        Stage::Verify | Stage::Exec => cannot_start(bin, fault.stage == Stage::Verify, fault.errno),
        stage => LaunchError::System {
            what: stage.what(),
            source,
        },
    }
}

/// Why the very program could not be executed; `verifying`, before that was tried.
pub(crate) fn cannot_start(bin: &CheckedBin, verifying: bool, errno: Errno) -> LaunchError {
    if errno == Errno::TOOBIG && !verifying {
        return LaunchError::ArgumentsTooLong;
    }
    LaunchError::Unfit {
        path: bin.path().display().to_string(),
        reason: match errno {
            _ if verifying => "it is not the file that was checked any more".to_owned(),
            Errno::NOENT => "the loader or interpreter that it names is missing".to_owned(),
            Errno::NOEXEC => {
                "it is neither a program for this machine nor a script with a `#!` line".to_owned()
            }
            Errno::TXTBSY => "it is being written".to_owned(),
            errno => io::Error::from(errno).to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, AsRawFd};

    use super::above_standard;

    #[test]
    fn sources_are_moved_out_of_the_way_of_their_targets() {
        for standard in [std::io::stdin().as_fd(), std::io::stderr().as_fd()] {
            let moved = above_standard(standard).unwrap().unwrap();
            assert!(moved.as_raw_fd() > 2);
            assert!(above_standard(moved.as_fd()).unwrap().is_none());
        }
    }
}
