//! Which requests of the client are open, under ids of our own.
//!
//! A client may use an id again as soon as it was answered or taken back, while what ran under it is
//! still being ended. So every request gets a fresh number for its way through the server, and the
//! client's own id again on its way out: no late answer can meet a later request of the same id.
//! A request holds its slot among those that run until its answer is written, so that answers nobody
//! reads cannot pile up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// Requests that may be open at once; the client waits before it may bring more.
const MOST_OPEN: usize = 272;

/// The open requests.
#[derive(Default)]
pub(super) struct Exchange {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    next: i64,
    open: HashMap<i64, Open>,
    by_external: HashMap<RequestId, i64>,
    /// Answers on their way to the client.
    unwritten: usize,
}

struct Open {
    external: RequestId,
    answer: Option<Prepared>,
}

/// What an answer consists of beside its message.
pub(super) struct Prepared {
    /// The result envelope, verbatim: numbers and escapes as the tool wrote them, which no value
    /// in between could keep.
    pub(super) structured: Arc<str>,
    /// Held until the answer is written.
    pub(super) _permit: Option<OwnedSemaphorePermit>,
}

/// A request that is answered now.
pub(super) struct Closing {
    /// The id as the client knows it.
    pub(super) external: RequestId,
    /// What was prepared for it.
    pub(super) answer: Option<Prepared>,
}

impl Exchange {
    /// Opens a request of the client; the id is ours.
    pub(super) fn open(&self, external: RequestId) -> RequestId {
        let mut state = self.lock();
        state.next += 1;
        let id = state.next;
        state.by_external.insert(external.clone(), id);
        let open = Open {
            external,
            answer: None,
        };
        state.open.insert(id, open);
        RequestId::Number(id)
    }

    /// Takes back the open request that the client knows by this id; it is never answered. `None`
    /// when there is none, or not any more.
    pub(super) fn take_back(&self, external: &RequestId) -> Option<RequestId> {
        let mut state = self.lock();
        let id = state.by_external.remove(external)?;
        state.open.remove(&id);
        self.changed.notify_waiters();
        Some(RequestId::Number(id))
    }

    /// Lays ready what belongs to the answer of a request; dropped when it was taken back.
    pub(super) fn prepare(&self, id: &RequestId, answer: Prepared) {
        if let RequestId::Number(id) = id
            && let Some(open) = self.lock().open.get_mut(id)
        {
            open.answer = Some(answer);
        }
    }

    /// Closes a request, since its answer is about to be written; [`Exchange::written`] has to follow.
    /// `None` when it was taken back.
    pub(super) fn close(&self, id: &RequestId) -> Option<Closing> {
        let RequestId::Number(id) = id else {
            return None;
        };
        let mut state = self.lock();
        let Open { external, answer } = state.open.remove(id)?;
        if state.by_external.get(&external) == Some(id) {
            state.by_external.remove(&external);
        }
        state.unwritten += 1;
        Some(Closing { external, answer })
    }

    /// An answer was written, or cannot be.
    pub(super) fn written(&self) {
        let mut state = self.lock();
        state.unwritten = state.unwritten.saturating_sub(1);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Whether the client has to wait before it may bring more.
    pub(super) fn is_full(&self) -> bool {
        let state = self.lock();
        state.open.len() + state.unwritten >= MOST_OPEN
    }

    /// Whether everything is answered.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.open.is_empty() && state.unwritten == 0
    }

    /// Resolves at the next change.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::Exchange;

    #[test]
    fn a_late_answer_never_meets_a_later_request_of_the_same_id() {
        let exchange = Exchange::default();
        let theirs = RequestId::Number(7);
        let first = exchange.open(theirs.clone());
        assert_eq!(exchange.take_back(&theirs), Some(first.clone()));
        assert_eq!(exchange.take_back(&theirs), None);
        let second = exchange.open(theirs.clone());
        assert!(exchange.close(&first).is_none());
        assert!(!exchange.is_idle());
        assert_eq!(exchange.close(&second).unwrap().external, theirs);
        assert!(!exchange.is_idle(), "the answer is still on its way");
        exchange.written();
        assert!(exchange.is_idle());
        assert_eq!(exchange.take_back(&theirs), None);
    }
}
