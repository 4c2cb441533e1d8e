//! What a call has from the composite that makes it: nothing that an Invoker could write into an
//! envelope, so nothing that an Invoker could make up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hcp_spec::quantity::TimeLimit;
use serde_json::{Map, Value, json};

use super::plan::MAX_CALLS;

/// How deep composites call composites.
pub(crate) const MAX_DEPTH: usize = 8;

/// The mark of an inner call (§6.6). Only the runtime makes one.
#[derive(Clone, Debug)]
pub struct InnerCall {
    /// The `seq` of the composite's intent.
    outer_seq: u64,
    step: String,
    confirmation: Option<Confirmation>,
    mock: bool,
    bounds: Bounds,
}

/// That the gate of a composite was satisfied, for one call that its plan lists. It is made where the
/// gate was passed, says for which verb it holds, and cannot be read from any argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirmation {
    pack_id: String,
    verb_key: String,
}

/// What is left for everything that one outermost composite does.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    depth: usize,
    deadline: Deadline,
    calls: Arc<AtomicUsize>,
}

/// When a composite has to be done, and the limit as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    pub(crate) limit: TimeLimit,
}

impl InnerCall {
    pub(super) const fn new(
        outer_seq: u64,
        step: String,
        confirmation: Option<Confirmation>,
        mock: bool,
        bounds: Bounds,
    ) -> Self {
        Self {
            outer_seq,
            step,
            confirmation,
            mock,
            bounds,
        }
    }

    /// Whether the composite's own confirmation covers a call of this verb.
    pub(crate) fn is_confirmed_for(&self, pack_id: &str, verb_key: &str) -> bool {
        let confirmation = self.confirmation.as_ref();
        confirmation.is_some_and(|it| it.pack_id == pack_id && it.verb_key == verb_key)
    }

    /// Whether the composite was called in mock mode; what it calls is never more real than itself.
    pub(crate) const fn wants_mock(&self) -> bool {
        self.mock
    }

    /// What is left for this call and everything that it calls.
    pub(crate) const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Where the call comes from, as its records say it.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let facts = json!({ "outer_seq": self.outer_seq, "outer_step": self.step });
        facts.as_object().cloned().unwrap_or_default()
    }
}

impl Confirmation {
    /// For a call that the plan of a confirmed composite lists.
    pub(crate) fn covering(pack_id: &str, verb_key: &str) -> Self {
        Self {
            pack_id: pack_id.to_owned(),
            verb_key: verb_key.to_owned(),
        }
    }
}

impl Bounds {
    /// The bounds of a composite that may take `limit` from now on, within those it was called in.
    pub(super) fn within(outer: Option<&InnerCall>, limit: TimeLimit) -> Self {
        let at = Instant::now() + limit.duration();
        let own = Deadline { at, limit };
        match outer.map(InnerCall::bounds) {
            None => Self {
                depth: 1,
                deadline: own,
                calls: Arc::new(AtomicUsize::new(MAX_CALLS)),
            },
            Some(bounds) => Self {
                depth: bounds.depth + 1,
                deadline: if bounds.deadline.at < own.at {
                    bounds.deadline.clone()
                } else {
                    own
                },
                calls: bounds.calls.clone(),
            },
        }
    }

    /// How many composites are around a call with these bounds.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    /// When everything has to be done.
    pub(crate) const fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Takes one of the calls that are left; `false` when there is none.
    pub(super) fn take_call(&self) -> bool {
        let take = |left: usize| left.checked_sub(1);
        let taken = self
            .calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.is_ok()
    }
}

impl Deadline {
    /// The time that is left; zero when there is none.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}
