//! The Model Context Protocol on stdin and stdout: activated commands as tools.
//!
//! The official library speaks the protocol; what it is not strict enough for is kept out of its
//! hands: lines are read bounded and parsed strictly (`incoming`), ids are our own while they are
//! inside (`exchange`), and envelopes go out verbatim (`transport`).

mod answer;
mod catalogue;
mod exchange;
mod face;
mod incoming;
mod listing;
mod names;
mod results;
mod search;
mod tools;
mod transport;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use hcp_sandbox::Cancel;
use rmcp::ServiceExt;

pub use listing::Tools;

use self::exchange::Exchange;
use self::face::Face;
use self::listing::Listing;
use self::transport::Pipe;
use crate::client_watch::ClientWatch;
use crate::host::Host;
use crate::{AT_ONCE, Ended, GRACE};

/// Threads for calls, and a few more for looking things up meanwhile.
const THREADS: usize = AT_ONCE + 4;

/// Serves `host` until `input` ends, `signalled` is switched on or nobody reads `output` any more.
///
/// # Errors
/// When the system has no descriptor or thread left to begin with.
pub fn serve(
    host: Arc<Host>,
    tools: Tools,
    input: &impl AsFd,
    output: File,
    signalled: Cancel,
) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(THREADS)
        .build()?;
    let exchange = Arc::new(Exchange::default());
    let listing = Listing::new(host.clone(), tools);
    let face = Face::new(host, listing, exchange.clone());
    let stop = Cancel::new()?;
    let stopped = Arc::new(tokio::sync::Notify::new());
    let end = {
        let (stop, stopped, running) = (stop.clone(), stopped.clone(), face.running.clone());
        move || {
            stop.cancel();
            running.cancel_all();
            stopped.notify_waiters();
        }
    };
    let watched = OwnedFd::from(output.try_clone()?);
    let _watch = ClientWatch::start(signalled, watched, end.clone())?;
    let input = input.as_fd().try_clone_to_owned()?;
    let (pipe, all_written) = Pipe::open(input, output, exchange, stop.clone(), stopped, end)?;
    let running = face.running.clone();
    runtime.block_on(async {
        match face.serve(pipe).await {
            Ok(service) => {
                if let Err(error) = service.waiting().await {
                    tracing::error!("serving ended: {error}");
                }
            }
            Err(error) => tracing::warn!("the client did not begin as the protocol asks: {error}"),
        }
    });
    // What still runs was taken back by now; its child is ended and its outcome recorded.
    running.cancel_all();
    let _ = all_written.recv_timeout(GRACE);
    runtime.shutdown_timeout(GRACE);
    Ok(if stop.is_cancelled() {
        Ended::Stopped
    } else {
        Ended::Input
    })
}
