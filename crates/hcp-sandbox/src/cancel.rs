//! Taking a call back, from another thread or from a signal handler.
//!
//! An eventfd that is written once and never read: it wakes the supervisor's poll wherever it waits,
//! stays readable for whoever looks later, and writing it is safe inside a signal handler.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// A switch that ends a call; clones share it, and it cannot be switched back.
#[derive(Clone, Debug)]
pub struct Cancel {
    event: Arc<OwnedFd>,
}

impl Cancel {
    /// A switch that is off.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            event: Arc::new(event),
        })
    }

    /// Ends the call that watches this switch. Allocates nothing, takes no lock, may be repeated.
    pub fn cancel(&self) {
        // The one failure is a counter that is full, and a full counter is readable as well.
        let _ = rustix::io::write(&*self.event, &1_u64.to_ne_bytes());
    }

    /// Whether the switch is on.
    pub fn is_cancelled(&self) -> bool {
        let mut set = [PollFd::new(&*self.event, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        matches!(poll(&mut set, Some(&now)), Ok(ready) if ready > 0)
    }

    /// The descriptor, for a signal handler: eight bytes written to it that make a number above 0 in
    /// the machine's byte order switch it on.
    pub fn raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::Cancel;

    #[test]
    fn clones_share_the_switch_and_it_stays_on() {
        let cancel = Cancel::new().unwrap();
        let other = cancel.clone();
        assert!(!cancel.is_cancelled());
        std::thread::spawn(move || other.cancel()).join().unwrap();
        cancel.cancel();
        assert!(cancel.is_cancelled());
        assert!(cancel.is_cancelled());
        assert!(!Cancel::new().unwrap().is_cancelled());
    }
}
