//! The calls that were read and are not answered yet, by the id that takes them back.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use hcp_sandbox::Cancel;

/// What can be cancelled. An id names calls only from when they are read until they are answered.
#[derive(Default)]
pub(crate) struct Running {
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    by_id: HashMap<Option<String>, Vec<Cancel>>,
    stopped: bool,
}

impl Running {
    /// A call begins, under an id or without one; it is cancelled by the switch.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub(crate) fn begin(&self, id: Option<&str>) -> io::Result<Cancel> {
        let cancel = Cancel::new()?;
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.stopped {
            cancel.cancel();
        }
        let same_id = calls.by_id.entry(id.map(str::to_owned)).or_default();
        same_id.push(cancel.clone());
        Ok(cancel)
    }

    /// A call has ended; its id means nothing any more, unless another one carries it.
    pub(crate) fn end(&self, id: Option<&str>, cancel: &Cancel) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let id = id.map(str::to_owned);
        if let Some(same_id) = calls.by_id.get_mut(&id) {
            same_id.retain(|other| other.raw_fd() != cancel.raw_fd());
            if same_id.is_empty() {
                calls.by_id.remove(&id);
            }
        }
    }

    /// Cancels the calls that carry this id; does nothing when there are none.
    pub(crate) fn cancel(&self, id: &str) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        for call in calls.by_id.get(&Some(id.to_owned())).into_iter().flatten() {
            call.cancel();
        }
    }

    /// Cancels every call, those too that are still to come.
    pub(crate) fn cancel_all(&self) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.stopped = true;
        for call in calls.by_id.values().flatten() {
            call.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Running;

    #[test]
    fn an_id_names_a_call_only_while_it_runs() {
        let running = Running::default();
        let first = running.begin(Some("1")).unwrap();
        running.end(Some("1"), &first);
        running.cancel("1");
        assert!(!first.is_cancelled());
        let again = running.begin(Some("1")).unwrap();
        let other = running.begin(Some("\"1\"")).unwrap();
        running.cancel("2");
        assert!(!again.is_cancelled());
        running.cancel("1");
        assert!(again.is_cancelled());
        assert!(!other.is_cancelled());
    }

    #[test]
    fn a_stop_reaches_calls_that_begin_after_it() {
        let running = Running::default();
        let bare = running.begin(None).unwrap();
        running.cancel_all();
        assert!(bare.is_cancelled());
        assert!(running.begin(None).unwrap().is_cancelled());
    }
}
