//! Running a plan: every call takes all nine steps of its own, as the same Principal and in the same
//! session, so a composite can do nothing that its caller could not do call by call.
//!
//! Steps begin as soon as the data that they use is there, independent ones at once. The first
//! failure stops what has not begun; what runs already is let to its end, so that its outcome is
//! known and recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};
use std::time::Duration;

use hcp_spec::envelope::Arguments;
use hcp_spec::quantity::TimeLimit;
use hcp_spec::{ExecEnvelope, ExitStatus, Refusal, ResultValue};

use super::inner::{Bounds, Confirmation, InnerCall, MAX_DEPTH};
use super::plan::{Plan, PlannedCall, Turn};
use super::reference::{Known, Problem, Taken};
use super::report::{InnerReport, State};
use crate::answer::Answer;
use crate::call::Call;
use crate::runtime::Runtime;

/// The most inner calls of one composite that run at once.
const MAX_AT_ONCE: usize = 8;

/// A composite call that passed steps 1 to 7.
pub(crate) struct Outer<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) call: &'a Call,
    pub(crate) plan: &'a Plan,
    /// Its checked arguments.
    pub(crate) args: &'a Arguments,
    /// The session it passed with; inner calls use no other.
    pub(crate) session_id: &'a str,
    /// The `seq` of its intent.
    pub(crate) seq: u64,
    /// Whether it passed a confirm gate.
    pub(crate) is_confirmed: bool,
    pub(crate) limits: CompositeLimits,
}

/// How much a composite may take.
pub(crate) struct CompositeLimits {
    pub(crate) time: TimeLimit,
    /// Of the result, in bytes.
    pub(crate) output: u64,
    /// Of all results that are held meanwhile, in bytes.
    pub(crate) memory: u64,
}

/// What came of a composite.
pub(crate) struct Completed {
    pub(crate) outcome: Result<ResultValue, Refusal>,
    /// A report of every step, in the order of the plan.
    pub(crate) calls: Vec<InnerReport>,
}

/// Runs the plan to its end.
pub(crate) fn run(outer: &Outer<'_>) -> Completed {
    let bounds = Bounds::within(outer.call.inner.as_ref(), outer.limits.time.clone());
    let mut course = Course {
        outer,
        steps: outer
            .plan
            .calls()
            .iter()
            .map(|_| Progress::Waiting)
            .collect(),
        durations: vec![Duration::ZERO; outer.plan.calls().len()],
        seqs: vec![None; outer.plan.calls().len()],
        running: 0,
        stopped: (bounds.depth() > MAX_DEPTH).then(|| {
            Stop::Own(Refusal::AdapterNotExecutable(format!(
                "composite beyond {MAX_DEPTH} levels"
            )))
        }),
        bounds,
    };
    course.walk();
    course.complete()
}

/// How far one step is.
enum Progress {
    Waiting,
    Running,
    Done(ResultValue),
    Skipped,
    Failed(Failure),
}

/// Why a step failed.
struct Failure {
    error: String,
    /// The fault is of the runtime itself.
    internal: bool,
    /// Time ran out, or the call was taken back: it may be the composite's own end.
    from_outside: bool,
}

/// Why nothing more is begun.
enum Stop {
    /// A step failed.
    Step,
    /// The composite itself cannot go on.
    Own(Refusal),
}

/// An inner call to be made, by the place of its step.
type Begun = (usize, Call);

/// A finished inner call, by the place of its step; without an answer where the runtime failed.
type Finished = (usize, Option<Answer>);

struct Course<'a> {
    outer: &'a Outer<'a>,
    steps: Vec<Progress>,
    durations: Vec<Duration>,
    seqs: Vec<Option<u64>>,
    running: usize,
    stopped: Option<Stop>,
    bounds: Bounds,
}

