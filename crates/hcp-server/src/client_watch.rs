//! Noticing that serving is to end: a signal asked for it, or nobody reads the answers any more.
//!
//! A client that was killed cannot take its calls back. Its end of the pipe is gone, though, and the
//! system tells so without anything being written: then what still runs for it is cancelled.

use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

use hcp_sandbox::Cancel;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Watches in a thread of its own until it is dropped.
pub(crate) struct ClientWatch {
    done: Cancel,
    thread: Option<JoinHandle<()>>,
}

impl ClientWatch {
    /// Calls `stop` once, when `signalled` is switched on or the reader of `output` goes away.
    ///
    /// # Errors
    /// When the system has no descriptor or thread left.
    pub(crate) fn start(
        signalled: Cancel,
        output: OwnedFd,
        stop: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let done = Cancel::new()?;
        let ended = done.clone();
        let thread = std::thread::Builder::new()
            .name("client".to_owned())
            .spawn(move || {
                if wait(&signalled, &output, &ended) {
                    stop();
                }
            })?;
        Ok(Self {
            done,
            thread: Some(thread),
        })
    }
}

impl Drop for ClientWatch {
    fn drop(&mut self) {
        self.done.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic in there was told on stderr already.
            let _ = thread.join();
        }
    }
}

/// Whether serving is to end; `false` when it has ended by itself.
fn wait(signalled: &Cancel, output: &OwnedFd, done: &Cancel) -> bool {
    loop {
        let mut set = [
            PollFd::new(done, PollFlags::IN),
            PollFd::new(signalled, PollFlags::IN),
            // Errors are always told: on a pipe, that its reader is gone.
            PollFd::from_borrowed_fd(output.as_fd(), PollFlags::empty()),
        ];
        match poll(&mut set, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => {
                tracing::warn!("the client cannot be watched: {error}");
                return false;
            }
        }
        return set.first().is_none_or(|done| done.revents().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::sync::mpsc::channel;

    use hcp_sandbox::Cancel;

    use super::ClientWatch;

    #[test]
    fn a_signal_and_a_reader_that_is_gone_stop_serving_and_an_end_does_not() {
        for cause in ["signal", "reader", "end"] {
            let (reader, writer) = std::io::pipe().unwrap();
            let signalled = Cancel::new().unwrap();
            let (told, stopped) = channel();
            let watch = ClientWatch::start(signalled.clone(), OwnedFd::from(writer), move || {
                told.send(()).unwrap();
            })
            .unwrap();
            let reader = match cause {
                "signal" => {
                    signalled.cancel();
                    Some(reader)
                }
                "reader" => {
                    drop(reader);
                    None
                }
                _ => Some(reader),
            };
            if cause == "end" {
                drop(watch);
                assert!(stopped.recv().is_err());
            } else {
                stopped.recv().unwrap();
            }
            drop(reader);
        }
    }
}
