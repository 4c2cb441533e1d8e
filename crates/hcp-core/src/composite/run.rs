//! Running a plan: every call takes all nine steps of its own, as the same Principal and in the same
//! session, so a composite can do nothing that its caller could not do call by call.
//!
//! Steps begin as soon as the data that they use is there, independent ones at once. The first
//! failure stops what has not begun; what runs already is let to its end, so that its outcome is
//! known and recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, Scope};

use hcp_spec::envelope::Arguments;
use hcp_spec::quantity::TimeLimit;
use hcp_spec::{ExecEnvelope, Refusal, ResultValue};

use super::inner::{Bounds, Confirmation, InnerCall, MAX_DEPTH};
use super::plan::{Plan, PlannedCall, Turn};
use super::progress::{Failure, Progress};
use super::reference::Problem;
use super::report::InnerReport;
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
    let too_deep = bounds.depth() > MAX_DEPTH;
    let mut course = Course {
        outer,
        progress: Progress::new(outer.plan, outer.args),
        bounds,
        running: 0,
        ended: too_deep.then(|| Refusal::AdapterNotExecutable("composite this deep".to_owned())),
    };
    course.walk();
    course.complete()
}

/// An inner call to be made, by the place of its step.
type Begun = (usize, Call);

/// A finished inner call, by the place of its step; without an answer where the runtime failed.
type Finished = (usize, Option<Answer>);

struct Course<'a> {
    outer: &'a Outer<'a>,
    progress: Progress<'a>,
    bounds: Bounds,
    running: usize,
    /// Why the composite itself cannot go on.
    ended: Option<Refusal>,
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
                if let Ok(finished) = receiver.recv() {
                    self.finish(finished);
                }
            }
        });
    }

    /// Every call whose time has come. Steps whose condition is false are done with right here, and
    /// may be all that another one waited for.
    fn begin(&mut self) -> Vec<Begun> {
        let mut begun = Vec::new();
        let plan = self.outer.plan;
        let mut place = 0;
        while let Some(call) = plan.calls().get(place) {
            if self.is_stopped() || self.running + begun.len() >= MAX_AT_ONCE {
                break;
            }
            if !self.progress.is_ready(place, call) {
                place += 1;
                continue;
            }
            self.ended = self.own_end();
            if self.ended.is_some() {
                break;
            }
            match call.turn(&self.progress.known()) {
                Ok(Turn::Skip) => {
                    self.progress.skip(place);
                    place = 0;
                }
                Ok(Turn::Call(args)) if self.bounds.take_call() => {
                    self.progress.begin(place);
                    begun.push((place, self.inner_call(call, args)));
                    place += 1;
                }
                Ok(Turn::Call(_)) => self.fail(place, "there are too many calls", false),
                Err(Problem(problem)) => self.fail(place, &problem, false),
            }
        }
        begun
    }

    const fn is_stopped(&self) -> bool {
        self.progress.has_failed || self.ended.is_some()
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
        let session = Some(self.outer.session_id.to_owned());
        Call {
            inner: Some(inner),
            ..Call::new(
                envelope,
                call.principal.clone(),
                session,
                call.cancel.clone(),
            )
        }
    }

    fn finish(&mut self, (place, answer): Finished) {
        self.running = self.running.saturating_sub(1);
        match answer {
            Some(answer) => self.progress.finish(place, answer),
            None => self.fail(place, "its thread could not be run", true),
        }
        if self.progress.held() > self.outer.limits.memory {
            self.ended.get_or_insert(Refusal::OutOfMemory);
        }
    }

    fn fail(&mut self, place: usize, error: &str, internal: bool) {
        let failure = Failure {
            error: error.to_owned(),
            internal,
            from_outside: false,
        };
        self.progress.fail(place, failure);
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

    fn complete(mut self) -> Completed {
        let most = self.outer.limits.output;
        let outcome = match self.ended.take() {
            Some(refusal) => Err(refusal),
            None => self.progress.outcome(self.own_end()),
        };
        let outcome = outcome.and_then(|result| {
            let fits = result.as_json().len() as u64 <= most;
            fits.then_some(result).ok_or(Refusal::OutputOver(most))
        });
        Completed {
            outcome,
            calls: self.progress.into_reports(),
        }
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
