//! Watching a child until it is gone: one loop over its process, its two pipes, the switch that
//! cancels it and the clock.
//!
//! The end of the child is the end of its process, never the end of its output: something it left in
//! the background may hold a pipe open for as long as it likes. Both pipes are drained all the time,
//! so that neither can block the child, and what they bring is held to a bound.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::capture::{Head, Tail};
use crate::launch::{End, Finished, LaunchError};
use crate::limits::Limits;

/// From the polite signal to the one that cannot be ignored.
const GRACE: Duration = Duration::from_millis(500);
/// How long output is still taken after the child itself is gone.
const DRAIN: Duration = Duration::from_millis(500);
/// The same after its whole group was killed, when only something outside of it can hold a pipe.
const DRAIN_KILLED: Duration = Duration::from_millis(100);
/// Bytes taken from a pipe at once; as much as one holds.
const CHUNK: usize = 64 << 10;

/// What can be watched: a plain child, or a jail. Its descriptor is readable once the program ended.
/// Dropping it reaps it.
pub(crate) trait Supervised: AsFd {
    /// How the program ended, asked when the descriptor is readable.
    ///
    /// # Errors
    /// When it cannot be known.
    fn ended(&self) -> rustix::io::Result<Option<End>>;

    /// Asks the program to end.
    fn ask(&self);

    /// Kills the program.
    fn kill(&self);

    /// Kills what is left, the program being gone. `thorough` where something may have been left.
    fn end_everything(&self, thorough: bool);
}

/// The two outputs of a child, and what is kept of them.
pub(crate) struct Streams {
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    head: Head,
    tail: Tail,
    buffer: Vec<u8>,
}

/// Watches `child` until it is gone, ends it when it must be, and kills what it leaves behind.
///
/// # Errors
/// When the child cannot be watched; it is killed then.
pub(crate) fn supervise(
    child: impl Supervised,
    streams: Streams,
    limits: &Limits,
    cancel: &Cancel,
    started: Instant,
) -> Result<Finished, LaunchError> {
    let mut watch = Watch {
        child: &child,
        streams,
        cancel,
        phase: Phase::Running,
        next: started.checked_add(limits.timeout),
        reason: None,
        end: None,
    };
    while !watch.is_done() {
        watch
            .turn()
            .map_err(LaunchError::system("watching a child"))?;
    }
    let Watch {
        streams,
        reason,
        end,
        ..
    } = watch;
    child.end_everything(reason.is_some() || streams.is_open());
    drop(child);
    Ok(streams.finish(reason, end, started))
}

/// How far it is with a child.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Asked to end.
    Asked,
    /// Its group was killed.
    Killed,
    /// The child is gone, and what it wrote is still coming.
    Draining,
    Done,
}

struct Watch<'a, C> {
    child: &'a C,
    streams: Streams,
    cancel: &'a Cancel,
    phase: Phase,
    /// When the phase ends by itself.
    next: Option<Instant>,
    /// Why the child was ended from here, if it was.
    reason: Option<End>,
    /// How it ended by itself, if it did.
    end: Option<End>,
}

