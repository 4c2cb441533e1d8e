//! The two ways to walk the steps: live, which stops at the first refusal, and dry, which notes it
//! and goes on. Both walk the same code; only a live walk can yield what steps 7 and 8 take.

use std::time::{Duration, Instant};

use hcp_spec::{Refusal, Step};

/// A refusal with what only the operator may read about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What the Invoker is told.
    pub refusal: Refusal,
    /// Why, for the record and for `-v`: a pack that no longer matches, a foreign session.
    pub detail: Option<String>,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self {
            refusal,
            detail: None,
        }
    }
}

impl Refused {
    /// A refusal with its private reason.
    pub fn because(refusal: Refusal, detail: impl Into<String>) -> Self {
        Self {
            refusal,
            detail: Some(detail.into()),
        }
    }
}

/// What a step found out.
pub(super) enum Judgement<T> {
    /// The step is passed, with what it established.
    Passed(T),
    /// The step refuses, and yet knows what later steps would look at.
    RefusedKnowing(T, Refused),
    /// The step refuses and knows nothing for the later ones.
    Refused(Refused),
    /// What the step would look at is not known, since an earlier one refused.
    Unjudged,
}

/// How a walk deals with judgements. `Fact<T>` is what a step hands on: the thing itself in a live
/// walk, perhaps nothing in a dry one.
pub(super) trait Mode: Sized {
    /// What a step hands on.
    type Fact<T>;

    /// Takes the judgement of `step`.
    ///
    /// # Errors
    /// In a live walk, every judgement but [`Judgement::Passed`].
    fn settle<T>(&mut self, step: Step, judged: Judgement<T>) -> Result<Self::Fact<T>, Refused>;

    /// The fact, when there is one.
    fn known<T>(fact: &Self::Fact<T>) -> Option<&T>;

    /// Told when a step begins.
    fn enter(&mut self, step: Step);
}

/// What a live walk spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// One of the nine steps.
    Step(Step),
    /// Making the intent durable, between steps 6 and 7.
    Intent,
}

impl Phase {
    /// The name of the step, or `intent`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step(step) => step.name(),
            Self::Intent => "intent",
        }
    }
}

/// The walk of a real call: the first refusal ends it. Keeps the time of each step entered.
#[derive(Debug)]
pub(super) struct Live {
    entered: Vec<(Phase, Instant)>,
}

impl Live {
    /// A walk that begins now.
    pub(super) fn new() -> Self {
        Self {
            entered: Vec::with_capacity(Step::ALL.len()),
        }
    }

    /// Told when the intent is about to be made durable, which is no step of its own.
    pub(super) fn enter_intent(&mut self) {
        self.entered.push((Phase::Intent, Instant::now()));
    }

    /// The phases entered, in order, each with how long it took until the next began or until now.
    pub(super) fn timings(&self) -> Vec<(Phase, Duration)> {
        let ends = self.entered.iter().skip(1).map(|(_, began)| *began);
        let ends = ends.chain(std::iter::once(Instant::now()));
        let spans = self.entered.iter().zip(ends);
        spans
            .map(|((phase, began), end)| (*phase, end.saturating_duration_since(*began)))
            .collect()
    }
}

impl Mode for Live {
    type Fact<T> = T;

    fn settle<T>(&mut self, _: Step, judged: Judgement<T>) -> Result<T, Refused> {
        match judged {
            Judgement::Passed(fact) => Ok(fact),
            Judgement::RefusedKnowing(_, refused) | Judgement::Refused(refused) => Err(refused),
            // Facts of a live walk are always known, so no step can say this; if one did, the
            // call must not go on.
            Judgement::Unjudged => {
                Err(Refusal::Store("a step was reached without its fact".to_owned()).into())
            }
        }
    }

    fn known<T>(fact: &T) -> Option<&T> {
        Some(fact)
    }

    fn enter(&mut self, step: Step) {
        self.entered.push((Phase::Step(step), Instant::now()));
    }
}

/// One row of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The step.
    pub step: Step,
    /// Passed, refused, or not to be judged.
    pub ok: Option<bool>,
    /// Why it refuses.
    pub refused: Option<Refused>,
}

/// The walk of `hcp explain`: notes every refusal and goes on as far as facts reach.
#[derive(Debug, Default)]
pub(super) struct Dry {
    /// The rows so far; a step may have several judgements, of which the first refusal counts.
    pub notes: Vec<Note>,
}

impl Dry {
    fn note(&mut self, step: Step, ok: Option<bool>, refused: Option<Refused>) {
        match self.notes.iter_mut().find(|note| note.step == step) {
            Some(note) if note.ok == Some(true) => *note = Note { step, ok, refused },
            Some(_) => {}
            None => self.notes.push(Note { step, ok, refused }),
        }
    }
}

impl Mode for Dry {
    type Fact<T> = Option<T>;

    fn settle<T>(&mut self, step: Step, judged: Judgement<T>) -> Result<Option<T>, Refused> {
        let (fact, ok, refused) = match judged {
            Judgement::Passed(fact) => (Some(fact), Some(true), None),
            Judgement::RefusedKnowing(fact, refused) => (Some(fact), Some(false), Some(refused)),
            Judgement::Refused(refused) => (None, Some(false), Some(refused)),
            Judgement::Unjudged => (None, None, None),
        };
        self.note(step, ok, refused);
        Ok(fact)
    }

    fn known<T>(fact: &Option<T>) -> Option<&T> {
        fact.as_ref()
    }

    fn enter(&mut self, _: Step) {}
}
