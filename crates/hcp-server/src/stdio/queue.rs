//! Calls on their way to a thread: a bounded number runs, a bounded amount waits, and whoever brings
//! more has to wait too.
//!
//! A thread that starts a child stays until the child ended, since the child is tied to it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Job;

/// Calls that may wait, so that a cancel behind them is still read.
const MOST_WAITING: usize = 256;
/// What may wait in bytes, all calls together; a single one may be larger.
const MOST_BYTES: usize = 4 << 20;

/// A queue with the threads that work on it.
#[derive(Clone)]
pub(super) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    at_once: usize,
    work: Box<dyn Fn(Job) + Send + Sync>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    bytes: usize,
    threads: usize,
    idle: usize,
    /// No more is taken in.
    closed: bool,
    stopped: bool,
}

impl Queue {
    /// A queue whose jobs are done by `work`, at most `at_once` at a time. Threads are started as
    /// they are needed.
    pub(super) fn new(at_once: usize, work: impl Fn(Job) + Send + Sync + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Condvar::new(),
                at_once,
                work: Box::new(work),
            }),
        }
    }

    /// Brings a job, once there is room. `false` when serving is to end; a job that finds no room
    /// then is dropped, since whoever sent it is not listened to any more.
    pub(super) fn push(&self, job: Job) -> bool {
        let shared = &self.shared;
        let mut state = shared.lock();
        while state.is_full(job.size) && !state.stopped {
            state = shared.wait(state);
        }
        if state.is_full(job.size) {
            return false;
        }
        state.bytes += job.size;
        state.waiting.push_back(job);
        if state.idle < state.waiting.len() && state.threads < shared.at_once {
            self.start_thread(&mut state);
        }
        shared.changed.notify_all();
        !state.stopped
    }

    /// Wakes whoever waits for room: serving is to end.
    pub(super) fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_all();
    }

    /// Waits until every job is done; once serving is to end, at most for `grace`.
    pub(super) fn finish(&self, grace: Duration) {
        let mut state = self.shared.lock();
        state.closed = true;
        self.shared.changed.notify_all();
        let mut deadline = None;
        while state.threads > 0 {
            if !state.stopped {
                state = self.shared.wait(state);
                continue;
            }
            let until = *deadline.get_or_insert_with(|| Instant::now() + grace);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn start_thread(&self, state: &mut State) {
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name("call".to_owned());
        match thread.spawn(move || shared.work_on()) {
            Ok(_) => state.threads += 1,
            // The threads that there are will come to it.
            Err(error) if state.threads > 0 => tracing::warn!("no thread for a call: {error}"),
            Err(error) => {
                tracing::error!("no thread for any call: {error}");
                state.stopped = true;
                state.waiting.clear();
            }
        }
    }
}

impl State {
    fn is_full(&self, size: usize) -> bool {
        !self.waiting.is_empty()
            && (self.waiting.len() >= MOST_WAITING || self.bytes + size > MOST_BYTES)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Does job after job until there will be no more.
    fn work_on(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                state.bytes -= job.size;
                self.changed.notify_all();
                drop(state);
                (self.work)(job);
                state = self.lock();
            } else if state.closed {
                state.threads -= 1;
                self.changed.notify_all();
                return;
            } else {
                state.idle += 1;
                state = self.wait(state);
                state.idle -= 1;
            }
        }
    }
}