impl Course<'_> {
    fn walk(&mut self) {
        let (sender, receiver) = channel();
        let runtime = self.outer.runtime;
        std::thread::scope(|scope| {
            loop {
                let mut begun = self.begin();
                self.running += begun.len();
                // One call alone needs no thread: there is nothing to run beside it.
                if self.running == 1
                    && let Some((place, call)) = begun.pop()
                {
                    self.finish((place, Some(runtime.exec(call))));
                    continue;
                }
                for begun in begun {
                    let place = begun.0;
                    if spawn(scope, runtime, &sender, begun).is_err() {
                        self.finish((place, None));
                    }
                }
                if self.running == 0 {
                    return;
                }
                self.wait(&receiver);
            }
        });
    }

    fn wait(&mut self, receiver: &Receiver<Finished>) {
        if let Ok(finished) = receiver.recv() {
            self.finish(finished);
        }
    }

    /// Every call whose time has come. Steps whose condition is false are done with right here, and
    /// may be all that another one waited for.
    fn begin(&mut self) -> Vec<Begun> {
        let mut begun = Vec::new();
        let plan = self.outer.plan;
        let mut place = 0;
        while let Some(call) = plan.calls().get(place) {
            if self.stopped.is_some() || self.running + begun.len() >= MAX_AT_ONCE {
                break;
            }
            if !self.is_ready(place, call) {
                place += 1;
                continue;
            }
            if let Some(refusal) = self.own_end() {
                self.stopped = Some(Stop::Own(refusal));
                break;
            }
            match call.turn(&self.known()) {
                Ok(Turn::Skip) => {
                    self.set(place, Progress::Skipped);
                    place = 0;
                }
                Ok(Turn::Call(args)) if self.bounds.take_call() => {
                    self.set(place, Progress::Running);
                    begun.push((place, self.inner_call(call, args)));
                    place += 1;
                }
                Ok(Turn::Call(_)) => {
                    self.fail(place, "there are too many calls".to_owned(), false);
                }
                Err(Problem(problem)) => self.fail(place, problem, false),
            }
        }
        begun
    }

    fn is_ready(&self, place: usize, call: &PlannedCall) -> bool {
        let is_done = |needed: &usize| {
            let progress = self.steps.get(*needed);
            matches!(progress, Some(Progress::Done(_) | Progress::Skipped))
        };
        matches!(self.steps.get(place), Some(Progress::Waiting)) && call.after.iter().all(is_done)
    }

    /// The mark of an inner call carries what its Invoker may not say: that it is confirmed.
    fn inner_call(&self, planned: &PlannedCall, args: Arguments) -> Call {
        let Outer { call, .. } = self.outer;
        let confirmation = self
            .outer
            .is_confirmed
            .then(|| Confirmation::covering(&planned.pack_id, &planned.verb_key));
        let inner = InnerCall::new(
            self.outer.seq,
            planned.step.clone(),
            confirmation,
            call.wants_mock(),
            self.bounds.clone(),
        );
        let envelope = ExecEnvelope {
            pack_id: planned.pack_id.clone(),
            verb_key: planned.verb_key.clone(),
            args,
        };
        Call {
            inner: Some(inner),
            ..Call::new(
                envelope,
                call.principal.clone(),
                Some(self.outer.session_id.to_owned()),
                call.cancel.clone(),
            )
        }
    }

    fn finish(&mut self, (place, answer): Finished) {
        self.running = self.running.saturating_sub(1);
        let Some(answer) = answer else {
            self.fail(place, "its thread could not be run".to_owned(), true);
            return;
        };
        if let Some(duration) = self.durations.get_mut(place) {
            *duration = answer.metadata.duration;
        }
        if let Some(seq) = self.seqs.get_mut(place) {
            *seq = answer.metadata.audit_seq;
        }
        match (answer.envelope.ok, answer.envelope.result) {
            (true, Some(result)) => self.set(place, Progress::Done(result)),
            _ => {
                let failure = Failure {
                    error: answer.envelope.error.unwrap_or_default(),
                    internal: answer.exit_status == ExitStatus::Internal,
                    from_outside: matches!(
                        answer.refusal,
                        Some(Refusal::Cancelled | Refusal::TimedOut(_))
                    ),
                };
                self.set(place, Progress::Failed(failure));
                self.stopped.get_or_insert(Stop::Step);
            }
        }
        if self.held() > self.outer.limits.memory {
            self.stopped.get_or_insert(Stop::Own(Refusal::OutOfMemory));
        }
    }

    fn fail(&mut self, place: usize, error: String, internal: bool) {
        let failure = Failure {
            error,
            internal,
            from_outside: false,
        };
        self.set(place, Progress::Failed(failure));
        self.stopped.get_or_insert(Stop::Step);
    }

    fn set(&mut self, place: usize, progress: Progress) {
        if let Some(step) = self.steps.get_mut(place) {
            *step = progress;
        }
    }

    fn held(&self) -> u64 {
        let lengths = self.steps.iter().map(|step| match step {
            Progress::Done(result) => result.as_json().len() as u64,
            _ => 0,
        });
        lengths.sum()
    }

    fn known(&self) -> Known<'_> {
        let results = self.steps.iter().map(|step| match step {
            Progress::Done(result) => Some(Taken::Result(result)),
            Progress::Skipped => Some(Taken::Skipped),
            _ => None,
        });
        Known {
            args: self.outer.args,
            results: results.collect(),
        }
    }

    /// Why the composite as a whole has to end now.
    fn own_end(&self) -> Option<Refusal> {
        if self.outer.call.cancel.is_cancelled() {
            return Some(Refusal::Cancelled);
        }
        let deadline = self.bounds.deadline();
        let over = deadline.left().is_zero();
        over.then(|| Refusal::TimedOut(deadline.limit.text().to_owned()))
    }

    fn complete(self) -> Completed {
        let outcome = self.outcome();
        let planned = self.outer.plan.calls().iter();
        let times = self.durations.into_iter().zip(self.seqs);
        let calls =
            planned
                .zip(self.steps)
                .zip(times)
                .map(|((call, progress), (duration, audit_seq))| {
                    let (state, error) = match progress {
                        Progress::Done(_) => (State::Ok, None),
                        Progress::Skipped => (State::Skipped, None),
                        Progress::Failed(failure) => (State::Failed, Some(failure.error)),
                        Progress::Waiting | Progress::Running => (State::NotBegun, None),
                    };
                    InnerReport {
                        step: call.step.clone(),
                        call: call.target(),
                        state,
                        error,
                        audit_seq,
                        duration,
                    }
                });
        Completed {
            calls: calls.collect(),
            outcome,
        }
    }

    fn outcome(&self) -> Result<ResultValue, Refusal> {
        if let Some(Stop::Own(refusal)) = &self.stopped {
            return Err(refusal.clone());
        }
        let named = self.outer.plan.calls().iter().zip(&self.steps);
        for (call, progress) in named {
            if let Progress::Failed(failure) = progress {
                let own = self.own_end().filter(|_| failure.from_outside);
                return Err(own.unwrap_or_else(|| Refusal::InnerCall {
                    step: call.step.clone(),
                    error: failure.error.clone(),
                    internal: failure.internal,
                }));
            }
        }
        let json = self.outer.plan.result(&self.known());
        let json = json.map_err(|Problem(problem)| Refusal::InnerCall {
            step: "output".to_owned(),
            error: problem,
            internal: false,
        })?;
        if json.len() as u64 > self.outer.limits.output {
            return Err(Refusal::OutputOver(self.outer.limits.output));
        }
        Ok(ResultValue::from_compact_json(json))
    }
}

/// Starts a call on a thread of its own.
fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    runtime: &'env Runtime,
    sender: &Sender<Finished>,
    (place, call): Begun,
) -> std::io::Result<()> {
    let sender = sender.clone();
    let work = move || {
        // A fault in one call must not keep the others from being waited for.
        let answer = catch_unwind(AssertUnwindSafe(|| runtime.exec(call)));
        let _ = sender.send((place, answer.ok()));
    };
    Builder::new().spawn_scoped(scope, work).map(drop)
}
