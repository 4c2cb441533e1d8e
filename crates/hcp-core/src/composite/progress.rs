//! How far the steps of a running composite are, and what follows from it: which may begin, what
//! their references lead to, how the whole ends.

use std::time::Duration;

use hcp_spec::envelope::Arguments;
use hcp_spec::{ExitStatus, Refusal, ResultValue};

use super::plan::{Plan, PlannedCall};
use super::reference::{Known, Problem, Taken};
use super::report::{InnerReport, State};
use crate::answer::Answer;

/// The steps of one run of a plan.
pub(super) struct Progress<'a> {
    plan: &'a Plan,
    args: &'a Arguments,
    steps: Vec<StepProgress>,
    reports: Vec<InnerReport>,
    /// Whether a step failed, so that nothing more is begun.
    pub(super) has_failed: bool,
}

enum StepProgress {
    Waiting,
    Running,
    Done(ResultValue),
    Skipped,
    Failed(Failure),
}

/// Why a step failed.
pub(super) struct Failure {
    pub(super) error: String,
    /// The fault is of the runtime itself.
    pub(super) internal: bool,
    /// Time ran out, or the call was taken back: it may be the composite's own end.
    pub(super) from_outside: bool,
}

impl<'a> Progress<'a> {
    /// Nothing has begun.
    pub(super) fn new(plan: &'a Plan, args: &'a Arguments) -> Self {
        let report = |call: &PlannedCall| InnerReport {
            step: call.step.clone(),
            call: call.target(),
            state: State::NotBegun,
            error: None,
            warning: None,
            audit_seq: None,
            duration: Duration::ZERO,
        };
        Self {
            plan,
            args,
            steps: plan.calls.iter().map(|_| StepProgress::Waiting).collect(),
            reports: plan.calls.iter().map(report).collect(),
            has_failed: false,
        }
    }

    /// Whether a step has not begun and everything that it needs is there.
    pub(super) fn is_ready(&self, place: usize, call: &PlannedCall) -> bool {
        let is_done = |needed: &usize| {
            let step = self.steps.get(*needed);
            matches!(step, Some(StepProgress::Done(_) | StepProgress::Skipped))
        };
        matches!(self.steps.get(place), Some(StepProgress::Waiting))
            && call.after.iter().all(is_done)
    }

    /// What references can lead to by now.
    pub(super) fn known(&self) -> Known<'_> {
        let results = self.steps.iter().map(|step| match step {
            StepProgress::Done(result) => Some(Taken::Result(result)),
            StepProgress::Skipped => Some(Taken::Skipped),
            _ => None,
        });
        Known {
            args: self.args,
            results: results.collect(),
        }
    }

    /// The size of all results that are held, in bytes.
    pub(super) fn held(&self) -> u64 {
        let sizes = self.steps.iter().map(|step| match step {
            StepProgress::Done(result) => result.as_json().len() as u64,
            _ => 0,
        });
        sizes.sum()
    }

    /// Its condition is false.
    pub(super) fn skip(&mut self, place: usize) {
        self.set(place, StepProgress::Skipped, State::Skipped);
    }

    /// Its call is being made.
    pub(super) fn begin(&mut self, place: usize) {
        self.set(place, StepProgress::Running, State::NotBegun);
    }

    /// Its call came to an end.
    pub(super) fn finish(&mut self, place: usize, answer: Answer) {
        if let Some(report) = self.reports.get_mut(place) {
            report.duration = answer.metadata.duration;
            report.audit_seq = answer.metadata.audit_seq;
            report.warning = answer.metadata.warning;
        }
        let from_outside = matches!(
            answer.refusal,
            Some(Refusal::Cancelled | Refusal::TimedOut(_))
        );
        match (answer.envelope.ok, answer.envelope.result) {
            (true, Some(result)) => self.set(place, StepProgress::Done(result), State::Ok),
            _ => self.fail(
                place,
                Failure {
                    error: answer.envelope.error.unwrap_or_default(),
                    internal: answer.exit_status == ExitStatus::Internal,
                    from_outside,
                },
            ),
        }
    }

    /// Its call failed, or could not be made.
    pub(super) fn fail(&mut self, place: usize, failure: Failure) {
        self.has_failed = true;
        if let Some(report) = self.reports.get_mut(place) {
            report.error = Some(failure.error.clone());
        }
        self.set(place, StepProgress::Failed(failure), State::Failed);
    }

    fn set(&mut self, place: usize, progress: StepProgress, state: State) {
        if let (Some(step), Some(report)) = (self.steps.get_mut(place), self.reports.get_mut(place))
        {
            *step = progress;
            report.state = state;
        }
    }

    /// How the whole ends, when nothing runs any more and nothing more is begun. `own_end` is why the
    /// composite itself would have to end now, which it did when that is what ended a call.
    pub(super) fn outcome(&self, own_end: Option<Refusal>) -> Result<ResultValue, Refusal> {
        let steps = self.plan.calls.iter().zip(&self.steps);
        let mut failed = steps.filter_map(|(call, progress)| match progress {
            StepProgress::Failed(failure) => Some((call, failure)),
            _ => None,
        });
        if let Some((call, failure)) = failed.next() {
            let own_end = own_end.filter(|_| failure.from_outside);
            return Err(own_end.unwrap_or_else(|| Refusal::InnerCall {
                step: call.step.clone(),
                error: failure.error.as_str().into(),
                internal: failure.internal,
            }));
        }
        let json = self.plan.result(&self.known());
        let json = json.map_err(|Problem(problem)| Refusal::InnerCall {
            step: "output".to_owned(),
            error: problem.into(),
            internal: false,
        })?;
        Ok(ResultValue::from_compact_json(json))
    }

    /// What became of each step.
    pub(super) fn into_reports(self) -> Vec<InnerReport> {
        self.reports
    }
}
