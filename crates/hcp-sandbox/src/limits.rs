//! What a call may use at most, and how a plain child is held to it.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit};

/// What a call may use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall clock, from start to end.
    pub timeout: Duration,
    /// Bytes of stdout. One more ends the call.
    pub output: u64,
    /// Bytes kept of the end of stderr; what comes before is counted and dropped.
    pub stderr_tail: usize,
    /// Bytes of memory. Without a jail they bound each process by itself, not their sum.
    pub memory: Option<u64>,
    /// Processes and threads. Without a jail not enforced: the system would count every process of
    /// the user, and none of root's.
    pub processes: Option<u32>,
    /// Bytes of the largest file that may be written.
    pub file_size: Option<u64>,
}

/// A limit of the system on one process, inherited by those it starts.
pub(crate) type ResourceLimit = (Resource, Rlimit);

/// How much longer than the wall clock a processor may be kept busy.
const PROCESSOR_MARGIN: u64 = 5;

/// Bytes of a core dump. Where the host has dumps handed to a program, 0 would not prevent it, and 1
/// does; to a file, 1 is too little for any.
const NO_DUMP: u64 = 1;
/// Files that a process of a jail may have open.
const DESCRIPTORS: u64 = 4096;
/// Bytes of memory that a process of a jail may keep from being swapped.
const LOCKED: u64 = 8 << 20;

impl Limits {
    /// The limits that a plain child gets. No core dumps, since one would hold the credentials.
    ///
    /// Memory bounds private data rather than address space: run times that reserve far more than
    /// they touch (V8, Go, the JVM) could not even start under the latter. Processor time counts
    /// every thread, so its bound is the wall clock times the number of processors; it is there for
    /// descendants that left the session.
    pub(crate) fn resource_limits(&self) -> Vec<ResourceLimit> {
        [
            (Resource::Core, Some(0)),
            (Resource::Cpu, Some(self.processor_seconds())),
            (Resource::Data, self.memory),
            (Resource::Fsize, self.file_size),
        ]
        .into_iter()
        .filter_map(|(resource, limit)| Some((resource, within_hard_limit(resource, limit?))))
        .collect()
    }

    /// The limits of each process of a jail: `memory` and `processes` are what no group keeps. By the
    /// system's numbers, as the jail sets them.
    pub(crate) fn of_jail(&self, memory: Option<u64>, processes: Option<u32>) -> Vec<(u32, u64)> {
        let limits = [
            (Resource::Core, libc::RLIMIT_CORE, Some(NO_DUMP)),
            (
                Resource::Cpu,
                libc::RLIMIT_CPU,
                Some(self.processor_seconds()),
            ),
            (Resource::Data, libc::RLIMIT_DATA, memory),
            (Resource::Fsize, libc::RLIMIT_FSIZE, self.file_size),
            (Resource::Nofile, libc::RLIMIT_NOFILE, Some(DESCRIPTORS)),
            (Resource::Memlock, libc::RLIMIT_MEMLOCK, Some(LOCKED)),
            (
                Resource::Nproc,
                libc::RLIMIT_NPROC,
                processes.map(u64::from),
            ),
        ];
        limits
            .into_iter()
            .filter_map(|(resource, number, limit)| {
                let limit = within_hard_limit(resource, limit?);
                Some((number, limit.maximum.unwrap_or(u64::MAX)))
            })
            .collect()
    }

    fn processor_seconds(&self) -> u64 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let seconds = self.timeout.as_secs().saturating_add(1);
        seconds
            .saturating_mul(processors)
            .saturating_add(PROCESSOR_MARGIN)
    }
}

/// An ordinary user cannot raise a hard limit, and asking for it would fail.
fn within_hard_limit(resource: Resource, limit: u64) -> Rlimit {
    let limit = getrlimit(resource)
        .maximum
        .map_or(limit, |hard| limit.min(hard));
    Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    }
}