impl<C: Supervised> Watch<'_, C> {
    fn is_done(&self) -> bool {
        self.phase == Phase::Done || self.phase == Phase::Draining && !self.streams.is_open()
    }

    fn turn(&mut self) -> rustix::io::Result<()> {
        let ready = self.wait()?;
        if ready.stdout {
            self.streams.read_stdout()?;
        }
        if ready.stderr {
            self.streams.read_stderr()?;
        }
        if ready.child {
            if let Some(end) = self.child.ended()? {
                self.end = Some(end);
                self.drain();
            }
        } else if ready.cancel {
            self.ask(End::Cancelled);
        } else if self.phase == Phase::Running && self.streams.head.is_over() {
            self.kill(Some(End::OutputOver));
        } else if self.next.is_some_and(|next| next <= Instant::now()) {
            self.advance();
        }
        Ok(())
    }

    /// The time of the phase is over.
    fn advance(&mut self) {
        match self.phase {
            Phase::Running => self.ask(End::TimedOut),
            Phase::Asked => self.kill(self.reason),
            Phase::Killed => self.next = None,
            Phase::Draining | Phase::Done => self.phase = Phase::Done,
        }
    }

    fn ask(&mut self, reason: End) {
        self.reason = Some(reason);
        self.child.ask();
        self.enter(Phase::Asked, Some(GRACE));
    }

    fn kill(&mut self, reason: Option<End>) {
        self.reason = reason;
        self.child.kill();
        self.enter(Phase::Killed, None);
    }

    fn drain(&mut self) {
        match self.phase {
            Phase::Running => self.enter(Phase::Draining, Some(DRAIN)),
            // What is left of the group has the rest of its grace, not a second one.
            Phase::Asked => self.phase = Phase::Draining,
            _ => self.enter(Phase::Draining, Some(DRAIN_KILLED)),
        }
    }

    fn enter(&mut self, phase: Phase, lasting: Option<Duration>) {
        self.phase = phase;
        self.next = lasting.and_then(|lasting| Instant::now().checked_add(lasting));
    }

    /// Sleeps until something happens or the phase is over. What is of no interest any more stands
    /// in the set as the switch, asked for nothing.
    fn wait(&self) -> rustix::io::Result<Ready> {
        let watched = |descriptor: Option<BorrowedFd<'_>>| match descriptor {
            Some(_) => PollFlags::IN,
            None => PollFlags::empty(),
        };
        let idle = self.cancel.as_fd();
        let child = (self.phase != Phase::Draining).then_some(self.child.as_fd());
        let cancel = (self.phase == Phase::Running).then_some(idle);
        let stdout = self.streams.stdout.as_ref().map(AsFd::as_fd);
        let stderr = self.streams.stderr.as_ref().map(AsFd::as_fd);
        let mut set = [child, cancel, stdout, stderr].map(|descriptor| {
            PollFd::from_borrowed_fd(descriptor.unwrap_or(idle), watched(descriptor))
        });
        let remaining = self
            .next
            .map(|next| timespec(next.saturating_duration_since(Instant::now())));
        match poll(&mut set, remaining.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let [child, cancel, stdout, stderr] = set.map(|entry| !entry.revents().is_empty());
        Ok(Ready {
            child,
            cancel,
            stdout,
            stderr,
        })
    }
}

/// What can be dealt with now.
#[allow(clippy::struct_excessive_bools)] // One for each descriptor of the set.
struct Ready {
    child: bool,
    cancel: bool,
    stdout: bool,
    stderr: bool,
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

impl Streams {
    /// Takes the ends that are read; both must be non-blocking.
    pub(crate) fn new(stdout: OwnedFd, stderr: OwnedFd, limits: &Limits) -> Self {
        Self {
            stdout: Some(stdout),
            stderr: Some(stderr),
            head: Head::new(limits.output),
            tail: Tail::new(limits.stderr_tail),
            buffer: vec![0; CHUNK],
        }
    }

    fn is_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    fn read_stdout(&mut self) -> rustix::io::Result<()> {
        if let Some(bytes) = read(&mut self.stdout, &mut self.buffer)? {
            self.head.push(bytes);
        }
        Ok(())
    }

    fn read_stderr(&mut self) -> rustix::io::Result<()> {
        if let Some(bytes) = read(&mut self.stderr, &mut self.buffer)? {
            self.tail.push(bytes);
        }
        Ok(())
    }

    fn finish(self, reason: Option<End>, end: Option<End>, started: Instant) -> Finished {
        let is_over = self.head.is_over();
        let (stdout, stdout_total) = self.head.into_parts();
        let (stderr, stderr_total) = self.tail.into_parts();
        Finished {
            end: match reason {
                Some(reason) => reason,
                None if is_over => End::OutputOver,
                None => end.unwrap_or(End::Signalled(libc::SIGKILL)),
            },
            stdout,
            stderr,
            stdout_total,
            stderr_total,
            duration: started.elapsed(),
        }
    }
}

/// One read, which cannot block; at its end the pipe is closed.
fn read<'a>(
    pipe: &mut Option<OwnedFd>,
    buffer: &'a mut [u8],
) -> rustix::io::Result<Option<&'a [u8]>> {
    let Some(descriptor) = pipe else {
        return Ok(None);
    };
    match rustix::io::read(descriptor, &mut *buffer) {
        Ok(0) => {
            *pipe = None;
            Ok(None)
        }
        Ok(count) => Ok(buffer.get(..count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error),
    }
}
